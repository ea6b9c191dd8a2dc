//! Namespaces that are one typing error away from a known one.

use std::collections::BTreeMap;

use super::near_names::{NearName, first_near};
use super::{Hostname, ProviderAddr};
use crate::flavor::Flavor;

/// Publishers in the public registries, sorted.
///
/// Source: the namespaces in the public lock files, and changes of lock files, that the tests read
/// (`fixtures/corpus/README.md`), without those of test data and those of fewer than [`MIN_LETTERS`]
/// letters. A test compares them.
const KNOWN_PUBLISHERS: &[&str] = &[
    "1password",
    "aminueza",
    "argoproj-labs",
    "azure",
    "carlpett",
    "cloudflare",
    "cloudposse",
    "cyrilgdn",
    "databricks",
    "datadog",
    "datadrivers",
    "digitalocean",
    "dmacvicar",
    "dnsimple",
    "e-breuninger",
    "equinix",
    "fastly",
    "gavinbunney",
    "goauthentik",
    "hashicorp",
    "hetznercloud",
    "integrations",
    "kreuzwerker",
    "linode",
    "loafoe",
    "mastercard",
    "mongey",
    "netlify",
    "newrelic",
    "opentofu",
    "oracle",
    "ryanwholey",
    "sander0542",
    "scaleway",
    "scott-the-programmer",
    "siderolabs",
    "snowflakedb",
    "spacelift-io",
    "statuscakedev",
    "sysdiglabs",
    "tailscale",
    "telmate",
    "terraform-aws-modules",
    "terraform-lxd",
    "terraform-provider-openstack",
    "terraform-providers",
    "timeweb-cloud",
    "vatesfr",
    "vercel",
    "vultr",
    "wgebis",
    "yandex-cloud",
];

/// Minimum length of a name, in letters: shorter ones are close to each other by chance.
const MIN_LETTERS: usize = 5;

/// Minimum length of a namespace, in letters, to be compared together with the type.
const MIN_LETTERS_BEFORE_TYPE: usize = 3;

/// Maximum length of a namespace, in letters, to be compared: those of the registries are names of GitHub
/// accounts, which have at most 39.
const MAX_LETTERS: usize = 64;

/// A name that is one typing error away from another.
///
/// Displayed as a clause: no capital letter, no period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookAlike {
    /// The namespace, or namespace and type.
    pub name: String,
    /// The resembled namespace or type, as far as it is written.
    pub resembles: String,
}

impl std::fmt::Display for LookAlike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, resembles } = self;
        write!(f, "{name} is one typing error away from {resembles}")
    }
}

/// Returns what the name of a provider may be mistaken for: a publisher of many providers in the public
/// registries, or a provider of the same registry in `locked`.
///
/// One typing error is a letter that is missing, added or another one, or two letters that changed places. A
/// known publisher never resembles another one, and nothing resembles its own namespace: only its owner can
/// publish there. Numbers are no typing errors: `team1` and `team2` belong together.
///
/// ```
/// use lockctl_core::addr::{ProviderAddr, look_alike};
/// use lockctl_core::flavor::Flavor;
///
/// let read = |text| ProviderAddr::parse(text, Flavor::Terraform1_16).expect("an address");
/// let found = look_alike(&read("hashicrop/aws"), []).expect("it resembles another one");
/// assert_eq!(found.resembles, "hashicorp");
/// assert_eq!(look_alike(&read("hashicorp/aws"), []), None);
/// ```
pub fn look_alike<'a>(
    addr: &'a ProviderAddr,
    locked: impl IntoIterator<Item = &'a ProviderAddr>,
) -> Option<LookAlike> {
    let known: Vec<RankedProvider<'_>> = locked
        .into_iter()
        .map(|addr| RankedProvider { addr, rank: 0 })
        .collect();
    look_alikes(&[RankedProvider { addr, rank: 1 }], &known).remove(0)
}

/// A provider, and its place in the order of those that others may be mistaken for.
#[derive(Clone, Copy, Debug)]
pub struct RankedProvider<'a> {
    /// The provider whose name is compared.
    pub addr: &'a ProviderAddr,
    /// A provider is compared only with those of a smaller rank. Providers of one namespace have one rank.
    pub rank: usize,
}

