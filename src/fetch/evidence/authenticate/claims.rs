//! Hashes that a registry states of the package at hand beside its signed list (rules 4.4).

use super::AuthError;
use crate::hash::Scheme;
use crate::package::{Claims, Evidence};
use crate::platform::Platform;

/// Checks that the hashes that a registry states beside its signed list include the package at hand, with a size
/// and no other `zh:` than beside the download address. Those of other platforms are not looked at.
///
/// Texts are compared as they are spelled, as OpenTofu does: upper case in one of the two differs. The
/// size is compared with the zip where that is read; OpenTofu compares the `h1:` with nothing.
///
/// # Errors
/// The first of these in the order of the program.
pub fn check_claims(
    evidence: &Evidence,
    claims: &Claims,
    platform: &Platform,
) -> Result<(), AuthError> {
    let platform = platform.clone();
    let Some(package) = claims.packages.get(&platform) else {
        let lacking = "none of";
        return Err(AuthError::ClaimsLack { lacking, platform });
    };
    // OpenTofu requires a size above 0 (rules 4.4).
    if package.size.is_none() {
        let lacking = "no size of that for";
        return Err(AuthError::ClaimsLack { lacking, platform });
    }
    let mut any = false;
    for claimed in package.hashes.of(Scheme::Zh) {
        if claimed.value() != evidence.shasum_text {
            return Err(AuthError::ClaimedHashDiffers {
                platform,
                claimed: claimed.clone(),
                stated: evidence.shasum_text.clone(),
            });
        }
        any = true;
    }
    if !any {
        let lacking = "no zh: of that for";
        return Err(AuthError::ClaimsLack { lacking, platform });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Hash, digest_of_hex};
    use crate::package::{ChecksumList, ClaimedPackage};

    /// Checks what becomes of `linux_amd64`, of which the registry states a SHA-256, where it is stated
    /// to have a size and hashes beside that.
    #[track_caller]
    fn check(shasum: &str, package: Option<(Option<u64>, &[&str])>, expected: &str) {
        let evidence = Evidence {
            filename: "a.zip".to_owned(),
            shasum: digest_of_hex(shasum).expect("a digest"),
            shasum_text: shasum.to_owned(),
            sums: ChecksumList::parse(b"").into(),
            sums_changed: None,
            signature: [].into(),
            keys: Vec::new(),
        };
        let platform = |text: &str| -> Platform { text.parse().expect("valid") };
        let package = package.map(|(size, hashes)| {
            let hashes = hashes
                .iter()
                .map(|text| text.parse::<Hash>().expect("valid"));
            let hashes = hashes.collect();
            (platform("linux_amd64"), ClaimedPackage { hashes, size })
        });
        // What is stated of another platform is not looked at.
        let other = (platform("linux_arm64"), ClaimedPackage::default());
        let claims = Claims {
            by: "example.com".to_owned(),
            packages: package.into_iter().chain([other]).collect(),
        };
        let found = check_claims(&evidence, &claims, &platform("linux_amd64"));
        let found = found.err().map(|error| error.to_string());
        assert_eq!(found.unwrap_or_default(), expected);
    }

    #[test]
    fn the_package_at_hand_is_stated_as_beside_the_download_address() {
        let (lower, upper) = ("ab".repeat(32), "AB".repeat(32));
        let (zh, loud) = (format!("zh:{lower}"), format!("zh:{upper}"));
        check(&lower, Some((Some(1), &[&zh, "h1:x"])), "");
        check(&upper, Some((Some(1), &[&loud])), "");
        let states = "the registry states hashes of packages, but";
        check(&lower, None, &format!("{states} none of linux_amd64"));
        check(
            &lower,
            Some((None, &[&zh])),
            &format!("{states} no size of that for linux_amd64"),
        );
        check(
            &lower,
            Some((Some(1), &["h1:x"])),
            &format!("{states} no zh: of that for linux_amd64"),
        );
        let differs = |claimed: &str, shasum: &str| {
            format!("the registry states {claimed} of linux_amd64, but {shasum} as its shasum")
        };
        check(&lower, Some((Some(1), &[&loud])), &differs(&loud, &lower));
        check(&upper, Some((Some(1), &[&zh])), &differs(&zh, &upper));
        let other = format!("zh:{}", "00".repeat(32));
        check(
            &lower,
            Some((Some(1), &[&zh, &other])),
            &differs(&other, &lower),
        );
    }
}
