//! Progress: a line of JSON for each event where that is asked for, a bar on a terminal,
//! every request with `-v`, else nothing.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::{DecimalBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::addr::Url;
use crate::report::json;
use crate::run::formats::Format;
use crate::run::options::Options;
use crate::sources::net::Event;
use crate::world::{Env, Stream};

/// Frames of the bar per second.
const FRAMES: u8 = 10;

/// Spells a length in decimal units, as downloads are measured.
pub(crate) fn size(bytes: u64) -> String {
    DecimalBytes(bytes).to_string()
}

/// Shows progress. Any thread may report an event.
pub(crate) struct Progress<'a> {
    shown: ProgressOutput<'a>,
}

enum ProgressOutput<'a> {
    Nothing,
    Requests(Mutex<&'a mut (dyn Write + Send)>),
    Events(Mutex<&'a mut (dyn Write + Send)>),
    /// The width of the terminal, and the bar once something happens.
    Bar(Option<usize>, OnceLock<Box<Bar>>),
}

/// One bar over all downloads.
struct Bar {
    bar: ProgressBar,
    /// The layout once bytes arrive.
    style: &'static str,
    counts: Mutex<DownloadCounts>,
}

#[derive(Default)]
struct DownloadCounts {
    /// Packages that were begun; one that starts over counts once.
    begun: BTreeSet<Url>,
    finished: usize,
    /// Bytes that are known to come, or came.
    total: u64,
}

impl<'a> Progress<'a> {
    /// Begins to show progress; lines go to `out`, and the bar to standard error.
    pub(crate) fn new(options: &Options, env: &dyn Env, out: &'a mut (dyn Write + Send)) -> Self {
        // Events are results, which neither `-v` nor `-q` changes. The lines of `-v` come before the bar:
        // each would be written into the line that the bar draws.
        let shown = if options.format == Format::JsonLines {
            ProgressOutput::Events(Mutex::new(out))
        } else if options.verbose {
            ProgressOutput::Requests(Mutex::new(out))
        } else if env.terminal(Stream::Stderr) && !options.quiet && options.format == Format::Human
        {
            ProgressOutput::Bar(env.columns(Stream::Stderr), OnceLock::new())
        } else {
            ProgressOutput::Nothing
        };
        Self { shown }
    }

    /// Takes note of something that happened.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        match &self.shown {
            ProgressOutput::Nothing => {}
            ProgressOutput::Requests(stderr) => {
                if let Some(line) = line(event) {
                    let mut stderr = stderr.lock().unwrap_or_else(PoisonError::into_inner);
                    // The reader has closed the stream; the run continues.
                    let _ = writeln!(stderr, "{line}");
                }
            }
            ProgressOutput::Events(stdout) => {
                // Each block of a download would give a line.
                if !matches!(event, Event::Received { .. }) {
                    let mut stdout = stdout.lock().unwrap_or_else(PoisonError::into_inner);
                    // As above; if the result cannot be printed either, that is reported.
                    let _ = json::render_event(*stdout, event).and_then(|()| stdout.flush());
                }
            }
            ProgressOutput::Bar(columns, bar) => {
                bar.get_or_init(|| Box::new(Bar::new(*columns)))
                    .observe(event);
            }
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let ProgressOutput::Bar(_, bar) = &self.shown
            && let Some(bar) = bar.get()
        {
            // Results follow on a clean line.
            bar.bar.finish_and_clear();
        }
    }
}

impl Bar {
    fn new(columns: Option<usize>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(FRAMES));
        bar.set_style(ProgressStyle::with_template("{wide_msg}").expect("a sound template"));
        Self {
            bar,
            style: style(columns),
            counts: Mutex::default(),
        }
    }

    fn observe(&self, event: &Event<'_>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Asking { url } if counts.begun.is_empty() => {
                self.bar
                    .set_message(format!("asking {}", url.host_and_port()));
            }
            Event::Repeating { url, wait } if counts.begun.is_empty() => {
                let (host, wait) = (url.host_and_port(), seconds(*wait));
                self.bar.set_message(format!("waiting {wait} for {host}"));
            }
            // A download that goes on at a later byte was counted when it began.
            Event::Started {
                url,
                from: 0,
                total,
            } if counts.begun.insert((*url).clone()) => {
                counts.total = counts.total.saturating_add(total.unwrap_or_default());
                self.count(&counts);
                self.bar.set_length(counts.total);
                if counts.begun.len() == 1 {
                    let style = ProgressStyle::with_template(self.style).expect("a sound template");
                    self.bar.set_style(style.progress_chars("=> "));
                    // The time before the first download does not count for the rate.
                    self.bar.reset();
                }
            }
            Event::Received { bytes, .. } => self.bar.inc(*bytes),
            Event::Finished { .. } => {
                counts.finished += 1;
                self.count(&counts);
            }
            _ => {}
        }
    }

    fn count(&self, counts: &DownloadCounts) {
        let many = counts.begun.len().max(counts.finished);
        let text = format!("packages: {} of {many}", counts.finished);
        self.bar.set_message(text);
    }
}

/// Returns the layout of the line while bytes arrive, for the width of the terminal.
fn style(columns: Option<usize>) -> &'static str {
    // With five-digit counts and sizes of GiB the words alone have 58 columns and with the time left 70, with the rate
    // as well 84, and the terminal would break them.
    match columns {
        Some(..60) => "{msg}, {binary_bytes} of {binary_total_bytes}",
        Some(60..96) => "{msg}, {binary_bytes} of {binary_total_bytes}, {eta} left {wide_bar}",
        None | Some(96..) => {
            "{msg}, {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left {wide_bar}"
        }
    }
}

/// Describes an event in one line, if it gets one.
fn line(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::Answered { url, status, bytes } => match bytes {
            Some(bytes) => format!("GET {url}: {status}, {bytes} bytes"),
            None => format!("GET {url}: {status}"),
        },
        Event::Redirected { url, status, to } => format!("GET {url}: {status}, to {to}"),
        Event::Failed { url, cause } => format!("GET {url}: {cause}"),
        Event::Repeating { url, wait } => format!("GET {url}: again in {}", seconds(*wait)),
        Event::Started { url, from, .. } if *from > 0 => {
            format!("GET {url}: goes on at byte {from}")
        }
        Event::Finished { url, bytes } => {
            let url = url.to_string();
            let name = url.rsplit('/').next().unwrap_or(&url);
            format!("{name}: complete, {bytes} bytes")
        }
        // Other events come too often for a line each.
        _ => return None,
    })
}

fn seconds(wait: Duration) -> String {
    format!("{} s", wait.as_secs_f32())
}
