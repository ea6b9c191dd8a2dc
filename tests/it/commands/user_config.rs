//! The configuration of the user's machine: each file is read once in a run, and each host is asked for its
//! services once, whoever needs them.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lockctl::cli::{self, Io, World};
use lockctl::os::{RealDisk, RealRun};
use lockctl::world::mem::MemHttp;
use lockctl::world::{Files, HttpResponse};

use super::*;
use crate::disk::{Changed, Changes};

/// The name of the CLI configuration file.
const CONFIG: &str = "user.tfrc";

/// Counts how often the CLI configuration is read.
#[derive(Default)]
struct CountedReads(AtomicUsize);

impl Changes for CountedReads {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        if path.ends_with(CONFIG) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        RealDisk.read(path, limit)
    }
}

/// Runs a command line; returns the reads of the CLI configuration, and the URLs that were requested.
fn run(lab: &Lab, args: &[&str]) -> (usize, Vec<String>) {
    let disk = Changed(CountedReads::default());
    let http = MemHttp::new(|request| {
        let url = request.url.to_string();
        let (status, body) = if url.ends_with("/.well-known/terraform.json") {
            (200, r#"{"modules.v1": "/m/", "providers.v1": "/p/"}"#)
        } else {
            (404, "")
        };
        Ok(HttpResponse {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            took: Duration::ZERO,
            body: Box::new(body.as_bytes()),
        })
    });
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut io = Io {
        stdout: &mut stdout,
        stderr: &mut stderr,
    };
    let world = World {
        disk: &disk,
        env: &lab.env,
        http: &http,
        clock: &lab.clock,
        run: &RealRun,
        project_files: None,
    };
    let dir = lab.dir().display().to_string();
    let start = ["lockctl", "-C", &dir, "--cli-config", CONFIG];
    let line = start.iter().chain(args).map(|arg| (*arg).into());
    cli::run(line, world, &mut io);
    let urls = http.asked().into_iter().map(|request| request.url);
    (disk.0.0.load(Ordering::Relaxed), urls.collect())
}

#[test]
fn it_is_read_once_for_packages_modules_and_checks() {
    let lab = Lab::new();
    lab.write(
        CONFIG,
        "credentials \"lab.test\" {\n  token = \"word\"\n}\n",
    );
    for root in ["a", "b"] {
        lab.write(
            &format!("{root}/main.tf"),
            "terraform {\n  required_providers {\n    x = { source = \"lab.test/acme/x\" }\n  }\n}\n\
             module \"net\" {\n  source  = \"lab.test/acme/net/aws\"\n  version = \"1.0.0\"\n}\n",
        );
    }
    let (reads, urls) = run(&lab, &["lock", "a", "b"]);
    let discoveries = urls.iter().filter(|url| url.contains("/.well-known/"));
    assert_eq!(discoveries.count(), 1, "{urls:?}");
    assert!(
        urls.iter().any(|url| url.contains("/m/acme/net")),
        "{urls:?}"
    );
    assert!(urls.iter().any(|url| url.contains("/p/acme/x")), "{urls:?}");
    assert_eq!(reads, 1);

    lab.write(
        "a/.terraform.lock.hcl",
        "provider \"lab.test/acme/x\" {\n  version = \"1.0.0\"\n}\n",
    );
    let (reads, urls) = run(
        &lab,
        &["verify", "--upstream", "--modules", "fetch", "a", "b"],
    );
    let discoveries = urls.iter().filter(|url| url.contains("/.well-known/"));
    assert_eq!((reads, discoveries.count()), (1, 1), "{urls:?}");
}
