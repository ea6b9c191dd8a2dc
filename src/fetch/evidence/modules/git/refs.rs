//! Finds the commit of a ref, as in a clone of the repository (rules 6).

use std::collections::BTreeMap;

use crate::flavor::Flavor;

/// The refs of a repository, as it lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RemoteRefs {
    /// The branch that HEAD names, as in `refs/heads/main`.
    default_branch: Option<String>,
    /// The ids by names, HEAD among them.
    ids: BTreeMap<String, RefIds>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RefIds {
    id: String,
    /// The id of the object that an annotated tag points to.
    peeled: Option<String>,
}

/// The ref of an address, looked up in the list of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RefChoice {
    /// A commit by its whole id.
    Id(String),
    /// A name that the repository lists.
    Named {
        name: String,
        /// The commit, or the tag of another object.
        id: String,
    },
    /// A commit by the beginning of its id, in hexadecimal digits.
    Abbreviated(String),
    /// Nothing, as far as the list shows.
    Unknown,
}

/// Minimum number of digits in an abbreviated id, as git has it.
const MIN_DIGITS: usize = 4;

/// Numbers of digits in an id: SHA-1, SHA-256.
const ID_DIGITS: [usize; 2] = [40, 64];

impl RemoteRefs {
    /// Reads the output of `git ls-remote --symref`; `None` for anything else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut refs = Self::default();
        for line in text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            // A name that is no text cannot be asked for.
            let Ok(line) = std::str::from_utf8(line) else {
                continue;
            };
            let (value, name) = line.split_once('\t')?;
            if let Some(target) = value.strip_prefix("ref: ") {
                if name == "HEAD" {
                    refs.default_branch = Some(target.to_owned());
                }
                continue;
            }
            if !is_id(value) {
                return None;
            }
            match name.strip_suffix("^{}") {
                Some(name) => {
                    refs.ids.entry(name.to_owned()).or_default().peeled = Some(value.to_owned());
                }
                None => refs.ids.entry(name.to_owned()).or_default().id = value.to_owned(),
            }
        }
        // Old servers, and those that serve plain files, state the id of HEAD, but not its branch.
        // It is guessed as git does: `master` first, then the first branch of that id.
        if refs.default_branch.is_none()
            && let Some(head) = refs.ids.get("HEAD")
        {
            const MASTER: &str = "refs/heads/master";
            let is_head = |name: &&str| refs.ids.get(*name).is_some_and(|ids| ids.id == head.id);
            refs.default_branch = std::iter::once(MASTER)
                .chain(refs.ids.keys().map(String::as_str))
                .filter(|name| name.starts_with("refs/heads/"))
                .find(is_head)
                .map(str::to_owned);
        }
        Some(refs)
    }

    /// Returns the number of digits in the ids of the repository.
    pub(super) fn id_digits(&self) -> usize {
        self.ids
            .values()
            .next()
            .map_or(ID_DIGITS[0], |ids| ids.id.len())
    }

    /// Resolves HEAD; unknown in a repository without commits, or if HEAD names no branch.
    pub(super) fn head(&self) -> RefChoice {
        self.named("HEAD").unwrap_or(RefChoice::Unknown)
    }

    /// Resolves a ref as in a clone of the whole repository (rules 6.1 to 6.5).
    pub(super) fn choose(&self, text: &str, flavor: Flavor) -> RefChoice {
        if is_id(text) {
            return RefChoice::Id(text.to_ascii_lowercase());
        }
        let tracked = format!("refs/remotes/origin/{text}");
        // These programs resolve the ref before they check it out, so that a tag comes before a branch
        // (rules 6.3).
        let named = if flavor.verifies_module_refs() {
            self.in_clone(text)
                .or_else(|| self.at(&tracked))
                .or_else(|| self.at(&format!("refs/tags/{text}")))
        } else {
            // `git checkout` prefers a branch of the clone to a tag, and there is only one such branch.
            self.at(&format!("refs/heads/{text}"))
                .or_else(|| self.in_clone(text))
                .or_else(|| self.at(&tracked))
        };
        let is_abbreviated = (MIN_DIGITS..ID_DIGITS[1]).contains(&text.len()) && is_hex(text);
        match named {
            Some(named) => named,
            None if is_abbreviated => RefChoice::Abbreviated(text.to_ascii_lowercase()),
            None => RefChoice::Unknown,
        }
    }

    /// Resolves the name of a branch or tag, where no whole clone is made (rules 6.6).
    pub(super) fn choose_by_name(&self, text: &str) -> RefChoice {
        self.named(&format!("refs/heads/{text}"))
            .or_else(|| self.named(&format!("refs/tags/{text}")))
            .unwrap_or(RefChoice::Unknown)
    }

    /// Looks a name up as git does in a clone.
    fn in_clone(&self, base: &str) -> Option<RefChoice> {
        let base = if base == "@" { "HEAD" } else { base };
        let full = [
            base.to_owned(),
            format!("refs/{base}"),
            format!("refs/tags/{base}"),
            format!("refs/heads/{base}"),
            format!("refs/remotes/{base}"),
            format!("refs/remotes/{base}/HEAD"),
        ];
        full.iter().find_map(|name| self.at(name))
    }

    /// Resolves a full name of a clone.
    fn at(&self, name: &str) -> Option<RefChoice> {
        let default_branch = self.default_branch.as_deref();
        let remote = match name {
            "HEAD" => name.to_owned(),
            // `origin` alone means this ref (rules 6.2).
            "refs/remotes/origin/HEAD" => default_branch?.to_owned(),
            name if name.starts_with("refs/tags/") => name.to_owned(),
            // A clone makes no other branch of its own.
            name if name.starts_with("refs/heads/") && default_branch == Some(name) => {
                name.to_owned()
            }
            name => format!("refs/heads/{}", name.strip_prefix("refs/remotes/origin/")?),
        };
        self.named(&remote)
    }

    fn named(&self, name: &str) -> Option<RefChoice> {
        let ids = self.ids.get(name)?;
        Some(RefChoice::Named {
            name: name.to_owned(),
            // An annotated tag is an object of its own; the commit is the one behind `^{}`.
            id: ids.peeled.as_ref().unwrap_or(&ids.id).clone(),
        })
    }
}

