//! Namespaces that are one typing error away from a known one.

use super::ProviderAddr;
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

/// Length of the longest letter in UTF-8, in bytes.
const LONGEST_LETTER: usize = 4;

/// Maximum number of providers of about the same length that a name is compared with; no lock file that is written by
/// a program has a tenth of that.
const MAX_KNOWN: usize = 500;

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
/// registries, or one of the `known` providers of the same registry.
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
    addr: &ProviderAddr,
    known: impl IntoIterator<Item = &'a ProviderAddr>,
) -> Option<LookAlike> {
    let namespace = addr.namespace();
    let letters = namespace.chars().count();
    if letters > MAX_LETTERS {
        return None;
    }
    let of_namespace = |resembles: &str| LookAlike {
        name: namespace.to_owned(),
        resembles: resembles.to_owned(),
    };
    let is_public = Flavor::ALL
        .iter()
        .any(|flavor| flavor.default_host() == addr.hostname().unicode());
    if is_public {
        // A publisher of the list imitates no other one.
        if is_known_publisher(namespace) {
            return None;
        }
        let publisher = KNOWN_PUBLISHERS
            .iter()
            .find(|publisher| letters >= MIN_LETTERS && is_one_error(namespace, publisher));
        if let Some(publisher) = publisher {
            return Some(of_namespace(publisher));
        }
    }
    // One error changes the length by a letter at most. Others are left out before they are counted: whoever adds them
    // to a lock file should not hide the one that is imitated.
    let comparable = known
        .into_iter()
        .filter(|known| {
            known.namespace().len().abs_diff(namespace.len()) <= LONGEST_LETTER
                && known.hostname() == addr.hostname()
        })
        .take(MAX_KNOWN);
    for known in comparable {
        if !is_one_error(namespace, known.namespace()) {
            continue;
        }
        let shortest = letters.min(known.namespace().chars().count());
        if shortest >= MIN_LETTERS {
            return Some(of_namespace(known.namespace()));
        }
        // A short namespace is close to another by chance, but not before the same type.
        if letters >= MIN_LETTERS_BEFORE_TYPE
            && known.type_name() == addr.type_name()
            && shortest + 1 + addr.type_name().chars().count() >= MIN_LETTERS
        {
            return Some(LookAlike {
                name: full(addr),
                resembles: full(known),
            });
        }
    }
    None
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
fn is_one_error(left: &str, right: &str) -> bool {
    let same: usize = left
        .chars()
        .zip(right.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let (left, right) = (&left[same..], &right[same..]);
    let (left_tail, right_tail) = match (tail(left), tail(right)) {
        (Some(left_tail), Some(right_tail)) => (left_tail, right_tail),
        // One name is the beginning of the other.
        (rest, other) => return rest.or(other) == Some(""),
    };
    // Digits number a series, as in `team-1` and `team-2`: both exist, and neither imitates the other.
    let is_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let is_number = is_digit(left) && is_digit(right);
    let is_replaced = left_tail == right_tail && !is_number;
    let is_missing = left_tail == right || left == right_tail;
    let first = |text: &str| text.chars().next();
    let is_swapped = (first(left), first(left_tail)) == (first(right_tail), first(right))
        && tail(left_tail) == tail(right_tail)
        && !(is_number && is_digit(left_tail));
    is_replaced || is_missing || is_swapped
}

/// Returns what follows the first letter.
fn tail(text: &str) -> Option<&str> {
    let mut letters = text.chars();
    letters.next()?;
    Some(letters.as_str())
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
    fn providers_that_cannot_be_alike_hide_no_other() {
        let mut locked: Vec<ProviderAddr> = (0..MAX_KNOWN)
            .flat_map(|index| {
                let other_host = format!("example.com/acme-{index}/x");
                [other_host, format!("publisher-number-{index}/x")]
            })
            .map(|addr| read(&addr))
            .collect();
        locked.push(read("acmecorp/tool"));
        let found = look_alike(&read("acmecrop/tool"), &locked).expect("it is alike");
        assert_eq!(found.resembles, "acmecorp");
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
    fn known_publishers_are_sorted_and_differ_enough() {
        assert!(KNOWN_PUBLISHERS.is_sorted_by(|a, b| a < b));
        for one in KNOWN_PUBLISHERS {
            assert!(one.chars().count() >= MIN_LETTERS, "{one}");
        }
    }
}
