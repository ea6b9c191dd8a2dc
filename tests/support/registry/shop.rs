//! What a registry answers to a request: decided at once, before anything is sent.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::HeaderMap;
use serde_json::Value;

use super::answer::{Answer, Asked, JSON};
use super::catalog::{Catalog, zip_name};
use super::delivery::Delivery;
use super::documents::{self, Wanted};
use super::keys::{SignWith, sign, sign_at};
use super::knobs::{Fault, Knobs};
use super::route::{Kind, Route};
use super::sums;

/// Documents up to this size are not worth compressing.
const COMPRESS_ABOVE: usize = 200;

const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";

/// The base URLs that answers name, without a slash at the end.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    pub(crate) lab: String,
    pub(crate) files: String,
}

/// What answers are made from.
pub(crate) struct Shop<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) knobs: &'a Knobs,
    pub(crate) origins: &'a Origins,
}

impl Shop<'_> {
    /// Decides an answer, its delivery included.
    pub(crate) fn answer(&self, asked: Asked<'_>, fault: Option<&Fault>) -> Answer {
        let route = Route::of(asked.path);
        let answer = fault
            .and_then(|fault| self.faulty(asked, &route, fault))
            .unwrap_or_else(|| self.usual(asked, &route, fault));
        let mut answer = answer.in_form_for(asked);
        if let Some(fault) = fault {
            answer.delivery = Delivery::of(fault, answer.body.len());
            if fault.action == "flip" {
                answer.flip(fault);
            }
        }
        if asked.method == "HEAD" {
            answer.delivery.without_body();
        }
        answer
    }

    /// The answer that a fault replaces the usual one with, if it does.
    fn faulty(&self, asked: Asked<'_>, route: &Route, fault: &Fault) -> Option<Answer> {
        if let Some(status) = fault.status() {
            let answer = Answer::new(status, r#"{"errors":["as told"]}"#, JSON);
            return Some(match fault.field("retry_after") {
                Some(seconds) => answer.with("Retry-After", plain(seconds)),
                None => answer,
            });
        }
        Some(match fault.action.as_str() {
            "html" => {
                let page = "<html><body>Please log in</body></html>";
                Answer::new(200, page, "text/html")
            }
            "bad_json" => Answer::new(200, r#"{"versions": ["#, JSON),
            "missing_signature" if route.kind() == Kind::Signature => {
                Answer::new(404, "not found\n", TEXT)
            }
            "answer" => self.told(asked, fault),
            "patch" => self.usual(asked, route, None).patched(fault),
            _ => return None,
        })
    }

    /// An answer that a rule spells out.
    fn told(&self, asked: Asked<'_>, fault: &Fault) -> Answer {
        let content_type = fault.field("ctype").and_then(Value::as_str).unwrap_or(JSON);
        let status = fault.number("status", 200) as u16;
        let body = fault.text("text").to_owned();
        let answer = Answer::new(status, body, content_type);
        fault
            .pairs("headers")
            .fold(answer, |answer, (name, value)| {
                let value = plain(value)
                    .replace("{url}", &self.origins.lab)
                    .replace("{files}", &self.origins.files)
                    .replace("{path}", asked.path);
                answer.with(name, value)
            })
    }

    /// The answer of a good registry, but for faults of its contents.
    fn usual(&self, asked: Asked<'_>, route: &Route, fault: Option<&Fault>) -> Answer {
        if !["GET", "HEAD"].contains(&asked.method) {
            return Answer::new(405, "", JSON);
        }
        if !self.authorized(asked) {
            return Answer::new(401, r#"{"errors":["Unauthorized"]}"#, JSON);
        }
        let answer = match route {
            Route::Discovery => Some(self.document(asked, &documents::discovery())),
            Route::Versions { source } => self
                .catalog
                .provider(source)
                .map(|provider| self.document(asked, &documents::versions(source, provider))),
            Route::Download {
                source,
                version,
                platform,
            } => {
                let wanted = Wanted {
                    source,
                    version,
                    platform,
                };
                let how = (self.knobs, fault);
                documents::download(self.catalog, &wanted, how, self.origins)
                    .map(|document| Answer::new(200, document.to_string(), JSON))
            }
            Route::Release { source, version } => {
                let release = self.catalog.release(source, version);
                let document = release.and_then(documents::release);
                document.map(|document| Answer::new(200, document.to_string(), JSON))
            }
            Route::File {
                kind,
                source,
                version,
                file,
            } => self.file(*kind, (source, version, file), fault),
            Route::Mirror { kind, source, file } => self.mirror(*kind, source, file, asked),
            Route::Redirect { hops, rest } => {
                let place = match hops {
                    0 | 1 => "files".to_owned(),
                    more => format!("hop/{}", more - 1),
                };
                let target = format!("{}/{place}/{rest}", self.origins.files);
                Some(Answer::new(302, "", TEXT).with("Location", target))
            }
            Route::Other => None,
        };
        answer.unwrap_or_else(Answer::missing)
    }

    fn authorized(&self, asked: Asked<'_>) -> bool {
        let Some(token) = &self.knobs.token else {
            return true;
        };
        let sent = asked.headers.get("authorization");
        let good = sent.is_some_and(|sent| *sent == *format!("Bearer {token}"));
        good || !asked.path.starts_with("/v1/")
    }

    /// A document with an `ETag`, compressed for who likes it.
    fn document(&self, asked: Asked<'_>, document: &Value) -> Answer {
        let body = document.to_string();
        let etag = sums::sha256_hex(&body)[..24].to_owned();
        let compressible = self.knobs.gzip && body.len() > COMPRESS_ABOVE;
        if compressible && contains(asked.headers, "accept-encoding", "gzip") {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(body.as_bytes()).unwrap();
            let mut answer = Answer::new(200, encoder.finish().unwrap(), JSON)
                .with("Content-Encoding", "gzip")
                .with("Vary", "Accept-Encoding");
            answer.etag = Some(etag + "z");
            return answer;
        }
        let mut answer = Answer::new(200, body, JSON);
        answer.etag = Some(etag);
        answer
    }

    /// A document or a package of the network mirror, which has the same packages for every host.
    fn mirror(&self, kind: Kind, source: &str, file: &str, asked: Asked<'_>) -> Option<Answer> {
        let provider = self.catalog.provider(source)?;
        if kind == Kind::MirrorIndex {
            return Some(self.document(asked, &documents::mirror_index(provider)));
        }
        let type_name = source.split('/').nth(1)?;
        if let (Kind::MirrorVersion, Some(version)) = (kind, file.strip_suffix(".json")) {
            let release = self.catalog.release(source, version)?;
            let schemes = &self.knobs.mirror_hashes;
            let document = documents::mirror_archives(type_name, release, schemes);
            return Some(self.document(asked, &document));
        }
        let found = provider.releases.iter().find_map(|release| {
            let mut packages = release.packages.iter();
            let own = |platform| zip_name(type_name, &release.version, platform) == file;
            let package = packages.find(|(platform, _)| own(platform))?;
            Some((release, &package.1))
        });
        let (release, package) = found?;
        let mut answer = Answer::new(200, package.bytes.clone(), "application/zip");
        answer.etag = Some(package.sha256[..32].to_owned());
        answer.in_parts = self.knobs.ranges;
        Some(dated(answer, &release.dates.package_changed))
    }

    /// A package, its SHA256SUMS or their signature.
    fn file(
        &self,
        kind: Kind,
        (source, version, file): (&str, &str, &str),
        fault: Option<&Fault>,
    ) -> Option<Answer> {
        let release = self.catalog.release(source, version)?;
        let type_name = source.split('/').nth(1)?;
        if kind == Kind::Package {
            let package = release.packages.iter().find_map(|(platform, package)| {
                (zip_name(type_name, version, platform) == file).then_some(package)
            })?;
            let mut answer = Answer::new(200, package.bytes.clone(), "application/zip");
            answer.etag = Some(package.sha256[..32].to_owned());
            answer.in_parts = self.knobs.ranges;
            return Some(dated(answer, &release.dates.package_changed));
        }
        if let Some(evidence) = &release.evidence {
            return Some(match kind {
                Kind::Shasums => Answer::new(200, evidence.sums.clone(), TEXT),
                _ => Answer::new(200, evidence.signature.clone(), BYTES),
            });
        }
        let action = fault.map_or("", |fault| &fault.action);
        let mut text = sums::edit(
            release.sums(type_name),
            &self.knobs.sums,
            type_name,
            version,
        );
        if action == "wrong_checksum" {
            text = sums::falsify(&text, fault.map_or("", |fault| fault.text("only")));
        }
        if kind == Kind::Shasums {
            let answer = Answer::new(200, text, TEXT);
            return Some(dated(answer, &release.dates.sums_changed));
        }
        let signature = match action {
            "bad_signature" => sign(&[&text[..], b"tampered"].concat(), SignWith::Main),
            "other_key" => sign(&text, SignWith::Stranger),
            "garbage_signature" => b"\0garbage".to_vec(),
            _ => {
                let hours_ago = release.dates.signed_hours_ago.unwrap_or(1);
                sign_at(&text, self.knobs.sign_with, hours_ago)
            }
        };
        Some(Answer::new(200, signature, BYTES))
    }
}

/// Adds when the content was changed last.
fn dated(answer: Answer, changed: &Option<String>) -> Answer {
    match changed {
        Some(changed) => answer.with("Last-Modified", changed),
        None => answer,
    }
}

fn contains(headers: &HeaderMap, name: &str, part: &str) -> bool {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.contains(part))
}

/// A JSON text without its quotes, or any other value as JSON.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
