//! The provider, version, platform and host that a message names.

use crate::addr::{Hostname, ProviderAddr};
use crate::flavor::Flavor;
use crate::platform::Platform;
use crate::version::Version;

/// The things that a message is about, as far as it names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) provider: Option<ProviderAddr>,
    pub(crate) version: Option<Version>,
    pub(crate) platform: Option<Platform>,
    /// The host that refused something; else that of the provider.
    pub(crate) host: Option<Hostname>,
}

/// The characters around a word that do not belong to it.
const AROUND: &[char] = &['"', '\'', '`', '(', ')', '[', ']', ',', ';', ':', '.', '…'];

/// The words before an address without a host; elsewhere two words with a slash are a path or a source.
const BEFORE_SHORT: &[&str] = &["provider", "installing", "importing", "on", "-"];

/// Looks for the subject in texts; the first text counts most.
///
/// `flavor` says what the default host is, which messages leave out.
pub(crate) fn of(texts: &[&str], flavor: Flavor) -> Subject {
    let systems = Platform::released();
    let mut subject = Subject::default();
    for text in texts {
        // An item of a list may be nothing but the address.
        let words: Vec<&str> = std::iter::once("-")
            .chain(text.split_whitespace())
            .map(|word| {
                // State and configuration name a provider as `provider["HOST/NAMESPACE/TYPE"].ALIAS`.
                let word = word
                    .split_once("provider[\"")
                    .and_then(|(_, rest)| rest.split_once('"'))
                    .map_or(word, |(address, _)| address);
                if word == "-" {
                    word
                } else {
                    word.trim_matches(AROUND)
                }
            })
            .collect();
        let parts = |word: &str| word.matches('/').count();
        // A path begins with a slash or a dot, and a URL has an empty part.
        let in_full = words.iter().find_map(|word| {
            let host = word.split('/').next().unwrap_or_default();
            let is_host = host.contains(['.', ':']) || host == "localhost";
            (is_host && parts(word) == 2).then(|| ProviderAddr::parse(word, flavor).ok())?
        });
        // The programs leave out the default host in most sentences (rules 2.3).
        let short = words
            .windows(2)
            .filter(|pair| BEFORE_SHORT.contains(&pair[0].to_lowercase().as_str()))
            .filter(|pair| parts(pair[1]) == 1)
            .find_map(|pair| ProviderAddr::parse(pair[1], flavor).ok());
        subject.provider = subject.provider.or(in_full).or(short);
        subject.version = subject.version.or_else(|| version(&words));
        // Any two words with an underscore are a platform, and so are names of resources; hence the systems that
        // releases are for, and one that mirrors of tests name.
        let platform = words
            .windows(2)
            .filter(|pair| ["for", "platform", "target", "only", "includes"].contains(&pair[0]))
            .filter_map(|pair| pair[1].parse::<Platform>().ok())
            .find(|platform| {
                let system = platform.os().to_lowercase();
                systems.iter().any(|known| known.os() == system) || system == "plan9"
            });
        subject.platform = subject.platform.or(platform);
        // Refused credentials name the host that refused them, which may be that of a mirror.
        let host = words
            .windows(2)
            .find(|pair| pair[0] == "host" && pair[1].contains(['.', ':']))
            .and_then(|pair| pair[1].parse().ok());
        subject.host = subject.host.or(host);
    }
    if subject.host.is_none() {
        subject.host = subject
            .provider
            .as_ref()
            .map(|provider| provider.hostname().clone());
    }
    subject
}

/// Finds a version: a word behind an address, behind `version`, or with a `v` before it.
fn version(words: &[&str]) -> Option<Version> {
    words.windows(2).find_map(|pair| {
        let number = pair[1].strip_prefix('v').unwrap_or(pair[1]);
        let is_announced = number.len() < pair[1].len()
            || pair[0].contains('/')
            || ["version", "selection"].contains(&pair[0]);
        // The version behind the name of the program is that of the program itself.
        let is_of_program =
            ["terraform", "opentofu", "tofu"].contains(&pair[0].to_lowercase().as_str());
        // A word such as `1` is a count, and constraints have operators before the number.
        let looks_so = number.matches('.').count() >= 2;
        (is_announced && looks_so && !is_of_program)
            .then(|| number.parse().ok())
            .flatten()
    })
}
