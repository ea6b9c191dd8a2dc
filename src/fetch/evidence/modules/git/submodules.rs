//! Repositories in a repository (rules 7).

use std::collections::BTreeMap;

use super::error::GitFailure;
use super::objects::Gitlink;

/// Maximum number of submodules in a package, those in others included.
pub(super) const MAX_SUBMODULES: usize = 100;

/// Maximum number of submodules inside each other.
pub(super) const MAX_NESTING: usize = 10;

/// The largest `.gitmodules` that is read, in bytes, as git lists it.
pub(super) const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// The settings of the submodule with one path, as `.gitmodules` has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SubmoduleSettings {
    url: Option<String>,
    update: Option<String>,
}

/// Reads the output of `git config --list -z` about `.gitmodules`; returns the settings by path.
pub(super) fn read_settings(listed: &[u8]) -> BTreeMap<Vec<u8>, SubmoduleSettings> {
    let mut by_name: BTreeMap<Vec<u8>, (Option<Vec<u8>>, SubmoduleSettings)> = BTreeMap::new();
    for entry in listed.split(|byte| *byte == 0) {
        let Some(end) = entry.iter().position(|byte| *byte == b'\n') else {
            continue;
        };
        let (key, value) = (&entry[..end], &entry[end + 1..]);
        let Some(key) = key.strip_prefix(b"submodule.") else {
            continue;
        };
        let Some(dot) = key.iter().rposition(|byte| *byte == b'.') else {
            continue;
        };
        let (name, field) = (&key[..dot], &key[dot + 1..]);
        // git skips such names: they become directories below `.git/modules`.
        let leads_up = name
            .split(|byte| matches!(byte, b'/' | b'\\'))
            .any(|part| part == b"..");
        if name.is_empty() || leads_up {
            continue;
        }
        let (path, settings) = by_name.entry(name.to_vec()).or_default();
        // git skips values that look like options.
        let plain = String::from_utf8(value.to_vec())
            .ok()
            .filter(|text| !text.starts_with('-'));
        match field {
            b"path" if !value.starts_with(b"-") => *path = Some(value.to_vec()),
            b"url" => settings.url = plain,
            b"update" => settings.update = plain,
            _ => {}
        }
    }
    by_name
        .into_values()
        .filter_map(|(path, settings)| Some((path?, settings)))
        .collect()
}

/// Returns the address of a submodule, with a relative one made absolute; `None` if its directory stays empty.
/// `parent_url` is the address of the repository that names it.
pub(super) fn submodule_url(
    settings: &BTreeMap<Vec<u8>, SubmoduleSettings>,
    link: &Gitlink,
    parent_url: &str,
) -> Result<Option<String>, GitFailure> {
    let bad = |what| GitFailure::Unusable(format!(".gitmodules {what}"));
    let Some(SubmoduleSettings {
        url: Some(url),
        update,
    }) = settings.get(&*link.path)
    else {
        return Err(bad("gives no URL for it"));
    };
    match update.as_deref() {
        // `update = none` leaves the directory empty (rules 7.4).
        Some("none") => return Ok(None),
        // git itself refuses a command from `.gitmodules` since CVE-2019-19604.
        Some(update) if update.starts_with('!') => {
            return Err(GitFailure::Refused {
                what: format!("the submodule with update = {update:?}"),
                why: "a repository may not name programs",
            });
        }
        Some("checkout" | "rebase" | "merge" | "") | None => {}
        Some(_) => return Err(bad("states an update that git does not know")),
    }
    // Only these two beginnings make an address relative to git; `lib` alone is a path of this machine.
    if !url.starts_with("./") && !url.starts_with("../") {
        return Ok(Some(url.clone()));
    }
    match join(parent_url, url) {
        Some(url) => Ok(Some(url)),
        None => Err(bad("states a relative URL that leads out of its host")),
    }
}

