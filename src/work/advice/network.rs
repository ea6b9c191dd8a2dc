//! Advice for sources that gave no answer, or nothing that can be trusted.

use crate::addr::{Hostname, ProviderAddr, Url};
use crate::authenticate::{AuthError, KeyRemark};
use crate::flavor::Flavor;
use crate::platform::{self, Platform};
use crate::sources::discovery::DiscoveryError;
use crate::sources::registry::FoundBy;
use crate::sources::{
    FetchError, FetchFault, Sent, SourceError, SourceFault, SourceLocation, Unauthorized,
};
use crate::world::HttpError;

/// A host that users name by mistake, and that hosts no providers.
const CODE_HOST: &str = "github.com";

/// Says what to do when a source gave no answer.
pub(crate) fn source(error: &SourceError, flavor: Flavor) -> Option<String> {
    let operator = match error.place {
        SourceLocation::NetworkMirror(_) => "ask the operator of the mirror to correct it",
        _ => "report it to the operator of the registry",
    };
    let text = match &*error.fault {
        SourceFault::UnknownProvider { cut_off, successor } => {
            return Some(unknown_provider(
                error,
                cut_off.as_ref(),
                successor.as_ref(),
                flavor,
            ));
        }
        SourceFault::NoVersions if error.is_of_registry() => {
            "check the source address, or wait until a version is published"
        }
        SourceFault::NoVersions => "tag the index of each version with that version, as in 1.0.0",
        SourceFault::UnknownVersion { .. } => {
            "add the version to the mirror, or leave the provider out of it in the CLI configuration"
        }
        SourceFault::NoPackage { offered } => {
            return Some(no_package(error, offered, operator));
        }
        SourceFault::Nowhere { .. } => {
            "check the source address, and provider_installation in the CLI configuration with its \
             include and exclude"
        }
        SourceFault::Protocol {
            newest: Some(newest),
            ..
        } => {
            return Some(format!(
                "the newest version that does is {newest}: require that one"
            ));
        }
        SourceFault::Protocol { newest: None, .. } => {
            "no version of it supports plugin protocol 5 or 6"
        }
        SourceFault::NoRepository { .. }
        | SourceFault::MirrorUrl(_)
        | SourceFault::Discovery {
            by: FoundBy::Configuration,
            ..
        } => "correct the CLI configuration",
        SourceFault::Discovery { host, cause, .. } => return discovery(host, cause),
        SourceFault::Unauthorized(refused) => {
            return Some(unauthorized(&error.place, refused, flavor));
        }
        SourceFault::Fetch(cause) => return fetch(cause),
        // A page for people in the place of the document is the most common cause.
        SourceFault::BadDocument { .. } => {
            return Some(format!(
                "check whether a proxy or a login page answers instead; else {operator}"
            ));
        }
        SourceFault::BadAnswer { .. } => operator,
        SourceFault::Artifact { .. } => {
            "push the version as the documentation of OpenTofu on provider mirrors in OCI registries \
             describes; if that was done, ask the operator of the registry what changed it"
        }
        SourceFault::Offline => "leave out --offline",
        SourceFault::Unreadable { .. } => {
            "make it a readable directory, or correct the CLI configuration"
        }
    };
    Some(text.to_owned())
}

/// Says what to do about a provider that a source does not have.
fn unknown_provider(
    error: &SourceError,
    cut_off: Option<&Url>,
    successor: Option<&ProviderAddr>,
    flavor: Flavor,
) -> String {
    if let Some(url) = cut_off {
        return format!(
            "the URL {url} does not end in a slash, so its last part was left out: add the slash"
        );
    }
    if let Some(successor) = successor {
        let name = successor.short(flavor);
        return format!(
            "the registry publishes it as {name}: write source = \"{name}\" in required_providers"
        );
    }
    match error.place {
        // Without a source the namespace is hashicorp (`addr` rules 1.2), whose registry does not know the
        // providers of others.
        SourceLocation::Registry(_) => {
            "check the source address; a provider without one in required_providers is taken for one of \
             the namespace hashicorp"
        }
        SourceLocation::Repository(_) => {
            "check the template of the mirror, or push the provider to that repository"
        }
        _ => "check the source address, or add the provider to the mirror",
    }
    .to_owned()
}

/// Says what to do about a package that a source lacks.
fn no_package(error: &SourceError, platforms: &[Platform], operator: &str) -> String {
    // The list of versions names the platform, but the registry has no package for it.
    if error.is_of_registry() && error.is_announced() {
        return format!("its registry lists one, though: try again later, or {operator}");
    }
    let offered = offered(platforms);
    match error.about.id() {
        // The release may have more than the mirror.
        Some(id) if !error.is_of_registry() && error.place != SourceLocation::Several => format!(
            "{offered}; the release may have one for {}: add it to the mirror",
            id.platform
        ),
        _ => offered,
    }
}

/// Names the platforms that have packages.
pub(crate) fn offered(platforms: &[Platform]) -> String {
    match platforms {
        [] => "name other platforms with --platform".to_owned(),
        some => format!("it has packages for {}", platform::join(some, ", ")),
    }
}

