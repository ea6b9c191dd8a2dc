//! The checksum lists of a release, and the signatures that cover them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::{ListedFile, LockError};
use crate::authenticate::{self, AuthError, GoodSignature, Rules, Signer};
use crate::hash::{Hash, Hashes};
use crate::package::{ChecksumList, DateSource, Evidence, PackageMeta, ReleaseDate, ReleaseDates};
use crate::platform::Platform;

/// The checksum documents of a release that have good signatures, united.
#[derive(Default)]
pub(super) struct Proof {
    /// Every hash in them.
    pub(super) signed: Arc<Hashes>,
    /// Those of the hashes that are of packages.
    pub(super) zips: Hashes,
    /// The file of each hash and its signer.
    pub(super) listed: Arc<BTreeMap<Hash, Arc<ListedFile>>>,
    /// Some document lists several packages, and so those of a release.
    pub(super) lists_release: bool,
    /// The signers; as a rule one.
    pub(super) signers: Vec<Signer>,
    /// The times of the signatures of the documents, and of their last changes.
    pub(super) dates: ReleaseDates,
}

/// The checksum documents of a release that no signature covers: the registry of OpenTofu names no key for
/// some releases (`authenticate` rules 4.1).
#[derive(Default)]
pub(super) struct UnsignedList {
    /// Every hash in them.
    pub(super) hashes: Hashes,
    /// Those of the hashes that are of packages.
    pub(super) zips: Hashes,
    /// The times of the last changes of the documents.
    pub(super) dates: ReleaseDates,
}

/// The checksum lists of a release. Roots that need the same packages share them.
#[derive(Clone, Default)]
pub(super) struct ReleaseLists {
    /// The signed lists; `None` if no package came with evidence that is signed.
    pub(super) proof: Option<Arc<Proof>>,
    /// The unsigned lists; never beside a proof.
    pub(super) unsigned: Option<Arc<UnsignedList>>,
}

/// A view of a checksum list, signed or not.
#[derive(Clone, Copy)]
pub(super) struct ListView<'a> {
    /// Every hash in it.
    pub(super) hashes: &'a Hashes,
    /// Those of the hashes that are of packages.
    pub(super) zips: &'a Hashes,
    /// The list names several packages, and so those of a release.
    pub(super) lists_release: bool,
    pub(super) is_signed: bool,
}

impl ReleaseLists {
    /// Returns the list that counts; `None` if no package came with evidence.
    pub(super) fn view(&self) -> Option<ListView<'_>> {
        match (&self.proof, &self.unsigned) {
            (Some(proof), _) => Some(ListView {
                hashes: &proof.signed,
                zips: &proof.zips,
                lists_release: proof.lists_release,
                is_signed: true,
            }),
            (None, Some(list)) => Some(ListView {
                hashes: &list.hashes,
                zips: &list.zips,
                // Some registries have a list for each platform: a list of one package is none of a release.
                lists_release: list.zips.len() >= 2,
                is_signed: false,
            }),
            (None, None) => None,
        }
    }

    /// Returns true if a signature covers a zip.
    pub(super) fn is_signed_zip(&self, zh: &Hash) -> bool {
        self.proof
            .as_ref()
            .is_some_and(|proof| proof.zips.contains(zh))
    }
}

/// A checksum document that holds for a package.
pub(super) struct Attested {
    listed: Arc<ChecksumList>,
    /// `None` if the registry names no key, and need not.
    signature: Option<GoodSignature>,
    /// The time of the document's last change, by its server.
    changed: Option<SystemTime>,
}

/// The packages of one release that have evidence, and the verdict on it.
pub(super) type Attestations = BTreeMap<Platform, Result<Attested, AuthError>>;

/// Signatures that were checked already, each with the evidence that it is part of.
type CheckedSignatures<'m> = Vec<(&'m Evidence, Result<GoodSignature, AuthError>)>;

/// Checks the evidence for packages of one release; those without any are left out. A
/// document that they share is checked once.
pub(super) fn check<'m>(
    rules: &Rules,
    metas: impl IntoIterator<Item = &'m PackageMeta>,
    now: SystemTime,
) -> Attestations {
    let mut checked = CheckedSignatures::new();
    let mut attestations = BTreeMap::new();
    for meta in metas {
        if let Some(evidence) = &meta.evidence {
            let attested = attest(rules, meta, evidence, now, &mut checked);
            attestations.insert(meta.id.platform.clone(), attested);
        }
    }
    attestations
}

