//! A certificate authority for tests, and the certificates of their servers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// Names that every server answers to.
const NAMES: &[&str] = &["localhost", "127.0.0.1", "::1"];

struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// The certificate of the authority; one per process.
pub(crate) fn authority_pem() -> &'static str {
    &authority().pem
}

/// How a server of these further names talks TLS; servers of the same names share a certificate.
pub(crate) fn server_config(names: &[String], protocols: &[&str]) -> Arc<ServerConfig> {
    static MADE: Mutex<BTreeMap<String, Arc<ServerConfig>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let config = made
        .entry(format!("{names:?} {protocols:?}"))
        .or_insert_with(|| configuration(authority(), names, protocols));
    Arc::clone(config)
}

fn configuration(authority: &Authority, names: &[String], protocols: &[&str]) -> Arc<ServerConfig> {
    let usual = NAMES.iter().map(|name| (*name).to_owned());
    let all: Vec<String> = usual.chain(names.iter().cloned()).collect();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(all).unwrap();
    params
        .distinguished_name
        .push(DnType::CommonName, "registry of a test");
    let certificate = params.signed_by(&key, &authority.issuer).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    let spell = |protocol: &&str| protocol.as_bytes().to_vec();
    config.alpn_protocols = protocols.iter().map(spell).collect();
    Arc::new(config)
}

/// How a server talks TLS whose certificate nobody trusts.
pub(crate) fn foreign_server_config() -> Arc<ServerConfig> {
    configuration(&made_authority(), &[], &["http/1.1"])
}

fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(made_authority)
}

fn made_authority() -> Authority {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
        .distinguished_name
        .push(DnType::CommonName, "authority of the tests");
    let pem = params.self_signed(&key).unwrap().pem();
    Authority {
        pem,
        issuer: Issuer::new(params, key),
    }
}
