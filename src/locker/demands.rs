//! Signatures that a root demands beyond what its program does (rules 3.4).

use super::prove::ReleaseLists;
use super::query::Offered;
use super::{LockError, SignatureDemands};
use crate::package::KeyId;

/// Reports what is not signed as demanded; before any package is downloaded.
///
/// A package of a mirror comes without a signature, whatever a registry may sign.
pub(super) fn unmet(
    demands: &SignatureDemands,
    offered: &Offered,
    lists: &ReleaseLists,
) -> Vec<LockError> {
    let selected = &offered.selected;
    let pinned: Option<&KeyId> = demands.keys.get(&selected.provider);
    if !demands.required && pinned.is_none() {
        return Vec::new();
    }
    let is_unsigned = lists.unsigned.is_some();
    let metas = offered.metas.iter();
    let unsigned = metas.filter(|meta| is_unsigned || meta.evidence.is_none());
    let mut errors: Vec<LockError> = unsigned
        .map(|meta| LockError::Unsigned {
            id: Box::new(meta.id.clone()),
            place: meta.location.to_string(),
            pinned: pinned.filter(|_| !demands.required).cloned(),
        })
        .collect();
    if let (Some(pinned), Some(proof)) = (pinned, &lists.proof) {
        let others = proof.signers.iter().filter(|signer| !signer.is(pinned));
        errors.extend(others.map(|signer| LockError::OtherKey {
            provider: Box::new(selected.provider.clone()),
            version: selected.version.clone(),
            signer: Box::new(signer.clone()),
            pinned: pinned.clone(),
        }));
    }
    errors
}
