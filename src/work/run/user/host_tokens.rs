//! Credentials for hosts: tokens of the CLI configuration, and those of a credentials helper.

use std::ffi::OsString;

use serde::Deserialize;

use crate::addr::Hostname;
use crate::cliconfig::{CliConfig, HelperProgram};
use crate::parallel::Memo;
use crate::run::World;
use crate::run::user::helper_program::Helper;
use crate::world::{Credentials, Secret};

/// Credentials for hosts; a helper is run at most once for each (`cliconfig` rules 4.3).
pub(crate) struct HostTokens<'a> {
    world: World<'a>,
    config: CliConfig,
    answers: Memo<Hostname, Answer>,
}

/// The answer of a helper: a token, none, or the reason why it gave none.
type Answer = Result<Option<Secret>, String>;

/// The JSON object that a helper prints.
#[derive(Deserialize)]
struct Printed {
    token: Option<String>,
}

impl<'a> HostTokens<'a> {
    pub(crate) fn new(world: World<'a>, config: CliConfig) -> Self {
        Self {
            world,
            config,
            answers: Memo::default(),
        }
    }

    /// Returns what is sent to a host.
    ///
    /// # Errors
    /// The reason why the helper gave no answer.
    pub(crate) fn credentials(&self, host: &Hostname) -> Result<Option<Credentials>, String> {
        let token = match (self.config.token(host), &self.config.helper) {
            (Some(token), _) => Some(token.clone()),
            // Others wait here until it has answered, since it would be asked the same.
            (None, Some(helper)) if self.config.needs_helper(host) => {
                self.answers.get(host, || self.ask(helper, host))?
            }
            (None, _) => None,
        };
        Ok(token.map(Credentials::Bearer))
    }

    fn ask(&self, helper: &HelperProgram, host: &Hostname) -> Answer {
        // The programs ignore a helper that is not installed.
        let program = Helper {
            kind: "credentials helper",
            name: &helper.name,
            prefix: "terraform-credentials-",
            dirs: helper.dirs.clone(),
        };
        let args: Vec<OsString> = helper
            .args
            .iter()
            .map(String::as_str)
            .chain(["get", host.ascii()])
            .map(OsString::from)
            .collect();
        let ended = program.run(self.world, &args, b"")?;
        if ended.code != Some(0) {
            return Err(program.failed(&ended));
        }
        // What it printed may be a token, so no message repeats it.
        let printed: Printed = serde_json::from_slice(&ended.stdout)
            .map_err(|_| program.fault("prints no JSON object with a token"))?;
        Ok(printed.token.map(Secret::new))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};

    use super::*;
    use crate::run::user::helper_program::HELPER_TIME;
    use crate::world::Ended;
    use crate::world::mem::{MemClock, MemEnv, MemFiles, MemHttp, MemRun};

    const DIR: &str = "/h/.terraform.d/plugins";

    /// Asks a helper about two hosts, twice; returns the token or the failure of the first, and what was
    /// run.
    fn ask(name: &str, ending: impl Fn() -> io::Result<Ended> + Sync) -> (String, Vec<String>) {
        let file = format!(
            "{DIR}/terraform-credentials-vault{}",
            std::env::consts::EXE_SUFFIX
        );
        let files = MemFiles::with(&[(&file, "program")]);
        let (env, clock) = (MemEnv::default(), MemClock::default());
        let http = MemHttp::new(|_| panic!("no request"));
        let run = MemRun::new(|invocation| {
            assert_eq!(invocation.timeout, Some(HELPER_TIME));
            ending()
        });
        let world = World {
            disk: &files,
            env: &env,
            http: &http,
            clock: &clock,
            run: &run,
            project_files: None,
        };
        let mut config = CliConfig::default();
        config.helper.replace(HelperProgram {
            name: name.to_owned(),
            args: vec!["--fast".to_owned()],
            dirs: vec![DIR.into()],
        });
        let tokens = HostTokens::new(world, config);
        let host = |text: &str| text.parse::<Hostname>().expect("valid");
        let mut found = String::new();
        for _ in 0..2 {
            tokens.credentials(&host("b.example")).ok();
            found = match tokens.credentials(&host("a.example")) {
                Ok(Some(Credentials::Bearer(token))) => token.reveal().to_owned(),
                Ok(_) => String::new(),
                Err(failure) => failure,
            };
        }
        let ran = run.ran().into_iter();
        let ran = ran.map(|args| args.join(" ".as_ref()).to_string_lossy().into_owned());
        (found, ran.collect())
    }

    fn printed(text: &str) -> io::Result<Ended> {
        Ok(Ended {
            code: Some(0),
            stdout: text.as_bytes().to_vec(),
            stderr: Vec::new(),
        })
    }

    #[test]
    fn a_helper_is_run_once_for_each_host() {
        let (token, ran) = ask("vault", || printed("{\"token\": \"word\", \"other\": 1}"));
        assert_eq!(token, "word");
        assert_eq!(ran, ["--fast get b.example", "--fast get a.example"]);
        assert_eq!(ask("vault", || printed("{}")).0, "");
    }

    #[test]
    fn failures_are_described_without_what_was_printed() {
        let failed = |ending: &(dyn Fn() -> io::Result<Ended> + Sync)| ask("vault", ending).0;
        let broken = || {
            Ok(Ended {
                code: Some(1),
                stdout: b"hunter2".to_vec(),
                stderr: b"no such vault\n".to_vec(),
            })
        };
        let helper = "the credentials helper \"vault\"";
        assert_eq!(failed(&broken), format!("{helper} failed: no such vault"));
        assert_eq!(
            failed(&|| printed("hunter2")),
            format!("{helper} prints no JSON object with a token")
        );
        assert_eq!(
            failed(&|| Err(ErrorKind::TimedOut.into())),
            format!("{helper} gave no answer within 30 s")
        );
        assert_eq!(
            failed(&|| Err(ErrorKind::FileTooLarge.into())),
            format!("{helper} prints more than 65536 bytes")
        );
    }

    #[test]
    fn only_a_program_of_its_directory_is_run() {
        for name in ["../vault", "other", "a/vault"] {
            let (failure, ran) = ask(name, || printed("{}"));
            assert_eq!(
                failure,
                format!("the credentials helper {name:?} is not installed")
            );
            assert!(ran.is_empty());
        }
    }
}
