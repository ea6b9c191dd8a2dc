//! Numbers of attempts, and the waits between them (rules 4).

use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder as _, ExponentialBuilder};

use crate::flavor::Flavor;
use crate::package::calendar;
use crate::world::{Env, HttpResponse};

/// Numbers of attempts and time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The number of times to repeat the request for a document: `TF_REGISTRY_DISCOVERY_RETRY`.
    pub document_retries: usize,
    /// Maximum time for a document: `TF_REGISTRY_CLIENT_TIMEOUT`.
    pub document_timeout: Duration,
    /// Maximum time for a service discovery document.
    pub discovery_timeout: Duration,
    /// Maximum number of redirects of a service discovery document.
    pub discovery_hops: usize,
    /// The number of times to repeat the request for a package: `TF_PROVIDER_DOWNLOAD_RETRY`.
    pub package_retries: usize,
}

/// Both programs ask for a document once more.
const DOCUMENT_RETRIES: usize = 1;

/// More repetitions than this are a slip in the variable or in the CLI configuration.
pub(super) const MAX_RETRIES: usize = 100;

/// A day is longer than any run, and fits into every clock.
const MAX_TIMEOUT_SECONDS: u64 = 24 * 60 * 60;

/// Both programs wait ten seconds for a document.
const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(10);

/// Terraform's limit for service discovery, which no variable changes.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(11);

/// OpenTofu asks for a package twice more; Terraform never does, and so fails more often.
const PACKAGE_RETRIES: usize = 2;

/// Number of times to repeat the request for a service discovery document: that of Terraform from 1.15 on.
const DISCOVERY_RETRIES: usize = 3;

/// The longest wait that a server may ask for; where it asks for a longer one, the run ends.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(120);

impl RetryPolicy {
    /// Reads the variables of both programs.
    ///
    /// A value that is no number, or below 1, counts as none: repetition cannot be switched off.
    #[must_use]
    pub fn of(env: &dyn Env, flavor: Flavor) -> Self {
        let number = |name: &str| -> Option<u64> {
            let value = env.var(name)?.into_string().ok()?;
            // 0 counts as unset, as in the programs (rules 4.1): repetition cannot be switched off by a
            // variable.
            value.parse().ok().filter(|n| *n >= 1)
        };
        let retries = |name: &str, usual: usize| {
            let wanted = number(name).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            wanted.unwrap_or(usual).min(MAX_RETRIES)
        };
        let timeout = number("TF_REGISTRY_CLIENT_TIMEOUT")
            .map(|seconds| Duration::from_secs(seconds.min(MAX_TIMEOUT_SECONDS)))
            .unwrap_or(DOCUMENT_TIMEOUT);
        Self {
            document_retries: retries("TF_REGISTRY_DISCOVERY_RETRY", DOCUMENT_RETRIES),
            document_timeout: timeout,
            // In OpenTofu the variable counts for service discovery as well (rules 1.5).
            discovery_timeout: if flavor.is_opentofu() {
                timeout
            } else {
                DISCOVERY_TIMEOUT
            },
            discovery_hops: flavor.discovery_redirects(),
            package_retries: retries("TF_PROVIDER_DOWNLOAD_RETRY", PACKAGE_RETRIES),
        }
    }

    /// Takes what the CLI configuration states where no variable does (rules 4.7). There 0 repetitions are
    /// possible, unlike in a variable.
    #[must_use]
    pub fn stated(self, env: &dyn Env, retries: Option<u64>, timeout_seconds: Option<u64>) -> Self {
        // The environment wins over the CLI configuration (rules 4.7).
        let is_set = |name: &str| env.var(name).is_some_and(|value| !value.is_empty());
        let mut policy = self;
        if let Some(retries) = retries.filter(|_| !is_set("TF_REGISTRY_DISCOVERY_RETRY")) {
            let retries = usize::try_from(retries).unwrap_or(usize::MAX);
            policy.document_retries = retries.min(MAX_RETRIES);
        }
        let timeout = timeout_seconds.filter(|seconds| *seconds >= 1);
        if let Some(seconds) = timeout.filter(|_| !is_set("TF_REGISTRY_CLIENT_TIMEOUT")) {
            let timeout = Duration::from_secs(seconds.min(MAX_TIMEOUT_SECONDS));
            policy.document_timeout = timeout;
            policy.discovery_timeout = timeout;
        }
        policy
    }

