//! Keys of partners, and the words for signers.

use super::*;

/// The author key and the signatures of Terraform's own tests.
fn author(trust_signature: &str) -> MatchedKey<'static> {
    let key = Box::leak(Box::new(SigningKey {
        ascii_armor: armored("hashicorp/author"),
        trust_signature: trust_signature.to_owned(),
    }));
    let bytes = armor::public_key(&key.ascii_armor).expect("armor");
    let document = fixture("hashicorp/author-document");
    let signature = fixture("hashicorp/author-document.sig");
    let keyring = Keyring::read(&bytes).expect("a key");
    let verified = Detached::read(&signature, &document, YEAR_2024).check(&keyring);
    MatchedKey {
        key,
        verified: verified.expect("good").expect("by this key"),
        bytes,
    }
}

#[track_caller]
fn check_trust(trust_signature: &str, expected: Result<Class, &str>) {
    let found = author(trust_signature);
    let document = fixture("hashicorp/author-document");
    let signature = fixture("hashicorp/author-document.sig");
    let signature = Detached::read(&signature, &document, YEAR_2024);
    let class = class(&found, &signature).map_err(|error| error.to_string());
    assert_eq!(class, expected.map_err(str::to_owned), "{trust_signature}");
}

#[test]
fn the_partners_key_makes_a_partner() {
    check_trust("", Ok(Class::SelfSigned));
    check_trust(&armored("hashicorp/author-trust"), Ok(Class::Partner));
    check_trust(
        &armored("hashicorp/other-trust"),
        Err(
            "the trust signature over key 37A6AB3BCF2C170A is not good: the signature does not match \
             the document, although it names key 7D72D4268E4660FC",
        ),
    );
    check_trust(
        "garbage",
        Err(
            "the trust signature over key 37A6AB3BCF2C170A is not good: the signature is not \
             readable: it is no text with ASCII armor",
        ),
    );
    check_trust(
        " ",
        Err(
            "the trust signature over key 37A6AB3BCF2C170A is not good: the signature is not \
             readable: it is no text with ASCII armor",
        ),
    );
    check_trust(
        &armored("kinds/rsa2048"),
        Err(
            "the trust signature over key 37A6AB3BCF2C170A is not good: the signature is not \
             readable: it holds something else than signatures",
        ),
    );
}

#[test]
fn classes_are_spelled_as_the_program_spells_them() {
    for (class, expected) in [
        (Class::HashiCorp, "signed by HashiCorp"),
        (
            Class::Partner,
            "signed by a HashiCorp partner, key ID 7D72D4268E4660FC",
        ),
        (Class::SelfSigned, "self-signed, key ID 7D72D4268E4660FC"),
        (Class::Signed, "signed, key ID 7D72D4268E4660FC"),
    ] {
        let signer = Signer {
            class,
            key: SignerKey {
                fingerprint: "7D72D4268E4660FC".to_owned(),
                subkey: None,
            },
            expires: None,
            remarks: Vec::new(),
        };
        assert_eq!(signer.to_string(), expected);
    }
}
