//! Single documents that are kept between runs, and fetched again only if they changed.

use super::FetchError;
use super::net::{Ask, HOPS, Net, Redirects};
use crate::addr::Url;

/// The answer to a request for a document that may have been kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentAnswer {
    /// The kept document is current.
    Unchanged,
    /// The server sent the document, because it is new or has changed.
    Document {
        /// The bytes of the document.
        body: Vec<u8>,
        /// The ETag of the document, if the server sent one.
        etag: Option<String>,
    },
}

/// Fetches a document; `kept` is the ETag of the kept one.
///
/// # Errors
/// If it could not be fetched.
pub fn document(
    net: &Net<'_>,
    url: &Url,
    limit: u64,
    kept: Option<&str>,
) -> Result<DocumentAnswer, FetchError> {
    let header = kept.map(|etag| ("if-none-match", etag));
    let ask = Ask {
        url,
        headers: header.as_slice(),
        // The documents are public.
        credentials: None,
        hops: HOPS,
        limit,
        timeout: net.policy.document_timeout,
        // Documents have no signature, so no redirect may lead to a connection that others can alter.
        redirects: Redirects::NoDowngrade,
    };
    let answer = net.document(&ask, net.policy.documents())?;
    match answer.status {
        304 if kept.is_some() => Ok(DocumentAnswer::Unchanged),
        200 => {
            // The ETag becomes a header of the next request, and a line of the kept object.
            let is_plain = |etag: &&str| {
                etag.len() <= 200 && etag.bytes().all(|byte| (b' '..=b'~').contains(&byte))
            };
            let etag = answer.header("etag").find(is_plain).map(str::to_owned);
            Ok(DocumentAnswer::Document {
                body: answer.body,
                etag,
            })
        }
        _ => Err(answer.refusal()),
    }
}
