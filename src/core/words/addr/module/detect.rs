//! Shorthands: the full address of a remote source without a scheme (rules 5.6).

use super::ModuleSourceErrorKind as Kind;
use super::query::{self, Query};
use super::reference::{self, UrlForm};

/// The address that a shorthand means; it may be forced to a kind, and may hold a subdirectory.
type Detected = Result<Option<String>, Kind>;

/// Returns the full address of a package that may be written as a shorthand, with the kind that it is forced
/// to. A subdirectory of the shorthand follows behind a `//`.
pub(super) fn address(text: &str) -> Result<String, Kind> {
    let (force, rest) = split_force(text);
    if reference::form_of(rest) == UrlForm::WithScheme {
        return Ok(text.to_owned());
    }
    // In the order of the programs: `google` and `amazon` look for their host anywhere in the text
    // (rules 5.6).
    let absolute: fn(&str) -> Detected =
        |text| Ok(text.starts_with('/').then(|| format!("file://{text}")));
    let detectors = [github, ssh, bitbucket, google, amazon, absolute];
    for detect in detectors {
        let Some(found) = detect(rest)? else { continue };
        return Ok(match force {
            // What the user forces wins over what the shorthand would mean.
            Some(force) => format!("{force}::{}", split_force(&found).1),
            None => found,
        });
    }
    Err(Kind::Nothing)
}

/// Splits off `KIND::`, which says how to fetch the rest.
pub(super) fn split_force(text: &str) -> (Option<&str>, &str) {
    match text.split_once("::") {
        Some((force, rest))
            if !force.is_empty()
                && !rest.is_empty()
                && force.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            (Some(force), rest)
        }
        _ => (None, text),
    }
}

fn split_query(text: &str) -> (&str, &str) {
    match text.find('?') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

fn github(text: &str) -> Detected {
    if !text.starts_with("github.com/") {
        return Ok(None);
    }
    let (path, query) = split_query(text);
    let parts: Vec<&str> = path.splitn(4, '/').collect();
    let [host, owner, repository, ref below @ ..] = parts[..] else {
        return Err(Kind::GithubParts);
    };
    let below = below.first().copied().unwrap_or_default();
    let path = repository_path(&format!("/{owner}/{repository}"))?;
    let address = format!("git::https://{host}{path}");
    if below.is_empty() {
        return Ok(Some(format!("{address}{query}")));
    }
    // All behind the repository is a directory in it (rules 5.6), which the normal form sets off by `//`.
    let below = reference::path_as_written(below).ok_or(Kind::BadUrl)?;
    Ok(Some(format!("{address}//{below}{query}")))
}

/// Returns the path of a repository, with the ending that it needs.
fn repository_path(path: &str) -> Result<String, Kind> {
    let mut decoded = query::unescape(path).ok_or(Kind::BadUrl)?;
    // The ending may be escaped, as in `%2egit`; the path keeps the escapes of the user.
    if decoded.ends_with(b".git") {
        return reference::path_as_written(path).ok_or(Kind::BadUrl);
    }
    decoded.extend(b".git");
    Ok(reference::escaped_path(&decoded))
}

/// Reads `git@HOST:PATH`, the short form of an address for ssh.
fn ssh(text: &str) -> Detected {
    let Some((host, path)) = text.split_once(':') else {
        return Ok(None);
    };
    let Some(host) = host.strip_prefix("git@") else {
        return Ok(None);
    };
    let path = path
        .strip_prefix('/')
        .filter(|rest| !rest.is_empty())
        .unwrap_or(path);
    // Not the short form for ssh: the other shorthands are tried.
    if host.is_empty() || host.contains('@') || path.is_empty() {
        return Ok(None);
    }
    let (path, query) = split_query(path);
    let host = reference::escaped_host(host);
    let slash = if path.starts_with('/') { "" } else { "/" };
    let path = reference::escaped_path(path.as_bytes());
    // Unlike the other shorthands, the query is read and written anew: sorted by name (rules 5.6).
    let query = match query.strip_prefix('?') {
        Some(query) => Query::parse(query).map_err(|_| Kind::BadUrl)?.encode(),
        None => String::new(),
    };
    let mark = if query.is_empty() { "" } else { "?" };
    Ok(Some(format!(
        "git::ssh://git@{host}{slash}{path}{mark}{query}"
    )))
}

/// OpenTofu asks the host which kind of repository it is; all that are left are git (rules 5.6).
fn bitbucket(text: &str) -> Detected {
    let Some(path) = text.strip_prefix("bitbucket.org/") else {
        return Ok(None);
    };
    let (path, query) = split_query(path);
    let path = repository_path(&format!("/{path}"))?;
    Ok(Some(format!("git::https://bitbucket.org{path}{query}")))
}

fn google(text: &str) -> Detected {
    if !text.contains("googleapis.com/") {
        return Ok(None);
    }
    let [_, _, version, bucket, object] = text.splitn(5, '/').collect::<Vec<_>>()[..] else {
        return Err(Kind::StorageForm);
    };
    let path = format!("/storage/{version}/{bucket}/{object}");
    storage("gcs", "www.googleapis.com", &path)
}

fn amazon(text: &str) -> Detected {
    if !text.contains(".amazonaws.com/") {
        return Ok(None);
    }
    let (host, path) = text.split_once('/').ok_or(Kind::StorageForm)?;
    let labels: Vec<&str> = host.split('.').collect();
    // Three to five labels, with `amazonaws.com` at the end (rules 5.6).
    let (region, path) = match *labels {
        [region, _, _] => (region.to_owned(), format!("/{path}")),
        [bucket, region, _, _] => (region.to_owned(), format!("/{bucket}/{path}")),
        [bucket, "s3", region, _, _] => (format!("s3.{region}"), format!("/{bucket}/{path}")),
        _ => return Err(Kind::StorageForm),
    };
    storage("s3", &format!("{region}.amazonaws.com"), &path)
}

fn storage(kind: &str, host: &str, path: &str) -> Detected {
    let (path, query) = split_query(path);
    if reference::form_of(&format!("https://{host}{path}")) != UrlForm::WithScheme {
        return Err(Kind::BadUrl);
    }
    let path = reference::path_as_written(path).ok_or(Kind::BadUrl)?;
    Ok(Some(format!("{kind}::https://{host}{path}{query}")))
}
