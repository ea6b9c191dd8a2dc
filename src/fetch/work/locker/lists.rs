//! The checksum lists of a release, and the signatures that cover them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::{ListedFile, LockError};
use crate::authenticate::{self, AuthError, GoodSignature, Rules, Signer};
use crate::hash::{Hash, Hashes};
use crate::package::{ChecksumList, DateSource, Evidence, PackageMeta, ReleaseDate, ReleaseDates};
use crate::platform::Platform;

/// The checksum documents of a release, united.
#[derive(Default)]
pub(super) struct UnitedList {
    /// Every hash in them.
    pub(super) hashes: Arc<Hashes>,
    /// Those of the hashes that are of packages.
    pub(super) zips: Hashes,
    /// The file of each hash and its signer.
    pub(super) listed: Arc<BTreeMap<Hash, Arc<ListedFile>>>,
    /// They list several packages, and so those of a release: some registries have a list for each platform.
    pub(super) lists_release: bool,
    /// The signers, as a rule one. Without any no signature covers the list: the registry of OpenTofu names no key for
    /// some releases (`authenticate` rules 4.1).
    pub(super) signers: Vec<Signer>,
    /// The times of the signatures of the documents, and of their last changes.
    pub(super) dates: ReleaseDates,
}

/// The checksum list of a release; none if no package came with evidence. Roots that need the same packages share it.
#[derive(Clone, Default)]
pub(super) struct ReleaseLists(Option<Arc<UnitedList>>);

impl ReleaseLists {
    /// Returns the list, signed or not.
    pub(super) fn any(&self) -> Option<&UnitedList> {
        self.0.as_deref()
    }

    /// Returns the list if it is signed.
    pub(super) fn signed(&self) -> Option<&UnitedList> {
        self.any().filter(|list| list.is_signed())
    }

    /// Returns true if there is a list that no key signs, which its program accepts.
    pub(super) fn is_unsigned(&self) -> bool {
        self.any().is_some_and(|list| !list.is_signed())
    }

    /// Returns true if a signature covers a zip.
    pub(super) fn is_signed_zip(&self, zh: &Hash) -> bool {
        self.signed().is_some_and(|list| list.zips.contains(zh))
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
    let mut signed: Option<UnitedList> = None;
    let mut unsigned: Option<UnitedList> = None;
    let mut without_key = Vec::new();
    for meta in metas {
        match attestations.get(&meta.id.platform) {
            None => {}
            Some(Ok(attested)) => match &attested.signature {
                Some(_) => signed.get_or_insert_default().add(attested),
                None => {
                    unsigned.get_or_insert_default().add(attested);
                    without_key.push(meta);
                }
            },
            Some(Err(cause)) => errors.push(LockError::unproven(meta, cause.clone())),
        }
    }
    // OpenTofu would record every line of the unsigned list as well (`authenticate` rules 4.1).
    if signed.is_some() {
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
    (ReleaseLists(signed.or(unsigned).map(Arc::new)), errors)
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

impl UnitedList {
    pub(super) fn is_signed(&self) -> bool {
        !self.signers.is_empty()
    }

    fn add(&mut self, attested: &Attested) {
        let Attested {
            listed, changed, ..
        } = attested;
        self.hashes = Arc::new(self.hashes.union(listed.hashes()));
        self.zips = self.zips.union(listed.zips());
        let mut dates = vec![(DateSource::ChecksumList, *changed)];
        match &attested.signature {
            Some(GoodSignature { signer, made }) => {
                let files = Arc::make_mut(&mut self.listed);
                for (hash, file) in listed.names() {
                    files.entry(hash.clone()).or_insert_with(|| {
                        Arc::new(ListedFile {
                            file: file.clone(),
                            key_id: signer.key.key_id().to_owned(),
                        })
                    });
                }
                // A list of one zip may be a part of the release that somebody made for one platform.
                self.lists_release |= listed.zips().len() >= 2;
                if !self.signers.contains(signer) {
                    self.signers.push(signer.clone());
                }
                // In front, because a signature cannot be changed later: the most trustworthy source comes first.
                dates.insert(0, (DateSource::Signature, Some(*made)));
            }
            None => self.lists_release = self.zips.len() >= 2,
        }
        for (source, time) in dates {
            self.dates
                .extend(time.map(|time| ReleaseDate { time, source }));
        }
    }
}
