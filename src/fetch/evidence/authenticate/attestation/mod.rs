//! Attestations of builds: Sigstore bundles around a statement of SLSA provenance.
//!
//! The crate `sigstore-verify` checks a bundle without a request: the certificate leads to a root, is for signing code
//! and was valid at the time of the signature; a log or a timestamp authority states that time (`Rekor`: entry,
//! inclusion proof and checkpoint; RFC 3161); the certificate is in a log of certificates, where the roots name one;
//! the certificate's key signed the statement. This room adds what the statement has to say (rules 7).

mod ring_provider;

use std::collections::BTreeSet;

use sigstore_verify::crypto::FulcioCiClaims;
use sigstore_verify::trust_root::{
    SIGSTORE_GITHUB_TRUSTED_ROOT, SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot,
};
use sigstore_verify::types::{Bundle, Sha256Hash, SignatureContent, Statement};
use sigstore_verify::{CertificateError, Error, VerificationPolicy, VerificationResult, Verifier};

use crate::hash::{Digest, Hash, zh_of_digest};
use crate::package::AttestedBuild;

/// Maximum length of a file with trusted roots, in bytes. That of Sigstore has some 7,000.
pub const MAX_ROOTS_BYTES: u64 = 1 << 20;

/// The type of a statement about a build.
const PREDICATE: &str = "https://slsa.dev/provenance/v1";

/// The issuer of the tokens of GitHub's own workflows.
const GITHUB_ISSUER: &str = "https://token.actions.githubusercontent.com";

/// The certificate authorities, logs and timestamp authorities that attestations must lead to.
pub struct AttestationRoots {
    // Each with the checks that its services allow. Invariant: at least one.
    verifiers: Vec<(Verifier, VerificationPolicy)>,
}

/// The reason why a file has no roots.
#[derive(Debug, thiserror::Error)]
#[error("it is no trusted root of Sigstore: {0}")]
pub struct TrustedRootError(String);

/// The reason why a bundle attests nothing of a package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttestationError {
    /// No bundle, or one of which a part does not hold.
    #[error("its attestation is not valid: {0}")]
    Invalid(String),
    /// A signed statement about something other than a build.
    #[error("its attestation is of the type {0}, which states no build")]
    OtherStatement(String),
    /// A statement about other files.
    #[error("its attestation is about other files")]
    OtherFiles,
    /// A certificate that was issued to something other than a workflow of that host.
    #[error(
        "its attestation is signed for {0}, which is no workflow of the host of its repository"
    )]
    NoWorkflow(String),
    /// A build of another repository.
    #[error("its attestation is from {stated}, not from {wanted}")]
    OtherRepository { stated: String, wanted: String },
}

/// A build, and the packages that came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttestedPackages {
    pub build: AttestedBuild,
    /// The `zh:` of the files that the statement names.
    pub packages: BTreeSet<Hash>,
}

impl AttestationRoots {
    /// Returns the roots of Sigstore's public service and of GitHub's own one for private repositories, as the crate
    /// `sigstore-trust-root` ships them.
    ///
    /// # Errors
    /// If the crate ships what it cannot read.
    pub fn embedded() -> Result<Self, TrustedRootError> {
        ring_provider::install();
        let verifiers = [
            SIGSTORE_PRODUCTION_TRUSTED_ROOT,
            SIGSTORE_GITHUB_TRUSTED_ROOT,
        ]
        .into_iter()
        .map(verifier)
        .collect::<Result<_, _>>()?;
        Ok(Self { verifiers })
    }

    /// Reads a file with roots, as `gh attestation trusted-root` prints it: a JSON value in each line, or one value.
    ///
    /// # Errors
    /// If it has none.
    pub fn parse(bytes: &[u8]) -> Result<Self, TrustedRootError> {
        ring_provider::install();
        let values = serde_json::Deserializer::from_slice(bytes).into_iter::<serde_json::Value>();
        let mut verifiers = Vec::new();
        for value in values {
            let value = value.map_err(|error| TrustedRootError(error.to_string()))?;
            verifiers.push(verifier(&value.to_string())?);
        }
        if verifiers.is_empty() {
            return Err(TrustedRootError("it is empty".to_owned()));
        }
        Ok(Self { verifiers })
    }

