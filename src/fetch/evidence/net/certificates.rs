//! The certificate authorities that count (`sources` rules 6.2).

use std::io;
use std::path::{Path, PathBuf};

use rustls_native_certs::{CertificateResult, Error, ErrorKind, load_certs_from_paths};

use crate::world::Env;

/// The authorities that the certificates of servers are checked by.
pub(super) enum Roots {
    /// Those of the system, which checks by itself.
    System,
    /// These certificates only, in DER.
    These(Vec<Vec<u8>>),
}

/// The origin of the list of authorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Authorities {
    /// Those that both programs look at on this system.
    OfThisSystem,
    /// Those that both programs look at on Linux, where variables can name them.
    AsOnLinux,
}

/// Files where Linux systems keep their list of certificates; the first that exists counts.
const DEFAULT_FILES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Directories where Linux systems keep single certificates.
const DEFAULT_DIRS: [&str; 2] = ["/etc/ssl/certs", "/etc/pki/tls/certs"];

/// Decides by the environment.
///
/// `SSL_CERT_FILE` takes the place of the system's list and `SSL_CERT_DIR` that of its directories, as in both
/// programs. Where a system has none at all, as in a container made from nothing, the list that Mozilla
/// publishes serves.
///
/// # Errors
/// In words, if what is named cannot be read: to go on with others would undo what the user pinned.
/// A directory that does not exist holds nothing.
pub(super) fn roots(env: &dyn Env, authorities: Authorities) -> Result<Roots, String> {
    let judges_by_itself = cfg!(any(windows, target_os = "macos"));
    // On macOS and Windows the programs do not read these variables.
    if judges_by_itself && authorities == Authorities::OfThisSystem {
        return Ok(Roots::System);
    }
    let named = |name| env.var(name).filter(|value| !value.is_empty());
    let mut found = match named("SSL_CERT_FILE") {
        Some(file) => {
            let found = read(Path::new(&file))?;
            if found.is_empty() {
                let file = file.display();
                return Err(format!(
                    "SSL_CERT_FILE names {file}, which holds no certificate"
                ));
            }
            found
        }
        None => DEFAULT_FILES
            .iter()
            .filter_map(|file| read(Path::new(file)).ok())
            .find(|certificates| !certificates.is_empty())
            .unwrap_or_default(),
    };
    match named("SSL_CERT_DIR") {
        Some(dirs) => {
            for dir in std::env::split_paths(&dirs) {
                found.extend(read_dir(&dir)?);
            }
        }
        // The list of a system holds what its directories do.
        None if found.is_empty() || named("SSL_CERT_FILE").is_some() => {
            for dir in DEFAULT_DIRS.map(PathBuf::from) {
                found.extend(read_dir(&dir).unwrap_or_default());
            }
        }
        None => {}
    }
    if found.is_empty() && named("SSL_CERT_FILE").is_none() && named("SSL_CERT_DIR").is_none() {
        // A container image may have no certificates at all.
        found = webpki_root_certs::TLS_SERVER_ROOT_CERTS
            .iter()
            .map(|der| der.to_vec())
            .collect();
    }
    Ok(Roots::These(found))
}

fn read(file: &Path) -> Result<Vec<Vec<u8>>, String> {
    let loaded = load_certs_from_paths(Some(file), None);
    match loaded.errors.first() {
        Some(error) if loaded.certs.is_empty() => Err(unreadable(file, "SSL_CERT_FILE", error)),
        _ => Ok(der(loaded)),
    }
}

fn read_dir(dir: &Path) -> Result<Vec<Vec<u8>>, String> {
    let loaded = load_certs_from_paths(None, Some(dir));
    match loaded.errors.first().map(|error| (error, &error.kind)) {
        Some((_, ErrorKind::Io { inner, .. })) if inner.kind() == io::ErrorKind::NotFound => {
            Ok(der(loaded))
        }
        Some((error, _)) if loaded.certs.is_empty() => Err(unreadable(dir, "SSL_CERT_DIR", error)),
        _ => Ok(der(loaded)),
    }
}

fn der(loaded: CertificateResult) -> Vec<Vec<u8>> {
    loaded.certs.into_iter().map(|der| der.to_vec()).collect()
}

fn unreadable(path: &Path, variable: &str, error: &Error) -> String {
    format!(
        "the certificates in {}, which {variable} names, cannot be read: {error}",
        path.display()
    )
}
