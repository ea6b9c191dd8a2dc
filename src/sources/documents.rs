//! Single documents that are kept between runs, and asked for again only if they changed.

use super::FetchError;
use super::net::{Ask, Net, Redirects};
use crate::addr::Url;

/// Maximum number of redirects of a document.
const DOCUMENT_HOPS: usize = 5;

/// The answer to a request for a document that may be kept already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentAnswer {
    /// The kept one is still right.
    Unchanged,
    /// A new one.
    Document {
        /// The bytes of the document.
        body: Vec<u8>,
        /// The name that the server gives to this state of it, if any.
        etag: Option<String>,
    },
}

/// Asks for a document; `kept` is the name that the server gave to the state that is kept.
///
/// No credentials are sent: the documents are public.
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
        credentials: None,
        hops: DOCUMENT_HOPS,
        limit,
        timeout: net.policy.document_timeout,
        // What a document says is believed, so nobody on the way may write it.
        redirects: Redirects::NoDowngrade,
    };
    let answer = net.document(&ask, net.policy.documents())?;
    match answer.status {
        304 if kept.is_some() => Ok(DocumentAnswer::Unchanged),
        200 => {
            // The name goes into a header of the next request, and into a line of what is kept.
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
