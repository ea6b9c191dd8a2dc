//! Changes between two files of pinned modules, and their risk.

use std::collections::BTreeSet;

use serde::Serialize;

use super::causes::Risk;
use crate::pins::Pins;
use crate::remote_module::ModulePin;
use crate::version::Version;

/// A change of a pinned module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PinChange {
    /// The call of the module, as in `network.subnets`.
    pub module: String,
    /// The kind of the change.
    pub kind: PinChangeKind,
    /// The risk of the change.
    pub risk: Risk,
    /// The change in one clause.
    pub cause: String,
    /// The pin before; null if there was none.
    pub old: Option<ModulePin>,
    /// The pin now; null if there is none.
    pub new: Option<ModulePin>,
}

/// A kind of change of a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PinChangeKind {
    /// The call is pinned for the first time.
    Added,
    /// The call is no longer pinned.
    Removed,
    /// The source of the call is another version of the same package.
    Changed,
    /// The source of the call is another package.
    Replaced,
    /// The version went up.
    Upgraded,
    /// The version went down.
    Downgraded,
    /// A branch points to another commit.
    BranchMoved,
    /// A tag points to another commit.
    TagMoved,
    /// The same version, commit or address holds other files.
    Republished,
}

impl PinChangeKind {
    fn risk(self) -> Risk {
        match self {
            Self::TagMoved | Self::Republished => Risk::Danger,
            Self::Downgraded | Self::Replaced => Risk::Warning,
            Self::BranchMoved => Risk::Notice,
            Self::Added | Self::Removed | Self::Changed | Self::Upgraded => Risk::Routine,
        }
    }
}

/// Returns a change as a clause about the module: no capital letter, no period.
fn clause(kind: PinChangeKind, before: Option<&ModulePin>, now: Option<&ModulePin>) -> String {
    // The version or commit of a pin, else its hash.
    let at = |pin: Option<&ModulePin>| match pin {
        None => String::new(),
        Some(pin) => match (&pin.version, &pin.commit) {
            (Some(version), _) => format!("version {version}"),
            (None, Some(commit)) => format!("commit {}", commit.get(..12).unwrap_or(commit)),
            (None, None) => format!("hash {}", pin.hash.as_str()),
        },
    };
    let source = |pin: Option<&ModulePin>| pin.map(|pin| pin.source.clone()).unwrap_or_default();
    let (old, new) = (at(before), at(now));
    match kind {
        PinChangeKind::Added => format!("is pinned at {new}"),
        PinChangeKind::Removed => format!("is no longer pinned; it was at {old}"),
        PinChangeKind::Changed => format!("has another source, and moved from {old} to {new}"),
        PinChangeKind::Replaced => {
            let (old, new) = (source(before), source(now));
            format!("is another package: {new} instead of {old}")
        }
        PinChangeKind::Upgraded => format!("went up from {old} to {new}"),
        PinChangeKind::Downgraded => format!("went down from {old} to {new}"),
        PinChangeKind::BranchMoved => format!("moved from {old} to {new}"),
        PinChangeKind::TagMoved => {
            format!("moved from {old} to {new}, although its tag is the same")
        }
        PinChangeKind::Republished if old == new => format!("has other files at the same {new}"),
        // An archive has no name but its address.
        PinChangeKind::Republished => {
            format!("has other files at the same address: {new} instead of {old}")
        }
    }
}

/// Lists what differs between two files of pins, by key.
#[must_use]
pub fn pin_changes(old: &Pins, new: &Pins) -> Vec<PinChange> {
    let mut changes = Vec::new();
    for key in BTreeSet::from_iter(old.keys().chain(new.keys())) {
        let (before, now) = (old.get(key), new.get(key));
        let kind = match (before, now) {
            (before, now) if before == now => continue,
            (Some(before), Some(now)) => kind(before, now),
            (Some(_), None) => PinChangeKind::Removed,
            (None, _) => PinChangeKind::Added,
        };
        changes.push(PinChange {
            module: key.clone(),
            kind,
            risk: kind.risk(),
            cause: clause(kind, before, now),
            old: before.cloned(),
            new: now.cloned(),
        });
    }
    changes
}