    /// Verifies that a bundle attests the build of a package in a workflow of a repository, `HOST/OWNER/NAME`.
    ///
    /// # Errors
    /// If it does not.
    pub fn verify(
        &self,
        bundle: &str,
        package: &Digest,
        repository: &str,
    ) -> Result<AttestedPackages, AttestationError> {
        let bundle = Bundle::from_json(bundle).map_err(|error| invalid(&error))?;
        let SignatureContent::DsseEnvelope(envelope) = &bundle.content else {
            return Err(AttestationError::OtherStatement("signature".to_owned()));
        };
        let statement: Statement =
            serde_json::from_slice(envelope.payload.as_bytes()).map_err(|error| invalid(&error))?;
        let digest = Sha256Hash::new(*package);
        if !statement.matches_sha256(&digest) {
            return Err(AttestationError::OtherFiles);
        }
        let mut failure = None;
        let mut verified = None;
        for (verifier, policy) in &self.verifiers {
            match verifier.verify(digest, &bundle, policy) {
                Ok(result) => {
                    verified = Some(result);
                    break;
                }
                // The reason of the roots that know the certificate is the one to show.
                Err(Error::Certificate(
                    CertificateError::ChainInvalid(_) | CertificateError::NoValidAuthority { .. },
                )) if failure.is_some() => {}
                Err(error) => failure = Some(invalid(&error)),
            }
        }
        let Some(result) = verified else {
            return Err(failure
                .unwrap_or_else(|| AttestationError::Invalid("there are no roots".to_owned())));
        };
        // Read above, before the signature was checked: nothing of it counts until now.
        if statement.type_ != Statement::TYPE_V1 || statement.predicate_type != PREDICATE {
            return Err(AttestationError::OtherStatement(statement.predicate_type));
        }
        let build = build(&result, repository)?;
        let digests = statement
            .subject
            .iter()
            .filter_map(|subject| subject.digest.sha256);
        Ok(AttestedPackages {
            build,
            packages: digests
                .map(|digest| zh_of_digest(digest.as_bytes()))
                .collect(),
        })
    }
}

/// Makes a verifier of a trusted root. What its services do not offer cannot be checked: GitHub's own have a timestamp
/// authority in the place of the two logs.
fn verifier(json: &str) -> Result<(Verifier, VerificationPolicy), TrustedRootError> {
    let failed = |error: &dyn std::fmt::Display| TrustedRootError(error.to_string());
    let root = TrustedRoot::from_json(json).map_err(|error| failed(&error))?;
    let mut policy = VerificationPolicy::any_identity();
    if root.tlogs.is_empty() {
        policy = policy.skip_tlog_unsafe();
    }
    if root.ctlogs.is_empty() {
        policy = policy.skip_sct();
    }
    let verifier = Verifier::new(&root).map_err(|error| failed(&error))?;
    Ok((verifier, policy))
}

/// Reads the build from the certificate: it is the authority that states it, by the token of the workflow.
fn build(result: &VerificationResult, repository: &str) -> Result<AttestedBuild, AttestationError> {
    let invalid = |what: &str| AttestationError::Invalid(format!("its certificate {what}"));
    let certificate = result
        .certificate()
        .filter(|_| result.certificate_verified())
        .ok_or_else(|| invalid("was not checked"))?;
    let host = repository.split('/').next().unwrap_or_default();
    let issuer = certificate.issuer.as_deref().unwrap_or("an unknown issuer");
    // Anybody may have the public authority issue a certificate, and each issuer chooses what its tokens say.
    if !is_issuer_of(issuer, host) {
        return Err(AttestationError::NoWorkflow(issuer.to_owned()));
    }
    let FulcioCiClaims {
        source_repository_uri: Some(source),
        source_repository_digest: Some(commit),
        source_repository_ref: Some(git_ref),
        build_config_uri: Some(config),
        ..
    } = &certificate.ci_claims
    else {
        return Err(invalid("names no repository, commit, ref and workflow"));
    };
    let stated = source.strip_prefix("https://").unwrap_or(source);
    // GitHub compares names without regard to case.
    if !stated.eq_ignore_ascii_case(repository) {
        return Err(AttestationError::OtherRepository {
            stated: stated.to_owned(),
            wanted: repository.to_owned(),
        });
    }
    let (config, _) = config.rsplit_once('@').unwrap_or((config, ""));
    let workflow = config
        .strip_prefix(&**source)
        .map_or(config, |path| path.trim_start_matches('/'));
    let build = AttestedBuild {
        repository: stated.to_owned(),
        commit: commit.clone(),
        git_ref: git_ref.clone(),
        workflow: workflow.to_owned(),
    };
    if build.is_plain() {
        Ok(build)
    } else {
        Err(invalid("has a text that is too long, or of several words"))
    }
}

/// Returns true if an issuer makes the tokens of the workflows of a host: GitHub, or a GitHub Enterprise of a company,
/// whose issuer is on the same host.
fn is_issuer_of(issuer: &str, host: &str) -> bool {
    if host == "github.com" {
        // An enterprise may have a path of its own there, as in `…/acme`.
        let rest = issuer.strip_prefix(GITHUB_ISSUER);
        return rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    }
    let issuer_host = issuer
        .strip_prefix("https://")
        .and_then(|rest| rest.split(['/', ':']).next());
    issuer_host.is_some_and(|own| {
        own == host
            || own
                .strip_suffix(host)
                .is_some_and(|start| start.ends_with('.'))
    })
}

fn invalid(error: &dyn std::fmt::Display) -> AttestationError {
    AttestationError::Invalid(error.to_string())
}
