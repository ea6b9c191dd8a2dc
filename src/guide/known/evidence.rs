//! Packages, hashes and signatures that do not fit together.

use super::{GETTING, known};

known! {
    "unpacked-package-not-recorded", [], ["the local package for … doesn't match any of the checksums"],
        "platforms-incomplete",
        ["platforms-incomplete", "package-unverifiable", "package-mismatch", "package-stray-file", "hash-not-well-formed"],
        ["lockctl lock", "--platform {platform}", "--provider {provider}"] =>
        "The mirror has an unpacked package, which only an `h1:` can verify, and none of the recorded `h1:` is its own. \
         Most often the entry was written on another platform and lacks that of this one.";
    "package-not-recorded", [], ["the current package for … doesn't match any of the checksums", "doesn't match any of the checksums previously recorded"],
        "package-mismatch", ["hash-not-well-formed", "hash-not-of-release", "hashes-contradicted", "package-mismatch", "package-stray-file", "zh-missing"],
        ["? lockctl verify --upstream"] =>
        "The package that was fetched has none of the hashes that the lock file records for this version. An entry without \
         `zh:` hashes was locked from a mirror or cache, and lacks the hash of this platform. Otherwise the entry was edited or \
         belongs to another release, the release was published again, or the package was changed on its way.";
    "cached-package-not-recorded", ["Failed to install provider from shared cache"], [],
        "package-unverifiable",
        ["package-unverifiable", "platforms-incomplete", "package-mismatch", "package-stray-file", "hash-not-well-formed"],
        ["lockctl lock", "--platform {platform}", "--provider {provider}"] =>
        "The package in the plugin cache has none of the recorded `h1:` hashes, and a `zh:` cannot verify an unpacked package.";
    "installed-package-not-recorded", [],
        ["the cached package for … does not match any of the checksums", "has a copy of … that doesn't match any of the checksums"],
        "platforms-incomplete",
        ["package-stray-file", "package-mismatch", "hash-not-well-formed", "platforms-incomplete", "package-unverifiable"],
        ["lockctl lock", "--platform {platform}", "--provider {provider}"] =>
        "`plan`, `apply` and `validate` compare the installed package with the recorded `h1:` hashes alone, and it has none of \
         them. The entry lacks the `h1:` of this platform, or a file of the package was changed.";
    "installed-package-modified", [], ["existing cached package at … does not match the content"],
        "package-stray-file", ["package-stray-file", "package-mismatch"],
        ["rm -r .terraform/providers"] =>
        "OpenTofu found an installed or cached package that differs from the one that it downloaded, and does not replace it. \
         Remove that directory and run `tofu init` again.";
    "installed-package-is-link", [], ["cannot install package into target directory … because it is a symlink"],
        "package-mismatch", ["package-mismatch"],
        ["rm -r .terraform/providers"] =>
        "The package was linked into `.terraform/providers` by a plugin cache or by hand, and Terraform 1.15 does not unpack \
         another one over it. Remove the link and run `init` again.";
    "package-not-of-signed-list", [], ["archive has incorrect checksum"],
        "trust", ["package-mismatch"],
        ["{program} init"] =>
        "The zip that was downloaded is not the one that the checksum list of the release names. The download was cut off or \
         changed on its way, or the publisher replaced the zip alone. Try again, and then report it to the publisher.";
    "list-contradicts-registry", [], ["checksum list has unexpected SHA-256 hash"],
        "stated-hash-false", ["stated-hash-false", "hashes-contradicted"],
        ["? lockctl verify --upstream"] =>
        "The checksum list of the release and the registry state different hashes of one package, so nothing is installed. Report \
         it to the operator of the registry.";
    "package-not-in-list", [], ["checksum list has no SHA-256 hash for"],
        "package-misnamed", ["package-misnamed"],
        ["? lockctl verify --upstream"] =>
        "The checksum list of the release has no line for this package. The release is incomplete, or its file has another name. \
         Report it to the publisher.";
    "signature-expired", [], ["openpgp: signature expired", "openpgp: key expired"],
        "signature-odd", ["signature-odd"],
        ["? lockctl verify --upstream"] =>
        "The signature of the checksum list has expired, or it is dated in the future: the text is the same. So look at the clock of \
         this machine first. If that is right, Terraform refuses the release and OpenTofu may accept it; a newer one is likely to \
         have a valid signature.";
    "signer-unknown", [], ["authentication signature from unknown issuer"],
        "release-unsigned", ["release-unsigned", "key-not-allowed"],
        ["? lockctl verify --upstream"] =>
        "None of the keys that the registry names has made the signature of the checksum list, or it names no key at all. Report \
         it to the publisher.";
    "signature-invalid", [], ["error checking signature", "not signed with a valid signing key"],
        "trust", ["key-not-allowed", "release-unsigned"],
        ["? lockctl verify --upstream"] =>
        "The signature does not fit the checksum list of the release: one of both was changed, or is no signature. Do not install \
         the package; report it to the publisher.";
    "signing-key-unreadable", [], ["error decoding signing key", "error decoding trust signature"],
        "trust", [],
        ["? lockctl verify --upstream"] =>
        "The registry states a key or a signature that is not in OpenPGP form. Report it to its operator.";
    "stated-package-false", [],
        [
            "registry response expected sha256sum is",
            "does not contain matching sha256sum package entry",
            "registry response missing package with platform",
            "registry response indicates a package of size",
            "registry response has invalid package size",
            "registry response includes invalid package hash",
            "registry response includes invalid package platform",
        ],
        "stated-hash-false", ["stated-hash-false"],
        ["? lockctl verify --upstream"] =>
        "What the registry states about the packages of the release contradicts itself or the package. Report it to the operator \
         of the registry.";
    "mirror-hash-false", [],
        [
            "provider package doesn't match the any of the expected checksums",
            "provider package doesn't match the expected checksum",
            "provider package does not match digest",
            "failed to verify provider package checksums",
        ],
        "stated-hash-false", ["stated-hash-false", "package-mismatch"],
        ["? lockctl verify --upstream"] =>
        "The mirror sent a package that does not have the hash which the mirror itself states. The download was changed, or the \
         index of the mirror is out of date. Make that version of the mirror anew.";
    "mirror-hash-unsupported", [],
        ["does not support any of the checksum formats", "provider mirror returned invalid provider hash"],
        "network", [],
        ["? lockctl verify --upstream"] =>
        "The index of the mirror states only hashes that this program cannot compute. Write `h1:` or `zh:` hashes to the index.";
    "package-not-a-zip", GETTING, ["zip: not a valid zip file", "zip: checksum error", "zip: unsupported"],
        "package-unreadable", ["package-unreadable"],
        ["{program} init"] =>
        "The file is no readable zip: the download was cut off, or the server sent something else. Remove it from the mirror, or \
         try again.";
    "no-executable", [], ["provider binary not found", "could not find executable file starting with"],
        "package-missing", [],
        ["? lockctl why", "{provider}"] =>
        "The package holds no file `terraform-provider-TYPE…`, so it is no package of a provider. Report it to the publisher, or \
         require another version.";
    "provider-does-not-start", [],
        ["Unrecognized remote plugin message", "could not read package directory", "exec format error", "fork/exec"],
        "matrix", ["package-mismatch", "package-stray-file"],
        ["{program} init"] =>
        "The package of the provider is there, and its program cannot be started: it was built for another platform, it is damaged, \
         or a development override names a wrong directory.";
}
