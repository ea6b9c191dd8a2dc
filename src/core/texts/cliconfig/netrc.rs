//! The `.netrc` file, which Terraform sends for package downloads (rules 4.5).

use std::fmt;

use super::locate::{ConfigPlace, Habits};
use crate::world::{Credentials, Env, Files, Secret};

/// Maximum size of a `.netrc`, in bytes; a larger one counts as none.
const MAX_NETRC_BYTES: u64 = 1024 * 1024;

/// Logins and passwords by machine.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Netrc {
    machines: Vec<NetrcMachine>,
}

/// One `machine`, or `default` if it has no name.
#[derive(Clone, PartialEq, Eq)]
struct NetrcMachine {
    name: Option<String>,
    login: String,
    password: Secret,
}

impl Netrc {
    /// Reads the file that `NETRC` names, else `~/.netrc` (`~/_netrc` on Windows).
    ///
    /// A file that is missing, too large or unreadable counts as an empty one.
    #[must_use]
    pub fn read(files: &dyn Files, env: &dyn Env) -> Self {
        let place = ConfigPlace {
            files,
            env,
            habits: Habits::HERE,
        };
        let usual = || match place.habits {
            Habits::Unix => Some(place.path("HOME")?.join(".netrc")),
            Habits::Windows => {
                let home = place.path("HOME").or_else(|| place.path("USERPROFILE"));
                Some(home?.join("_netrc"))
            }
        };
        let Some(path) = place.path("NETRC").or_else(usual) else {
            return Self::default();
        };
        // The file concerns downloads only, and a server that refuses them says so.
        let bytes = files.read(&path, MAX_NETRC_BYTES).unwrap_or_default();
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Reads the text of a `.netrc`; what makes no sense is passed over.
    ///
    /// A word may be in double quotes, with `\` before a character that means itself. A `#` in the place of a
    /// keyword begins a comment. A macro ends with the next empty line.
    ///
    /// ```
    /// use lockctl_core::cliconfig::Netrc;
    ///
    /// let netrc = Netrc::parse("machine files.example login me password secret");
    /// assert!(netrc.find("files.example").is_some());
    /// assert!(netrc.find("files.example:8443").is_none());
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut machines: Vec<NetrcMachine> = Vec::new();
        let mut words = NetrcWords { rest: text };
        while let Some(keyword) = words.keyword() {
            match keyword.as_str() {
                "macdef" => {
                    // A macro ends with an empty line; what is in it may look like a machine.
                    let end = ["\n\n", "\n\r\n"]
                        .iter()
                        .filter_map(|end| words.rest.find(end))
                        .min();
                    words.rest = end.map_or("", |index| &words.rest[index..]);
                }
                "default" => machines.push(NetrcMachine::named(None)),
                "machine" => {
                    machines.extend(words.value().map(|name| NetrcMachine::named(Some(name))))
                }
                "login" | "password" | "account" => {
                    let (Some(value), Some(machine)) = (words.value(), machines.last_mut()) else {
                        continue;
                    };
                    // `account` is for FTP; its value must not be read as a keyword.
                    match keyword.as_str() {
                        "login" => machine.login = value,
                        "password" => machine.password = Secret::new(value),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Self { machines }
    }

    /// Finds what to send to a host, which is given with its port where the URL states one
    /// (rules 4.5); the first machine of that name counts, then `default`.
    #[must_use]
    pub fn find(&self, host_and_port: &str) -> Option<Credentials> {
        let named = |name: Option<&str>| {
            self.machines
                .iter()
                .find(|machine| machine.name.as_deref() == name)
        };
        let machine = named(Some(host_and_port)).or_else(|| named(None))?;
        Some(Credentials::Basic {
            user: machine.login.clone(),
            password: machine.password.clone(),
        })
    }
}

/// Shows the number of machines only: where a word is missing, a password is read as a name.
impl fmt::Debug for Netrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Netrc")
            .field("machines", &self.machines.len())
            .finish()
    }
}

impl NetrcMachine {
    fn named(name: Option<String>) -> Self {
        Self {
            name,
            login: String::new(),
            password: Secret::new(""),
        }
    }
}

/// The words that are left.
struct NetrcWords<'t> {
    rest: &'t str,
}

impl NetrcWords<'_> {
    fn keyword(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        while self.rest.starts_with('#') {
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
            self.rest = self.rest.trim_start();
        }
        self.value()
    }

