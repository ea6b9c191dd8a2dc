//! `mirror` with failing places, a full disk or a killed run: every file with a final name is right.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockctl::os::RealDisk;
use lockctl::world::{Disk as _, DraftDirectory, DraftFile, Exclusive, Replaced, Replacement};

use super::mirror::{locked, mirror, tree, zips_requested};
use super::registry::TWO;
use super::*;
use crate::disk::{Changed, Changes};
use crate::registry::Origin;

/// The files of a directory by their paths.
type Tree = BTreeMap<String, Vec<u8>>;

/// Files with a final name; temporary ones are removed by the next run.
fn named(dir: &Path) -> Tree {
    let mut files = tree(dir);
    files.retain(|name, _| !name.split('/').any(|part| part.starts_with(".lockctl-")));
    files
}

/// Compares every file that has a final name with the right one, and documents with the zips beside them.
#[track_caller]
fn assert_nothing_wrong(now: &Tree, right: &Tree, context: &str) {
    for (name, bytes) in now {
        let (dir, file) = name.rsplit_once('/').unwrap();
        if !file.ends_with(".json") {
            assert!(right.get(name) == Some(bytes), "{context}: {name} is wrong");
            continue;
        }
        let document: Value = serde_json::from_slice(bytes).expect(context);
        let right: Value = serde_json::from_slice(&right[name]).unwrap();
        for kind in ["versions", "archives"] {
            for (key, value) in document[kind].as_object().into_iter().flatten() {
                assert_eq!(*value, right[kind][key], "{context}: {name}");
                // Documents are written last, so the files that they list exist.
                let listed = match value["url"].as_str() {
                    Some(zip) => format!("{dir}/{zip}"),
                    None => format!("{dir}/{key}.json"),
                };
                assert!(
                    now.contains_key(&listed),
                    "{context}: {name} lists {listed}"
                );
            }
        }
    }
}

/// After a failure of a place the next one is used, and no bytes of the first one stay.
#[test]
fn the_next_place_serves_where_one_fails() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    let right = tree(&lab.path("m"));
    // A host other than that of the registry: a run makes no further request to a host that failed.
    let url = format!("https://localhost:{}/mirror/", registry.port(Origin::Lab));
    for (kind, action) in [
        ("mirror_version", "403"),
        ("mirror_version", "503"),
        ("mirror_version", "html"),
        ("mirror_version", "bad_json"),
        ("mirror_package", "403"),
        ("mirror_package", "404"),
        ("mirror_package", "429"),
        ("mirror_package", "503"),
        ("mirror_package", "html"),
        ("mirror_package", "reset"),
        ("mirror_package", "close"),
        ("mirror_package", "reset_mid"),
        ("mirror_package", "truncate"),
        ("mirror_package", "flip"),
    ] {
        std::fs::remove_dir_all(lab.path("m")).unwrap();
        registry.reset(&json!({"rules": [{"kind": kind, "action": action, "times": -1}]}));
        // Without a store, the packages must be downloaded.
        let outcome = mirror(&lab, &[TWO, &["--no-cache", "--net-mirror", &url]].concat()).exits(0);
        assert_eq!(tree(&lab.path("m")), right, "{kind} {action}");
        let from = "registry.terraform.io)";
        assert!(
            outcome.stdout.contains(from),
            "{kind} {action}: {outcome:#?}"
        );
    }
    assert!(zips_requested(&registry) > 0);
}

/// A disk on which every writing operation fails after some number of operations.
pub(super) struct FailingDisk {
    /// Number of operations that succeed.
    succeed: usize,
    operations: AtomicUsize,
    /// The error number of the system.
    error: i32,
}

/// `No space left on device`, the same number on all systems with such numbers.
pub(super) const NO_SPACE: i32 = 28;

/// `Permission denied`.
const NO_PERMISSION: i32 = 13;

impl FailingDisk {
    pub(super) fn after(succeed: usize, error: i32) -> Changed<Self> {
        Changed(Self {
            succeed,
            operations: AtomicUsize::new(0),
            error,
        })
    }

