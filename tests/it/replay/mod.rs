//! What the programs were recorded to do, replayed through whole commands.
//!
//! | Command of a program | Here |
//! |---|---|
//! | `init` | `lock --installation cli --platform linux_amd64` |
//! | `init -upgrade` | `update`, with the same options |
//! | `init -lockfile=readonly` | the route `readonly` of `verify --matrix` |
//! | `providers lock` | `lock`, with its platforms and its mirror |
//! | `plan`, `validate` | the routes `here-plan` and `validate` of `verify --matrix` |
//!
//! Compared are success, the lock file, and which hosts were asked with which credentials. Where the
//! program wrote the file, all of its bytes are compared; where it left it alone, the versions and
//! hashes of all entries: it leaves stale constraints and odd formatting then, and lockctl does not.

mod commands;
mod differences;
mod lifecycle;
mod mutated;
#[cfg(unix)]
mod opentofu;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod runtime;
mod scenarios;

use std::collections::{BTreeMap, BTreeSet};

use crate::lab::Outcome;

const LOCK: &str = ".terraform.lock.hcl";

/// What a program was recorded to do.
#[derive(Debug)]
struct Recorded {
    success: bool,
    /// The lock file afterwards.
    lock: Option<String>,
    wrote: bool,
    /// Which origins were asked with which credentials; `None` if nothing could be asked.
    asked: Option<BTreeSet<(String, String)>>,
}

/// What lockctl did.
#[derive(Debug)]
struct Replayed {
    /// Whether it succeeded, or predicts that the program does.
    success: bool,
    outcome: Outcome,
    before: Option<String>,
    after: Option<String>,
    /// `None` for a prediction, which asks nobody.
    asked: Option<BTreeSet<(String, String)>>,
}

/// Whether a scenario was replayed, and with which result.
enum Verdict {
    Agrees,
    Differs(String),
    /// lockctl has no such command.
    LeftOut(&'static str),
}

/// How many scenarios agree, differ as stated, or are left out.
#[derive(Default)]
struct Tally {
    agree: usize,
    differ: usize,
    left_out: BTreeMap<&'static str, usize>,
    faults: Vec<String>,
}

impl Replayed {
    /// Returns how lockctl differs from the program, if it does.
    fn difference_to(&self, recorded: &Recorded) -> Option<String> {
        let said = format!("{}{}", self.outcome.stdout, self.outcome.stderr);
        let code = self.outcome.code;
        if self.success != recorded.success {
            let theirs = if recorded.success {
                "succeeds"
            } else {
                "fails"
            };
            return Some(format!("exit code {code}, the program {theirs}:\n{said}"));
        }
        if !self.success && self.after != self.before {
            return Some(format!(
                "exit code {code}, and something was written:\n{said}"
            ));
        }
        if !self.leaves_lock_of(recorded) {
            let (ours, theirs) = (&self.after, &recorded.lock);
            return Some(format!("the lock is {ours:?}, not {theirs:?}:\n{said}"));
        }
        match (&self.asked, &recorded.asked) {
            (Some(ours), Some(theirs)) if ours != theirs => {
                Some(format!("asked {ours:?}, the program {theirs:?}:\n{said}"))
            }
            _ => None,
        }
    }

    /// Returns whether the lock file is that of the program.
    fn leaves_lock_of(&self, recorded: &Recorded) -> bool {
        let is_prediction = self.asked.is_none() && self.after == self.before;
        match (&self.after, &recorded.lock) {
            _ if is_prediction => true,
            (ours, theirs) if recorded.wrote || !recorded.success => ours == theirs,
            (Some(ours), Some(theirs)) => entries(ours) == entries(theirs),
            (ours, theirs) => ours == theirs,
        }
    }
}

impl Tally {
    fn count(&mut self, subject: &str, verdict: Verdict, is_stated: bool) {
        match verdict {
            Verdict::Agrees if is_stated => self.differ += 1,
            Verdict::Agrees => self.agree += 1,
            Verdict::LeftOut(reason) => *self.left_out.entry(reason).or_default() += 1,
            Verdict::Differs(fault) => self.faults.push(format!("{subject}: {fault}")),
        }
    }

    /// Prints the figures of a group.
    #[track_caller]
    fn report(self, group: &str) {
        let Self {
            agree,
            differ,
            left_out,
            faults,
        } = self;
        assert!(
            faults.is_empty(),
            "{} faults:\n{}",
            faults.len(),
            faults.join("\n\n")
        );
        assert!(agree > 0);
        println!("{group}: {agree} outcomes agree, {differ} differ as stated");
        for (reason, count) in left_out {
            println!("{group}: {count} left out: {reason}");
        }
    }
}

/// The version and the hashes of each entry, in the order of the file.
fn entries(lock: &str) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let mut all: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    let mut provider = String::new();
    for line in lock.lines() {
        let texts: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        let words = line.trim_start();
        if words.starts_with("provider") {
            provider = texts[0].to_owned();
            all.entry(provider.clone()).or_default();
        } else if words.starts_with("version") {
            all.entry(provider.clone()).or_default().0 = texts[0].to_owned();
        } else if words.starts_with('"') || words.starts_with("hashes") {
            let hashes = texts.into_iter().map(str::to_owned);
            all.entry(provider.clone()).or_default().1.extend(hashes);
        }
    }
    all
}
