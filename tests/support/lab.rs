//! A temporary directory with roots and mirrors in it, and lockctl run there in process.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lockctl::addr::StoreUrl;
use lockctl::cli::{self, Io, World};
use lockctl::net::RealHttp;
use lockctl::os::{RealDisk, RealRun};
use lockctl::world::mem::{MemClock, MemEnv};
use lockctl::world::{Disk, Http, HttpError, HttpRequest, HttpResponse, SharedObjects};

use crate::schema;

/// A directory of its own, removed at the end.
pub(crate) struct Lab {
    dir: tempfile::TempDir,
    pub(crate) env: MemEnv,
    /// Nobody waits between two attempts; how long it would have been stands here.
    pub(crate) clock: MemClock,
    /// How many times sooner than stated an answer is given up.
    pub(crate) hurry: u32,
}

/// A network on which time-outs come sooner than stated.
struct Hurried<'a> {
    http: RealHttp<'a>,
    hurry: u32,
    /// Whether a proxy takes all requests.
    has_proxy: bool,
}

impl Http for Hurried<'_> {
    fn get(&self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
        // No test makes a request beyond this machine.
        let host = request.url.origin().host;
        let is_near = ["127.0.0.1", "localhost", "[::1]"].contains(&&*host);
        if !is_near && !host.ends_with(".test") && !self.has_proxy {
            return Err(HttpError::Connect {
                reason: format!("{host} is not on this machine"),
                proxy: None,
            });
        }
        self.http.get(&HttpRequest {
            timeout: request.timeout.map(|limit| limit / self.hurry),
            first_byte: request.first_byte / self.hurry,
            idle: request.idle / self.hurry,
            ..request.clone()
        })
    }

    /// The objects of a bucket; the environment of a test names a service on this machine.
    fn bucket(&self, url: &StoreUrl) -> io::Result<Box<dyn SharedObjects + '_>> {
        self.http.bucket(url)
    }
}

/// What a command line came to.
#[derive(Debug)]
#[allow(dead_code, reason = "not every test binary reads all of it")]
pub(crate) struct Outcome {
    pub(crate) code: u8,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let dir = crate::temp::dir();
        // The top of a repository: nobody looks for project files above.
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        Self {
            dir,
            env: MemEnv::default(),
            clock: MemClock::at(SystemTime::now()),
            hurry: 1,
        }
    }

    /// Sets a variable of the environment.
    #[allow(dead_code, reason = "not every test binary sets one")]
    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.vars.insert(name.to_owned(), value.into());
    }

    #[allow(dead_code, reason = "not every test binary asks for it")]
    pub(crate) fn dir(&self) -> &std::path::Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    pub(crate) fn write(&self, below: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn read(&self, below: &str) -> String {
        std::fs::read_to_string(self.path(below)).unwrap()
    }

    /// Puts an unpacked package of one file into `mirror`.
    pub(crate) fn unpacked(&self, mirror: &str, package: &str, content: &str) -> &Self {
        let (addr, rest) = split_package(package);
        let type_name = addr.rsplit('/').next().unwrap();
        let (version, _) = rest.split_once('/').unwrap();
        self.write(
            &format!("{mirror}/{package}/terraform-provider-{type_name}_v{version}"),
            content,
        )
    }

    /// Puts a zip of one file into `mirror`.
    pub(crate) fn packed(&self, mirror: &str, package: &str, content: &str) -> &Self {
        let (addr, rest) = split_package(package);
        let type_name = addr.rsplit('/').next().unwrap();
        let (version, platform) = rest.split_once('/').unwrap();
        let zip = zip_of(&[(
            &format!("terraform-provider-{type_name}_v{version}"),
            content,
        )]);
        let name = format!("terraform-provider-{type_name}_{version}_{platform}.zip");
        self.write(&format!("{mirror}/{addr}/{name}"), zip)
    }

    /// Runs lockctl as if started in the directory.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        self.run_on(&RealDisk, args)
    }

    /// Runs lockctl on another disk.
    ///
    /// What it prints for programs is held against the schema, whatever the test looks at.
    pub(crate) fn run_on(&self, disk: &dyn Disk, args: &[&str]) -> Outcome {
        self.run_at(disk, self.dir.path(), args)
    }

    /// Runs lockctl as if started in a directory below.
    #[allow(dead_code, reason = "not every test binary asks for it")]
    pub(crate) fn run_in(&self, below: &str, args: &[&str]) -> Outcome {
        self.run_at(&RealDisk, &self.path(below), args)
    }

    fn run_at(&self, disk: &dyn Disk, dir: &Path, args: &[&str]) -> Outcome {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut io = Io {
            stdout: &mut stdout,
            stderr: &mut stderr,
        };
        let mut line: Vec<OsString> = vec!["lockctl".into(), "-C".into(), dir.into()];
        line.extend(args.iter().map(OsString::from));
        let http = Hurried {
            http: RealHttp::trusting_as_on_linux(&self.env),
            hurry: self.hurry,
            has_proxy: self
                .env
                .vars
                .keys()
                .any(|name| name.to_lowercase().ends_with("_proxy")),
        };
        let world = World {
            disk,
            env: &self.env,
            http: &http,
            clock: &self.clock,
            run: &RealRun,
            project_files: None,
        };
        let code = cli::run(line, world, &mut io);
        schema::check(&stdout, args);
        let text = |bytes| self.without_dir(&String::from_utf8(bytes).unwrap());
        Outcome {
            code,
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }

    /// Replaces the name of the directory, so that texts are the same on every run, and writes
    /// paths as on Unix, so that they are the same on every system.
    fn without_dir(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let mut dir = self.dir.path().display().to_string();
        if cfg!(windows) {
            // In JSON and in graphs a separator is an escaped one; other escapes must stay.
            let is_escaped = text.starts_with('{') || text.starts_with("digraph");
            let separator = if is_escaped { "\\\\" } else { "\\" };
            text = text.replace(separator, "/");
            // In Markdown and in Mermaid it is a character reference.
            text = text.replace("&#92;", "/").replace("#92;", "/");
            dir = dir.replace('\\', "/");
        }
        text.replace(&format!("{dir}/"), "").replace(&dir, ".")
    }
}

/// Splits `HOST/NAMESPACE/TYPE/VERSION/PLATFORM` behind the type.
fn split_package(package: &str) -> (&str, &str) {
    let at = package.match_indices('/').nth(2).unwrap().0;
    (&package[..at], &package[at + 1..])
}

/// Makes a zip of stored files.
pub(crate) fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    use std::io::Write as _;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    // The bytes of a zip, and so its hash, say on which system it was made.
    let options = zip::write::SimpleFileOptions::default().system(zip::System::Unix);
    for (name, content) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
