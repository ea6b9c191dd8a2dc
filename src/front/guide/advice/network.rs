//! Advice for sources that gave no answer, or nothing that can be trusted.

use crate::addr::{Hostname, ProviderAddr};
use crate::authenticate::{AuthError, KeyRemark};
use crate::flavor::Flavor;
use crate::platform::{self, Platform};
use crate::sources::discovery::DiscoveryError;
use crate::sources::network_mirror::MirrorError;
use crate::sources::oci::{ArtifactFault, OciError};
use crate::sources::registry::{FoundBy, RegistryError};
use crate::sources::{FetchError, Outage, Sent, SourceError, Unauthorized};
use crate::world::HttpError;

/// A host that users name by mistake, and that hosts no providers.
const CODE_HOST: &str = "github.com";

/// Says what to do when a source gave no answer.
pub(crate) fn source(error: &SourceError, flavor: Flavor) -> Option<String> {
    match error {
        SourceError::Registry(error) => registry(error, flavor),
        SourceError::Mirror(error) => mirror(error),
        SourceError::UnknownProvider { .. } => {
            Some("check the source address, or add the provider to the mirror".to_owned())
        }
        SourceError::NoSuchPackage { id, offered, .. } => Some(in_mirror(&id.platform, offered)),
        SourceError::NoPackage { offered, .. } => Some(self::offered(offered)),
        SourceError::Nowhere { .. } => Some(
            "check the source address, and provider_installation in the CLI configuration with its \
             include and exclude"
                .to_owned(),
        ),
        SourceError::Offline { .. } => Some("leave out --offline".to_owned()),
        SourceError::Oci(error) => oci(error),
        SourceError::MirrorUrl(_) => Some("correct the URL in the CLI configuration".to_owned()),
        SourceError::Unreadable { .. } => {
            Some("make it a readable directory, or correct the CLI configuration".to_owned())
        }
        SourceError::TooLarge { .. } => None,
    }
}

/// Names the platforms that have packages.
pub(crate) fn offered(platforms: &[Platform]) -> String {
    match platforms {
        [] => "name other platforms with --platform".to_owned(),
        some => format!("it has packages for {}", platform::join(some, ", ")),
    }
}

/// Names the platforms of the packages in a mirror; the release may have more.
fn in_mirror(lacking: &Platform, platforms: &[Platform]) -> String {
    let add = format!("the release may have one for {lacking}: add it to the mirror");
    match platforms {
        [] => format!("{add}, or name other platforms with --platform"),
        some => format!(
            "the mirror has packages for {}; {add}",
            platform::join(some, ", ")
        ),
    }
}

fn registry(error: &RegistryError, flavor: Flavor) -> Option<String> {
    let operator = "report it to the operator of the registry";
    Some(match error {
        RegistryError::Discovery {
            by: FoundBy::Configuration,
            ..
        } => "correct the host block of the CLI configuration".to_owned(),
        RegistryError::Discovery { host, cause, .. } => return discovery(host, cause),
        RegistryError::NoVersions { .. } => {
            "check the source address, or wait until a version is published".to_owned()
        }
        RegistryError::UnknownProvider {
            cut_off: Some(base),
            ..
        } => format!(
            "the URL of the registry, {base}, does not end in a slash, so its last part was left \
             out: add the slash"
        ),
        RegistryError::UnknownProvider {
            successor: Some(successor),
            ..
        } => format!(
            "the registry publishes it as {0}: write source = \"{0}\" in required_providers",
            successor.short(flavor)
        ),
        // Without a source the namespace is hashicorp (`addr` rules 1.2), whose registry does not know the
        // providers of others.
        RegistryError::UnknownProvider { .. } => {
            "check the source address; a provider without one \
             in required_providers is taken for one of the namespace hashicorp"
                .to_owned()
        }
        RegistryError::Unauthorized(Unauthorized {
            host, sent, helper, ..
        }) => unauthorized(host, *sent, helper.as_deref(), flavor),
        RegistryError::Fetch(cause) => return fetch(cause),
        RegistryError::BadDocument { .. } => format!(
            "check whether a proxy or a login page answers instead of the registry; else {operator}"
        ),
        RegistryError::BadUrl { .. } | RegistryError::OtherPlatform { .. } => operator.to_owned(),
        // The list of versions names the platform, but the registry has no package for it.
        RegistryError::NoSuchPackage { id, offered } if offered.contains(&id.platform) => {
            format!("its registry lists one, though: try again later, or {operator}")
        }
        RegistryError::NoSuchPackage { offered, .. } => self::offered(offered),
        RegistryError::Protocol {
            newest: Some(newest),
            ..
        } => format!("the newest version that does is {newest}: require that one"),
        RegistryError::Protocol { newest: None, .. } => {
            "no version of it supports plugin protocol 5 or 6".to_owned()
        }
    })
}

