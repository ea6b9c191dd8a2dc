//! The proxy of a request (`sources` rules 6.1).
//!
//! For a target with https `HTTPS_PROXY` counts, for one with http `HTTP_PROXY`; `ALL_PROXY` never
//! does. `NO_PROXY` lists what goes without, and this machine itself always does.

use std::net::IpAddr;

use crate::addr::Origin;
use crate::world::Env;

/// The proxies that the environment names. They may hold passwords.
#[derive(Clone)]
pub(super) struct Proxies {
    http: Proxy,
    https: Proxy,
    without: Vec<Exception>,
}

/// The value of a variable; an invalid one is an error only for a target that needs it.
type Proxy = Result<Option<reqwest::Url>, ProxyError>;

/// A proxy that cannot be used. The value is not shown: it may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} names no proxy that can be used: {reason}")]
pub(super) struct ProxyError {
    variable: &'static str,
    reason: &'static str,
}

/// One element of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Exception {
    /// `*` in `NO_PROXY`: no target uses a proxy.
    Everything,
    /// An address or a range of them.
    Network {
        address: IpAddr,
        bits: u8,
        port: Option<u16>,
    },
    /// A name; below it counts as well.
    Domain {
        name: String,
        /// Written with a dot in front: the name itself does not count.
        below_only: bool,
        port: Option<u16>,
    },
}

impl Proxies {
    /// Reads the variables, the upper-case name first.
    pub(super) fn of(env: &dyn Env) -> Self {
        let without = variable(env, "NO_PROXY").unwrap_or_default();
        Self {
            http: proxy(env, "HTTP_PROXY"),
            https: proxy(env, "HTTPS_PROXY"),
            without: without.split(',').filter_map(exception).collect(),
        }
    }

    /// Returns the proxy for a target.
    ///
    /// # Errors
    /// If the target needs one that is of no use.
    pub(super) fn of_target(&self, target: &Origin) -> Proxy {
        let proxy = if target.encrypted {
            &self.https
        } else {
            &self.http
        };
        let host = target.host.trim_matches(['[', ']']).to_lowercase();
        let host = host.strip_suffix('.').unwrap_or(&host);
        let address: Option<IpAddr> = host.parse().ok();
        // Both programs connect to this machine directly and ignore the variables (Go's `httpproxy`).
        if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
            return Ok(None);
        }
        if self
            .without
            .iter()
            .any(|exception| exception.covers(host, address, target.port))
        {
            return Ok(None);
        }
        proxy.clone()
    }
}

impl Exception {
    fn covers(&self, host: &str, address: Option<IpAddr>, target: u16) -> bool {
        match self {
            Self::Everything => true,
            Self::Network {
                address: network,
                bits,
                port,
            } => {
                let (address, network, width) = match (address, network) {
                    (Some(IpAddr::V4(a)), IpAddr::V4(n)) => {
                        (u128::from(a.to_bits()), u128::from(n.to_bits()), 32)
                    }
                    (Some(IpAddr::V6(a)), IpAddr::V6(n)) => (a.to_bits(), n.to_bits(), 128),
                    _ => return false,
                };
                let free = width - u32::from(*bits).min(width);
                let is_inside = free >= u128::BITS || (address >> free) == (network >> free);
                is_inside && port.is_none_or(|port| port == target)
            }
            Self::Domain {
                name,
                below_only,
                port,
            } => {
                let below = host
                    .strip_suffix(name.as_str())
                    // `xample.com` must not cover `example.com`: only whole labels count.
                    .is_some_and(|rest| rest.ends_with('.'));
                port.is_none_or(|port| port == target)
                    && (below || (!below_only && host == name.as_str()))
            }
        }
    }
}

fn variable(env: &dyn Env, name: &str) -> Option<String> {
    let read = |name: &str| env.var(name)?.into_string().ok().filter(|v| !v.is_empty());
    // Upper case first, as in Go's `httpproxy`, which both programs use.
    read(name).or_else(|| read(&name.to_lowercase()))
}

/// Reads a proxy; without a scheme it is meant to be http.
fn proxy(env: &dyn Env, variable: &'static str) -> Proxy {
    let error = |reason| ProxyError { variable, reason };
    let Some(text) = self::variable(env, variable) else {
        return Ok(None);
    };
    let text = if text.contains("://") {
        text
    } else {
        format!("http://{text}")
    };
    match reqwest::Url::parse(&text) {
        Ok(url) if url.scheme().starts_with("socks") => Err(error("SOCKS is not supported")),
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(Some(url)),
        _ => Err(error("write http://HOST:PORT")),
    }
}

