//! Whether the evidence for packages holds, before any of them is downloaded.
//!
//! Both programs download first and look at the signature afterwards.

use std::time::SystemTime;

use super::query::Found;
use super::{LockError, Request};
use crate::authenticate::{self, AuthError, Listed, Rules, Signer};
use crate::hash::Hashes;
use crate::package::Evidence;
use crate::parallel;

/// What speaks for the packages of a release.
#[derive(Default)]
pub(super) struct Proof {
    /// Every hash that stands in a checksum document with a good signature.
    pub(super) signed: Hashes,
    /// Those of them that are of packages.
    pub(super) zips: Hashes,
    /// Whether some document lists several packages, and so those of a release.
    pub(super) lists_release: bool,
    /// Who signed; as a rule one.
    pub(super) signers: Vec<Signer>,
}

/// Judges the evidence of every release; `None` stands for those that come without any.
pub(super) fn prove(
    request: &Request<'_>,
    found: &[Found],
    now: SystemTime,
    errors: &mut Vec<LockError>,
) -> Vec<Option<Proof>> {
    let rules = Rules {
        flavor: request.flavor,
        enforce_expiration: request.enforce_expiration,
    };
    let answers = parallel::map(request.jobs, found, |one| prove_release(&rules, one, now));
    let mut proofs = Vec::new();
    for (proof, failed) in answers {
        proofs.push(proof);
        errors.extend(failed);
    }
    proofs
}

/// Judges the packages of one release. The document that they share is judged once.
pub(super) fn prove_release(
    rules: &Rules,
    found: &Found,
    now: SystemTime,
) -> (Option<Proof>, Vec<LockError>) {
    let mut signers = Vec::new();
    let mut proof: Option<Proof> = None;
    let mut errors = Vec::new();
    for meta in &found.metas {
        let Some(evidence) = &meta.evidence else {
            continue;
        };
        let judged = authenticate::listed(evidence).and_then(|listed| {
            let signer = signer_of(evidence, &mut signers, |evidence| {
                authenticate::signer(evidence, rules, now)
            })?;
            Ok((listed, signer))
        });
        match judged {
            Ok((listed, signer)) => proof.get_or_insert_default().add(&listed, signer),
            Err(cause) => errors.push(LockError::Unproven {
                id: Box::new(meta.id.clone()),
                place: meta.location.to_string(),
                cause: Box::new(cause),
            }),
        }
    }
    let documents = found.metas.iter().filter_map(|meta| meta.evidence.as_ref());
    let documents: Vec<&[u8]> = documents.map(|evidence| &*evidence.sums).collect();
    if let Some(filename) = disagreement(&documents) {
        errors.push(LockError::ListsDiffer {
            provider: Box::new(found.selected.provider.clone()),
            version: found.selected.version.clone(),
            filename,
        });
    }
    (proof, errors)
}

/// Returns a file for which documents of one release state different hashes.
///
/// Each of them may be signed; united they would let two packages pass for one.
fn disagreement(documents: &[&[u8]]) -> Option<String> {
    let mut distinct: Vec<&[u8]> = Vec::new();
    for document in documents {
        if distinct.contains(document) {
            continue;
        }
        let mut others = distinct.iter();
        let found = others.find_map(|other| authenticate::disagreement(other, document));
        if found.is_some() {
            return found;
        }
        distinct.push(document);
    }
    None
}

/// A document with what was found out about who signed it.
type Judged<'a> = (&'a Evidence, Result<Signer, AuthError>);

/// Returns who signed a document, looking only if that is not known yet.
fn signer_of<'a>(
    evidence: &'a Evidence,
    known: &mut Vec<Judged<'a>>,
    look: impl FnOnce(&Evidence) -> Result<Signer, AuthError>,
) -> Result<Signer, AuthError> {
    let same = known
        .iter()
        .find(|(other, _)| same_document(other, evidence));
    if let Some((_, signer)) = same {
        return signer.clone();
    }
    let signer = look(evidence);
    known.push((evidence, signer.clone()));
    signer
}

impl Proof {
    fn add(&mut self, listed: &Listed, signer: Signer) {
        self.signed = self.signed.union(&listed.hashes);
        self.zips = self.zips.union(&listed.zips);
        self.lists_release |= listed.zips.len() >= 2;
        if !self.signers.contains(&signer) {
            self.signers.push(signer);
        }
    }
}

fn same_document(a: &Evidence, b: &Evidence) -> bool {
    a.sums == b.sums && a.signature == b.signature && a.keys == b.keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(documents: &[&str], expected: Option<&str>) {
        let lines = |text: &str| -> String {
            let digests = text.split(' ').map(|word| {
                let (name, digit) = word.split_once('=').expect("NAME=DIGIT");
                format!("{}  {name}\n", digit.repeat(64))
            });
            digests.collect()
        };
        let documents: Vec<String> = documents.iter().map(|text| lines(text)).collect();
        let documents: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
        assert_eq!(disagreement(&documents).as_deref(), expected);
    }

    #[test]
    fn documents_may_not_disagree_about_a_file() {
        check(&["a=1 b=2", "a=1 b=2"], None);
        check(&["a=1", "b=2", "c=3"], None);
        check(&["a=1 b=2", "b=3"], Some("b"));
        check(&["a=1", "b=2", "b=3"], Some("b"));
        // Within one document the first line counts.
        check(&["a=1 a=2", "a=1"], None);
    }
}