fn mirror(error: &MirrorError) -> Option<String> {
    let operator = "ask the operator of the mirror to correct it";
    Some(match error {
        MirrorError::UnknownProvider { mirror, .. } if mirror.is_cut_off() => format!(
            "the URL of the mirror, {mirror}, does not end in a slash, so its last part was left out: \
             add the slash"
        ),
        MirrorError::UnknownProvider { .. } => {
            "check the source address, or add the provider to the mirror".to_owned()
        }
        MirrorError::UnknownVersion { .. } => {
            "add the version to the mirror, or leave the provider out of it in the CLI configuration"
                .to_owned()
        }
        MirrorError::NoSuchPackage { id, offered, .. } => in_mirror(&id.platform, offered),
        MirrorError::Unauthorized(Unauthorized { host, sent, helper, .. }) => match (sent, helper) {
            (Sent::Yes, _) => format!("renew the token, in {}", token_place(host)),
            (Sent::Withheld, _) => {
                "a token is sent to the host of the mirror only, not to where it redirects".to_owned()
            }
            (Sent::Nothing, None) => format!("give a token for {host}: in {}", token_place(host)),
            (Sent::Nothing, Some(helper)) => {
                format!("give a token for {host} in {}; {helper}", token_place(host))
            }
        },
        MirrorError::Fetch(cause) => return fetch(cause),
        MirrorError::BadDocument { .. } => format!(
            "check whether a proxy or a login page answers instead of the mirror; else {operator}"
        ),
        MirrorError::BadUrl { .. } => operator.to_owned(),
        MirrorError::Unprotected { .. } => {
            "ask the operator of the mirror to state hashes, or to offer packages over https".to_owned()
        }
    })
}

fn oci(error: &OciError) -> Option<String> {
    Some(match error {
        OciError::Address { .. } => {
            "correct the template, or exclude the provider from the mirror in the CLI configuration"
                .to_owned()
        }
        OciError::UnknownProvider { is_there: true, .. } => {
            "tag the index of each version with that version, as in 1.0.0".to_owned()
        }
        OciError::UnknownProvider { .. } => {
            "check the template of the mirror, or push the provider to that repository".to_owned()
        }
        OciError::UnknownVersion { .. } => {
            "push the version to the repository, or leave the provider out of the mirror in the CLI \
             configuration"
                .to_owned()
        }
        OciError::NoSuchPackage { id, offered, .. } => in_mirror(&id.platform, offered),
        OciError::Unauthorized { repository, sent, reason, .. } => {
            let place = format!(
                "an oci_credentials block for {} in the CLI configuration, or a login of Docker",
                repository.domain()
            );
            match (sent, reason) {
                (Sent::Yes, _) => format!("renew the credentials, in {place}"),
                (Sent::Withheld, _) => {
                    "a password is sent to the registry only, and to a place for tokens on a host of its \
                     domain"
                        .to_owned()
                }
                (Sent::Nothing, None) => format!("give credentials in {place}"),
                (Sent::Nothing, Some(reason)) => format!("give credentials in {place}; {reason}"),
            }
        }
        OciError::Fetch(cause) => return fetch(cause),
        OciError::BadDocument { .. } => {
            "check whether a proxy or a login page answers instead of the registry; else report it to \
             the operator of the registry"
                .to_owned()
        }
        OciError::Challenge { .. }
        | OciError::TooManyPages { .. }
        | OciError::TooManyTags { .. }
        | OciError::BadLink { .. } => {
            "report it to the operator of the registry".to_owned()
        }
        OciError::Artifact { fault, .. } => artifact(fault).to_owned(),
    })
}

