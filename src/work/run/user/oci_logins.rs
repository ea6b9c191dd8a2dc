//! Credentials for registries of OCI artifacts: those of the CLI configuration, of files of other tools,
//! and of Docker credential helpers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;

use crate::addr::RepositoryAddr;
use crate::cliconfig::{CliConfig, OciLogin, OciLogins};
use crate::parallel::Memo;
use crate::run::World;
use crate::run::user::helper_program;
use crate::world::{Credentials, FileKind, Secret};

/// Output of a credential helper that has no credentials for a server, as in Docker's protocol.
const NOT_FOUND: &str = "credentials not found in native keychain";

/// The user name that means a token instead of a password.
const TOKEN_USER: &str = "<token>";

/// Credentials for repositories; files are read when the first registry asks for credentials, and a helper is
/// run at most once for each domain (`cliconfig` rules 7.4 to 7.6).
pub(crate) struct RepositoryLogins<'a> {
    world: World<'a>,
    config: CliConfig,
    read: OnceLock<OciLogins>,
    answers: Memo<(String, String), Answer>,
}

/// Credentials, none, or why there are none.
type Answer = Result<Option<Credentials>, String>;

/// The JSON object that a helper prints.
#[derive(Deserialize)]
struct Printed {
    #[serde(rename = "Username")]
    user: String,
    #[serde(rename = "Secret")]
    secret: String,
}

impl<'a> RepositoryLogins<'a> {
    pub(crate) fn new(world: World<'a>, config: CliConfig) -> Self {
        Self {
            world,
            config,
            read: OnceLock::new(),
            answers: Memo::default(),
        }
    }

    /// Returns what a repository is sent.
    pub(crate) fn credentials(&self, repository: &RepositoryAddr) -> Answer {
        let World { disk, env, .. } = self.world;
        let logins = self
            .read
            .get_or_init(|| OciLogins::read(disk, env, &self.config));
        match logins.find(repository) {
            Some(OciLogin::Basic { user, password }) => Ok(Some(Credentials::Basic {
                user: user.clone(),
                password: password.clone(),
            })),
            Some(OciLogin::Token(token)) => Ok(Some(Credentials::Bearer(token.clone()))),
            Some(OciLogin::Helper(name)) => {
                let domain = repository.domain();
                // Others wait here until it has answered, since it would be asked the same.
                let key = (name.to_owned(), domain.to_owned());
                self.answers.get(&key, || self.ask(name, domain))
            }
            None => match logins.faults().first() {
                Some(fault) => Err(fault.clone()),
                None => Ok(None),
            },
        }
    }

    fn ask(&self, name: &str, domain: &str) -> Answer {
        let fault = |reason: String| format!("the Docker credential helper {name:?} {reason}");
        let Some(path) = self.find(name) else {
            return Err(fault("is not installed".to_owned()));
        };
        let server = format!("https://{domain}");
        let args = [OsString::from("get")];
        let ended = helper_program::run(self.world, &path, &args, server.as_bytes());
        let ended = ended.map_err(fault)?;
        if ended.code != Some(0) {
            let printed = String::from_utf8_lossy(&ended.stdout);
            return match printed.trim() {
                NOT_FOUND => Ok(None),
                _ => Err(fault(helper_program::failed(&ended))),
            };
        }
        // What it printed may be a password, so no message repeats it.
        let printed: Result<Printed, _> = serde_json::from_slice(&ended.stdout);
        let printed = printed
            .map_err(|_| fault("prints no JSON object with a user and a secret".to_owned()))?;
        if printed.user == TOKEN_USER {
            return Err(fault(
                "has a token, and only passwords can be used".to_owned(),
            ));
        }
        Ok(Some(Credentials::Basic {
            user: printed.user,
            password: Secret::new(printed.secret),
        }))
    }

    /// Finds the program of a helper in `PATH`.
    fn find(&self, name: &str) -> Option<PathBuf> {
        if !helper_program::is_plain(name) {
            return None;
        }
        let separator = if cfg!(windows) { ';' } else { ':' };
        let program = format!("docker-credential-{name}{}", std::env::consts::EXE_SUFFIX);
        let dirs = self.world.env.var("PATH")?.into_string().ok()?;
        dirs.split(separator)
            .map(Path::new)
            // A relative directory may be one of a repository that is only inspected, which could then choose
            // the program.
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(&program))
            .find(|path| self.world.disk.kind(path).ok() == Some(FileKind::File))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{self, ErrorKind};
    use std::sync::Mutex;

    use super::*;
    use crate::cliconfig::{self, ConfigChoice};
    use crate::diag::Texts;
    use crate::flavor::Flavor;
    use crate::run::user::helper_program::HELPER_TIME;
    use crate::world::mem::{MemClock, MemEnv, MemFiles, MemHttp, MemRun};
    use crate::world::{Ended, Executable};

