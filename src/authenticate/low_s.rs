//! Signatures on the curve secp256k1, in the one of two forms that the crate accepts.
//!
//! With `(r, s)` the mirrored `(r, n - s)` is good as well, `n` being the order of the curve. The
//! crate `k256`, made for money, verifies only the lower `s`; gpg makes either, and the programs
//! take both. Between the packet and the verification `pgp` offers no step at which to choose, so
//! the packet is rebuilt around the lower `s`. The arithmetic is that of `k256`.

use std::borrow::Cow;

use k256::FieldBytes;
use k256::ecdsa::Signature as Numbers;
use pgp::packet::Signature;
use pgp::types::{EcdsaPublicParams, KeyDetails, Mpi, PublicParams, SignatureBytes};

/// Returns a signature that is as good as this one, with the lower `s` if the key needs that.
pub(super) fn low_s<'a>(signature: &'a Signature, key: &impl KeyDetails) -> Cow<'a, Signature> {
    let of_the_curve = matches!(
        key.public_params(),
        PublicParams::ECDSA(EcdsaPublicParams::Secp256k1 { .. })
    );
    if !of_the_curve {
        return Cow::Borrowed(signature);
    }
    let low = numbers(signature).and_then(|high| with_numbers(signature, &high.normalize_s()?));
    low.map_or(Cow::Borrowed(signature), Cow::Owned)
}

/// Returns the two numbers of a signature, if the curve has such.
fn numbers(signature: &Signature) -> Option<Numbers> {
    let Some(SignatureBytes::Mpis(numbers)) = signature.signature() else {
        return None;
    };
    let [r, s] = numbers.as_slice() else {
        return None;
    };
    Numbers::from_scalars(number(r.as_ref())?, number(s.as_ref())?).ok()
}

/// Returns the signature with other numbers.
fn with_numbers(signature: &Signature, numbers: &Numbers) -> Option<Signature> {
    let (r, s) = numbers.split_bytes();
    let numbers = [r, s].map(|number| Mpi::from_slice(&number)).to_vec();
    let (config, check) = (signature.config()?, signature.signed_hash_value()?);
    let bytes = SignatureBytes::Mpis(numbers);
    Signature::from_config(config.clone(), check, bytes).ok()
}

/// Fills a number up to the width of the curve; `OpenPGP` leaves leading zeros out.
fn number(bytes: &[u8]) -> Option<FieldBytes> {
    let mut number = FieldBytes::default();
    let start = number.len().checked_sub(bytes.len())?;
    number[start..].copy_from_slice(bytes);
    Some(number)
}

#[cfg(test)]
mod tests {
    use pgp::packet::Packet;

    use super::*;
    use crate::authenticate::{armor, packets::packets};

    const SUMS: &[u8] = include_bytes!("../../fixtures/keys/kinds/SHA256SUMS");

    /// Returns a signature with the `s` that it does not have.
    fn mirrored(signature: &Signature) -> Signature {
        let (r, s) = numbers(signature).expect("of the curve").split_scalars();
        let other = Numbers::from_scalars(r, -s).expect("not zero");
        with_numbers(signature, &other).expect("made of one")
    }

    #[test]
    fn numbers_keep_their_leading_zeros() {
        assert_eq!(number(&[1; 33]), None);
        let short = number(&[1, 2]).expect("it fits");
        assert_eq!(short[..30], [0; 30]);
        assert_eq!(short[30..], [1, 2]);
    }

    /// Which one gpg made is chance.
    #[test]
    fn both_forms_of_a_signature_are_good() {
        let block = armor::public_key(include_str!("../../fixtures/keys/kinds/secp256k1.asc"));
        let key = packets(&block.expect("armor")).next();
        let Some(Ok(Packet::PublicKey(key))) = key else {
            panic!("{key:?}")
        };
        let made = include_bytes!("../../fixtures/keys/kinds/secp256k1.sig");
        let made = packets(made).next();
        let Some(Ok(Packet::Signature(made))) = made else {
            panic!("{made:?}")
        };
        let low = low_s(&made, &key).into_owned();
        let high = mirrored(&low);
        assert!(made == low || made.signature() == high.signature());
        assert!(
            high.verify(&key, SUMS).is_err(),
            "then this file is not needed"
        );
        for form in [&low, &high] {
            low_s(form, &key).verify(&key, SUMS).expect("good");
        }
        assert!(low_s(&high, &key).verify(&key, &SUMS[1..]).is_err());
    }
}
