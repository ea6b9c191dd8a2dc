//! Signatures on the curve secp256k1, in the one of two forms that the crate accepts.
//!
//! With `(r, s)` the mirrored `(r, n - s)` is good as well, `n` being the order of the curve. The
//! crate, made for money, takes only the lower `s`; gpg makes either, and the programs take both.

use std::borrow::Cow;

use pgp::packet::Signature;
use pgp::types::{EcdsaPublicParams, KeyDetails, Mpi, PublicParams, SignatureBytes};

type Number = [u8; 32];

/// The order of the curve, big-endian as all numbers here.
const ORDER: Number = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
    0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
];

/// Returns a signature that is as good as this one, with the lower `s` if the key needs that.
pub(super) fn low_s<'a>(signature: &'a Signature, key: &impl KeyDetails) -> Cow<'a, Signature> {
    let of_the_curve = matches!(
        key.public_params(),
        PublicParams::ECDSA(EcdsaPublicParams::Secp256k1 { .. })
    );
    let low = match of_the_curve && is_high(signature) {
        true => with_other_s(signature),
        false => None,
    };
    low.map_or(Cow::Borrowed(signature), Cow::Owned)
}

/// Returns the two numbers of a signature.
fn numbers(signature: &Signature) -> Option<(Mpi, Number)> {
    let Some(SignatureBytes::Mpis(numbers)) = signature.signature() else {
        return None;
    };
    let [r, s] = numbers.as_slice() else {
        return None;
    };
    Some((r.clone(), number(s.as_ref())?))
}

fn is_high(signature: &Signature) -> bool {
    let other = numbers(signature).and_then(|(_, s)| Some(minus(&ORDER, &s)? < s));
    other == Some(true)
}

fn with_other_s(signature: &Signature) -> Option<Signature> {
    let (r, s) = numbers(signature)?;
    let other = minus(&ORDER, &s)?;
    let numbers = vec![r, Mpi::from_slice(&other)];
    let (config, check) = (signature.config()?, signature.signed_hash_value()?);
    let bytes = SignatureBytes::Mpis(numbers);
    Signature::from_config(config.clone(), check, bytes).ok()
}

fn number(bytes: &[u8]) -> Option<Number> {
    let mut number = Number::default();
    let start = number.len().checked_sub(bytes.len())?;
    number[start..].copy_from_slice(bytes);
    Some(number)
}

/// Subtracts; nothing if the result were negative.
fn minus(from: &Number, what: &Number) -> Option<Number> {
    let mut difference = *from;
    let mut borrow = false;
    for (digit, less) in difference.iter_mut().zip(what).rev() {
        let (once, first) = digit.overflowing_sub(*less);
        let (twice, second) = once.overflowing_sub(borrow.into());
        *digit = twice;
        borrow = first || second;
    }
    (!borrow).then_some(difference)
}

#[cfg(test)]
mod tests {
    use pgp::packet::Packet;

    use super::*;
    use crate::authenticate::{armor, packets::packets};

    const SUMS: &[u8] = include_bytes!("../../fixtures/keys/kinds/SHA256SUMS");

    #[track_caller]
    fn check(from: u16, what: u16, expected: Option<u16>) {
        let spell = |value: u16| number(&value.to_be_bytes()).expect("it is short");
        assert_eq!(minus(&spell(from), &spell(what)), expected.map(spell));
    }

    #[test]
    fn numbers_are_subtracted() {
        check(0x1234, 0x34, Some(0x1200));
        check(0x1200, 0x01, Some(0x11ff));
        check(0x1200, 0x1200, Some(0));
        check(0x1200, 0x1201, None);
        assert_eq!(number(&[1; 33]), None);
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
        let high = with_other_s(&low).expect("it has one");
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