/// Says what to do about a manifest that is not that of a provider.
fn artifact(fault: &ArtifactFault) -> &'static str {
    match fault {
        ArtifactFault::ImageManifest
        | ArtifactFault::ContentType { .. }
        | ArtifactFault::MediaType { .. }
        | ArtifactFault::ArtifactType { .. }
        | ArtifactFault::EntryMediaType { .. }
        | ArtifactFault::NoPlatform
        | ArtifactFault::NoPackages { .. }
        | ArtifactFault::NoZip { .. } => {
            "check that the repository is that of a provider, and push it as the documentation of \
             OpenTofu on provider mirrors in OCI registries describes"
        }
        ArtifactFault::Ambiguous { .. } | ArtifactFault::SeveralZips { .. } => {
            "push the version again with one package for each platform"
        }
        ArtifactFault::OtherPlatform { .. } => {
            "push the version again with the package of each platform in its place"
        }
        ArtifactFault::DigestAlgorithm { .. } => "push it again with digests of SHA-256",
        ArtifactFault::OtherContent { .. } | ArtifactFault::OtherLength { .. } => {
            "nothing was written; do not install it before the operator of the registry has found out \
             why"
        }
    }
}

/// Says how to give credentials for a host.
fn unauthorized(host: &Hostname, sent: Sent, helper: Option<&str>, flavor: Flavor) -> String {
    let place = token_place(host);
    let login = format!("`{} login {host}`", flavor.command());
    match (sent, helper) {
        (Sent::Yes, _) => format!("renew the token, in {place} or by {login}"),
        (Sent::Withheld, _) => {
            "tokens are sent over https only, and only to the origin that the host names for its \
             registry"
                .to_owned()
        }
        (Sent::Nothing, None) => format!("give a token for {host}: in {place}, or by {login}"),
        (Sent::Nothing, Some(helper)) => format!("give a token for {host} in {place}; {helper}"),
    }
}

fn discovery(host: &Hostname, error: &DiscoveryError) -> Option<String> {
    let is_code_host = host.unicode() == CODE_HOST;
    Some(match error {
        DiscoveryError::Fetch(
            FetchError::Http {
                cause: HttpError::Connect { proxy: None, .. },
                ..
            }
            | FetchError::GivenUp {
                cause: Outage::Http(HttpError::Connect { proxy: None, .. }),
                ..
            },
        ) => "check the host in the source address, and the network; behind a proxy, name that in \
               HTTPS_PROXY"
            .to_owned(),
        DiscoveryError::Fetch(cause) => return fetch(cause),
        DiscoveryError::NoServices { .. } | DiscoveryError::NoRegistry(_) if is_code_host => {
            "github.com is no provider registry: leave the host out of the source address"
                .to_owned()
        }
        DiscoveryError::Hostname(_)
        | DiscoveryError::NoServices { .. }
        | DiscoveryError::NoRegistry(_) => "check the host in the source address".to_owned(),
        DiscoveryError::NoDocument { .. } => {
            "check the host in the source address, and whether a proxy or a login page answers \
             instead of it"
                .to_owned()
        }
        DiscoveryError::OtherProtocol(_)
        | DiscoveryError::ServiceUrl(..)
        | DiscoveryError::UserInServiceUrl(_) => {
            "report it to the operator of the host, or name another URL in a host block of the CLI \
             configuration"
                .to_owned()
        }
    })
}

