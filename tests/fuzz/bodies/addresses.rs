//! Addresses and URLs: what is displayed parses to the same.

use lockctl::addr::ProviderAddr;
use lockctl::addr::module::{ModuleSource, RegistryModule};
use lockctl::addr::{Hostname, MirrorUrl, ProviderPattern, RepositoryAddr, Url, look_alike};
use lockctl::flavor::Flavor;

use super::Budget;

const BUDGET: Budget = Budget {
    // The tables of IDNA are made once in a thread.
    base_bytes: 64 * 1024,
    bytes: 200,
    base_allocations: 500,
    allocations: 20,
};

/// Each line is read as everything that it may be.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for line in text.lines().take(4) {
        for flavor in Flavor::ALL {
            BUDGET.spend(data, || check_provider(line, flavor));
            check_module(line, flavor);
        }
        check_host(line);
        check_url(line);
        check_repository(line);
    }
}

fn check_provider(text: &str, flavor: Flavor) {
    // An address that no lock file can hold is read from its short form alone (`addr` rules 1.5).
    let lockable = ProviderAddr::parse(text, flavor)
        .ok()
        .filter(|addr| addr.unlockable_part(flavor).is_none());
    if let Some(addr) = lockable {
        let full = addr.to_string();
        let again = ProviderAddr::parse(&full, flavor).expect("what is displayed is read");
        assert_eq!(again, addr);
        assert_eq!(again.to_string(), full);
        let short = addr.short(flavor);
        assert_eq!(
            ProviderAddr::parse(&short, flavor).as_ref(),
            Ok(&addr),
            "{short} is short for {full}"
        );
        let _ = (look_alike(&addr, []), addr.carried_over(flavor));
    }
    if let Ok(addr) = ProviderAddr::implied(text, flavor) {
        // This name alone means the provider inside the program (`config` rules 4.6).
        assert_eq!(addr.is_builtin(flavor), text == "terraform");
        if !addr.is_builtin(flavor) {
            assert_eq!(addr.hostname().ascii(), flavor.default_host());
        }
    }
    if let (Ok(pattern), Ok(addr)) = (
        ProviderPattern::parse(text, flavor),
        ProviderAddr::parse(text, flavor),
    ) {
        assert!(pattern.allows(&addr), "{text:?} is no wildcard");
    }
}

fn check_module(text: &str, flavor: Flavor) {
    if let Ok(source) = ModuleSource::parse(text, flavor) {
        // The programs refuse what begins with `../`, and no `..` alone; it is refused when it is followed.
        assert!(
            source.sub() == ".." || !source.sub().split('/').any(|part| part == ".."),
            "{text:?} leaves its package"
        );
        let _ = source.repository();
        if let ModuleSource::Remote(remote) = &source {
            assert!(!remote.shown().is_empty());
        }
    }
    let _ = RegistryModule::parse(text, flavor);
}

fn check_host(text: &str) {
    if let Ok(host) = text.parse::<Hostname>() {
        assert_eq!(host.unicode().parse().as_ref(), Ok(&host));
        assert!(host.ascii().is_ascii());
        assert_eq!(
            Hostname::parse_either(host.ascii()).as_ref(),
            Ok(&host),
            "{text:?}"
        );
    }
}

fn check_url(text: &str) {
    let Ok(url) = text.parse::<Url>() else { return };
    let again: Url = url
        .secret_text()
        .parse()
        .expect("what is displayed is read");
    assert_eq!(again.secret_text(), url.secret_text());
    assert!(url.secret_text().starts_with("http://") || url.secret_text().starts_with("https://"));
    assert!(url.as_directory().is_directory());
    assert_eq!(url.as_directory().origin(), url.origin());
    assert_eq!(url.below(["a", "..", "b/c"]).origin(), url.origin());
    if let Ok(joined) = url.join("x") {
        assert_eq!(joined.origin(), url.origin());
    }
    if let Ok(mirror) = text.parse::<MirrorUrl>() {
        assert_eq!(mirror.url().secret_text(), url.secret_text());
    }
}

fn check_repository(text: &str) {
    if let Ok(repository) = text.parse::<RepositoryAddr>() {
        assert_eq!(repository.to_string().parse().as_ref(), Ok(&repository));
        assert!(repository.registry().is_directory());
        assert!(repository.matched_parts(repository.domain()).is_some());
    }
}