/// Says how to give credentials for a place.
fn unauthorized(location: &SourceLocation, refused: &Unauthorized, flavor: Flavor) -> String {
    let host = &refused.host;
    let (what, place) = match location {
        SourceLocation::NetworkMirror(mirror) => ("token", token_place(mirror.host())),
        SourceLocation::Registry(hostname) => {
            let place = token_place(hostname);
            let login = format!("{place}, or by `{} login {host}`", flavor.command());
            ("token", login)
        }
        _ => (
            "password",
            format!(
                "an oci_credentials block for {host} in the CLI configuration, or a login of Docker"
            ),
        ),
    };
    match (refused.sent, &refused.why_none) {
        (Sent::Yes, _) => format!("renew the {what}, in {place}"),
        (Sent::Withheld, _) => match location {
            SourceLocation::NetworkMirror(_) => {
                "a token is sent to the host of the mirror only, not to where it redirects"
            }
            SourceLocation::Registry(_) => {
                "tokens are sent over https only, and only to the origin that the host names for its registry"
            }
            _ => {
                "a password is sent to the registry only, and to a place for tokens on a host of its domain"
            }
        }
        .to_owned(),
        (Sent::Nothing, None) => format!("give a {what} for {host}: in {place}"),
        (Sent::Nothing, Some(why_none)) => {
            format!("give a {what} for {host} in {place}; {why_none}")
        }
    }
}

fn discovery(host: &Hostname, error: &DiscoveryError) -> Option<String> {
    let is_code_host = host.unicode() == CODE_HOST;
    Some(match error {
        DiscoveryError::Fetch(cause) => {
            let fetched = fetch(cause)?;
            format!("check the host in the source address; if it is right, {fetched}")
        }
        DiscoveryError::NoRegistry(_) if is_code_host => {
            "github.com is no provider registry: leave the host out of the source address"
                .to_owned()
        }
        DiscoveryError::NoRegistry(_) => {
            "check the host in the source address, and whether a proxy or a login page answers \
             instead of it"
                .to_owned()
        }
        DiscoveryError::BadService(_) => {
            "report it to the operator of the host, or name another URL in a host block of the CLI \
             configuration"
                .to_owned()
        }
    })
}

/// Says what to do when something could not be fetched.
pub(crate) fn fetch(error: &FetchError) -> Option<String> {
    Some(
        match &error.first().fault {
            FetchFault::Http(cause) => match cause {
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
            FetchFault::Status { status, .. } => match status {
                429 | 500..=599 => "try again later",
                // Packages lie on other hosts than the registry, as on releases.hashicorp.com; its token is not
                // sent there, and only Terraform reads the netrc file for them (`sources` rules 5.4).
                401 | 403 => {
                    "if it requires credentials: those for packages come from ~/.netrc, by the rules of \
                     Terraform only"
                }
                _ => "report it to the operator of the registry",
            },
            FetchFault::TooSlow { .. } => "try again later",
            FetchFault::NotAllowed { .. } => {
                "raise --max-download; facts about packages that arrived are kept, so that the next run needs less"
            }
            FetchFault::Scratch { .. } => {
                "make the directory of temporary files usable, or name another one in TMPDIR"
            }
            _ => "report it to the operator of the registry",
        }
        .to_owned(),
    )
}

/// Says what to do when the evidence for a package does not hold.
pub(crate) fn unproven(error: &AuthError, flavor: Flavor) -> &'static str {
    match error {
        AuthError::NoKeys if !flavor.is_opentofu() => {
            "nothing was written or downloaded, and `init` refuses the package, too; ask the operator of the \
             registry to add the signing key of the provider"
        }
        AuthError::NoKeys => {
            "nothing was written or downloaded, and `init` refuses the package, too: OpenTofu accepts unsigned \
             packages of its own registry unless OPENTOFU_ENFORCE_GPG_VALIDATION is true, or other packages of the \
             release are signed; ask the operator of the registry to add the signing key of the provider"
        }
        AuthError::Untimely {
            remark: KeyRemark::KeyFromTheFuture { .. } | KeyRemark::SignatureFromTheFuture { .. },
            ..
        } => {
            "nothing was written or downloaded; check the clock of this machine, and if it is right, report \
             it to the publisher of the provider"
        }
        AuthError::StatedHashes { .. }
        | AuthError::ClaimsLack { .. }
        | AuthError::ClaimedHashDiffers { .. } => {
            "nothing was written; ask the operator of the registry or mirror to correct the package or its \
             hashes, and do not install it until then"
        }
        _ => {
            "nothing was written or downloaded; report it to the publisher of the provider, and do not \
             install it before the cause is known"
        }
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sources::About;

    #[track_caller]
    fn check(place: SourceLocation, fault: SourceFault, wanted: &str) {
        let error = SourceError {
            place,
            about: About::Source,
            fault: Arc::new(fault),
        };
        let advice = source(&error, Flavor::Terraform1_15);
        assert_eq!(advice.as_deref(), Some(wanted));
    }

    #[test]
    fn a_withheld_secret_has_the_reason_of_its_source() {
        let withheld = || {
            SourceFault::Unauthorized(Unauthorized {
                host: "a.example".to_owned(),
                url: "http://a.example/".parse().expect("valid"),
                status: 401,
                sent: Sent::Withheld,
                stated: None,
                why_none: None,
            })
        };
        let mirror = "https://a.example/".parse().expect("valid");
        check(
            SourceLocation::NetworkMirror(Box::new(mirror)),
            withheld(),
            "a token is sent to the host of the mirror only, not to where it redirects",
        );
        let host = "a.example".parse().expect("valid");
        check(
            SourceLocation::Registry(host),
            withheld(),
            "tokens are sent over https only, and only to the origin that the host names for its registry",
        );
        let repository = "a.example/demo".parse().expect("valid");
        check(
            SourceLocation::Repository(repository),
            withheld(),
            "a password is sent to the registry only, and to a place for tokens on a host of its domain",
        );
    }

    #[test]
    fn a_provider_of_old_protocols_has_advice() {
        let host = "a.example".parse().expect("valid");
        let fault = SourceFault::Protocol {
            spoken: vec!["4.0".to_owned()],
            newest: None,
        };
        let wanted = "no version of it supports plugin protocol 5 or 6";
        check(SourceLocation::Registry(host), fault, wanted);
    }
}