    fn value(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        if self.rest.is_empty() {
            return None;
        }
        let quoted = self.rest.starts_with('"');
        let mut word = String::new();
        let mut chars = self.rest.char_indices().skip(usize::from(quoted));
        while let Some((at, c)) = chars.next() {
            let ends = if quoted { c == '"' } else { c.is_whitespace() };
            if ends {
                self.rest = &self.rest[at + c.len_utf8()..];
                return Some(word);
            }
            match c {
                '\\' if quoted => word.extend(chars.next().map(|(_, c)| c)),
                c => word.push(c),
            }
        }
        self.rest = "";
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::{MemEnv, MemFiles};

    #[track_caller]
    fn check(text: &str, host: &str, want: Option<(&str, &str)>) {
        let want = want.map(|(user, password)| Credentials::Basic {
            user: user.to_owned(),
            password: Secret::new(password),
        });
        assert_eq!(Netrc::parse(text).find(host), want, "{host} in {text:?}");
    }

    #[test]
    fn the_machine_is_the_host_with_its_port() {
        let text = "machine localhost login a password b\n\
                    machine localhost:18443\n\tlogin c\n\tpassword d\n";
        check(text, "localhost", Some(("a", "b")));
        check(text, "localhost:18443", Some(("c", "d")));
        check(text, "localhost:1", None);
        check(text, "other", None);
    }

    #[test]
    fn every_word_of_the_format_is_known() {
        check("default login a password b", "x", Some(("a", "b")));
        check(
            "machine x password p account z login l default",
            "x",
            Some(("l", "p")),
        );
        check("machine x login a machine x login b", "x", Some(("a", "")));
        check(
            "# machine x login no\nmachine x login \"a b\" password #1",
            "x",
            Some(("a b", "#1")),
        );
        check(
            r#"machine x password "a\"b\\" login l"#,
            "x",
            Some(("l", r#"a"b\"#)),
        );
        let with_macro = "macdef init\nmachine x login no\n\nmachine x login yes";
        check(with_macro, "x", Some(("yes", "")));
    }

    #[test]
    fn a_broken_file_is_read_as_far_as_it_goes() {
        for text in [
            "",
            "machine",
            "login",
            "machine x login",
            "\"",
            "macdef",
            "pass word",
        ] {
            check(text, "y", None);
        }
        check(
            "login a machine x login b rubbish password c",
            "x",
            Some(("b", "c")),
        );
        check("machine x password \"open", "x", Some(("", "open")));
    }

    #[test]
    fn nothing_of_it_is_shown() {
        let netrc = Netrc::parse("machine secret1 login secret2 password secret3");
        assert!(!format!("{netrc:?}").contains("secret"));
    }

    #[test]
    fn the_variable_beats_the_home_directory() {
        let files = MemFiles::with(&[("/h/.netrc", "default login a"), ("/n", "default login b")]);
        let user = |vars: &[(&str, &str)]| {
            let mut env = MemEnv::default();
            for (name, value) in vars {
                env.vars.insert((*name).to_owned(), value.into());
            }
            match Netrc::read(&files, &env).find("x") {
                Some(Credentials::Basic { user, .. }) => user,
                _ => String::new(),
            }
        };
        assert_eq!(user(&[("NETRC", "/n"), ("HOME", "/h")]), "b");
        assert_eq!(user(&[("NETRC", "/missing"), ("HOME", "/h")]), "");
        assert_eq!(user(&[]), "");
        if Habits::HERE == Habits::Unix {
            assert_eq!(user(&[("NETRC", ""), ("HOME", "/h")]), "a");
        }
    }
}
