//! The credentials that are sent to a repository of OCI artifacts (rules 7.4 to 7.6).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::locate::{ConfigPlace, Habits};
use super::oci_blocks::{OciCredentials, OciDefaults, OciLogin};
use super::{ABSENT, CliConfig, MAX_FILE_BYTES};
use crate::addr::RepositoryAddr;
use crate::world::{Env, Files, Secret, is_outside};

/// Maximum number of entries of one file for domains and repositories.
const MAX_ENTRIES: usize = 10_000;

/// The credentials of the CLI configuration, and those that other tools keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OciLogins {
    /// The credentials for a domain or the beginning of an address; the first of several counts.
    stated: Vec<(String, OciLogin)>,
    /// Credential helpers for every domain, in the same order.
    helpers: Vec<OciLogin>,
    /// Reasons why files were left out.
    faults: Vec<String>,
}

/// A file as Docker writes it, as far as it is read.
#[derive(Deserialize)]
struct DockerFile {
    #[serde(default)]
    auths: Option<BTreeMap<String, Option<DockerAuth>>>,
    #[serde(default, rename = "credHelpers")]
    helpers: Option<BTreeMap<String, String>>,
    #[serde(default, rename = "credsStore")]
    store: Option<String>,
}

/// The entry of one domain or repository.
#[derive(Deserialize)]
struct DockerAuth {
    #[serde(default)]
    auth: Option<String>,
}

impl OciLogins {
    /// Reads the files of other tools, as far as the configuration lets them count (rules 7.5).
    ///
    /// What cannot be read counts as absent: it matters only where a registry wants credentials, and
    /// then [`faults`](Self::faults) says why there are none.
    #[must_use]
    pub fn read(files: &dyn Files, env: &dyn Env, config: &CliConfig) -> Self {
        let place = ConfigPlace {
            files,
            env,
            habits: Habits::HERE,
        };
        let usual = OciDefaults::usual();
        let defaults = config.oci_defaults.as_ref().unwrap_or(&usual);
        let mut logins = Self::default();
        for OciCredentials { prefix, login, .. } in &config.oci_credentials {
            logins.stated.push((prefix.clone(), login.clone()));
        }
        logins
            .helpers
            .extend(defaults.helper.clone().map(OciLogin::Helper));
        // `discover_ambient_credentials = false` leaves the blocks and the helper (rules 7.5).
        if !defaults.discovers {
            return logins;
        }
        match &defaults.files {
            Some(paths) => {
                for path in paths {
                    logins.file(files, path, false);
                }
            }
            None => {
                for path in place.docker_files() {
                    logins.file(files, &path, true);
                }
            }
        }
        logins
    }

    /// Finds the credentials of a repository: those for the longest beginning of its address, else those
    /// for every domain; of several the first.
    #[must_use]
    pub fn find(&self, repository: &RepositoryAddr) -> Option<&OciLogin> {
        // Of equal beginnings the first counts: blocks come before files (rules 7.6).
        let mut longest: Option<(usize, &OciLogin)> = None;
        for (prefix, login) in &self.stated {
            if let Some(parts) = repository.matched_parts(prefix)
                && longest.is_none_or(|(most, _)| parts > most)
            {
                longest = Some((parts, login));
            }
        }
        longest
            .map(|(_, login)| login)
            .or_else(|| self.helpers.first())
    }

    /// Says why files were left out.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    fn file(&mut self, files: &dyn Files, path: &Path, may_be_absent: bool) {
        let fault = |reason: String| format!("{} {reason}", path.display());
        let bytes = match files.read(path, MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) => {
                // A file that the configuration lists has to be there; the usual ones need not (rules 7.5).
                let is_fine = ABSENT.contains(&error.kind()) || is_outside(&error);
                if !(may_be_absent && is_fine) {
                    self.faults.push(fault(format!("cannot be read: {error}")));
                }
                return;
            }
        };
        // What is wrong with it is not repeated, since that may be a piece of a password.
        // `serde` also reads a list as the fields of a structure.
        let is_object = bytes.trim_ascii_start().starts_with(b"{");
        let file = serde_json::from_slice::<DockerFile>(&bytes);
        let Some(file) = file.ok().filter(|_| is_object) else {
            let reason = "is no configuration of Docker".to_owned();
            return self.faults.push(fault(reason));
        };
        let auths = file.auths.unwrap_or_default();
        let helpers = file.helpers.unwrap_or_default();
        // Each entry is compared with each repository.
        if auths.len() + helpers.len() > MAX_ENTRIES {
            let reason = format!("has credentials for more than {MAX_ENTRIES} registries");
            return self.faults.push(fault(reason));
        }
        for (prefix, auth) in auths {
            // Tools write empty entries where a credential helper keeps the password.
            let text = auth.and_then(|entry| entry.auth).unwrap_or_default();
            if text.is_empty() {
                continue;
            }
            match decoded(&text) {
                Some(login) => self.stated.push((prefix, login)),
                None => {
                    let reason = format!("has no user with a password for {prefix:?}");
                    self.faults.push(fault(reason));
                }
            }
        }
        // The name becomes a part of the name of a program, which must not be in another directory.
        let is_program_part = |name: &String| !name.is_empty() && !name.contains(['/', '\\']);
        for (domain, name) in helpers {
            // Docker takes these for domains only.
            if is_program_part(&name) && !domain.contains('/') {
                self.stated.push((domain, OciLogin::Helper(name)));
            }
        }
        self.helpers
            .extend(file.store.filter(is_program_part).map(OciLogin::Helper));
    }
}

