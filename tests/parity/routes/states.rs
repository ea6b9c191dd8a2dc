//! What a lock file may hold: every row of the table in `hash` rules 3.5, and what else decides about
//! `init` (`coverage` rules 2 and 3).

/// The provider that is looked at.
pub(super) const PROVIDER: &str = "registry.terraform.io/acme/x";

/// The hashes of the packages that are played with.
pub(super) struct Packages {
    /// Of the package of this platform.
    pub(super) h1: String,
    pub(super) zh: String,
    /// Of that of another platform.
    pub(super) other_h1: String,
    pub(super) other_zh: String,
    /// The signed list, sorted: both zips and the manifest.
    pub(super) list: Vec<String>,
}

/// The name of a state of an entry, and its hashes, unsorted.
type Hashes = (&'static str, fn(&Packages) -> Vec<&str>);

/// A lock file before, and the configuration beside it.
pub(super) struct State {
    pub(super) name: &'static str,
    /// What is required of the provider; nothing if it is not.
    pub(super) constraint: Option<&'static str>,
    pub(super) lock: fn(&Packages) -> Option<String>,
    /// Files beside the configuration, by their paths.
    pub(super) more: &'static [(&'static str, &'static str)],
}

const WRONG_H1: &str = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const WRONG_ZH: &str = "zh:0000000000000000000000000000000000000000000000000000000000000000";

/// Any version.
const ANY: Option<&str> = Some(">= 0.1");

/// What an entry of the provider may record, the version being right.
pub(super) const HASHES: &[Hashes] = &[
    ("nothing", |_| vec![]),
    ("unknown schemes only", |_| vec!["H1:x", "h2:x"]),
    ("right h1", |p| vec![&p.h1]),
    ("right h1, wrong h1", |p| vec![&p.h1, WRONG_H1]),
    ("right h1, wrong zh", |p| vec![&p.h1, WRONG_ZH]),
    ("right h1, part of the list", |p| {
        vec![&p.h1, &p.other_h1, WRONG_H1, &p.zh]
    }),
    ("right h1, the list", |p| all(&[&p.h1], &p.list)),
    ("both h1, the list", |p| all(&[&p.h1, &p.other_h1], &p.list)),
    ("right h1, the list, unknown scheme", |p| {
        all(&[&p.h1, "h2:x"], &p.list)
    }),
    ("right h1, unknown scheme", |p| vec![&p.h1, "h2:x"]),
    ("wrong h1", |_| vec![WRONG_H1]),
    ("wrong h1, unknown scheme", |_| vec![WRONG_H1, "h2:x"]),
    ("that h1 of another platform", |p| vec![&p.other_h1]),
    ("right zh", |p| vec![&p.zh]),
    ("the list", |p| all(&[], &p.list)),
    ("wrong zh", |_| vec![WRONG_ZH]),
    ("zh of another platform", |p| vec![&p.other_zh]),
    ("right zh, wrong h1", |p| vec![&p.zh, WRONG_H1]),
    ("the list, h1 of another platform", |p| {
        all(&[&p.other_h1], &p.list)
    }),
    ("h1 and zh of another platform", |p| {
        vec![&p.other_h1, &p.other_zh]
    }),
];

/// Situations in which something else than hashes decides, or where it should not.
pub(super) const SITUATIONS: &[State] = &[
    State {
        name: "no lock file",
        constraint: ANY,
        lock: |_| None,
        more: &[],
    },
    State {
        name: "no entry",
        constraint: ANY,
        lock: |_| Some("# no provider\n".to_owned()),
        more: &[],
    },
    State {
        name: "unreadable: unknown argument",
        constraint: ANY,
        lock: |p| Some(entry(&complete(p)).replace("version", "revision")),
        more: &[],
    },
    State {
        name: "unreadable: conflict markers",
        constraint: ANY,
        lock: |p| {
            Some(format!(
                "<<<<<<< ours\n{}>>>>>>> theirs\n",
                entry(&complete(p))
            ))
        },
        more: &[],
    },
    State {
        name: "version outside the constraint",
        constraint: Some(">= 2.0"),
        lock: |p| Some(entry(&complete(p))),
        more: &[],
    },
    State {
        name: "version outside the constraint, wrong h1",
        constraint: Some(">= 2.0"),
        lock: |_| Some(entry(&[WRONG_H1])),
        more: &[],
    },
    State {
        name: "not required",
        constraint: None,
        lock: |p| Some(entry(&complete(p))),
        more: &[],
    },
    State {
        name: "not required, wrong h1",
        constraint: None,
        lock: |_| Some(entry(&[WRONG_H1])),
        more: &[],
    },
    State {
        name: "stale constraints",
        constraint: Some("~> 1.0"),
        lock: |p| {
            let stale = "version = \"1.0.0\"\n  constraints = \"1.0.0\"";
            Some(entry(&complete(p)).replace("version = \"1.0.0\"", stale))
        },
        more: &[],
    },
    State {
        name: "comments, blank lines and no header",
        constraint: ANY,
        lock: |p| {
            let text = entry(&complete(p)).replace("\n  hashes", "\n\n\n// here\n      hashes");
            Some(format!("/* mine */ {}", text.replace('\n', "\r\n")))
        },
        more: &[],
    },
    State {
        name: "hashes in another order",
        constraint: ANY,
        lock: |p| {
            let mut hashes = complete(p);
            hashes.reverse();
            Some(entry(&hashes))
        },
        more: &[],
    },
    State {
        name: "one h1 twice",
        constraint: ANY,
        lock: |p| Some(entry(&[&p.h1, &p.h1])),
        more: &[],
    },
    State {
        name: "only the state needs it",
        constraint: None,
        lock: |p| Some(entry(&complete(p))),
        more: STATE,
    },
    State {
        name: "only the state needs it, no entry",
        constraint: None,
        lock: |_| None,
        more: STATE,
    },
    State {
        name: "only the state needs it, wrong h1",
        constraint: None,
        lock: |_| Some(entry(&[WRONG_H1])),
        more: STATE,
    },
    State {
        name: "only a test needs it",
        constraint: None,
        lock: |p| Some(entry(&complete(p))),
        more: TEST,
    },
    State {
        name: "only a test needs it, no entry",
        constraint: None,
        lock: |_| None,
        more: TEST,
    },
    State {
        name: "only a test needs it, wrong h1",
        constraint: None,
        lock: |_| Some(entry(&[WRONG_H1])),
        more: TEST,
    },
    State {
        name: "version outside the constraint of a test",
        constraint: ANY,
        lock: |p| Some(entry(&complete(p))),
        more: TEST_OF_ANOTHER_VERSION,
    },
];

/// A state with a resource of the provider.
const STATE: &[(&str, &str)] = &[(
    "terraform.tfstate",
    r#"{
  "version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x", "outputs": {},
  "resources": [{
    "mode": "managed", "type": "x_thing", "name": "a",
    "provider": "provider[\"registry.terraform.io/acme/x\"]",
    "instances": [{ "schema_version": 0, "attributes": { "id": "1" } }]
  }]
}"#,
)];