    fn write(&self) -> io::Result<()> {
        if self.operations.fetch_add(1, Ordering::Relaxed) < self.succeed {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(self.error))
        }
    }
}

impl Changes for FailingDisk {
    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        self.write()?;
        RealDisk.replace_held(held, file)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        self.write()?;
        RealDisk.make_directory(path)
    }

    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        self.write()?;
        let file = RealDisk.draft(dir)?;
        Ok(Box::new(FailingFile { file, disk: self }))
    }

    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        self.write()?;
        let directory = RealDisk.draft_directory(dir)?;
        Ok(Box::new(FailingDirectory {
            directory,
            disk: self,
        }))
    }
}

/// A file on a disk that becomes full after half of a write.
struct FailingFile<'a> {
    file: Box<dyn DraftFile + 'a>,
    disk: &'a FailingDisk,
}

impl Read for FailingFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Write for FailingFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write()?;
        self.file.write(&bytes[..bytes.len().div_ceil(2)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for FailingFile<'_> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

impl DraftFile for FailingFile<'_> {
    fn place(self: Box<Self>, name: &OsStr) -> io::Result<()> {
        self.disk.write()?;
        self.file.place(name)
    }
}

struct FailingDirectory<'a> {
    directory: Box<dyn DraftDirectory + 'a>,
    disk: &'a FailingDisk,
}

/// A file in a directory, as [`FailingFile`].
struct FailingWriter<'a> {
    file: Box<dyn Write + 'a>,
    disk: &'a FailingDisk,
}

impl Write for FailingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write()?;
        self.file.write(&bytes[..bytes.len().div_ceil(2)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl DraftDirectory for FailingDirectory<'_> {
    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn create(&mut self, path: &[u8], executable: u32) -> io::Result<Box<dyn Write + '_>> {
        self.disk.write()?;
        Ok(Box::new(FailingWriter {
            file: self.directory.create(path, executable)?,
            disk: self.disk,
        }))
    }

    fn place(self: Box<Self>, name: &OsStr) -> io::Result<()> {
        self.disk.write()?;
        self.directory.place(name)
    }
}

const ARGS: &[&str] = &[
    "mirror",
    "--flavor",
    "terraform@1.11",
    "m",
    "--platform",
    "linux_amd64,darwin_arm64",
    "--unpacked=also",
    // One after the other, so that each number is the same operation in each run.
    "--jobs",
    "1",
];

#[test]
fn a_disk_that_is_full_at_any_moment_leaves_nothing_wrong() {
    let (registry, lab) = locked();
    let disk = FailingDisk::after(usize::MAX, NO_SPACE);
    assert_exit(&lab.run_on(&disk, ARGS), 0);
    let (right, operations) = (tree(&lab.path("m")), disk.0.operations.into_inner());
    assert!(operations > 20, "{operations}");
    for succeed in 0..operations {
        std::fs::remove_dir_all(lab.path("m")).ok();
        registry.reset(&json!({}));
        let outcome = lab.run_on(&FailingDisk::after(succeed, NO_SPACE), ARGS);
        let context = format!("operation {succeed}: {outcome:#?}");
        assert_eq!(outcome.code, 2, "{context}");
        assert!(outcome.stderr.contains("cannot be written"), "{context}");
        assert!(
            outcome.stderr.contains("make room on the disk"),
            "{context}"
        );
        // Drafts are removed with the run, so every file has its final name.
        assert_nothing_wrong(&tree(&lab.path("m")), &right, &context);
        // The next place is not used because of the disk.
        assert!(zips_requested(&registry) <= 2, "{context}");
        assert_exit(&lab.run(ARGS), 0);
        assert_eq!(tree(&lab.path("m")), right, "{context}");
    }
}

