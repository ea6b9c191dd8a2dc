//! An authority for attestations: it issues certificates to workflows, as Fulcio does, and keeps a log, as Rekor does. And the API of GitHub,
//! which hands out what the authority has signed.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, PublicKeyData as _, SanType, SigningKey as _, date_time_ymd,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// When everything is signed: 2025-06-01.
const SIGNED: u64 = 1_748_736_000;

/// An authority with its log.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: Vec<u8>,
    log: KeyPair,
}

/// What an attestation states.
#[derive(Clone)]
pub(crate) struct Stated<'s> {
    pub(crate) repository: &'s str,
    pub(crate) commit: &'s str,
    pub(crate) git_ref: &'s str,
    /// The issuer of the workflow's token.
    pub(crate) issuer: &'s str,
    pub(crate) predicate: &'s str,
    /// The year in which the certificate ends.
    pub(crate) until: i32,
}

impl Default for Stated<'_> {
    fn default() -> Self {
        Self {
            repository: "github.com/acme/terraform-provider-demo",
            commit: "0123456789abcdef0123456789abcdef01234567",
            git_ref: "refs/tags/v1.0.0",
            issuer: "https://token.actions.githubusercontent.com",
            predicate: "https://slsa.dev/provenance/v1",
            until: 2034,
        }
    }
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.not_before = date_time_ymd(2023, 1, 1);
        params.not_after = date_time_ymd(2040, 1, 1);
        let certificate = params.self_signed(&key).unwrap().der().to_vec();
        Self {
            issuer: Issuer::new(params, key),
            certificate,
            log: KeyPair::generate().unwrap(),
        }
    }

    /// The file with the roots of this authority.
    pub(crate) fn roots(&self) -> String {
        let valid = json!({"start": "2023-01-01T00:00:00Z"});
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [{
                "baseUrl": "https://log.test",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": STANDARD.encode(self.log.subject_public_key_info()),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": valid,
                },
                "logId": {"keyId": STANDARD.encode(self.log_id())},
            }],
            "certificateAuthorities": [{
                "subject": {"organization": "test", "commonName": "test"},
                "uri": "https://authority.test",
                "certChain": {"certificates": [{"rawBytes": STANDARD.encode(&self.certificate)}]},
                "validFor": valid,
            }],
        })
        .to_string()
    }

    /// Attests that files with these SHA-256 come of a build.
    pub(crate) fn bundle(&self, stated: &Stated<'_>, digests: &[&str]) -> Value {
        let subjects = digests
            .iter()
            .map(|digest| json!({"name": "x.zip", "digest": {"sha256": digest}}));
        let payload = json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": subjects.collect::<Vec<_>>(),
            "predicateType": stated.predicate,
            "predicate": {},
        })
        .to_string();
        let kind = "application/vnd.in-toto+json";
        let signed = format!("DSSEv1 {} {kind} {} {payload}", kind.len(), payload.len());
        let (key, certificate) = self.certificate(stated);
        let signature = STANDARD.encode(key.sign(signed.as_bytes()).unwrap());
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": STANDARD.encode(&certificate)},
                "tlogEntries": [self.entry(&payload, &signature, &certificate)],
                "timestampVerificationData": {},
            },
            "dsseEnvelope": {
                "payload": STANDARD.encode(&payload),
                "payloadType": kind,
                "signatures": [{"sig": signature}],
            },
        })
    }

    fn certificate(&self, stated: &Stated<'_>) -> (KeyPair, Vec<u8>) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.not_before = date_time_ymd(2024, 1, 1);
        params.not_after = date_time_ymd(stated.until, 1, 1);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning];
        let source = format!("https://{}", stated.repository);
        let workflow = format!("{source}/.github/workflows/release.yml@{}", stated.git_ref);
        params.subject_alt_names = vec![SanType::URI(workflow.clone().try_into().unwrap())];
        let extensions = [
            (8, stated.issuer),
            (12, &source),
            (13, stated.commit),
            (14, stated.git_ref),
            (18, &workflow),
        ];
        params.custom_extensions = extensions
            .map(|(number, text)| {
                // A string of DER with a short length.
                let length = u8::try_from(text.len()).unwrap();
                assert!(length < 128);
                let content = [&[0x0c, length], text.as_bytes()].concat();
                let oid = [1, 3, 6, 1, 4, 1, 57264, 1, number];
                CustomExtension::from_oid_content(&oid, content)
            })
            .to_vec();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (key, certificate.der().to_vec())
    }

    /// Makes the only entry of a log.
    fn entry(&self, payload: &str, signature: &str, certificate: &[u8]) -> Value {
        let hash = |text: &[u8]| hex::encode(Sha256::digest(text));
        let der = STANDARD.encode(certificate);
        let lines: Vec<&str> = der
            .as_bytes()
            .chunks(64)
            .map(|line| str::from_utf8(line).unwrap())
            .collect();
        let pem = format!(
            "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
            lines.join("\n")
        );
        let body = json!({
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": {"algorithm": "sha256", "value": hash(b"")},
                "payloadHash": {"algorithm": "sha256", "value": hash(payload.as_bytes())},
                "signatures": [{"signature": signature, "verifier": STANDARD.encode(pem)}],
            },
        })
        .to_string();
        let root = STANDARD.encode(Sha256::digest([&[0], body.as_bytes()].concat()));
        let body = STANDARD.encode(body);
        // The text of canonical JSON: names in their order, no spaces.
        let promise = format!(
            "{{\"body\":\"{body}\",\"integratedTime\":{SIGNED},\"logID\":\"{}\",\"logIndex\":0}}",
            hex::encode(self.log_id())
        );
        let sign = |text: &str| self.log.sign(text.as_bytes()).unwrap();
        let note = format!("log.test\n1\n{root}\n");
        let by_log = [&self.log_id()[..4], &sign(&note)].concat();
        json!({
            "logIndex": "0",
            "logId": {"keyId": STANDARD.encode(self.log_id())},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": SIGNED.to_string(),
            "inclusionPromise": {"signedEntryTimestamp": STANDARD.encode(sign(&promise))},
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": root,
                "treeSize": "1",
                "hashes": [],
                "checkpoint": {"envelope": format!("{note}\n— log.test {}\n", STANDARD.encode(by_log))},
            },
            "canonicalizedBody": body,
        })
    }

    fn log_id(&self) -> Vec<u8> {
        Sha256::digest(self.log.subject_public_key_info()).to_vec()
    }
}

