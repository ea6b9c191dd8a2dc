//! Cryptography for `sigstore-verify` by `ring`: that crate has none of its own, and this program has one library.

use ring::digest::{self, Context, SHA256, SHA384, SHA512};
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use sigstore_verify::crypto::{
    CryptoProvider, Error, HashContext, SigningScheme, install_default_provider,
};
use sigstore_verify::types::HashAlgorithm;

/// Hashes and checks signatures with `ring`; makes no signatures.
#[derive(Debug)]
struct RingProvider;

struct RingHash(Context);

/// Lends `ring` to `sigstore-verify`, once for the process.
pub(super) fn install() {
    // An error says that it is installed already.
    let _ = install_default_provider(&RingProvider);
}

impl HashContext for RingHash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl CryptoProvider for RingProvider {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>, Error> {
        let algorithm: &'static digest::Algorithm = match algorithm {
            HashAlgorithm::Sha2256 => &SHA256,
            HashAlgorithm::Sha2384 => &SHA384,
            HashAlgorithm::Sha2512 => &SHA512,
            other => return Err(unsupported(other.as_rekor_str())),
        };
        Ok(Box::new(RingHash(Context::new(algorithm))))
    }

    fn verify_raw(
        &self,
        scheme: SigningScheme,
        key: &[u8],
        data: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        let algorithm = algorithm(scheme).ok_or_else(|| unsupported(scheme.name()))?;
        UnparsedPublicKey::new(algorithm, key)
            .verify(data, signature)
            .map_err(|_| Error::Verification(format!("{} signature invalid", scheme.name())))
    }

    fn verify_prehashed(
        &self,
        scheme: SigningScheme,
        _: &[u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), Error> {
        // Signatures over the digest of a file are those of bundles without a statement, which count for nothing here.
        Err(unsupported(scheme.name()))
    }
}

/// Returns the algorithm of `ring`; none for ML-DSA, which it lacks.
fn algorithm(scheme: SigningScheme) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match scheme {
        SigningScheme::EcdsaP256Sha256 => &signature::ECDSA_P256_SHA256_ASN1,
        SigningScheme::EcdsaP256Sha384 => &signature::ECDSA_P256_SHA384_ASN1,
        SigningScheme::EcdsaP384Sha256 => &signature::ECDSA_P384_SHA256_ASN1,
        SigningScheme::EcdsaP384Sha384 => &signature::ECDSA_P384_SHA384_ASN1,
        SigningScheme::Ed25519 => &signature::ED25519,
        SigningScheme::RsaPssSha256 => &signature::RSA_PSS_2048_8192_SHA256,
        SigningScheme::RsaPssSha384 => &signature::RSA_PSS_2048_8192_SHA384,
        SigningScheme::RsaPssSha512 => &signature::RSA_PSS_2048_8192_SHA512,
        SigningScheme::RsaPkcs1Sha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        SigningScheme::RsaPkcs1Sha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        SigningScheme::RsaPkcs1Sha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        _ => return None,
    })
}

fn unsupported(name: &str) -> Error {
    Error::UnsupportedAlgorithm(name.to_owned())
}