#[test]
fn a_directory_that_is_not_writable_is_named() {
    let (_registry, lab) = locked();
    let outcome = lab.run_on(&FailingDisk::after(0, NO_PERMISSION), ARGS);
    assert_exit(&outcome, 2);
    outcome.stderr_eq(str![[r#"
error: m cannot be written
  cause: Permission denied (os error 13)
  help: run the command as the user who owns the directory, or name another one

"#]]);
}

#[cfg(unix)]
mod killed {
    use std::fs;
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process};

    use super::{Tree, assert_nothing_wrong, named, tree};
    use crate::lab::zip_of;
    use crate::registry::{Origin, Registry};
    use crate::seed::{Seed, number_from};

    /// Number of runs that are killed, unless `LOCKCTL_MIRROR_KILLS` sets it.
    const RUNS: u64 = 12;

    const PLATFORMS: &str = "linux_amd64,darwin_arm64,windows_amd64";

    const LAYOUTS: [&[&str]; 5] = [
        &[],
        &["--unpacked"],
        &["--unpacked=also"],
        &["--bundle", "b.tar"],
        &["--oci-layout", "oci"],
    ];

    const ALL: &[&str] = &[
        "--unpacked=also",
        "--bundle",
        "b.tar",
        "--oci-layout",
        "oci",
    ];

    struct Site {
        registry: Registry,
        dir: tempfile::TempDir,
    }

    impl Site {
        /// A locked root, whose packages take longer to write than a system call.
        fn new() -> Self {
            let (registry, dir) = (Registry::start(), crate::temp::dir());
            let host = format!("localhost:{}", registry.port(Origin::Lab));
            let mut requirements = String::new();
            for name in ["one", "two", "three"] {
                for platform in PLATFORMS.split(',') {
                    let content = format!("{name} for {platform}\n").repeat(20_000);
                    let program = format!("terraform-provider-{name}_v1.0.0");
                    let zip = zip_of(&[(&program, &content), ("LICENSE", "free")]);
                    registry.add_zip(&format!("acme/{name}"), "1.0.0", platform, &zip);
                }
                requirements += &format!("{name} = {{ source = \"{host}/acme/{name}\" }}\n");
            }
            let config = format!("terraform {{\nrequired_providers {{\n{requirements}}}\n}}\n");
            fs::create_dir(dir.path().join("root")).unwrap();
            fs::write(dir.path().join("root/main.tf"), config).unwrap();
            let site = Self { registry, dir };
            site.succeeds(&["lock", "root", "--platform", PLATFORMS]);
            site
        }

        fn command(&self, args: &[&str]) -> Command {
            let program = std::env::var_os("LOCKCTL_TORTURE_PROGRAM")
                .unwrap_or_else(|| env!("CARGO_BIN_EXE_lockctl").into());
            let mut command = Command::new(program);
            command
                .args(args)
                .current_dir(self.dir.path())
                .env_clear()
                .env("HOME", self.dir.path().join("home"))
                .env("SSL_CERT_FILE", self.registry.ca_file())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command
        }

        #[track_caller]
        fn succeeds(&self, args: &[&str]) {
            let output = self.command(args).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{args:?}: {said}");
        }

        fn mirror(layout: &[&'static str]) -> Vec<&'static str> {
            [&["mirror", "m", "root", "--platform", PLATFORMS], layout].concat()
        }
    }

    /// Kills a run after a time; returns true if it was still running.
    fn is_killed(mut command: Command, wait: Duration) -> bool {
        let mut child = command.spawn().unwrap();
        thread::sleep(wait);
        let is_killed = child.try_wait().unwrap().is_none()
            && kill_process(Pid::from_child(&child), Signal::KILL).is_ok();
        child.wait_with_output().unwrap();
        is_killed
    }

    /// Compares the files of OCI layouts with the right ones; an index comes after all that it leads to.
    #[track_caller]
    fn assert_layouts_are_whole(now: &Tree, right: &Tree, context: &str) {
        for (name, bytes) in now {
            assert!(right.get(name) == Some(bytes), "{context}: {name} is wrong");
            if let Some(layout) = name.strip_suffix("index.json") {
                let files = right.keys().filter(|file| file.starts_with(layout));
                for file in files {
                    assert!(
                        now.contains_key(file),
                        "{context}: {name} comes before {file}"
                    );
                }
            }
        }
    }

    /// Directories of a package are readable for the accounts for which its files are.
    #[test]
    fn the_umask_of_the_run_does_not_count_inside_packages() {
        use std::os::unix::fs::PermissionsExt as _;
        let site = Site::new();
        let deep = zip_of(&[
            ("terraform-provider-four_v1.0.0", "p"),
            ("a/b/c.txt", "deep"),
        ]);
        site.registry
            .add_zip("acme/four", "1.0.0", "linux_amd64", &deep);
        let host = format!("localhost:{}", site.registry.port(Origin::Lab));
        let config = format!(
            "terraform {{\nrequired_providers {{\nfour = {{ source = \"{host}/acme/four\" }}\n}}\n}}\n"
        );
        fs::create_dir(site.dir.path().join("deep")).unwrap();
        fs::write(site.dir.path().join("deep/main.tf"), config).unwrap();
        site.succeeds(&["lock", "deep", "--platform", "linux_amd64"]);
        let program = env!("CARGO_BIN_EXE_lockctl");
        let command = site.command(&[]);
        let script = "umask 077; exec \"$0\" mirror m deep --unpacked --platform linux_amd64";
        let output = Command::new("sh")
            .args(["-c", script, program])
            .current_dir(site.dir.path())
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let package = site
            .dir
            .path()
            .join(format!("m/{host}/acme/four/1.0.0/linux_amd64"));
        for (path, expected) in [
            ("", 0o755),
            ("a", 0o755),
            ("a/b", 0o755),
            ("a/b/c.txt", 0o644),
        ] {
            let mode = fs::metadata(package.join(path))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, expected, "{path}");
        }
    }

    #[test]
    fn a_run_that_is_killed_at_any_moment_leaves_nothing_wrong() {
        let runs = number_from("LOCKCTL_MIRROR_KILLS", RUNS);
        let first = number_from("LOCKCTL_MIRROR_SEED", 1);
        let site = Site::new();
        let [mirror, layouts, bundle] =
            ["m", "oci", "b.tar"].map(|name| site.dir.path().join(name));
        let start = Instant::now();
        site.succeeds(&Site::mirror(ALL));
        let longest = start.elapsed();
        let (right, right_layouts): (Tree, Tree) = (tree(&mirror), tree(&layouts));
        let right_bundle = fs::read(&bundle).unwrap();
        let (mut killed, mut partial) = (0, 0);
        for number in first..first + runs {
            let mut seed = Seed::new(number);
            // One in three runs starts with the files that the run before has left.
            if seed.below(3) > 0 {
                fs::remove_dir_all(&mirror).ok();
                fs::remove_dir_all(&layouts).ok();
                fs::remove_file(&bundle).ok();
            }
            let wait = Duration::from_micros(seed.next() % (longest.as_micros() as u64 * 11 / 10));
            let layout = *seed.pick(&LAYOUTS);
            killed += u64::from(is_killed(site.command(&Site::mirror(layout)), wait));
            let now = named(&mirror);
            partial += u64::from(!now.is_empty() && now.len() < right.len());
            let context = format!("seed {number}, {layout:?}, killed after {wait:?}");
            assert_nothing_wrong(&now, &right, &context);
            assert_layouts_are_whole(&named(&layouts), &right_layouts, &context);
            if let Ok(bytes) = fs::read(&bundle) {
                assert!(bytes == right_bundle, "{context}: the bundle is wrong");
            }
        }
        site.succeeds(&Site::mirror(ALL));
        assert_eq!(tree(&mirror), right, "nothing temporary is left either");
        assert_eq!(tree(&layouts), right_layouts);
        assert!(fs::read(&bundle).unwrap() == right_bundle);
        println!(
            "{runs} runs from seed {first}: {killed} killed before their end, {partial} mirrors incomplete after it, \
             nothing wrong, {} s",
            start.elapsed().as_secs()
        );
    }
}