/// Decodes a user with a password.
fn decoded(text: &str) -> Option<OciLogin> {
    // As `docker login` writes it: base64 of `USER:PASSWORD`; only the password may hold a colon.
    let bytes = STANDARD.decode(text.trim()).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (user, password) = text.split_once(':')?;
    Some(OciLogin::Basic {
        user: user.to_owned(),
        password: Secret::new(password),
    })
}

impl ConfigPlace<'_> {
    /// Lists the files where other tools keep credentials, the first one first (rules 7.5).
    fn docker_files(self) -> Vec<PathBuf> {
        let home = match self.habits {
            Habits::Unix => self.path("HOME"),
            Habits::Windows => self.path("USERPROFILE"),
        };
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        // Only Linux has the runtime directory; elsewhere the program looks below `~/.config` (rules 7.5).
        let is_linux = self.habits == Habits::Unix && !cfg!(target_os = "macos");
        let runtime_dir = if is_linux {
            self.path("XDG_RUNTIME_DIR")
        } else {
            below_home(".config")
        };
        let config_home = self
            .path("XDG_CONFIG_HOME")
            .or_else(|| below_home(".config"));
        let docker = [".docker/config.json", ".dockercfg"]
            .into_iter()
            .filter_map(below_home);
        let mut paths: Vec<PathBuf> = [runtime_dir, config_home]
            .into_iter()
            .flatten()
            .map(|dir| dir.join("containers/auth.json"))
            .chain(docker)
            .collect();
        // `XDG_CONFIG_HOME` may be `~/.config`.
        paths.dedup();
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cliconfig::{ConfigChoice, read};
    use crate::diag::Texts;
    use crate::flavor::Flavor;
    use crate::world::mem::{MemEnv, MemFiles};

    /// `user:secret`, and `other:word`.
    const AUTH: &str = "dXNlcjpzZWNyZXQ=";
    const OTHER: &str = "b3RoZXI6d29yZA==";

    /// Finds what a repository is sent; returns that with the faults.
    fn find(rc: &str, files: &[(&str, &str)], repository: &str) -> (String, Vec<String>) {
        let mut all = vec![("/h/rc", rc)];
        all.extend(files);
        let files = MemFiles::with(&all);
        let mut env = MemEnv::default();
        for (name, value) in [
            ("HOME", "/h"),
            ("XDG_RUNTIME_DIR", "/run"),
            ("USERPROFILE", "/h"),
        ] {
            env.vars.insert(name.to_owned(), value.into());
        }
        let wanted = ConfigChoice {
            flavor: Flavor::OpenTofu1_12,
            file: Some("/h/rc".as_ref()),
        };
        let (config, problems) = read(&files, &env, &mut Texts::default(), wanted);
        assert!(problems.is_empty(), "{problems:?}");
        let logins = OciLogins::read(&files, &env, &config);
        let shown = format!("{logins:?} {config:?}");
        for secret in ["secret", "word", "hidden", AUTH] {
            assert!(!shown.contains(&format!("\"{secret}")), "{shown}");
        }
        let repository: RepositoryAddr = repository.parse().expect("valid");
        let found = match logins.find(&repository) {
            None => "none".to_owned(),
            Some(OciLogin::Basic { user, password }) => format!("{user}:{}", password.reveal()),
            Some(OciLogin::Token(token)) => format!("token {}", token.reveal()),
            Some(OciLogin::Helper(name)) => format!("helper {name}"),
        };
        (found, logins.faults().to_vec())
    }

    #[track_caller]
    fn check(rc: &str, files: &[(&str, &str)], repository: &str, want: &str) {
        let none: Vec<String> = Vec::new();
        assert_eq!(find(rc, files, repository), (want.to_owned(), none));
    }

    const BLOCKS: &str = "oci_credentials \"r.example\" {\n username = \"u\"\n password = \"hidden\"\n}\n\
        oci_credentials \"r.example/acme\" {\n access_token = \"hidden\"\n refresh_token = \"hidden\"\n}\n\
        oci_credentials \"s.example\" {\n docker_credentials_helper = \"vault\"\n}\n";

    #[test]
    fn the_longest_beginning_of_an_address_wins() {
        check(BLOCKS, &[], "r.example/other/demo", "u:hidden");
        check(BLOCKS, &[], "r.example/acme/demo", "token hidden");
        check(BLOCKS, &[], "r.example/acmes/demo", "u:hidden");
        check(BLOCKS, &[], "s.example/a", "helper vault");
        check(BLOCKS, &[], "t.example/a", "none");
        let deeper = format!("{{\"auths\":{{\"r.example/acme/demo\":{{\"auth\":\"{AUTH}\"}}}}}}");
        let files = [("/h/.docker/config.json", &*deeper)];
        check(BLOCKS, &files, "r.example/acme/demo", "user:secret");
        let global =
            format!("{BLOCKS}oci_default_credentials {{ docker_credentials_helper = \"all\" }}\n");
        check(&global, &[], "t.example/a", "helper all");
        check(&global, &[], "r.example/a", "u:hidden");
    }

    #[test]
    fn files_of_other_tools_are_read_in_their_order() {
        let one = |auth: &str| format!("{{\"auths\":{{\"r.example\":{{\"auth\":\"{auth}\"}}}}}}");
        let (first, second) = (one(AUTH), one(OTHER));
        let address = "r.example/acme/demo";
        for path in [
            "/h/.docker/config.json",
            "/h/.dockercfg",
            "/h/.config/containers/auth.json",
        ] {
            check("", &[(path, &first)], address, "user:secret");
        }
        if !cfg!(any(windows, target_os = "macos")) {
            let files = [
                ("/run/containers/auth.json", &*first),
                ("/h/.docker/config.json", &*second),
            ];
            check("", &files, address, "user:secret");
        }
        let files = [
            ("/h/.config/containers/auth.json", &*second),
            ("/h/.docker/config.json", &*first),
        ];
        check("", &files, address, "other:word");
        let off = "oci_default_credentials { discover_ambient_credentials = false }";
        check(off, &files, address, "none");
        let named = "oci_default_credentials { docker_style_config_files = [\"mine.json\"] }";
        check(
            named,
            &[("/h/mine.json", &first), files[0]],
            address,
            "user:secret",
        );
        check(
            "oci_default_credentials { docker_style_config_files = [] }",
            &files,
            address,
            "none",
        );
    }

    #[test]
    fn helpers_of_files_are_for_domains() {
        let file = format!(
            "{{\"auths\":{{\"q.example\":{{}},\"r.example\":{{\"auth\":\"{AUTH}\"}},\"u.example\":null}},\
             \"credHelpers\":{{\"s.example\":\"ecr\",\"t.example\":\"../x\"}},\"credsStore\":\"desktop\"}}"
        );
        let files = [("/h/.docker/config.json", &*file)];
        check("", &files, "r.example/a", "user:secret");
        check("", &files, "s.example/a", "helper ecr");
        check("", &files, "t.example/a", "helper desktop");
        check("", &files, "q.example/a", "helper desktop");
    }

    #[test]
    fn broken_files_are_described_without_what_they_hold() {
        let path = "/h/.docker/config.json";
        let faults = |text: &str| find("", &[(path, text)], "r.example/a").1;
        let shown = |text: String| crate::world::mem::slashed(text);
        for broken in ["", "[]", "{\"auths\":{\"r.example\":\"hidden\"}}"] {
            let want = format!("{path} is no configuration of Docker");
            let found: Vec<String> = faults(broken).into_iter().map(shown).collect();
            assert_eq!(found, [want]);
        }
        for auth in ["hidden", "aGlkZGVu", "%%%%"] {
            let text = format!("{{\"auths\":{{\"r.example\":{{\"auth\":\"{auth}\"}}}}}}");
            let want = format!("{path} has no user with a password for \"r.example\"");
            let found: Vec<String> = faults(&text).into_iter().map(shown).collect();
            assert_eq!(found, [want]);
        }
        let named = "oci_default_credentials { docker_style_config_files = [\"mine.json\"] }";
        let faults = find(named, &[], "r.example/a").1;
        assert!(
            faults[0].contains("mine.json cannot be read: "),
            "{faults:?}"
        );
    }
}
