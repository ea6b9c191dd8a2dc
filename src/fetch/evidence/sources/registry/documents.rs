//! The two documents of the provider registry protocol (rules 2 and 3).

use serde::Deserialize;

/// The list of versions; other fields are not read, and there are no further pages.
#[derive(Debug, Deserialize)]
pub(super) struct VersionList {
    pub(super) versions: Option<Vec<ListedVersion>>,
    pub(super) warnings: Option<Vec<String>>,
}

/// One element of the list.
#[derive(Debug, Deserialize)]
pub(super) struct ListedVersion {
    pub(super) version: Option<String>,
    pub(super) protocols: Option<Vec<String>>,
    /// Neither program reads it; here it only answers which platforms `all` means.
    pub(super) platforms: Option<Vec<ListedPlatform>>,
}

/// A platform, as the list of versions states it.
#[derive(Debug, Deserialize)]
pub(super) struct ListedPlatform {
    pub(super) os: Option<String>,
    pub(super) arch: Option<String>,
}

/// The document of one package. A field that is missing or `null` is empty.
#[derive(Debug, Deserialize)]
pub(super) struct PackageDocument {
    pub(super) protocols: Option<Vec<String>>,
    pub(super) os: Option<String>,
    pub(super) arch: Option<String>,
    pub(super) filename: Option<String>,
    pub(super) download_url: Option<String>,
    pub(super) shasum: Option<String>,
    pub(super) shasums_url: Option<String>,
    pub(super) shasums_signature_url: Option<String>,
    pub(super) signing_keys: Option<SigningKeys>,
    /// Hashes that no signature covers, for all platforms at once (rules 3.8).
    pub(super) packages: Option<serde_json::Value>,
}

/// The keys that the registry vouches for.
#[derive(Debug, Deserialize)]
pub(super) struct SigningKeys {
    pub(super) gpg_public_keys: Option<Vec<PublicKey>>,
}

/// One of them; its stated id, source and source URL are not read.
#[derive(Debug, Deserialize)]
pub(super) struct PublicKey {
    pub(super) ascii_armor: Option<String>,
    pub(super) trust_signature: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::read_json as read;

    #[test]
    fn a_document_is_read_leniently() {
        let text = "{\"protocols\":null,\"filename\":\"x\",\"other\":[1]} trailing";
        let document: PackageDocument = read(text.as_bytes()).expect("readable");
        assert_eq!(document.filename.as_deref(), Some("x"));
        assert!(document.protocols.is_none() && document.signing_keys.is_none());
        assert!(read::<PackageDocument>(b"").is_err());
        assert!(read::<PackageDocument>(b"<html>").is_err());
        assert!(read::<PackageDocument>(b"{\"os\":").is_err());
        assert!(read::<PackageDocument>(b"{\"os\":1}").is_err());
    }
}
