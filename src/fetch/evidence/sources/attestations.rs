//! Attestations that GitHub keeps for packages: found by the digest alone, so that no package is downloaded.

use serde::Deserialize;

use super::net::{Ask, Net, Redirects};
use super::{FetchError, FetchFault, read_json};
use crate::addr::Url;
use crate::hash::Hash;
use crate::world::Credentials;

/// Maximum size of an answer, in bytes. A bundle has some 12,000.
const MAX_ANSWER_BYTES: u64 = 2 << 20;

/// Maximum number of attestations of one package that are looked at; workflows that run again add some.
const MAX_BUNDLES: usize = 30;

/// Maximum number of redirects.
const HOPS: usize = 3;

/// The API of GitHub, or of a GitHub Enterprise.
pub struct AttestationApi<'a> {
    pub net: Net<'a>,
    /// The address of the API, with a slash at its end.
    pub api: Url,
    /// The token, which is sent to the API alone.
    pub token: Option<Credentials>,
}

/// The reason why it is not known whether a package has an attestation.
#[derive(Debug, thiserror::Error)]
pub enum AttestationFault {
    /// A limit of requests is reached; without a token it is 60 in an hour for an address.
    #[error("{0} answers no more requests for now: its limit is reached")]
    Limit(Url),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// An answer of another form.
    #[error("the answer of {0} cannot be read: {1}")]
    Form(Url, String),
}

#[derive(Deserialize)]
struct Attestations {
    attestations: Vec<Attestation>,
}

#[derive(Deserialize)]
struct Attestation {
    bundle: Option<serde_json::Value>,
}

impl AttestationApi<'_> {
    /// Returns the bundles that a repository, `OWNER/NAME`, has for the package with a `zh:`; none of them is verified.
    ///
    /// # Errors
    /// If the API gives no answer that can be read.
    pub fn bundles(&self, repository: &str, zh: &Hash) -> Result<Vec<String>, AttestationFault> {
        let subject = format!("sha256:{}", zh.value());
        let path = std::iter::once("repos")
            .chain(repository.split('/'))
            .chain(["attestations", &subject]);
        let url = self.api.below(path);
        let ask = Ask {
            url: &url,
            headers: &[
                ("accept", "application/vnd.github+json"),
                // Without a version GitHub may change the form of the answer at any time.
                ("x-github-api-version", "2022-11-28"),
            ],
            credentials: self.token.as_ref(),
            hops: HOPS,
            limit: MAX_ANSWER_BYTES,
            timeout: self.net.policy.document_timeout,
            redirects: Redirects::NoDowngrade,
        };
        let answer = match self.net.document(&ask, self.net.policy.documents()) {
            Err(error) if matches!(error.fault, FetchFault::Status { status: 429, .. }) => {
                return Err(AttestationFault::Limit(self.api.clone()));
            }
            answer => answer?,
        };
        let is_zero = answer
            .header("x-ratelimit-remaining")
            .any(|left| left == "0");
        // GitHub has two limits: one counts down, the other asks for a pause.
        let waits = answer.header("retry-after").next().is_some();
        match answer.status {
            200 => {
                let read: Attestations = read_json(&answer.body)
                    .map_err(|reason| AttestationFault::Form(answer.url.clone(), reason))?;
                Ok(read
                    .attestations
                    .into_iter()
                    .filter_map(|it| it.bundle)
                    .map(|bundle| bundle.to_string())
                    .take(MAX_BUNDLES)
                    .collect())
            }
            // There is no attestation, or no repository that the token may see.
            404 => Ok(Vec::new()),
            403 if is_zero || waits => Err(AttestationFault::Limit(self.api.clone())),
            _ => Err(answer.refusal().into()),
        }
    }
}
