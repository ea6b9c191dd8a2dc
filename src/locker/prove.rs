//! Whether the evidence for packages holds, before any of them is downloaded.
//!
//! Both programs download first and look at the signature afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::demands;
use super::query::Offered;
use super::work::{Question, RootWork};
use super::{FlavorSource, ListedFile, LockError, Release, Settings};
use crate::authenticate::{self, AuthError, GoodSignature, Listed, Rules, Signer};
use crate::hash::{Hash, Hashes};
use crate::package::{DateSource, Evidence, PackageMeta, ReleaseDate, ReleaseDates};
use crate::parallel;
use crate::platform::Platform;

/// What proves the packages of a release.
#[derive(Default)]
pub(super) struct Proof {
    /// Every hash in a checksum document with a good signature.
    pub(super) signed: Arc<Hashes>,
    /// Those of them that are of packages.
    pub(super) zips: Hashes,
    /// Where each hash is listed.
    pub(super) listed: Arc<BTreeMap<Hash, Arc<ListedFile>>>,
    /// Whether some document lists several packages, and so those of a release.
    pub(super) lists_release: bool,
    /// The signers; as a rule one.
    pub(super) signers: Vec<Signer>,
    /// When the documents were signed, and when they were changed last.
    pub(super) dates: ReleaseDates,
}

/// What checksum documents list that no signature covers: the registry of OpenTofu names no key for
/// some releases (`authenticate` rules 4.1).
#[derive(Default)]
pub(super) struct UnsignedList {
    /// Every hash that they list.
    pub(super) hashes: Hashes,
    /// Those of them that are of packages.
    pub(super) zips: Hashes,
    /// When the documents were changed last.
    pub(super) dates: ReleaseDates,
}

/// What the evidence for the packages of a release lists. Roots that need the same packages share it.
#[derive(Clone, Default)]
pub(super) struct ReleaseLists {
    /// What proves packages; `None` if no package came with evidence that is signed.
    pub(super) proof: Option<Arc<Proof>>,
    /// What is listed without a signature; never beside a proof.
    pub(super) unsigned: Option<Arc<UnsignedList>>,
}

/// What a checksum list holds, signed or not.
#[derive(Clone, Copy)]
pub(super) struct ListView<'a> {
    /// Every hash.
    pub(super) hashes: &'a Hashes,
    /// Those of packages.
    pub(super) zips: &'a Hashes,
    /// Whether it lists several packages, and so those of a release.
    pub(super) lists_release: bool,
    /// Whether a signature covers it.
    pub(super) is_signed: bool,
}

impl ReleaseLists {
    /// Returns what is listed; `None` if no package came with evidence.
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
                lists_release: list.zips.len() >= 2,
                is_signed: false,
            }),
            (None, None) => None,
        }
    }
}

/// A provider whose packages have been found, with what proves them.
pub(super) struct Proven {
    pub(super) offered: Offered,
    pub(super) lists: ReleaseLists,
}

/// What evidence that holds says about a package.
pub(super) struct Attested {
    /// What the checksum document lists.
    listed: Listed,
    /// `None` if the registry names no key, and need not.
    signature: Option<GoodSignature>,
    /// When the document was changed last, as its server says.
    changed: Option<SystemTime>,
}

/// What is listed for some packages of a release, and what is wrong with it.
type United = (ReleaseLists, Vec<LockError>);

/// The packages of one release that have evidence, and whether it holds.
pub(super) type Attestations = BTreeMap<Platform, Result<Attested, AuthError>>;

/// Checks the evidence of all packages, and unites it for each provider of each root.
///
/// Checking a signature costs more than all else here, so it is done once for a release, whatever
/// the number of roots.
pub(super) fn prove<'a>(
    sources: &[&FlavorSource<'_>],
    settings: &Settings,
    roots: Vec<RootWork<'a, Offered>>,
) -> Vec<RootWork<'a, Proven>> {
    let release_of = |source, one: &Offered| Question {
        source,
        about: one.selected.release(),
    };
    // Roots may need different platforms of one release.
    let mut releases: BTreeMap<Question<Release>, BTreeMap<&Platform, &PackageMeta>> =
        BTreeMap::new();
    for root in &roots {
        for one in &root.providers {
            let metas = one.metas.iter().map(|meta| (&meta.id.platform, &**meta));
            let release = releases.entry(release_of(root.source, one)).or_default();
            release.extend(metas);
        }
    }
    let nows: Vec<SystemTime> = sources.iter().map(|one| one.net.clock.now()).collect();
    let (releases, metas): (Vec<_>, Vec<_>) = releases.into_iter().unzip();
    let pairs: Vec<_> = releases.iter().zip(&metas).collect();
    let attestations = parallel::map(settings.jobs, &pairs, |(release, metas)| {
        let rules = settings.rules(sources[release.source].flavor);
        check(&rules, metas.values().copied(), nows[release.source])
    });
    let attestations: BTreeMap<Question<Release>, Attestations> =
        releases.into_iter().zip(attestations).collect();
    let mut united: BTreeMap<_, United> = BTreeMap::new();
    let prove = |root: RootWork<'a, Offered>| {
        let (source, demands) = (root.source, root.request.demands);
        root.advance(|offered, errors| {
            let platforms = offered.metas.iter().map(|meta| &meta.id.platform);
            let release = release_of(source, &offered);
            let key = (release, platforms.cloned().collect::<Vec<_>>());
            let united = united.entry(key).or_insert_with_key(|(release, _)| {
                let mut errors = Vec::new();
                let lists = unite(&offered, &attestations[release], &mut errors);
                (lists, errors)
            });
            let (lists, faults) = &*united;
            errors.extend(faults.iter().cloned());
            let lists = lists.clone();
            errors.extend(offered.metas.iter().filter_map(|meta| uncheckable(meta)));
            errors.extend(demands::unmet(demands, &offered, &lists));
            Some(Proven { offered, lists })
        })
    };
    roots.into_iter().map(prove).collect()
}