/// Returns true if a text is a whole id.
pub(super) fn is_id(text: &str) -> bool {
    ID_DIGITS.contains(&text.len()) && is_hex(text)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FLAVORS: [Flavor; 2] = [Flavor::Terraform1_11, Flavor::OpenTofu1_12];

    fn id(digit: char) -> String {
        digit.to_string().repeat(40)
    }

    /// A repository whose HEAD is `main`, and whose ids are one digit forty times.
    fn refs() -> RemoteRefs {
        let rows = [
            ("ref: refs/heads/main".to_owned(), "HEAD"),
            (id('1'), "HEAD"),
            (id('1'), "refs/heads/main"),
            (id('2'), "refs/heads/dev"),
            (id('3'), "refs/heads/both"),
            (id('4'), "refs/tags/both"),
            (id('5'), "refs/tags/v2"),
            (id('6'), "refs/tags/v2^{}"),
            (id('7'), "refs/pull/1/head"),
            (id('8'), "refs/tags/main"),
            (id('9'), "refs/heads/feature/a"),
        ];
        let lines = rows.map(|(value, name)| format!("{value}\t{name}\n"));
        RemoteRefs::parse(lines.concat().as_bytes()).expect("a list")
    }

    fn shown(choice: &RefChoice) -> String {
        match choice {
            RefChoice::Id(id) => format!("id {}", &id[..1]),
            RefChoice::Named { name, id } => format!("{name} = {}", &id[..1]),
            RefChoice::Abbreviated(digits) => format!("{digits}…"),
            RefChoice::Unknown => "none".to_owned(),
        }
    }

    #[test]
    fn refs_mean_what_they_mean_in_a_clone() {
        let refs = refs();
        for (text, expected) in [
            ("main", ["refs/heads/main = 1", "refs/tags/main = 8"]),
            ("dev", ["refs/heads/dev = 2"; 2]),
            ("feature/a", ["refs/heads/feature/a = 9"; 2]),
            ("both", ["refs/tags/both = 4"; 2]),
            ("v2", ["refs/tags/v2 = 6"; 2]),
            ("tags/v2", ["refs/tags/v2 = 6"; 2]),
            ("refs/tags/v2", ["refs/tags/v2 = 6"; 2]),
            ("refs/heads/main", ["refs/heads/main = 1"; 2]),
            ("refs/heads/dev", ["none"; 2]),
            ("refs/pull/1/head", ["none"; 2]),
            ("origin/dev", ["refs/heads/dev = 2"; 2]),
            ("origin", ["refs/heads/main = 1"; 2]),
            ("HEAD", ["HEAD = 1"; 2]),
            ("@", ["HEAD = 1"; 2]),
            ("HEAD~1", ["none"; 2]),
            ("v2^{}", ["none"; 2]),
            ("abcdef1", ["abcdef1…"; 2]),
            ("ABCDEF1", ["abcdef1…"; 2]),
            ("abc", ["none"; 2]),
            ("nothing", ["none"; 2]),
            ("v2//sub", ["none"; 2]),
            ("HEAD@{1}", ["none"; 2]),
            (":/text", ["none"; 2]),
            ("main..dev", ["none"; 2]),
            ("a b", ["none"; 2]),
        ] {
            let found = FLAVORS.map(|flavor| shown(&refs.choose(text, flavor)));
            assert_eq!(found, expected, "{text}");
        }
        let whole = "ABCDEF0123".repeat(4);
        assert_eq!(shown(&refs.choose(&whole, FLAVORS[0])), "id a");
    }

    #[test]
    fn with_a_depth_only_names_count() {
        let refs = refs();
        for (text, expected) in [
            ("both", "refs/heads/both = 3"),
            ("v2", "refs/tags/v2 = 6"),
            ("refs/tags/v2", "none"),
            ("HEAD", "none"),
        ] {
            assert_eq!(shown(&refs.choose_by_name(text)), expected, "{text}");
        }
        assert_eq!(refs.choose_by_name(&id('1')), RefChoice::Unknown);
    }

    #[test]
    fn a_repository_without_commits_has_no_head() {
        assert_eq!(
            RemoteRefs::parse(b"").expect("a list").head(),
            RefChoice::Unknown
        );
        assert_eq!(RemoteRefs::parse(b"fatal: x"), None);
        assert_eq!(RemoteRefs::parse(b"0\tHEAD\n"), None);
        for (branches, guessed) in [
            (["a", "master"], Some("refs/heads/master")),
            (["b", "c"], Some("refs/heads/b")),
        ] {
            let [first, second] = branches;
            let listed = format!(
                "{0}\tHEAD\n{0}\trefs/heads/{first}\n{0}\trefs/heads/{second}\n",
                id('1')
            );
            let refs = RemoteRefs::parse(listed.as_bytes()).expect("a list");
            assert_eq!(refs.default_branch.as_deref(), guessed);
        }
        let detached = format!("{}\tHEAD\n{}\trefs/heads/master\n", id('1'), id('2'));
        let refs = RemoteRefs::parse(detached.as_bytes()).expect("a list");
        assert_eq!(refs.default_branch, None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_fail(
            listed in "(([0-9a-f]{40}|ref: refs/heads/[a-c])\t(HEAD|refs/(heads|tags)/[a-c~^]{1,3})(\\^\\{\\})?\n){0,9}",
            text in "[a-c@~^{}0-9:/.\u{e9}-]{0,12}",
        ) {
            let refs = RemoteRefs::parse(listed.as_bytes()).unwrap_or_default();
            for flavor in FLAVORS {
                refs.choose(&text, flavor);
            }
        }
    }
}