fn exception(text: &str) -> Option<Exception> {
    let text = text.trim().to_lowercase();
    if text.is_empty() {
        return None;
    }
    if text == "*" {
        return Some(Exception::Everything);
    }
    if let Some((address, bits)) = text.split_once('/') {
        return Some(Exception::Network {
            address: address.parse().ok()?,
            bits: bits.parse().ok()?,
            port: None,
        });
    }
    let (name, port) = match text.parse::<IpAddr>() {
        Ok(_) => (text.as_str(), None),
        Err(_) if text.ends_with(']') => (text.as_str(), None),
        Err(_) => match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (text.as_str(), None),
        },
    };
    if let Ok(address) = name.trim_matches(['[', ']']).parse::<IpAddr>() {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        return Some(Exception::Network {
            address,
            bits,
            port,
        });
    }
    // `*.example.com` means the same as `.example.com`.
    let name = name.strip_prefix('*').unwrap_or(name);
    let domain = name.strip_prefix('.');
    Some(Exception::Domain {
        name: domain.unwrap_or(name).to_owned(),
        below_only: domain.is_some(),
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Url;
    use crate::world::mem::MemEnv;

    #[track_caller]
    fn check(variables: &[(&str, &str)], target: &str, proxy: Option<&str>) {
        let mut env = MemEnv::default();
        for (name, value) in variables {
            env.vars.insert((*name).to_owned(), value.into());
        }
        let target: Url = target.parse().expect("valid");
        let found = Proxies::of(&env)
            .of_target(&target.origin())
            .expect("of use");
        let found = found.as_ref().map(reqwest::Url::as_str);
        assert_eq!(found, proxy, "{target} with {variables:?}");
    }

    #[test]
    fn the_scheme_of_the_target_chooses_the_variable() {
        let all = [
            ("HTTPS_PROXY", "http://s:1"),
            ("HTTP_PROXY", "h:2"),
            ("ALL_PROXY", "http://a:3"),
        ];
        check(&all, "https://r.example/", Some("http://s:1/"));
        check(&all, "http://r.example/", Some("http://h:2/"));
        check(&all[1..], "https://r.example/", None);
        let lower = [("https_proxy", "https://l:1")];
        check(&lower, "https://r.example/", Some("https://l:1/"));
        let both = [("https_proxy", "http://l:1"), ("HTTPS_PROXY", "http://u:1")];
        check(&both, "https://r.example/", Some("http://u:1/"));
        check(&[("HTTPS_PROXY", "")], "https://r.example/", None);
    }

    #[test]
    fn this_machine_needs_no_proxy() {
        let proxy = [("HTTPS_PROXY", "http://p:1")];
        for target in [
            "https://localhost/",
            "https://127.0.0.2:8/",
            "https://[::1]/",
        ] {
            check(&proxy, target, None);
        }
    }

    #[test]
    fn exceptions_are_names_networks_and_ports() {
        let rows: [(&str, &str, bool); 18] = [
            ("r.example", "https://r.example/", true),
            ("r.example", "https://a.r.example/", true),
            ("r.example", "https://ar.example/", false),
            (".r.example", "https://r.example/", false),
            (".r.example", "https://a.r.example/", true),
            ("*.r.example", "https://a.r.example/", true),
            ("R.Example:8443", "https://r.example:8443/", true),
            ("r.example:8443", "https://r.example/", false),
            ("other, r.example", "https://r.example/", true),
            ("*", "https://r.example/", true),
            ("10.0.0.0/8", "https://10.1.2.3/", true),
            ("10.0.0.0/8", "https://11.1.2.3/", false),
            ("10.1.2.3", "https://10.1.2.3/", true),
            ("10.1.2.3:8", "https://10.1.2.3/", false),
            ("fd00::/8", "https://[fd12::1]/", true),
            ("[fd00::1]", "https://[fd00::1]/", true),
            ("[fd00::1]:8", "https://[fd00::1]:8/", true),
            ("0.0.0.0/0", "https://10.1.2.3/", true),
        ];
        for (without, target, excepted) in rows {
            let proxy = (!excepted).then_some("http://p:1/");
            check(
                &[("HTTPS_PROXY", "p:1"), ("NO_PROXY", without)],
                target,
                proxy,
            );
        }
    }

    #[test]
    fn an_unusable_proxy_stops_only_the_requests_that_need_it() {
        let mut env = MemEnv::default();
        env.vars
            .insert("HTTPS_PROXY".to_owned(), "socks5://u:secret@h:1".into());
        let proxies = Proxies::of(&env);
        let target = |text: &str| text.parse::<Url>().expect("valid").origin();
        assert_eq!(proxies.of_target(&target("http://r.example/")), Ok(None));
        let error = proxies.of_target(&target("https://r.example/"));
        assert_eq!(
            error.expect_err("no SOCKS").to_string(),
            "HTTPS_PROXY names no proxy that can be used: SOCKS is not supported"
        );
    }
}
