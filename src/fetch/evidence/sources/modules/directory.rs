//! URLs of directories: the server says where the package is (rules 13.4).

use super::meta::{self, OtherCharset};
use crate::addr::Url;
use crate::addr::module::{Query, RemoteModule};
use crate::sources::FetchError;
use crate::sources::net::{Ask, HOPS, Net, Redirects};

/// Maximum size of the answer, in bytes; of a web page the start is enough.
const MAX_DIRECTORY_BYTES: u64 = 1024 * 1024;

/// Maximum length of the named address, in bytes.
const MAX_ADDRESS_BYTES: usize = 16 * 1024;

/// A server that does not state the address of a package.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DirectoryError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// An answer that is of no use, with the reason as a predicate.
    #[error("{url} is no archive, and {fault}")]
    Answer { url: Url, fault: String },
}

/// Asks a server where the package of a directory is.
///
/// # Errors
/// If the server does not say so.
pub fn directory(net: &Net<'_>, url: &Url) -> Result<RemoteModule, DirectoryError> {
    // go-getter adds this argument, and sorts and encodes the query anew (rules 13.1, 13.4).
    let asked = url.map_query(|query| {
        let mut query = Query::parse_readable(query);
        query.set("terraform-get", "1");
        query.encode()
    });
    let credentials = (net.package_credentials)(url);
    let ask = Ask {
        url: &asked,
        headers: &[],
        credentials: credentials.as_ref(),
        hops: HOPS,
        limit: MAX_DIRECTORY_BYTES,
        timeout: net.policy.document_timeout,
        redirects: Redirects::NoDowngrade,
    };
    let answer = net.document(&ask, net.policy.packages())?;
    if !(200..300).contains(&answer.status) {
        return Err(answer.refusal().into());
    }
    let useless = |fault: String| {
        let url = answer.url.clone();
        DirectoryError::Answer { url, fault }
    };
    // The header comes before the body (rules 13.4).
    let named = match answer.location {
        Some(named) => Some(named),
        None => meta::terraform_get(&answer.body)
            .map_err(|OtherCharset| useless("its answer is not in UTF-8".to_owned()))?,
    };
    let named = named
        .filter(|named| named.len() <= MAX_ADDRESS_BYTES)
        .ok_or_else(|| useless("does not say where the module is".to_owned()))?;
    RemoteModule::parse_full(&named)
        .map_err(|cause| useless(format!("names no full address: {cause}")))
}