    const RC: &str = "oci_credentials \"r.example\" { docker_credentials_helper = \"vault\" }\n\
                      oci_default_credentials { docker_credentials_helper = \"all\" }\n";

    /// Asks twice about a repository; returns what it is sent, and what was run with which input.
    fn ask(
        repository: &str,
        ending: impl Fn() -> io::Result<Ended> + Sync,
    ) -> (String, Vec<String>) {
        let files = MemFiles::with(&[
            ("/rc", RC),
            ("/bin/docker-credential-vault", "program"),
            ("bin/docker-credential-all", "program"),
        ]);
        let mut env = MemEnv::default();
        env.vars.insert("PATH".to_owned(), "bin:/none:/bin".into());
        let inputs = Mutex::new(Vec::new());
        let run = MemRun::new(|invocation| {
            assert_eq!(invocation.timeout, Some(HELPER_TIME));
            let input = String::from_utf8_lossy(invocation.stdin).into_owned();
            let Executable::File(path) = invocation.program else {
                panic!("{invocation:?}");
            };
            let args: Vec<_> = invocation
                .args
                .iter()
                .map(|arg| arg.to_string_lossy())
                .collect();
            let line = format!("{} {} < {input}", path.display(), args.join(" "));
            inputs.lock().expect("no panic").push(line);
            ending()
        });
        let (clock, http) = (MemClock::default(), MemHttp::new(|_| panic!("no request")));
        let world = World {
            disk: &files,
            env: &env,
            http: &http,
            clock: &clock,
            run: &run,
            project_files: None,
        };
        let wanted = ConfigChoice {
            flavor: Flavor::OpenTofu1_12,
            file: Some("/rc".as_ref()),
        };
        let (config, _) = cliconfig::read(&files, &env, &mut Texts::default(), wanted);
        let logins = RepositoryLogins::new(world, config);
        let repository: RepositoryAddr = repository.parse().expect("valid");
        let first = logins.credentials(&repository);
        assert_eq!(logins.credentials(&repository), first);
        let found = match first {
            Ok(Some(Credentials::Basic { user, password })) => {
                format!("{user}:{}", password.reveal())
            }
            Ok(other) => format!("{other:?}"),
            Err(reason) => reason,
        };
        drop(logins);
        let inputs = inputs.lock().expect("no panic").clone();
        (found, inputs)
    }

    fn printed(code: i32, stdout: &str, stderr: &str) -> io::Result<Ended> {
        Ok(Ended {
            code: Some(code),
            stdout: stdout.as_bytes().to_vec(),
            stderr: stderr.as_bytes().to_vec(),
        })
    }

    #[test]
    fn a_helper_is_run_once_for_each_domain() {
        let answer = "{\"ServerURL\":\"x\",\"Username\":\"u\",\"Secret\":\"hunter2\"}";
        let (found, ran) = ask("r.example/acme/demo", || printed(0, answer, ""));
        assert_eq!(found, "u:hunter2");
        assert_eq!(
            ran,
            ["/bin/docker-credential-vault get < https://r.example"]
        );
        let (found, _) = ask("r.example/a", || printed(1, &format!("{NOT_FOUND}\n"), ""));
        assert_eq!(found, "None");
    }

    #[test]
    fn failures_are_described_without_what_was_printed() {
        let failed = |ending: &(dyn Fn() -> io::Result<Ended> + Sync)| ask("r.example/a", ending).0;
        let helper = "the Docker credential helper \"vault\"";
        assert_eq!(
            failed(&|| printed(1, "hunter2", "no such vault\n")),
            format!("{helper} failed: no such vault")
        );
        assert_eq!(
            failed(&|| printed(1, "hunter2", "")),
            format!("{helper} failed")
        );
        let shape = format!("{helper} prints no JSON object with a user and a secret");
        assert_eq!(failed(&|| printed(0, "hunter2", "")), shape);
        assert_eq!(failed(&|| printed(0, "{\"Username\":\"u\"}", "")), shape);
        assert_eq!(
            failed(&|| printed(0, "{\"Username\":\"<token>\",\"Secret\":\"hunter2\"}", "")),
            format!("{helper} has a token, and only passwords can be used")
        );
        assert_eq!(
            failed(&|| Err(ErrorKind::TimedOut.into())),
            format!("{helper} gave no answer within 30 s")
        );
    }

    /// A program below the working directory may belong to anyone.
    #[test]
    fn only_a_program_of_an_absolute_directory_is_run() {
        let (found, ran) = ask("other.example/a", || panic!("nothing is run"));
        assert_eq!(
            found,
            "the Docker credential helper \"all\" is not installed"
        );
        assert!(ran.is_empty());
    }
}
