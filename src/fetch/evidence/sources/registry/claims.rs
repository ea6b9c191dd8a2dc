//! The hashes that a registry states beside its signed list (rules 3.8).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::hash::{Hash, Hashes, Scheme};
use crate::package::{ClaimedPackage, Claims};
use crate::platform::Platform;
use crate::sources::cut;

/// Maximum number of platforms of a release; the most that any has are some thirty.
const MAX_PLATFORMS: usize = 200;

/// Maximum number of hashes of one package; a sound registry states two.
const MAX_HASHES: usize = 100;

/// The hashes that a registry states of one package. A field that is missing or `null` is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatedPackage {
    hashes: Option<Vec<Option<String>>>,
    /// The length of the zip. A number that is no size, such as -1, matters only for the package at hand.
    package_size: Option<i64>,
}

/// Reads the field `packages` of a document; `by` is the host that states it.
///
/// A field that is missing, `null` or empty states nothing.
///
/// # Errors
/// The fault of the field, as OpenTofu sees it: it is no object, a platform or a hash is none, or
/// there are more than anybody publishes. The values of hashes are not looked at.
pub(super) fn claims(field: Option<Value>, by: &str) -> Result<Option<Claims>, String> {
    let Some(field) = field.filter(|field| !field.is_null()) else {
        return Ok(None);
    };
    let stated: BTreeMap<String, Option<StatedPackage>> =
        serde_json::from_value(field).map_err(|error| format!("packages: {error}"))?;
    if stated.len() > MAX_PLATFORMS {
        let count = stated.len();
        return Err(format!("packages holds {count} platforms"));
    }
    let mut packages = BTreeMap::new();
    for (name, stated) in stated {
        let platform: Platform = name
            .parse()
            .map_err(|_| format!("packages holds {:?}, which is no platform", cut(&name)))?;
        let stated = stated.unwrap_or_default();
        let texts = stated.hashes.unwrap_or_default();
        if texts.len() > MAX_HASHES {
            let count = texts.len();
            return Err(format!("packages holds {count} hashes of one platform"));
        }
        let mut hashes = Hashes::default();
        for text in texts {
            let text = text.unwrap_or_default();
            let hash: Hash = text
                .parse()
                .map_err(|_| format!("packages holds {:?}, which is no hash", cut(&text)))?;
            // OpenTofu compares and records known schemes only (rules 3.8).
            if hash.scheme() != Scheme::Other {
                hashes.insert(hash);
            }
        }
        let size = stated
            .package_size
            .and_then(|size| u64::try_from(size).ok())
            .filter(|size| *size > 0);
        packages.insert(platform, ClaimedPackage { hashes, size });
    }
    Ok((!packages.is_empty()).then(|| Claims {
        by: by.to_owned(),
        packages,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what is read of a field: a line for each platform, or what is wrong.
    #[track_caller]
    fn check(field: &str, expected: &str) {
        let value = serde_json::from_str(field).expect("JSON");
        let read = match claims(Some(value), "example.com") {
            Ok(None) => "nothing".to_owned(),
            Ok(Some(claims)) => {
                assert_eq!(claims.by, "example.com");
                let packages = claims.packages.iter();
                let line = |(platform, one): (&Platform, &ClaimedPackage)| {
                    let hashes: Vec<&str> = one.hashes.iter().map(Hash::as_str).collect();
                    let size = one.size.map_or("?".to_owned(), |size| size.to_string());
                    format!("{platform} {size} {}", hashes.join(" "))
                };
                packages.map(line).collect::<Vec<_>>().join("; ")
            }
            Err(fault) => fault,
        };
        assert_eq!(read, expected, "from {field}");
    }

    #[test]
    fn what_is_stated_is_kept_as_it_is_spelled() {
        check(
            "{\"linux_amd64\":{\"hashes\":[\"zh:AB\",\"h1:x\",\"h2:y\"],\"package_size\":7},\
             \"plan9_mips\":{\"hashes\":null,\"package_size\":-1},\"a_b\":null}",
            "a_b ? ; linux_amd64 7 h1:x zh:AB; plan9_mips ? ",
        );
        check("{\"a_b\":{\"package_size\":0,\"more\":[]}}", "a_b ? ");
        check("{}", "nothing");
        check("null", "nothing");
        assert_eq!(claims(None, "example.com"), Ok(None));
    }

    #[test]
    fn a_flood_is_refused() {
        let hashes = vec!["\"h1:x\""; MAX_HASHES + 1].join(",");
        let field = format!("{{\"a_b\":{{\"hashes\":[{hashes}]}}}}");
        check(&field, "packages holds 101 hashes of one platform");
        let platforms = (0..=MAX_PLATFORMS).map(|n| format!("\"a_{n}\":{{}}"));
        let field = platforms.collect::<Vec<_>>().join(",");
        check(&format!("{{{field}}}"), "packages holds 201 platforms");
    }
}
