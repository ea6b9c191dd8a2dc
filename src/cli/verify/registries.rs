//! What `lockctl verify --upstream` asks registries, each release once.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::authenticate::Rules;
use crate::cli::World;
use crate::cli::advice;
use crate::cli::advice::lock::Required;
use crate::cli::network::{self, Told};
use crate::cli::root::Root;
use crate::cli::setup;
use crate::cliconfig::CliConfig;
use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::locker::{self, LockError, Release, Vouched};
use crate::report::Failure;
use crate::requirement::Requirements;
use crate::sources::registry::Registry;
use crate::verify::Subject;
use crate::verify::upstream::{Answer, Answers, Signed};

/// What all roots of a run share.
pub(in crate::cli) struct Upstream<'a> {
    world: World<'a>,
    told: Told<'a>,
    /// The registries by the rules of each flavor that came up.
    asked: Vec<Asked<'a>>,
}

/// The registries by the rules of a flavor, and what they said.
struct Asked<'a> {
    flavor: Flavor,
    registry: Registry<'a>,
    answers: BTreeMap<Release, Result<Rc<Answer>, Vec<LockError>>>,
}

impl<'a> Upstream<'a> {
    pub(in crate::cli) fn new(world: World<'a>, told: Told<'a>) -> Self {
        Self {
            world,
            told,
            asked: Vec::new(),
        }
    }

    /// Asks about what a root has locked, and returns the answers and why some are missing.
    ///
    /// `config` is the CLI configuration; nobody is asked while it has errors.
    pub(in crate::cli) fn ask(
        &mut self,
        (root, subject): (&Root, Subject<'_>),
        config: Option<&CliConfig>,
        texts: &Texts,
    ) -> (Answers, Vec<Failure>) {
        let Some(config) = config else {
            let failure = Failure {
                title: "the registries were not asked".to_owned(),
                causes: vec!["the CLI configuration has errors".to_owned()],
                help: Some("correct them first".to_owned()),
            };
            return (Answers::new(), vec![failure]);
        };
        let releases: Vec<Release> = releases(subject).collect();
        let known = self.answers(root.flavor, config, &releases);
        let (mut answers, mut errors) = (Answers::new(), Vec::new());
        for release in releases {
            match &known[&release] {
                Ok(answer) => {
                    answers.insert(release.provider, Rc::clone(answer));
                }
                Err(several) => errors.extend(several),
            }
        }
        let unread = Requirements::default();
        let required = Required {
            requirements: subject.requirements.unwrap_or(&unread),
            texts,
        };
        let failures = advice::lock::grouped(errors, root.flavor, &required);
        (answers, failures)
    }

    /// Asks about those releases that nobody asked about, and returns all that is known.
    fn answers(
        &mut self,
        flavor: Flavor,
        config: &CliConfig,
        releases: &[Release],
    ) -> &BTreeMap<Release, Result<Rc<Answer>, Vec<LockError>>> {
        let known = self.asked.iter().position(|one| one.flavor == flavor);
        let at = known.unwrap_or_else(|| {
            let net = network::net(self.world, flavor, self.told);
            self.asked.push(Asked {
                flavor,
                registry: network::registry(&net, flavor, config.clone()),
                answers: BTreeMap::new(),
            });
            self.asked.len() - 1
        });
        let Asked {
            registry, answers, ..
        } = &mut self.asked[at];
        let new = releases.iter().filter(|one| !answers.contains_key(one));
        let new: Vec<Release> = new.cloned().collect();
        let rules = Rules {
            flavor,
            enforce_expiration: setup::is_true(self.world.env, "OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        };
        let said = locker::releases(registry, &new, &rules, self.world.clock.now());
        let said = said.into_iter().map(|said| said.map(answer));
        answers.extend(new.into_iter().zip(said));
        answers
    }
}

/// Lists what a lock file holds; programs bring built-in providers along.
fn releases(subject: Subject<'_>) -> impl Iterator<Item = Release> {
    let entries = subject.document.lock.providers.iter();
    let entries = entries.filter(move |(provider, _)| !provider.is_builtin(subject.flavor));
    entries.map(|(provider, entry)| Release {
        provider: provider.clone(),
        version: entry.version.clone(),
    })
}

fn answer(vouched: Vouched) -> Rc<Answer> {
    Rc::new(Answer {
        versions: vouched.versions,
        signed: vouched.signed.map(|list| Signed {
            hashes: list.hashes,
            signers: list.signers,
        }),
    })
}