/// Says what to do when something could not be fetched.
pub(crate) fn fetch(error: &FetchError) -> Option<String> {
    Some(
        match error {
            FetchError::Http { cause, .. }
            | FetchError::GivenUp {
                cause: Outage::Http(cause),
                ..
            } => match cause {
                HttpError::Connect { proxy: None, .. } => {
                    "check the network; behind a proxy, name it in HTTPS_PROXY"
                }
                HttpError::Connect { proxy: Some(_), .. } => {
                    "check HTTPS_PROXY; NO_PROXY lists what goes without a proxy"
                }
                HttpError::Certificate { .. } => {
                    if cfg!(any(windows, target_os = "macos")) {
                        "if the certificate is from an authority of your own, add that authority to those \
                         of the system"
                    } else {
                        "if the certificate is from an authority of your own, name that authority's \
                         certificate in SSL_CERT_FILE"
                    }
                }
                HttpError::Timeout { .. } | HttpError::Broken { .. } => "try again later",
                HttpError::Environment { .. } => "correct or unset that variable",
                HttpError::Setup { .. } => return None,
            },
            FetchError::Status { status, .. } => match status {
                429 | 500..=599 => "try again later",
                // Packages lie on other hosts than the registry, as on releases.hashicorp.com; its token is not
                // sent there, and only Terraform reads the netrc file for them (`sources` rules 5.4).
                401 | 403 => {
                    "if it requires credentials: those for packages come from ~/.netrc, by the rules of \
                     Terraform only"
                }
                _ => "report it to the operator of the registry",
            },
            FetchError::TooSlow { .. }
            | FetchError::GivenUp {
                cause: Outage::Status { .. } | Outage::TooSlow { .. },
                ..
            } => "try again later",
            FetchError::Scratch { .. } => {
                "make the directory of temporary files usable, or name another one in TMPDIR"
            }
            FetchError::TooManyRedirects { .. }
            | FetchError::BadRedirect { .. }
            | FetchError::Unencrypted { .. }
            | FetchError::TooLarge { .. }
            | FetchError::OtherLength { .. } => "report it to the operator of the registry",
        }
        .to_owned(),
    )
}

/// Says what to do when the evidence for a package does not hold.
pub(crate) fn unproven(error: &AuthError, provider: &ProviderAddr, flavor: Flavor) -> String {
    if matches!(error, AuthError::NoKeys) {
        // From other hosts OpenTofu refuses such a release, as Terraform does (`authenticate` rules
        // 4.1).
        let is_own = provider.hostname().unicode() == flavor.default_host();
        return if flavor.is_opentofu() && is_own {
            "nothing was written or downloaded; OpenTofu accepts unsigned packages of its own registry \
             unless OPENTOFU_ENFORCE_GPG_VALIDATION is true, or other packages of the release are signed"
        } else {
            "nothing was written or downloaded, and `init` refuses the package, too; ask the \
             operator of the registry to add the signing key of the provider"
        }
        .to_owned();
    }
    if matches!(
        error,
        AuthError::Untimely {
            remark: KeyRemark::KeyFromTheFuture { .. } | KeyRemark::SignatureFromTheFuture { .. },
            ..
        }
    ) {
        return "nothing was written or downloaded; check the clock of this machine, and if it is right, report \
                it to the publisher of the provider"
            .to_owned();
    }
    if matches!(
        error,
        AuthError::UnknownSchemes { .. } | AuthError::StatedHashesDiffer { .. }
    ) {
        return "nothing was written; ask the operator of the mirror to correct the package or its \
                hashes, and do not install it until then"
            .to_owned();
    }
    if matches!(
        error,
        AuthError::ClaimsLackPackage { .. }
            | AuthError::ClaimsLackSize { .. }
            | AuthError::ClaimsLackHash { .. }
            | AuthError::ClaimedHashDiffers { .. }
    ) {
        return "nothing was written, and `tofu init` refuses the package, too; ask the operator of the \
                registry to correct it"
            .to_owned();
    }
    "nothing was written or downloaded; report it to the publisher of the provider, and do not \
     install it before the cause is known"
        .to_owned()
}

/// Names the place for the token of a host; a port fits into no variable (`cliconfig` rules 4.2).
fn token_place(host: &Hostname) -> String {
    if host.ascii().contains(':') {
        return "a credentials block of the CLI configuration".to_owned();
    }
    // Both programs encode a hyphen as two underscores and a dot as one.
    let encoded = host.ascii().replace('-', "__").replace('.', "_");
    format!("TF_TOKEN_{encoded}")
}