/// An answer of the API.
#[derive(Clone)]
pub(crate) enum Answer {
    /// The bundles of a package.
    Bundles(Vec<Value>),
    /// A status with header fields, each ended, and a body.
    Status(u16, &'static str, String),
    /// The connection ends.
    Nothing,
    /// The connection stays, and nothing comes.
    Silence,
}

/// The attestations of one repository, as GitHub's API has them, on loopback; its thread ends with the process.
pub(crate) struct AttestationApi {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// By the path of the request.
    answers: BTreeMap<String, Answer>,
    /// The answer to all others.
    other: Option<Answer>,
    requests: Vec<String>,
}

impl AttestationApi {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = serve(stream.unwrap(), &served);
            }
        });
        Self { url, state }
    }

    /// Answers a question about a package of a repository, `OWNER/NAME`.
    pub(crate) fn set(&self, repository: &str, digest: &str, answer: Answer) {
        let path = format!("/repos/{repository}/attestations/sha256:{digest}").to_lowercase();
        self.set_path(&path, answer);
    }

    /// Answers requests for a path, in lower case.
    pub(crate) fn set_path(&self, path: &str, answer: Answer) {
        let mut state = self.state.lock().unwrap();
        state.answers.insert(path.to_owned(), answer);
    }

    /// Answers all other questions.
    pub(crate) fn set_other(&self, answer: Answer) {
        self.state.lock().unwrap().other = Some(answer);
    }

    /// Returns the requests since the last call, each behind its token.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

/// Answers one request, and closes the connection.
fn serve(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut token) = (String::new(), String::new());
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                token = format!("{value} ");
            }
            Some(_) => {}
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let answer = {
        let mut state = state.lock().unwrap();
        state.requests.push(format!("{token}{path}"));
        // GitHub compares names without regard to case.
        let known = state
            .answers
            .get(&path.to_lowercase())
            .or(state.other.as_ref());
        known.cloned()
    };
    let none = Answer::Status(404, "", "{\"message\": \"Not Found\"}".to_owned());
    let (status, fields, body) = match answer.unwrap_or(none) {
        Answer::Nothing => return Ok(()),
        Answer::Silence => {
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest)?;
            return Ok(());
        }
        Answer::Status(status, fields, body) => (status, fields, body),
        Answer::Bundles(bundles) => {
            let listed = bundles
                .into_iter()
                .map(|bundle| json!({"bundle": bundle, "repository_id": 1}));
            (
                200,
                "",
                json!({"attestations": listed.collect::<Vec<_>>()}).to_string(),
            )
        }
    };
    write!(
        &stream,
        "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n{fields}\r\n{body}",
        body.len()
    )
}
