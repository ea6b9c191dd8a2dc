//! Registries, mirrors and OCI repositories that do not answer, or not as they should.

use super::{GETTING, known};

known! {
    "credentials-missing", [], ["requires authentication credentials", "basic credential not found"],
        "network", [],
        ["{program} login", "{host}"] =>
        "The host answers only with credentials, and none are configured for it.";
    "credentials-refused", [],
        ["rejected the given authentication credentials", "401 Unauthorized", "401: unauthorized", "401: Unauthorized", "403 Forbidden", "403: Forbidden", "404: denied"],
        "network", [],
        ["{program} login", "{host}"] =>
        "The host refused the credentials that are configured for it: they have expired, or do not cover this provider.";
    "certificate-untrusted", GETTING, ["x509:", "failed to verify certificate", "tls: "],
        "network", [],
        ["? lockctl lock --dry-run -v"] =>
        "The certificate of the server is signed by nobody that this machine trusts, most often that of a proxy. `SSL_CERT_FILE` \
         names a file with further authorities.";
    "no-provider-registry", ["Invalid provider registry host"], [],
        "network", ["look-alike-provider"],
        ["? lockctl why", "{provider}"] =>
        "The host of the address has no registry of providers: it is misspelled, or offers other services only.";
    "discovery-failed", [], ["failed to request discovery document", "failed to decode discovery document", "discovery URL returned", "arse service URL"],
        "network", [],
        ["? lockctl lock --dry-run -v"] =>
        "The host gave no usable list of its services at `/.well-known/terraform.json`, so its registry is unknown.";
    "mirror-directory-missing", GETTING, ["cannot search … no such file", "cannot search"],
        "mirror-missing", ["mirror-missing"],
        ["? lockctl verify --only packages"] =>
        "The directory of a `filesystem_mirror` or of `-fs-mirror` does not exist.";
    "mirror-version-without-package", [], ["does not have archive index for previously-reported"],
        "mirror-lacks-version", ["mirror-lacks-version"],
        ["? lockctl verify --only packages"] =>
        "The mirror lists the version and has no file `VERSION.json` for it. Make that version of the mirror anew.";
    "oci-artifact-unusable", [],
        [
            "image manifest",
            "unexpected artifact type",
            "unexpected manifest media type",
            "for OCI index manifest",
            "ambiguous manifest",
            "unsupported digest algorithm",
            "manifest content does not match",
            "manifest size exceeds",
            "selected OCI artifact is for",
            "mismatch response Content-Type",
        ],
        "network", [],
        [] =>
        "The OCI repository holds something that OpenTofu does not take for a provider: a container image, or an index without the \
         artifact type or the platforms that it wants. Push it as the documentation of OpenTofu on mirrors in OCI registries says.";
    "oci-object-missing", GETTING, ["resolving tag", "fetching provider package blob … : not found", "sha256: … : not found", "mismatch Content-Length"],
        "network", [],
        ["{program} init"] =>
        "The OCI repository lacks a tag, a manifest or a package that it names itself, or sent a part of it.";
    "published-file-missing", GETTING, ["404 Not Found", "bad response code: 404", "bad response code: 403", "bad response code: 410"],
        "package-missing", ["package-missing"],
        ["? lockctl verify --upstream"] =>
        "The registry or the mirror lists the release, and one of its files is not there: the package, its checksum list or the \
         signature. Report it to the publisher.";
    "server-unreachable", GETTING,
        [
            "please try again later",
            "request failed after",
            "request failed:",
            "giving up after",
            "bad response code: ",
            "response status code ",
            "failed to contact OCI registry",
            "connection refused",
            "connection reset",
            "no such host",
            "unexpected EOF",
            ": EOF",
            "TIMEOUT",
            "imeout",
            "501 Status",
            "500 Internal Server Error",
            "502 Bad Gateway",
            "503 Service Unavailable",
            "429 Too Many Requests",
            "read: connection",
        ],
        "network", [],
        ["{program} init"] =>
        "The server did not answer, failed, or broke off after all attempts. The lock file has no part in it; try again.";
    "answer-malformed", GETTING,
        [
            "invalid character",
            "cannot unmarshal",
            "registry response includes invalid",
            "registry response to request for",
            "invalid Content-Type",
            "failed to decode response",
            "invalid download URL",
        ],
        "network", [],
        ["? lockctl lock --dry-run -v"] =>
        "The server sent something else than a registry or a mirror does, such as a page of a proxy or of a login.";
}
