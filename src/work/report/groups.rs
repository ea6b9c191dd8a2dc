//! Values grouped by a key, for texts that show equal values together.

use std::collections::BTreeMap;

/// Groups values by their keys, in the order of the first occurrence of each key.
pub(super) fn grouped<K: Ord + Clone, V>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    let mut indices: BTreeMap<K, usize> = BTreeMap::new();
    for (key, value) in pairs {
        let index = *indices.entry(key.clone()).or_insert(groups.len());
        if index == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[index].1.push(value);
    }
    groups
}