/// A test with a module that requires the provider.
const TEST: &[(&str, &str)] = &[
    ("tests/a.tftest.hcl", RUN),
    (
        "h/main.tf",
        "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\n",
    ),
];

/// The same, with a constraint that the locked version does not meet.
const TEST_OF_ANOTHER_VERSION: &[(&str, &str)] = &[
    ("tests/a.tftest.hcl", RUN),
    (
        "h/main.tf",
        "terraform {\n  required_providers {\n    x = { source = \"acme/x\", version = \"> 1.0\" }\n  }\n}\n",
    ),
];

const RUN: &str = "run \"a\" {\n  module {\n    source = \"./h\"\n  }\n}\n";

impl Packages {
    /// The same as the other platform sees them.
    pub(super) fn swapped(&self) -> Self {
        Self {
            h1: self.other_h1.clone(),
            zh: self.other_zh.clone(),
            other_h1: self.h1.clone(),
            other_zh: self.zh.clone(),
            list: self.list.clone(),
        }
    }

    /// Every state of an entry, then the situations, with the lock file of each.
    pub(super) fn states(&self) -> Vec<Played> {
        let entries = HASHES.iter().map(|(name, hashes)| {
            let mut hashes = hashes(self);
            hashes.sort_unstable();
            Played {
                name,
                constraint: ANY,
                lock: Some(entry(&hashes)),
                more: &[],
            }
        });
        let situations = SITUATIONS.iter().map(|state| Played {
            name: state.name,
            constraint: state.constraint,
            lock: (state.lock)(self),
            more: state.more,
        });
        entries.chain(situations).collect()
    }
}

/// A root that is played.
pub(super) struct Played {
    pub(super) name: &'static str,
    pub(super) constraint: Option<&'static str>,
    pub(super) lock: Option<String>,
    pub(super) more: &'static [(&'static str, &'static str)],
}

fn all<'a>(some: &[&'a str], list: &'a [String]) -> Vec<&'a str> {
    let list = list.iter().map(String::as_str);
    some.iter().copied().chain(list).collect()
}

fn complete(packages: &Packages) -> Vec<&str> {
    let mut hashes = all(&[&packages.h1], &packages.list);
    hashes.sort_unstable();
    hashes
}

fn entry(hashes: &[&str]) -> String {
    let list = match hashes {
        [] => String::new(),
        some => format!("  hashes = {some:?}\n"),
    };
    format!("provider \"{PROVIDER}\" {{\n  version = \"1.0.0\"\n{list}}}\n")
}
