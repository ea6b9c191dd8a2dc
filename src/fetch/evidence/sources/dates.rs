//! When a package was changed last, as its server says, without downloading it.

use std::time::SystemTime;

use super::download::{FIRST_BYTE, IDLE, PACKAGE_HOPS};
use super::net::{Event, Net, RedirectLimits, Redirects, last_modified};
use crate::addr::Url;
use crate::world::HttpRequest;

/// Asks a server when a package was changed last; `None` if it says nothing that can be read, or gives no
/// answer.
#[must_use]
pub fn package_changed(net: &Net<'_>, url: &Url) -> Option<SystemTime> {
    let credentials = (net.package_credentials)(url);
    let request = HttpRequest {
        url,
        // Only the head of the answer is read; a server that gives pieces sends no more than one byte.
        headers: &[("accept-encoding", "identity"), ("range", "bytes=0-0")],
        credentials: credentials.as_ref(),
        timeout: Some(net.policy.document_timeout),
        first_byte: FIRST_BYTE,
        idle: IDLE,
        compressed: false,
    };
    let limits = RedirectLimits {
        hops: PACKAGE_HOPS,
        redirects: Redirects::Any,
        // Nothing is repeated: no run needs a date.
        attempt: 1,
    };
    let (server, response) = net.follow(&request, limits).ok()?;
    (net.observer)(&Event::Answered {
        url: &server,
        status: response.status,
        bytes: None,
    });
    let is_package = matches!(response.status, 200 | 206);
    last_modified(&response).filter(|_| is_package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flavor::Flavor;
    use crate::package::calendar::timestamp;
    use crate::world::mem::{MemClock, MemHttp};
    use crate::world::{HttpError, HttpResponse};

    #[track_caller]
    fn check(answers: &[(u16, &[(&str, &str)])], wanted: Option<&str>) {
        let answers = std::sync::Mutex::new(answers.iter());
        let http = MemHttp::new(|_| {
            let answer = answers.lock().expect("no panic").next();
            let (status, headers) = answer.ok_or_else(|| HttpError::Broken {
                reason: "reset".to_owned(),
            })?;
            Ok(HttpResponse::of(*status, headers, "P"))
        });
        let clock = MemClock::default();
        let net = Net::of_doubles(&http, &clock, Flavor::Terraform1_11);
        let url = "https://files.example/a.zip".parse().expect("valid");
        let found = package_changed(&net, &url).map(timestamp);
        assert_eq!(found.as_deref(), wanted);
        assert!(clock.slept().is_empty(), "nothing is repeated");
    }

    #[test]
    fn a_server_states_when_a_package_was_changed() {
        let date: &[_] = &[("last-modified", "Wed, 19 Nov 2025 23:59:59 GMT")];
        let wanted = Some("2025-11-19T23:59:59Z");
        check(&[(200, date)], wanted);
        check(&[(206, date)], wanted);
        check(&[(302, &[("location", "/b.zip")]), (206, date)], wanted);
        check(
            &[(
                206,
                &[("last-modified", "Wednesday, 19-Nov-25 23:59:59 GMT")],
            )],
            wanted,
        );
        for nothing in [
            "yesterday",
            "",
            "2025-11-19T23:59:59Z",
            "Wed, 31 Dec 1969 23:59:59 GMT",
        ] {
            check(&[(200, &[("last-modified", nothing)])], None);
        }
        check(&[(200, &[])], None);
        // The date of an error page is not that of a package.
        check(&[(404, date)], None);
        check(&[(503, date)], None);
        check(&[], None);
    }
}
