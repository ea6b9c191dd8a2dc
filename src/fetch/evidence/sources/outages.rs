//! Hosts that failed, so that a run waits for each of them once (rules 4.8).
//!
//! A run asks one host many things: for several providers, stage by stage, and for several roots. If
//! all attempts for one of them fail in a way that has to do with the host, the next ones would wait
//! just as long for nothing. But one path may fail where all others work, and then the others must
//! not suffer: a host that answered anything in the meantime has not failed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{FetchError, FetchFault};
use crate::addr::{Origin, Url};

/// The hosts that failed in a run. Further requests to them fail at once.
#[derive(Debug, Default)]
pub struct Outages {
    log: Mutex<OutageLog>,
}

#[derive(Debug, Default)]
struct OutageLog {
    answers: u64,
    /// The answers and outages by host and port.
    hosts: BTreeMap<Origin, HostLog>,
}

#[derive(Debug, Default)]
struct HostLog {
    /// The number of its last answer, counted over all hosts; 0 if there was none.
    last_answer: u64,
    /// The error for which it was given up.
    outage: Option<FetchError>,
}

impl Outages {
    /// Returns the present moment, as the number of answers before it.
    pub(super) fn now(&self) -> u64 {
        self.log().answers
    }

    /// Fails if the host of a URL is not to be asked again.
    pub(super) fn check(&self, url: &Url) -> Result<(), FetchError> {
        let log = self.log();
        let outage = log
            .hosts
            .get(&url.origin())
            .and_then(|host| host.outage.clone());
        match outage {
            None => Ok(()),
            Some(first) => Err(FetchError::new(url, FetchFault::GivenUp(Box::new(first)))),
        }
    }

    /// Notes that the host of a URL gave an answer that counts, even one of refusal.
    pub(super) fn answered(&self, url: &Url) {
        let mut log = self.log();
        log.answers += 1;
        let last_answer = log.answers;
        // A request that was under way when the host was given up may have come through.
        let host = HostLog {
            last_answer,
            outage: None,
        };
        log.hosts.insert(url.origin(), host);
    }

    /// Notes the error of a request without attempts left; the first was made after `since`.
    pub(super) fn gave_up(&self, since: u64, error: &FetchError) {
        if !error.is_of_host() {
            return;
        }
        let mut log = self.log();
        let host = log.hosts.entry(error.url.origin()).or_default();
        // Another thread may have had an answer since the first attempt: then the path failed, not the
        // host.
        if host.last_answer <= since {
            host.outage.get_or_insert_with(|| error.clone());
        }
    }

    /// Notes that the host of a failed request is not to be asked again, however it failed.
    pub(super) fn give_up(&self, error: &FetchError) {
        let mut log = self.log();
        let host = log.hosts.entry(error.url.origin()).or_default();
        host.outage.get_or_insert_with(|| error.clone());
    }

    fn log(&self) -> MutexGuard<'_, OutageLog> {
        // No step under the lock leaves it half done, so that a panic of another thread does not matter.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::world::HttpError;

    fn url(text: &str) -> Url {
        text.parse().expect("valid")
    }

    fn failed(text: &str, cause: HttpError) -> FetchError {
        FetchError::new(&url(text), FetchFault::Http(cause))
    }

    fn timeout(text: &str) -> FetchError {
        let limit = Duration::from_secs(10);
        failed(text, HttpError::Timeout { limit })
    }

    fn refused(text: &str, status: u16) -> FetchError {
        let fault = FetchFault::Status {
            status,
            wait: None,
            stated: None,
        };
        FetchError::new(&url(text), fault)
    }

    /// Whether a host is given up after an error for one of its paths.
    #[track_caller]
    fn check(error: &FetchError, wanted: bool) {
        let outages = Outages::default();
        outages.gave_up(outages.now(), error);
        let next = outages.check(&url("https://a.example/next"));
        assert_eq!(next.is_err(), wanted, "{error:?}");
        let others = [
            "https://b.example/",
            "https://a.example:8443/",
            "http://a.example/",
        ];
        for other in others {
            assert_eq!(outages.check(&url(other)), Ok(()), "{other}");
        }
    }

    #[test]
    fn what_another_path_would_meet_as_well_counts() {
        let connect = HttpError::Connect {
            reason: "refused".to_owned(),
            proxy: None,
        };
        let broken = HttpError::Broken {
            reason: "reset".to_owned(),
        };
        let here = "https://a.example/one";
        check(&timeout(here), true);
        check(&failed(here, connect), true);
        check(&failed(here, broken), false);
        for (status, wanted) in [(500, true), (503, true), (429, true), (501, false)] {
            check(&refused(here, status), wanted);
        }
        for status in [400, 401, 403, 404, 410] {
            check(&refused(here, status), false);
        }
        check(
            &FetchError::new(&url(here), FetchFault::TooLarge { limit: 1 }),
            false,
        );
    }

    #[test]
    fn a_host_that_answers_meanwhile_has_not_failed() {
        let outages = Outages::default();
        let start = outages.now();
        outages.answered(&url("https://b.example/"));
        outages.answered(&url("https://a.example/two"));
        outages.gave_up(start, &timeout("https://a.example/one"));
        assert_eq!(outages.check(&url("https://a.example/one")), Ok(()));

        let later = outages.now();
        outages.gave_up(later, &timeout("https://a.example/one"));
        assert!(outages.check(&url("https://a.example/one")).is_err());
        outages.answered(&url("https://a.example/two"));
        assert_eq!(outages.check(&url("https://a.example/one")), Ok(()));
    }
}
