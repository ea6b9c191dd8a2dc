//! The questions of a run about attestations, each asked once.

use std::collections::BTreeMap;

use crate::authenticate::{AttestationError, AttestationRoots, AttestedPackages};
use crate::hash::{Hash, digest_of_hex};
use crate::report::Failure;
use crate::sources::attestations::{AttestationApi, AttestationFault};

/// Maximum number of requests of a run without a token: GitHub answers 60 in an hour for an address, which many
/// machines may share.
const MAX_WITHOUT_TOKEN: usize = 30;

/// The answer about a package: its build with all packages of it, or the reason why an attestation does not count.
pub(super) type Attested = Result<Option<AttestedPackages>, String>;

/// The questions, with the answers so far.
pub(super) struct AttestationQuestions<'a> {
    api: AttestationApi<'a>,
    /// The answers by the repository and the package.
    answers: BTreeMap<(String, Hash), Attested>,
    requests: usize,
    /// Nothing more is asked.
    stopped: bool,
}

impl<'a> AttestationQuestions<'a> {
    pub(super) fn new(api: AttestationApi<'a>) -> Self {
        Self {
            api,
            answers: BTreeMap::new(),
            requests: 0,
            stopped: false,
        }
    }

    /// Returns the answer about a package; `None` if none can be had.
    pub(super) fn answer(
        &mut self,
        zh: &Hash,
        repository: &str,
        roots: &AttestationRoots,
        failures: &mut Vec<Failure>,
    ) -> Option<Attested> {
        let question = (repository.to_owned(), zh.clone());
        if let Some(answer) = self.answers.get(&question) {
            return Some(answer.clone());
        }
        if self.stopped {
            return None;
        }
        let has_token = self.api.token.is_some();
        let with_token = "set GITHUB_TOKEN or GH_TOKEN: GitHub answers more requests then";
        if !has_token && self.requests >= MAX_WITHOUT_TOKEN {
            self.stopped = true;
            let title = format!(
                "attestations were asked for {} times, and no more",
                self.requests
            );
            failures.push(Failure::new(title).help(with_token));
            return None;
        }
        self.requests += 1;
        let (_, name) = repository.split_once('/')?;
        let bundles = match self.api.bundles(name, zh) {
            Ok(bundles) => bundles,
            Err(fault) => {
                // The next request would fail as well, or make it worse.
                self.stopped = true;
                let failure = Failure::from_error(&fault);
                failures.push(match fault {
                    AttestationFault::Limit(_) if !has_token => failure.help(with_token),
                    AttestationFault::Limit(_) => failure.help("run it again in an hour"),
                    _ => failure,
                });
                return None;
            }
        };
        let answer = verified(roots, &bundles, zh, repository);
        self.answers.insert(question, answer.clone());
        Some(answer)
    }
}

/// Returns the build that a bundle attests, or the reason why one that should do so does not.
fn verified(roots: &AttestationRoots, bundles: &[String], zh: &Hash, repository: &str) -> Attested {
    let digest = digest_of_hex(zh.value()).ok_or("it is no digest")?;
    let mut answer = Ok(None);
    for bundle in bundles {
        match roots.verify(bundle, &digest, repository) {
            Ok(attested) => return Ok(Some(attested)),
            // Lists of components and releases are attested in the same place.
            Err(AttestationError::OtherStatement(_)) => {}
            Err(error) => answer = Err(error.to_string()),
        }
    }
    answer
}