    /// Returns the waits before each repetition of a document.
    pub(super) fn documents(&self) -> impl Iterator<Item = Duration> + use<> {
        seconds(self.document_retries)
    }

    /// Returns the waits before each repetition of a package.
    pub(super) fn packages(&self) -> impl Iterator<Item = Duration> + use<> {
        seconds(self.package_retries)
    }

    /// Returns the waits before each repetition of a service discovery document.
    pub(super) fn discovery(&self) -> impl Iterator<Item = Duration> + use<> {
        // Terraform 1.11 and OpenTofu never repeat it, and fail where one more request would have done
        // (rules 1.4); here all do as Terraform 1.15 does.
        ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(100))
            .with_max_times(DISCOVERY_RETRIES)
            .build()
    }
}

/// 1 s, 2 s, 4 s, and so on, at most 30 s.
pub(super) fn seconds(times: usize) -> impl Iterator<Item = Duration> {
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_secs(1))
        .with_max_delay(Duration::from_secs(30))
        .with_max_times(times)
        .build()
}

/// Returns true if the same request may have another answer later.
pub(super) fn is_worth_it(status: u16) -> bool {
    // With 501 a server says that it never answers such a request, so waiting does not help.
    status == 429 || (500..600).contains(&status) && status != 501
}

/// Returns true if the run waits for a server as long as it asks.
pub(super) fn is_bearable(wait: Option<Duration>) -> bool {
    wait.is_none_or(|wait| wait <= MAX_RETRY_AFTER)
}

/// Returns the time that the server asks to wait, with 429 and 503 only.
pub(super) fn after(response: &HttpResponse, now: SystemTime) -> Option<Duration> {
    // The programs read `Retry-After` with these two statuses only (rules 4.2).
    if !matches!(response.status, 429 | 503) {
        return None;
    }
    let text = response.header("retry-after")?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            // The field holds seconds or a date (RFC 9110, 10.2.3).
            let time = calendar::read_http_date(text)?;
            time.duration_since(now).unwrap_or_default()
        }
    };
    Some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::MemEnv;

    #[test]
    fn waits_double_up_to_half_a_minute() {
        let seconds: Vec<u64> = seconds(7).map(|wait| wait.as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn variables_below_one_count_as_none() {
        let policy = |value: &str| {
            let mut env = MemEnv::default();
            for name in [
                "TF_REGISTRY_DISCOVERY_RETRY",
                "TF_REGISTRY_CLIENT_TIMEOUT",
                "TF_PROVIDER_DOWNLOAD_RETRY",
            ] {
                env.vars.insert(name.to_owned(), value.into());
            }
            let policy = RetryPolicy::of(&env, Flavor::Terraform1_11);
            (
                policy.document_retries,
                policy.document_timeout.as_secs(),
                policy.package_retries,
            )
        };
        assert_eq!(policy("5"), (5, 5, 5));
        let most = (MAX_RETRIES, MAX_TIMEOUT_SECONDS, MAX_RETRIES);
        assert_eq!(policy(&u64::MAX.to_string()), most);
        for none in ["0", "-1", "x", "", "1.5"] {
            assert_eq!(policy(none), (1, 10, 2), "{none:?}");
        }
    }

    #[test]
    fn only_two_statuses_may_ask_for_time() {
        let asked = |status, text: &str| {
            let response = HttpResponse {
                status,
                headers: vec![("retry-after".to_owned(), text.to_owned())],
                took: Duration::ZERO,
                body: Box::new(std::io::empty()),
            };
            after(&response, SystemTime::UNIX_EPOCH).map(|wait| wait.as_secs())
        };
        assert_eq!(asked(429, "7"), Some(7));
        assert_eq!(asked(503, "0"), Some(0));
        assert_eq!(asked(503, "Thu, 01 Jan 1970 00:00:09 GMT"), Some(9));
        assert_eq!(asked(503, "99999"), Some(99999));
        assert_eq!(asked(503, "soon"), None);
        assert_eq!(asked(500, "7"), None);
    }
}