/// As [`look_alike`] for many providers: the work grows with their number, not with its square.
#[must_use]
pub fn look_alikes(
    asking: &[RankedProvider<'_>],
    locked: &[RankedProvider<'_>],
) -> Vec<Option<LookAlike>> {
    // Most changes of a lock file add no provider, and a history has thousands of them.
    if asking.is_empty() {
        return Vec::new();
    }
    let by_namespace = first_alike(asking, locked, ComparedPart::Namespace);
    let by_both = first_alike(asking, locked, ComparedPart::Both);
    let locked_in = |index: usize| locked[index].addr;
    by_namespace
        .into_iter()
        .zip(by_both)
        .zip(asking)
        .map(|((namespace, both), RankedProvider { addr, .. })| {
            let is_public = Flavor::ALL
                .iter()
                .any(|flavor| flavor.default_host() == addr.hostname().unicode());
            // A publisher of the list imitates no other one.
            if is_public && is_known_publisher(addr.namespace()) {
                return None;
            }
            let letters: Vec<char> = addr.namespace().chars().collect();
            let publisher = KNOWN_PUBLISHERS.iter().find(|publisher| {
                is_public && is_one_error(&letters, &publisher.chars().collect::<Vec<_>>())
            });
            let (name, resembles) = match (publisher, namespace, both) {
                (Some(publisher), ..) => (addr.namespace().to_owned(), (*publisher).to_owned()),
                (None, Some(index), both) if both.is_none_or(|both| index <= both) => {
                    let other = locked_in(index).namespace();
                    (addr.namespace().to_owned(), other.to_owned())
                }
                (None, _, both) => (full(addr), full(locked_in(both?))),
            };
            Some(LookAlike { name, resembles })
        })
        .collect()
}

/// The part of an address that is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComparedPart {
    Namespace,
    Both,
}

/// Returns for each provider the first locked one of the same host whose name is one typing error away.
fn first_alike(
    asking: &[RankedProvider<'_>],
    locked: &[RankedProvider<'_>],
    compared: ComparedPart,
) -> Vec<Option<usize>> {
    // Thousands of providers may share one namespace, which is compared once.
    let (names, of_asking) = distinct(asking, compared);
    let (known, of_locked) = distinct(locked, compared);
    let mut first_locked = vec![usize::MAX; known.len()];
    for (index, name) in of_locked.iter().enumerate() {
        if let Some(name) = name {
            first_locked[*name] = index.min(first_locked[*name]);
        }
    }
    let near = first_near(&names, &known, |left, right| {
        let host = left.part.start;
        left.letters[..host] == right.letters[..right.part.start]
            && left.namespace() != right.namespace()
            // A short namespace is close to another by chance, but not before the same type.
            && left.namespace().len() >= MIN_LETTERS_BEFORE_TYPE
            && is_one_error(&left.letters[host..], &right.letters[host..])
    });
    of_asking
        .into_iter()
        .map(|name| Some(first_locked[near[name?]?]))
        .collect()
}

/// Returns the names that can be compared, each once, and which of them each provider has.
fn distinct(
    providers: &[RankedProvider<'_>],
    compared: ComparedPart,
) -> (Vec<NearName>, Vec<Option<usize>>) {
    let mut names = Vec::new();
    let mut indices: BTreeMap<(&Hostname, &str, &str), usize> = BTreeMap::new();
    let of_providers = providers
        .iter()
        .map(|RankedProvider { addr, rank }| {
            let count = addr.namespace().chars().count();
            // No account of GitHub has such a name, and the work grows with its letters.
            if count > MAX_LETTERS {
                return None;
            }
            let (type_name, rest) = match compared {
                ComparedPart::Namespace => ("", String::new()),
                ComparedPart::Both => (addr.type_name(), format!("/{}", addr.type_name())),
            };
            // Providers of one namespace share a name, which is compared once.
            let key = (addr.hostname(), addr.namespace(), type_name);
            Some(*indices.entry(key).or_insert_with(|| {
                let host = format!("{}/", addr.hostname());
                let start = host.chars().count();
                names.push(NearName {
                    letters: format!("{host}{}{rest}", addr.namespace())
                        .chars()
                        .collect(),
                    part: start..start + count + rest.len().min(1),
                    rank: *rank,
                });
                names.len() - 1
            }))
        })
        .collect();
    (names, of_providers)
}

impl NearName {
    fn namespace(&self) -> &[char] {
        let letters = &self.letters[self.part.start..];
        letters
            .split(|letter| *letter == '/')
            .next()
            .unwrap_or(letters)
    }
}

fn full(addr: &ProviderAddr) -> String {
    format!("{}/{}", addr.namespace(), addr.type_name())
}

/// Returns whether a namespace belongs to a publisher of many providers in the public registries.
#[must_use]
pub fn is_known_publisher(namespace: &str) -> bool {
    KNOWN_PUBLISHERS.binary_search(&namespace).is_ok()
}

/// Returns whether one typing error leads from one name to another.
fn is_one_error(left: &[char], right: &[char]) -> bool {
    let (mut longer, mut shorter) = (left, right);
    if longer.len() < shorter.len() {
        std::mem::swap(&mut longer, &mut shorter);
    }
    if shorter.len() < MIN_LETTERS || longer.len() > shorter.len() + 1 || longer == shorter {
        return false;
    }
    let same = longer
        .iter()
        .zip(shorter)
        .take_while(|(a, b)| a == b)
        .count();
    let (longer, shorter) = (&longer[same..], &shorter[same..]);
    if longer.len() > shorter.len() {
        return longer[1..] == *shorter;
    }
    // Digits number a series, as in `team-1` and `team-2`: both exist, and neither imitates the other.
    let is_number = longer[0].is_ascii_digit() && shorter[0].is_ascii_digit();
    let is_replaced = longer[1..] == shorter[1..] && !is_number;
    let is_swapped = longer.len() > 1
        && (longer[0], longer[1]) == (shorter[1], shorter[0])
        && longer[2..] == shorter[2..]
        && !(is_number && longer[1].is_ascii_digit());
    is_replaced || is_swapped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, Flavor::Terraform1_16).expect("an address")
    }

    #[track_caller]
    fn check(addr: &str, locked: &[&str], wanted: Option<&str>) {
        let locked: Vec<ProviderAddr> = locked.iter().map(|addr| read(addr)).collect();
        let found = look_alike(&read(addr), &locked);
        let found = found.map(|found| found.resembles);
        assert_eq!(found.as_deref(), wanted, "{addr} beside {locked:?}");
    }

    #[test]
    fn one_typing_error_is_found() {
        for namespace in [
            "hashicrop",
            "hashicor",
            "hashicorpp",
            "hashlcorp",
            "hash-icorp",
            "ahshicorp",
        ] {
            check(&format!("{namespace}/aws"), &[], Some("hashicorp"));
            let tofu = format!("registry.opentofu.org/{namespace}/aws");
            check(&tofu, &[], Some("hashicorp"));
        }
        check("hasicrop/aws", &[], None);
        check("clouflare/cloudflare", &[], Some("cloudflare"));
    }

    #[test]
    fn what_is_locked_counts_too() {
        check("acmecrop/tool", &["acmecorp/other"], Some("acmecorp"));
        check("bgp/proxmox", &["bpg/proxmox"], Some("bpg/proxmox"));
        check("bgp/other", &["bpg/proxmox"], None);
        check("example.com/acmecrop/tool", &["acmecorp/tool"], None);
        check(
            "example.com/acmecrop/tool",
            &["example.com/acmecorp/x"],
            Some("acmecorp"),
        );
    }

    #[test]
    fn what_is_close_by_chance_or_on_purpose_is_not_found() {
        check("a/x", &["b/x", "c/x"], None);
        check("team1/x", &["team2/x"], None);
        check("team12/x", &["team21/x"], None);
        check("hashicorp/aws", &["hashicrop/aws"], None);
        check("acmecorp/tool", &["acmecorp/tools"], None);
        check("example.com/hashicrop/aws", &[], None);
    }

    #[test]
    fn many_are_compared_as_if_one_by_one() {
        // Few letters, so that there are thousands of pairs of each kind of error, and two hosts.
        let hosts = ["", "example.com/"];
        let parts = [
            "acme1", "acme", "ac1me", "ac2me", "acem1", "came1", "ab", "abc", "acb", "acmee",
        ];
        let types = ["tool", "tol", "otol", "1x"];
        let addrs: Vec<ProviderAddr> = hosts
            .iter()
            .flat_map(|host| parts.map(|part| format!("{host}{part}")))
            .flat_map(|front| types.map(|type_name| read(&format!("{front}/{type_name}"))))
            .collect();
        let ranked: Vec<RankedProvider<'_>> = addrs
            .iter()
            .map(|addr| RankedProvider {
                addr,
                rank: addr.namespace().len() % 3,
            })
            .collect();
        let mut found_some = 0;
        for (asking, found) in ranked.iter().zip(look_alikes(&ranked, &ranked)) {
            let letters = |text: &str| text.chars().collect::<Vec<char>>();
            let wanted = ranked.iter().find_map(|other| {
                let (addr, known) = (asking.addr, other.addr);
                if other.rank >= asking.rank
                    || addr.hostname() != known.hostname()
                    || addr.namespace() == known.namespace()
                {
                    return None;
                }
                if is_one_error(&letters(addr.namespace()), &letters(known.namespace())) {
                    return Some(known.namespace().to_owned());
                }
                let is_near = is_one_error(&letters(&full(addr)), &letters(&full(known)));
                (addr.namespace().len() > 2 && is_near).then(|| full(known))
            });
            found_some += usize::from(wanted.is_some());
            assert_eq!(
                found.map(|found| found.resembles),
                wanted,
                "{}",
                asking.addr
            );
        }
        assert!(found_some > 20, "{found_some}");
    }

    #[test]
    fn known_publishers_are_sorted_and_differ_enough() {
        assert!(KNOWN_PUBLISHERS.is_sorted_by(|a, b| a < b));
        for one in KNOWN_PUBLISHERS {
            assert!(one.chars().count() >= MIN_LETTERS, "{one}");
        }
    }
}
