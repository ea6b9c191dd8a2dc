//! Credentials for registries of OCI artifacts: those of the CLI configuration, of files of other tools,
//! and of Docker credential helpers.

use std::ffi::OsString;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::addr::RepositoryAddr;
use crate::cliconfig::{CliConfig, OciLogin, OciLogins};
use crate::parallel::Memo;
use crate::run::World;
use crate::run::user::helper_program::Helper;
use crate::world::{Credentials, Secret};

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
        let path = self.world.env.var("PATH").unwrap_or_default();
        let helper = Helper {
            kind: "Docker credential helper",
            name,
            prefix: "docker-credential-",
            dirs: std::env::split_paths(&path)
                // A relative directory may be one of a repository that is only inspected, which could then choose
                // the program.
                .filter(|dir| dir.is_absolute())
                .collect(),
        };
        let server = format!("https://{domain}");
        let args = [OsString::from("get")];
        let ended = helper.run(self.world, &args, server.as_bytes())?;
        if ended.code != Some(0) {
            let printed = String::from_utf8_lossy(&ended.stdout);
            return match printed.trim() {
                NOT_FOUND => Ok(None),
                _ => Err(helper.failed(&ended)),
            };
        }
        // What it printed may be a password, so no message repeats it.
        let printed: Printed = serde_json::from_slice(&ended.stdout)
            .map_err(|_| helper.fault("prints no JSON object with a user and a secret"))?;
        if printed.user == TOKEN_USER {
            return Err(helper.fault("has a token, and only passwords can be used"));
        }
        Ok(Some(Credentials::Basic {
            user: printed.user,
            password: Secret::new(printed.secret),
        }))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io;
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
