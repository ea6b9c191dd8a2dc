//! The page of `report` in a real browser: Chromium without a window, driven by its own protocol over pipes.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::*;

/// How long an answer of the browser may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page.
struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// The number of the last command.
    last: u64,
    session: Option<String>,
    /// What happened in the page.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium; `None`, which is printed, if it is not installed.
    fn start() -> Option<Self> {
        let is_there = |name: &&&str| Command::new(name).arg("--version").output().is_ok();
        let Some(program) = ["chromium", "chromium-browser", "google-chrome"]
            .iter()
            .find(is_there)
        else {
            println!("skipped: there is no Chromium");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // Commands come on descriptor 3 and answers go to 4, each ended by a zero.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null",
            ])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, messages) = channel();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while output
                .read_until(0, &mut bytes)
                .is_ok_and(|count| count > 0)
            {
                bytes.pop();
                if let Ok(message) = serde_json::from_slice(&bytes)
                    && sender.send(message).is_err()
                {
                    return;
                }
                bytes.clear();
            }
        });
        let mut browser = Self {
            input: child.stdin.take().unwrap(),
            child,
            messages,
            last: 0,
            session: None,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", &target);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Network", "Runtime", "Log", "Page"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    /// Sends a command and waits for its answer.
    #[track_caller]
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        write!(self.input, "{command}\0").unwrap();
        self.input.flush().unwrap();
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("an answer");
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Opens an address and waits until the page is there.
    #[track_caller]
    fn open(&mut self, url: &str) {
        self.events.clear();
        self.call("Page.navigate", &json!({ "url": url }));
        while self.eval("document.readyState") != "complete" {}
    }

    /// Returns the value of an expression in the page.
    #[track_caller]
    fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", &params);
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Returns everything that was requested but the page itself, and everything that was complained about.
    fn complaints(&self, page: &str) -> Vec<&Value> {
        let is_complaint = |event: &&Value| match event["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let url = event["params"]["request"]["url"].as_str().unwrap_or("");
                !url.starts_with(page)
            }
            Some(method) => [
                "Log.entryAdded",
                "Runtime.exceptionThrown",
                "Runtime.consoleAPICalled",
            ]
            .contains(&method),
            None => false,
        };
        self.events.iter().filter(is_complaint).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_sorts_filters_and_follows_shared_links() {
    let Some(repo) = super::report::repository() else {
        return;
    };
    let name = "</script><script>window.obeyed=1</script>'\"><img src=x onerror=window.obeyed=1>";
    let hostile = name.replace('/', "\u{2215}");
    repo.write(&format!("{hostile}/main.tf"), "provider \"null\" {}\n");
    repo.write(
        &format!("{hostile}/{LOCK}"),
        super::report::entry("hashicorp/null", "3.2.0"),
    );
    repo.git(&["add", "--all"]);
    repo.git(&[
        "commit",
        "--quiet",
        "-m",
        name,
        "--author",
        "Eve\" onload='window.obeyed=1' <x@example.com>",
    ]);
    super::report::page(&repo, &["--graph", "hashicorp/aws", "--title", name]);
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let page = format!("file://{}", repo.lab.path("page.html").display());
    browser.open(&page);

    let rows = "[...document.querySelectorAll('.matrix tbody tr')].filter(row => !row.hidden).map(row => row.cells[1].textContent.trim().slice(0, 5)).join()";
    assert_eq!(browser.eval(rows), "5.1.0,,3.2.0");
    // Sorted by the first provider: upwards, then downwards, those without it always last.
    browser.eval("document.querySelector('.matrix thead th:nth-child(2) button').click()");
    assert_eq!(browser.eval(rows), "3.2.0,5.1.0,");
    browser.eval("document.querySelector('.matrix thead th:nth-child(2) button').click()");
    assert_eq!(browser.eval(rows), "5.1.0,3.2.0,");
    assert_eq!(
        browser.eval(
            "document.querySelector('.matrix thead th:nth-child(2)').getAttribute('aria-sort')"
        ),
        "descending"
    );

    // A filter changes what is shown, and the address.
    browser.eval("{ const f = document.forms[0]; f.elements.provider.value = 'hashicorp/null'; f.dispatchEvent(new Event('change')) }");
    assert_eq!(browser.eval("location.hash"), "#provider=hashicorp/null");
    let articles = "[...document.querySelectorAll('article')].filter(part => !part.hidden).map(part => part.querySelector('h3').textContent).join()";
    assert_eq!(browser.eval(articles), "hashicorp/null");
    assert_eq!(
        browser.eval("document.querySelector('output').textContent"),
        "1 of 3 rows"
    );

    // Somebody else opens such an address.
    browser.open("about:blank");
    browser.open(&format!("{page}#constraint=hashicorp/aws%20any%20version"));
    assert_eq!(browser.eval(articles), "hashicorp/aws");
    assert_eq!(browser.eval(rows), "5.1.0,3.2.0");
    browser.open("about:blank");
    browser.open(&format!("{page}#rule=nonsense&host=%"));
    assert_eq!(
        browser.eval("document.querySelector('output').textContent"),
        "3 of 3 rows"
    );

    // The host of a provider may be named although all are on one.
    browser.open("about:blank");
    browser.open(&format!(
        "{page}#provider=registry.terraform.io/hashicorp/null"
    ));
    assert_eq!(browser.eval(articles), "hashicorp/null");
    browser.open("about:blank");
    browser.open(&page);

    // A row of several roots opens.
    let is_seen = "document.querySelector('.matrix details li').checkVisibility()";
    assert_eq!(browser.eval(is_seen), false);
    browser.eval("document.querySelector('.matrix summary').click()");
    assert_eq!(browser.eval(is_seen), true);

    assert_eq!(browser.eval("window.obeyed === undefined"), true);
    assert_eq!(browser.eval("document.scripts.length"), 1);
    assert_eq!(browser.eval("document.images.length"), 0);
    let complaints = browser.complaints(&page);
    assert!(complaints.is_empty(), "{complaints:#?}");

    // Nothing is cut off in a narrow window: only tables scroll.
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        &json!({"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": false}),
    );
    assert_eq!(
        browser.eval("document.documentElement.scrollWidth <= 400"),
        true
    );
}
