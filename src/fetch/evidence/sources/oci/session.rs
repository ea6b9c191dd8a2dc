//! Requests to registries of OCI artifacts, and their authentication (rules 14.2, 14.9 to 14.11).
//!
//! A password is sent after the registry itself has asked for it, over https, to its own origin, or to
//! the place for tokens that it names, if that belongs to it. A token is sent to the origin of the
//! registry alone; `net` drops either at a redirect that leaves it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::Value;

use super::headers::{self, Challenge};
use crate::addr::{RepositoryAddr, Url, module::Query};
use crate::parallel::Memo;
use crate::sources::net::{Answer, Ask, HOPS, Net, PackageCredentials, Redirects};
use crate::sources::{Sent, Shared, SourceFault, read_json};
use crate::world::{Credentials, Secret};

/// Returns the credentials for a repository, or why there are none though there should be some.
/// A token among them is sent as it is.
pub type RepositoryCredentials<'a> =
    dyn Fn(&RepositoryAddr) -> Result<Option<Credentials>, String> + Send + Sync + 'a;

/// Maximum size of the answer to a request for a token, in bytes.
const MAX_TOKEN_BYTES: u64 = 1024 * 1024;

/// Maximum size of the answer of a registry about itself, in bytes: real ones have no content.
const MAX_PING_BYTES: u64 = 1024 * 1024;

/// Lifetime of a token whose answer states none.
const USUAL_LIFE: Duration = Duration::from_secs(60);

/// The longest time that a token is believed to hold.
const LONGEST_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// Time before its expiry when a token is no longer used for a download.
const MARGIN: Duration = Duration::from_secs(10);

/// Registries of OCI artifacts, with what authenticates requests to them.
pub struct OciRegistries<'a> {
    net: Net<'a>,
    credentials: Box<RepositoryCredentials<'a>>,
    /// The challenge of each registry, by its URL.
    pings: Memo<String, Shared<Option<Challenge>>>,
    sessions: Mutex<BTreeMap<RepositoryAddr, Arc<Mutex<SessionState>>>>,
}

/// The authentication for requests about one repository.
#[derive(Default)]
struct SessionState {
    /// The credentials to send, once the registry has asked for them.
    login: Option<Login>,
    /// The fault of the place where credentials are kept, if that is why there are none.
    reason: Option<String>,
    /// There are credentials that were not sent to the token service.
    is_withheld: bool,
}

/// Credentials that a registry has asked for.
#[derive(Clone)]
struct Login {
    credentials: Credentials,
    /// The challenge that the token answers, and its expiry; `None` for a password, which does not expire.
    token: Option<(Challenge, SystemTime)>,
}

/// The answer of a token service.
#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<u64>,
}

/// A request to a registry.
#[derive(Clone, Copy)]
pub(super) struct DocumentRequest<'r> {
    pub(super) repository: &'r RepositoryAddr,
    pub(super) url: &'r Url,
    /// The media types that are understood.
    pub(super) accept: &'static str,
    pub(super) limit: u64,
}

impl<'a> OciRegistries<'a> {
    /// Makes the registries; makes no request yet.
    #[must_use]
    pub fn new(net: Net<'a>, credentials: Box<RepositoryCredentials<'a>>) -> Self {
        Self {
            net,
            credentials,
            pings: Memo::default(),
            sessions: Mutex::default(),
        }
    }

