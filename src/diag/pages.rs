//! A page of documentation for each rule, by topic.
//!
//! Pages are Markdown of a small kind, which `report` renders: headings, paragraphs, lists and fenced
//! blocks. Their examples are run by a test (`tests/it/pages.rs`).

/// Rules that are about the same kind of thing.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// What they are about, as a heading.
    pub title: &'static str,
    /// The name of each rule with its page, sorted by name.
    pages: &'static [(&'static str, &'static str)],
}

/// Pairs names with the files of that name.
macro_rules! pages {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("pages/", $name, ".md")))),*]
    };
}

/// Every topic, in the order in which they are listed.
pub const TOPICS: &[Topic] = &[
    Topic {
        title: "The lock file by itself",
        pages: pages![
            "address-not-canonical",
            "constraints-malformed",
            "duplicate-provider",
            "file-not-canonical",
            "hash-not-well-formed",
            "hash-scheme-missing",
            "hashes-empty",
            "module-lock",
            "version-malformed",
            "version-missing",
        ],
    },
    Topic {
        title: "The lock file against the configuration",
        pages: pages![
            "constraints-stale",
            "hosts-mixed",
            "lock-missing",
            "provider-not-locked",
            "provider-not-required",
            "version-outside-constraint",
        ],
    },
    Topic {
        title: "Platforms and hashes",
        pages: pages![
            "platforms-incomplete",
            "platforms-unattributed",
            "zh-missing",
        ],
    },
    Topic {
        title: "Packages, registries and mirrors",
        pages: pages![
            "entries-carried-over",
            "hash-unknown-upstream",
            "hashes-contradicted",
            "hashes-unexplained",
            "mirror-missing",
            "newer-patch",
            "package-mismatch",
            "package-misnamed",
            "package-missing",
            "package-not-locked",
            "package-odd",
            "package-repacked",
            "package-stray-file",
            "package-unreadable",
            "package-unverifiable",
            "registry-warning",
            "signature-odd",
            "version-gone",
        ],
    },
    Topic {
        title: "Configuration and state",
        pages: pages![
            "configuration-invalid",
            "configuration-odd",
            "constraint-invalid",
            "module-not-visible",
            "module-unreadable",
            "state-not-visible",
            "state-unreadable",
            "test-directory-missing",
            "type-invalid",
        ],
    },
    Topic {
        title: "Policy",
        pages: pages![
            "key-not-allowed",
            "key-not-compared",
            "provider-not-allowed",
            "versions-differ",
        ],
    },
    Topic {
        title: "Files of any kind",
        pages: pages![
            "address-malformed",
            "conflict-markers",
            "duplicate-key",
            "file-unreadable",
            "label-wrong",
            "nested-too-deep",
            "not-constant",
            "object-too-large",
            "syntax-error",
            "unsupported-item",
            "wrong-type",
        ],
    },
    Topic {
        title: "Project file and CLI configuration",
        pages: pages![
            "cli-configuration-invalid",
            "cli-configuration-missing",
            "cli-configuration-not-followed",
            "cli-configuration-without-effect",
            "project-invalid",
            "project-odd",
        ],
    },
];

impl Topic {
    /// Returns the names of the rules, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.pages.iter().map(|(name, _)| *name)
    }
}

/// Finds the page of a rule.
pub(super) fn page(name: &str) -> Option<&'static str> {
    let mut pages = TOPICS.iter().flat_map(|topic| topic.pages);
    let (_, page) = pages.find(|(own, _)| *own == name)?;
    Some(page)
}