/// Reports a package of which a mirror states hashes that cannot be checked.
fn uncheckable(meta: &PackageMeta) -> Option<LockError> {
    let cause = authenticate::checkable(&meta.stated).err()?;
    Some(LockError::unproven(meta, cause))
}

/// Checks the evidence for packages of one release; those without any are left out. A
/// document that they share is checked once.
pub(super) fn check<'m>(
    rules: &Rules,
    metas: impl IntoIterator<Item = &'m PackageMeta>,
    now: SystemTime,
) -> Attestations {
    let mut signatures = Vec::new();
    let mut attestations = BTreeMap::new();
    for meta in metas {
        let Some(evidence) = &meta.evidence else {
            continue;
        };
        let attested = authenticate::listed(evidence).and_then(|listed| {
            let may_be_unsigned = rules.accepts_unsigned(&meta.id.provider);
            // What counts there and is not in the list is an alarm of its own (rules 4.3).
            let counts = rules.records_claims(&meta.id.provider);
            let is_alarm = |claimed: &Hash| counts && !listed.hashes.contains(claimed);
            let claims = meta.claims.as_ref();
            if let Some(claims) = claims.filter(|_| rules.flavor.reads_stated_hashes()) {
                match authenticate::check_claims(evidence, claims, &meta.id.platform) {
                    Err(AuthError::ClaimedHashDiffers { claimed, .. }) if is_alarm(&claimed) => {}
                    checked => checked?,
                }
            }
            let signature = if evidence.keys.is_empty() && may_be_unsigned {
                None
            } else {
                Some(signature_of(evidence, &mut signatures, |evidence| {
                    authenticate::signature(evidence, rules, now)
                })?)
            };
            Ok(Attested {
                listed,
                signature,
                changed: evidence.sums_changed,
            })
        });
        attestations.insert(meta.id.platform.clone(), attested);
    }
    attestations
}

/// Unites what is listed for the packages of one release, as far as the evidence holds.
///
/// A release that is signed for one platform is signed: that the registry names no key for another one
/// is no reason to believe it there.
pub(super) fn unite(
    offered: &Offered,
    attestations: &Attestations,
    errors: &mut Vec<LockError>,
) -> ReleaseLists {
    let mut proof: Option<Proof> = None;
    let mut unsigned: Option<UnsignedList> = None;
    let mut without_key = Vec::new();
    for meta in &offered.metas {
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
    if proof.is_some() && unsigned.take().is_some() {
        let unproven = |meta: &&Arc<PackageMeta>| LockError::unproven(meta, AuthError::NoKeys);
        errors.extend(without_key.iter().map(unproven));
    }
    let evidence = offered
        .metas
        .iter()
        .filter_map(|meta| meta.evidence.as_ref());
    let documents: Vec<&[u8]> = evidence.map(|evidence| &*evidence.sums).collect();
    if let Some(filename) = disagreement(&documents) {
        errors.push(LockError::ListsDiffer {
            provider: Box::new(offered.selected.provider.clone()),
            version: offered.selected.version.clone(),
            filename,
        });
    }
    ReleaseLists {
        proof: proof.map(Arc::new),
        unsigned: unsigned.map(Arc::new),
    }
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

/// Returns the signature of a document, checking it only if that was not done yet.
fn signature_of<'a>(
    evidence: &'a Evidence,
    known: &mut Vec<(&'a Evidence, Result<GoodSignature, AuthError>)>,
    check: impl FnOnce(&Evidence) -> Result<GoodSignature, AuthError>,
) -> Result<GoodSignature, AuthError> {
    let same = known
        .iter()
        .find(|(other, _)| same_document(other, evidence));
    if let Some((_, signature)) = same {
        return signature.clone();
    }
    let signature = check(evidence);
    known.push((evidence, signature.clone()));
    signature
}

impl Proof {
    fn add(&mut self, attested: &Attested, signature: &GoodSignature) {
        let Attested {
            listed, changed, ..
        } = attested;
        let GoodSignature { signer, made } = signature;
        self.signed = Arc::new(self.signed.union(&listed.hashes));
        self.zips = self.zips.union(&listed.zips);
        let known = Arc::make_mut(&mut self.listed);
        for (hash, file) in &listed.names {
            let listed = || {
                Arc::new(ListedFile {
                    file: file.clone(),
                    key_id: signer.key_id.clone(),
                })
            };
            known.entry(hash.clone()).or_insert_with(listed);
        }
        self.lists_release |= listed.zips.len() >= 2;
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
        self.hashes = self.hashes.union(&attested.listed.hashes);
        self.zips = self.zips.union(&attested.listed.zips);
        let source = DateSource::ChecksumList;
        let changed = attested.changed.map(|time| ReleaseDate { time, source });
        self.dates.extend(changed);
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