    /// Returns the credentials for the download of packages: those of these registries for their zips, and those
    /// of `others` for all others.
    #[must_use]
    pub fn package_credentials(
        self: &Arc<Self>,
        others: PackageCredentials<'a>,
    ) -> PackageCredentials<'a> {
        let registries = Arc::clone(self);
        Arc::new(move |url| {
            let owner = locked(&registries.sessions)
                .iter()
                .find(|(repository, _)| {
                    let registry = repository.registry();
                    let blobs = format!("{}{}/blobs/", registry.path(), repository.name());
                    // The credentials of one repository must not go to another one of the same registry.
                    registry.origin() == url.origin() && url.path().starts_with(&blobs)
                })
                .map(|(repository, session)| (repository.clone(), Arc::clone(session)));
            let Some((repository, session)) = owner else {
                return others(url);
            };
            let mut state = locked(&session);
            let login = state.login.clone()?;
            let now = registries.net.clock.now();
            // An expired token is renewed.
            if let Some((challenge, until)) = &login.token
                && *until <= now
                && let Ok(Some(renewed)) = registries.answer(&mut state, &repository, challenge)
            {
                state.login = Some(renewed);
            }
            state.login.as_ref().map(|login| login.credentials.clone())
        })
    }

    /// Asks for a document; the status of the answer is none that credentials could change.
    pub(super) fn document(&self, request: DocumentRequest<'_>) -> Shared<Answer> {
        let repository = request.repository;
        let registry = repository.registry();
        // The registry says whether it is one and what it asks for, which is the same for all repositories.
        let challenge = self.pings.get(&registry.secret_text().to_owned(), || {
            let ping = DocumentRequest {
                repository,
                url: &registry,
                accept: "application/json",
                limit: MAX_PING_BYTES,
            };
            // Without credentials: the answer says which ones the registry accepts.
            let answer = self.ask(ping, None)?;
            match answer.status {
                200 => Ok(None),
                401 => challenge_of(&answer, &registry).map(Some),
                _ => Err(Arc::new(answer.refusal().into())),
            }
        })?;
        let session = self.session(repository);
        let mut sent = {
            let mut state = locked(&session);
            if let (None, Some(challenge)) = (&state.login, &challenge) {
                state.login = self.answer(&mut state, repository, challenge)?;
            }
            state.login.as_ref().map(|login| login.credentials.clone())
        };
        let mut answer = self.ask(request, sent.as_ref())?;
        // A token may expire in the course of a run.
        if answer.status == 401
            && let Some(other) = self.renewed(&session, repository, &answer, sent.as_ref())?
        {
            sent = Some(other);
            answer = self.ask(request, sent.as_ref())?;
        }
        if !matches!(answer.status, 401 | 403) || is_unknown_name(&answer) {
            return Ok(answer);
        }
        let state = locked(&session);
        let sent = if state.is_withheld {
            Sent::Withheld
        } else {
            Sent::to(&answer.url, Some(&registry.origin()), sent.is_some())
        };
        let why_none = state.reason.clone();
        Err(refused(repository, answer, sent, why_none))
    }

    fn ask(
        &self,
        request: DocumentRequest<'_>,
        credentials: Option<&Credentials>,
    ) -> Shared<Answer> {
        let ask = Ask {
            url: request.url,
            headers: &[("accept", request.accept)],
            credentials,
            hops: HOPS,
            limit: request.limit,
            timeout: self.net.policy.document_timeout,
            // Nothing signs what a registry states, so it must not be changed on the way.
            redirects: Redirects::Encrypted,
        };
        self.net
            .document(&ask, self.net.policy.documents())
            .map_err(|error| Arc::new(error.into()))
    }

    fn session(&self, repository: &RepositoryAddr) -> Arc<Mutex<SessionState>> {
        let mut sessions = locked(&self.sessions);
        Arc::clone(sessions.entry(repository.clone()).or_default())
    }

    /// Returns the credentials to send in the place of those that a registry has just rejected; `None` if there
    /// are no others.
    fn renewed(
        &self,
        session: &Mutex<SessionState>,
        repository: &RepositoryAddr,
        answer: &Answer,
        rejected: Option<&Credentials>,
    ) -> Shared<Option<Credentials>> {
        let challenge = challenge_of(answer, &repository.registry())?;
        let mut state = locked(session);
        let login = state.login.as_ref().map(|login| &login.credentials);
        // Another thread may have renewed it meanwhile.
        if login == rejected {
            state.login = self.answer(&mut state, repository, &challenge)?;
        }
        let login = state.login.as_ref().map(|login| login.credentials.clone());
        Ok(login.filter(|login| Some(login) != rejected))
    }

    /// Answers a challenge; `None` if there is nothing to answer with.
    fn answer(
        &self,
        state: &mut SessionState,
        repository: &RepositoryAddr,
        challenge: &Challenge,
    ) -> Shared<Option<Login>> {
        let login = match (self.credentials)(repository) {
            Ok(login) => login,
            Err(reason) => {
                state.reason = Some(reason);
                None
            }
        };
        let as_it_is = |credentials| Login {
            credentials,
            token: None,
        };
        match (challenge, login) {
            (Challenge::Basic, Some(login @ Credentials::Basic { .. })) => {
                Ok(Some(as_it_is(login)))
            }
            // A token is no password; the registry will reject the request and the message names the
            // reason.
            (Challenge::Basic, _) => Ok(None),
            (Challenge::Bearer { .. }, Some(login @ Credentials::Bearer(_))) => {
                Ok(Some(as_it_is(login)))
            }
            (Challenge::Bearer { realm, service }, login) => {
                let registry = repository.registry();
                let fault = |reason: &str| bad_challenge(&registry, reason);
                let place: Url = realm
                    .parse()
                    .map_err(|_| fault("its place for tokens is no URL"))?;
                // The request holds the password.
                if !place.origin().encrypted {
                    return Err(fault("its place for tokens does not use https"));
                }
                if place.has_user() {
                    return Err(fault("its place for tokens has a user in its URL"));
                }
                let may_be_sent = belongs(&place, &registry);
                // A registry may name any token service: without this check it could collect the passwords
                // of others (rules 14.10).
                state.is_withheld = login.is_some() && !may_be_sent;
                let login = login.filter(|_| may_be_sent);
                let token = self.token(&place, service.as_deref(), repository, login.as_ref());
                let (token, life) = token?;
                // A download that begins just before the expiry may be redirected after it.
                let until = self.net.clock.now() + life.saturating_sub(MARGIN);
                Ok(Some(Login {
                    credentials: Credentials::Bearer(token),
                    token: Some((challenge.clone(), until)),
                }))
            }
        }
    }

    /// Asks for a token to read a repository; returns it with how long it holds.
    fn token(
        &self,
        place: &Url,
        service: Option<&str>,
        repository: &RepositoryAddr,
        login: Option<&Credentials>,
    ) -> Shared<(Secret, Duration)> {
        let url = place.map_query(|query| {
            let mut query = Query::parse_readable(query);
            if let Some(service) = service {
                query.set("service", service);
            }
            query.set("scope", &format!("repository:{}:pull", repository.name()));
            query.encode()
        });
        let request = DocumentRequest {
            repository,
            url: &url,
            accept: "application/json",
            limit: MAX_TOKEN_BYTES,
        };
        let answer = self.ask(request, login)?;
        if answer.status != 200 {
            let sent = Sent::to(&answer.url, Some(&url.origin()), login.is_some());
            return Err(refused(repository, answer, sent, None));
        }
        let bad = |reason: &str| SourceFault::bad_document(&answer.url, reason.to_owned());
        // The message of the parser is not repeated, since it may quote a piece of a token.
        let stated: TokenAnswer =
            read_json(&answer.body).map_err(|_| bad("it is no JSON object with a token"))?;
        let token = [stated.token, stated.access_token]
            .into_iter()
            .flatten()
            .find(|token| !token.is_empty())
            .ok_or_else(|| bad("it states no token"))?;
        let life = stated
            .expires_in
            .filter(|seconds| *seconds > 0)
            .map_or(USUAL_LIFE, Duration::from_secs)
            .min(LONGEST_LIFE);
        Ok((Secret::new(token), life))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refused(
    repository: &RepositoryAddr,
    answer: Answer,
    sent: Sent,
    why_none: Option<String>,
) -> Arc<SourceFault> {
    let host = repository.domain().to_owned();
    let fault = SourceFault::refused(answer.refusal(), host, sent, why_none);
    Arc::new(fault)
}

fn bad_challenge(url: &Url, reason: &str) -> Arc<SourceFault> {
    let fault = format!("asks for credentials in a way that cannot be used: {reason}");
    SourceFault::bad_answer(url, fault)
}

/// Reads the challenge of a registry; one from another server, after a redirect, does not count.
fn challenge_of(answer: &Answer, registry: &Url) -> Shared<Challenge> {
    let challenge = if answer.url.origin() == registry.origin() {
        headers::challenge(answer.header("www-authenticate"))
    } else {
        // Credentials for the registry must not go to a place that another server names.
        Err("a redirect led to another server".to_owned())
    };
    challenge.map_err(|reason| bad_challenge(&answer.url, &reason))
}

/// Returns true if a token service belongs to a registry, so that its passwords may be sent there: it has the same
/// host, or one below the same domain.
fn belongs(place: &Url, registry: &Url) -> bool {
    let (place, registry) = (place.origin().host, registry.origin().host);
    let is_named = |host: &str| host.ends_with(|c: char| c.is_ascii_alphabetic());
    // A domain of one part, as `com`, has nothing in common but that.
    let parent = registry
        .split_once('.')
        .map(|(_, parent)| parent)
        .filter(|parent| is_named(parent) && parent.contains('.'));
    place == registry
        || parent.is_some_and(|parent| {
            place == parent
                || place.strip_suffix(parent).is_some_and(|rest| {
                    rest.ends_with('.') && !rest[..rest.len() - 1].contains('.')
                })
        })
}

/// Returns true if an answer states that there is no such repository (rules 14.4).
pub(super) fn is_unknown_name(answer: &Answer) -> bool {
    let stated: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match stated["errors"].as_array() {
        Some(errors) if !errors.is_empty() => errors.iter().any(|error| {
            matches!(
                error["code"].as_str(),
                Some("NAME_UNKNOWN" | "NAME_INVALID")
            )
        }),
        _ => answer.status == 404,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(registry: &str, place: &str, want: bool) {
        let url = |host: &str| format!("https://{host}/").parse::<Url>().expect("valid");
        assert_eq!(
            belongs(&url(place), &url(registry)),
            want,
            "{place} to {registry}"
        );
    }

    #[test]
    fn passwords_go_to_places_of_the_registry() {
        check("ghcr.io", "ghcr.io", true);
        check(
            "registry.example.com:5000",
            "registry.example.com:5001",
            true,
        );
        check("registry-1.docker.io", "auth.docker.io", true);
        check("registry.gitlab.com", "gitlab.com", true);
        check("registry.example.com", "gitlab.example.com", true);
        check("127.0.0.1:5000", "127.0.0.1:5001", true);
        check("ghcr.io", "other.io", false);
        check("ghcr.io", "ghcr.io.other.example", false);
        check("registry.example.com", "a.b.example.com", false);
        check("registry.example.com", "otherexample.com", false);
        check("registry.example.com", "com", false);
        check("example.com", "other.com", false);
        check("127.0.0.1", "9.0.0.1", false);
        check("127.0.0.1", "localhost", false);
        check("localhost", "127.0.0.1", false);
    }
}