/// Joins a relative address to that of the repository it is in, as git does: each `../` takes one part off,
/// up to a `/`, or else up to a `:`.
fn join(parent: &str, relative: &str) -> Option<String> {
    let mut base = parent.trim_end_matches('/');
    let mut rest = relative;
    let mut separator = '/';
    loop {
        if let Some(behind) = rest.strip_prefix("../") {
            rest = behind;
            match base.rfind(['/', ':']) {
                Some(at) => {
                    separator = if base[at..].starts_with(':') {
                        ':'
                    } else {
                        '/'
                    };
                    base = &base[..at];
                }
                None => return None,
            }
        } else if let Some(behind) = rest.strip_prefix("./") {
            rest = behind;
        } else {
            break;
        }
    }
    // What begins with a scheme keeps it, with the host.
    let has_host = |text: &str| {
        text.split_once("://")
            .is_some_and(|(_, rest)| !rest.is_empty())
    };
    if has_host(parent) && !has_host(base) {
        return None;
    }
    let joined = format!("{base}{separator}{rest}");
    Some(joined.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn relative_addresses_start_from_the_parent() {
        for (parent, relative, expected) in [
            (
                "https://h/git/r.git",
                "../lib.git",
                Some("https://h/git/lib.git"),
            ),
            (
                "https://h/git/r.git/",
                "../lib.git/",
                Some("https://h/git/lib.git"),
            ),
            (
                "https://h/git/r.git",
                "./lib",
                Some("https://h/git/r.git/lib"),
            ),
            (
                "https://h/git/r.git",
                "../../o/lib",
                Some("https://h/o/lib"),
            ),
            ("https://h/git/r.git", "../../../evil", None),
            ("https://h/git/r.git", "../../../../x", None),
            (
                "https://u:p@h:1/r.git",
                "../lib",
                Some("https://u:p@h:1/lib"),
            ),
            ("git@h:o/r.git", "../lib", Some("git@h:o/lib")),
            ("git@h:r.git", "../lib", Some("git@h:lib")),
            ("git@h:r.git", "../../lib", None),
            ("file:///srv/r.git", "../lib", Some("file:///srv/lib")),
        ] {
            let found = join(parent, relative);
            assert_eq!(found.as_deref(), expected, "{relative} from {parent}");
        }
    }

    #[track_caller]
    fn check(listed: &[&str], expected: &str) {
        let settings = read_settings(listed.join("\0").as_bytes());
        let link = Gitlink {
            path: b"lib"[..].into(),
            commit: "0".repeat(40),
        };
        let found = match submodule_url(&settings, &link, "https://h/r.git") {
            Ok(url) => url.unwrap_or_else(|| "left".to_owned()),
            Err(error) => format!("! {error}"),
        };
        assert_eq!(found, expected, "{listed:?}");
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let path = "submodule.a.b.path\nlib";
        let url = "submodule.a.b.url\nhttps://h/lib";
        check(&[path, url], "https://h/lib");
        check(&[path, "submodule.a.b.url\n../lib"], "https://h/lib");
        check(&[path, url, "submodule.a.b.update\nnone"], "left");
        check(
            &[path, url, "submodule.a.b.update\nrebase"],
            "https://h/lib",
        );
        check(
            &[path, url, "submodule.a.b.update\n!touch x"],
            "! the submodule with update = \"!touch x\" is not passed to git: a repository may not name programs",
        );
        let none = "! .gitmodules gives no URL for it";
        check(&[], none);
        check(&[path], none);
        check(&[path, "submodule.other.url\nhttps://h/lib"], none);
        check(&[path, "submodule.a.b.url\n-u"], none);
        check(
            &[
                "submodule.../x.path\nlib",
                "submodule.../x.url\nhttps://h/lib",
            ],
            none,
        );
        check(
            &["submodule.x.path\n../lib", "submodule.x.url\nhttps://h/lib"],
            none,
        );
        check(&["core.path\nlib", "noise", "submodule.url\nx"], none);
    }

    proptest! {
        #[test]
        fn no_settings_make_the_reader_fail(
            listed in prop::collection::vec(any::<u8>(), 0..200),
            url in "[./:a@-]{0,12}",
        ) {
            read_settings(&listed);
            let own = format!("submodule.a.path\nlib\0submodule.a.url\n{url}");
            let link = Gitlink { path: b"lib"[..].into(), commit: "0".repeat(40) };
            for parent in ["https://h/r.git", "git@h:o/r.git", "h:r"] {
                if let Ok(Some(url)) = submodule_url(&read_settings(own.as_bytes()), &link, parent) {
                    prop_assert!(!url.starts_with('-'), "{}", url);
                }
            }
        }
    }
}