fn kind(old: &ModulePin, new: &ModulePin) -> PinChangeKind {
    if package(&old.source) != package(&new.source) {
        return PinChangeKind::Replaced;
    }
    match (&old.version, &new.version) {
        (Some(before), Some(now)) if before < now => return PinChangeKind::Upgraded,
        (Some(before), Some(now)) if before > now => return PinChangeKind::Downgraded,
        _ => {}
    }
    if old.source != new.source {
        return PinChangeKind::Changed;
    }
    if new.version.is_some() || old.commit == new.commit || new.commit.is_none() {
        return PinChangeKind::Republished;
    }
    // The ref of a source names a tag if it looks like a version, else a branch.
    let (_, query) = new.source.split_once('?').unwrap_or_default();
    let name = query
        .split('&')
        .find_map(|part| part.strip_prefix("ref="))
        .unwrap_or_default()
        .rsplit('/')
        .next();
    // Tags of a repository with several modules are as in `net-v1.2.0`.
    let number = name
        .unwrap_or_default()
        .trim_start_matches(|c: char| !c.is_ascii_digit());
    let is_tag = !number.is_empty() && number.parse::<Version>().is_ok();
    if is_tag {
        PinChangeKind::TagMoved
    } else {
        PinChangeKind::BranchMoved
    }
}

/// Returns a source without its ref and its subdirectory.
fn package(source: &str) -> &str {
    let address = source.split('?').next().unwrap_or_default();
    let start = address.find("://").map_or(0, |at| at + 3);
    let end = address[start..]
        .find("//")
        .map_or(address.len(), |at| start + at);
    &address[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(text: &str) -> Option<ModulePin> {
        let [source, at, hash] = text.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let version = at.parse::<Version>().ok();
        Some(ModulePin {
            source: source.to_owned(),
            commit: (version.is_none() && at != "-").then(|| at.to_owned()),
            version,
            hash: format!("h1:{hash}").parse().expect("a hash"),
        })
    }

    #[track_caller]
    fn check(old: &str, new: &str, wanted: Option<(PinChangeKind, Risk)>) {
        let pins = |text| {
            pin(text)
                .map(|pin| ("net".to_owned(), pin))
                .into_iter()
                .collect()
        };
        let changes = pin_changes(&pins(old), &pins(new));
        let found = changes.first().map(|change| (change.kind, change.risk));
        assert_eq!(found, wanted, "{old} -> {new}");
    }

    #[test]
    fn changes_have_a_kind_and_a_risk() {
        use PinChangeKind as Kind;
        check("", "", None);
        check("a/b/c 1.0.0 x", "a/b/c 1.0.0 x", None);
        check("", "a/b/c 1.0.0 x", Some((Kind::Added, Risk::Routine)));
        check("a/b/c 1.0.0 x", "", Some((Kind::Removed, Risk::Routine)));
        check(
            "a/b/c 1.0.0 x",
            "a/b/c 1.10.0 y",
            Some((Kind::Upgraded, Risk::Routine)),
        );
        check(
            "a/b/c 1.10.0 x",
            "a/b/c 1.9.0 y",
            Some((Kind::Downgraded, Risk::Warning)),
        );
        check(
            "a/b/c 1.0.0 x",
            "a/b/c 1.0.0 y",
            Some((Kind::Republished, Risk::Danger)),
        );
        check(
            "a/b/c 1.0.0 x",
            "a/x/c 1.0.0 y",
            Some((Kind::Replaced, Risk::Warning)),
        );
        let git = |text: &str| format!("git::https://h/r.git{text}");
        let moved = |reference: &str, kind: Kind| {
            let (old, new) = (format!("{reference} aa x"), format!("{reference} bb y"));
            check(&git(&old), &git(&new), Some((kind, kind.risk())));
        };
        moved("?ref=v1.0.0", Kind::TagMoved);
        moved("//sub?depth=1&ref=release/net-v2.3", Kind::TagMoved);
        moved("?ref=main", Kind::BranchMoved);
        moved("", Kind::BranchMoved);
        check(
            &git("?ref=v1 aa x"),
            &git("?ref=v2 bb y"),
            Some((Kind::Changed, Risk::Routine)),
        );
        check(
            &git("?ref=v1 aa x"),
            &git("?ref=v1 aa y"),
            Some((Kind::Republished, Risk::Danger)),
        );
        check(
            "https://h/m.zip - x",
            "https://h/m.zip - y",
            Some((Kind::Republished, Risk::Danger)),
        );
    }
}