fn attest<'m>(
    rules: &Rules,
    meta: &PackageMeta,
    evidence: &'m Evidence,
    now: SystemTime,
    checked: &mut CheckedSignatures<'m>,
) -> Result<Attested, AuthError> {
    let listed = authenticate::listed(evidence)?;
    // OpenTofu checks what is stated beside the list, on any host (`authenticate` rules 4.4); Terraform ignores
    // the field (`sources` rules 3.8).
    if rules.flavor.reads_stated_hashes()
        && let Some(claims) = &meta.claims
    {
        // A claim that is recorded and not in the list is an alarm of its own, which names all such claims
        // (rules 4.3).
        let is_alarm = |claimed: &Hash| {
            rules.records_claims(&meta.id.provider) && !listed.hashes().contains(claimed)
        };
        match authenticate::check_claims(evidence, claims, &meta.id.platform) {
            Err(AuthError::ClaimedHashDiffers { claimed, .. }) if is_alarm(&claimed) => {}
            checked => checked?,
        }
    }
    // A registry that names a key must sign, even if the program accepts lists without one (`authenticate`
    // rules 4.1).
    let signature = if evidence.keys.is_empty() && rules.accepts_unsigned(&meta.id.provider) {
        None
    } else {
        let same_document = checked.iter().find(|(other, _)| {
            other.sums == evidence.sums
                && other.signature == evidence.signature
                && other.keys == evidence.keys
        });
        let signature = match same_document {
            Some((_, signature)) => signature.clone(),
            None => {
                let signature = authenticate::signature(evidence, rules, now);
                checked.push((evidence, signature.clone()));
                signature
            }
        };
        Some(signature?)
    };
    Ok(Attested {
        listed: Arc::clone(listed),
        signature,
        changed: evidence.sums_changed,
    })
}

/// Unites the lists that came with packages of one release, as far as the evidence holds, and returns
/// everything that is wrong with it.
pub(super) fn unite(
    metas: &[Arc<PackageMeta>],
    attestations: &Attestations,
) -> (ReleaseLists, Vec<LockError>) {
    let mut errors = Vec::new();
    let mut proof: Option<Proof> = None;
    let mut unsigned: Option<UnsignedList> = None;
    let mut without_key = Vec::new();
    for meta in metas {
        match attestations.get(&meta.id.platform) {
            None => {}
            Some(Ok(attested)) => match &attested.signature {
                Some(signature) => proof.get_or_insert_default().add(attested, signature),
                None => {
                    unsigned.get_or_insert_default().add(attested);
                    without_key.push(meta);
                }
            },
            Some(Err(cause)) => errors.push(LockError::unproven(meta, cause.clone())),
        }
    }
    // OpenTofu would record every line of the unsigned list as well (`authenticate` rules 4.1).
    // A release that is signed for one platform needs the signature for all: an attacker in the registry would
    // withhold the key for one platform only.
    if proof.is_some() && unsigned.take().is_some() {
        for meta in without_key {
            errors.push(LockError::unproven(meta, AuthError::NoKeys));
        }
    }
    let documents: Vec<&ChecksumList> = metas
        .iter()
        .filter_map(|meta| meta.evidence.as_ref())
        .map(|evidence| &*evidence.sums)
        .collect();
    if let Some(filename) = disagreement(&documents)
        && let Some(meta) = metas.first()
    {
        errors.push(LockError::ListsDiffer {
            provider: Box::new(meta.id.provider.clone()),
            version: meta.id.version.clone(),
            filename,
        });
    }
    let lists = ReleaseLists {
        proof: proof.map(Arc::new),
        unsigned: unsigned.map(Arc::new),
    };
    (lists, errors)
}

/// Returns a file with different hashes in documents of one release.
fn disagreement(documents: &[&ChecksumList]) -> Option<String> {
    let mut distinct: Vec<&ChecksumList> = Vec::new();
    for document in documents {
        if distinct.contains(document) {
            continue;
        }
        // Each document may be signed; united they would let two packages pass for one.
        let filename = distinct
            .iter()
            .find_map(|other| other.disagreement(document));
        if filename.is_some() {
            return filename;
        }
        distinct.push(document);
    }
    None
}

impl Proof {
    fn add(&mut self, attested: &Attested, signature: &GoodSignature) {
        let Attested {
            listed, changed, ..
        } = attested;
        let GoodSignature { signer, made } = signature;
        self.signed = Arc::new(self.signed.union(listed.hashes()));
        self.zips = self.zips.union(listed.zips());
        let files = Arc::make_mut(&mut self.listed);
        for (hash, file) in listed.names() {
            files.entry(hash.clone()).or_insert_with(|| {
                Arc::new(ListedFile {
                    file: file.clone(),
                    key_id: signer.key_id.clone(),
                })
            });
        }
        // Some registries have a list of one package for each platform.
        self.lists_release |= listed.zips().len() >= 2;
        if !self.signers.contains(signer) {
            self.signers.push(signer.clone());
        }
        let dates = [
            (DateSource::Signature, Some(*made)),
            (DateSource::ChecksumList, *changed),
        ];
        for (source, time) in dates {
            self.dates
                .extend(time.map(|time| ReleaseDate { time, source }));
        }
    }
}

impl UnsignedList {
    fn add(&mut self, attested: &Attested) {
        self.hashes = self.hashes.union(attested.listed.hashes());
        self.zips = self.zips.union(attested.listed.zips());
        let source = DateSource::ChecksumList;
        let changed = attested.changed.map(|time| ReleaseDate { time, source });
        self.dates.extend(changed);
    }
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
        let documents: Vec<ChecksumList> = documents
            .iter()
            .map(|text| ChecksumList::parse(text.as_bytes()))
            .collect();
        let documents: Vec<&ChecksumList> = documents.iter().collect();
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
