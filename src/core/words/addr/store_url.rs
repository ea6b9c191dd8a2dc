//! The URL of a store of facts that machines share.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::{Url, UrlError};

/// The URL of a shared store: `s3://BUCKET/PREFIX`, `gs://…`, `az://…`, `file:///DIR`, or a web server that is read only.
///
/// It has no user, password or query: a project file is no place for secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreUrl {
    text: String,
    place: StorePlace,
}

/// The kind of a shared store, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePlace {
    /// A bucket, or a container, of a service, and the prefix of the keys, without slashes at its ends.
    Bucket {
        service: StoreService,
        bucket: String,
        prefix: String,
    },
    /// A directory, by its absolute path.
    Directory(PathBuf),
    /// Below the URL of a web server.
    Web(Url),
}

/// A service that keeps objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreService {
    /// Amazon S3, and everything that speaks its protocol.
    S3,
    /// The service Google Cloud Storage.
    Google,
    /// The service Azure Blob Storage.
    Azure,
}

/// A text that is no URL of a shared store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreUrlError {
    #[error(transparent)]
    Web(#[from] UrlError),
    #[error("it does not begin with s3://, gs://, az://, file:/// or https://")]
    Scheme,
    #[error("it names no bucket")]
    NoBucket,
    #[error("a user, a port, a query or a fragment has no place in it")]
    Surplus,
    #[error("it is not the absolute path of a directory")]
    Path,
}

impl StoreUrl {
    /// Returns the place that it names.
    #[must_use]
    pub fn place(&self) -> &StorePlace {
        &self.place
    }

    /// Returns the URL of an object on a web server.
    ///
    /// # Errors
    /// If the key makes no URL.
    pub fn below(base: &Url, key: &str) -> Result<Url, UrlError> {
        let base = base.to_string();
        format!("{}/{key}", base.trim_end_matches('/')).parse()
    }
}

impl FromStr for StoreUrl {
    type Err = StoreUrlError;

    /// Reads the URL of a store.
    ///
    /// ```
    /// use lockctl_core::addr::StoreUrl;
    ///
    /// assert!("s3://bucket/lockctl".parse::<StoreUrl>().is_ok());
    /// assert!("s3://key:secret@bucket/lockctl".parse::<StoreUrl>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, StoreUrlError> {
        let parsed = url::Url::parse(text).map_err(|_| StoreUrlError::Scheme)?;
        // A project file is committed, so that a password in it would be public.
        let is_surplus = !parsed.username().is_empty()
            || parsed.password().is_some()
            || parsed.query().is_some()
            || parsed.fragment().is_some();
        if is_surplus {
            return Err(StoreUrlError::Surplus);
        }
        let service = match parsed.scheme() {
            "s3" => StoreService::S3,
            "gs" => StoreService::Google,
            "az" => StoreService::Azure,
            "file" => {
                let dir = parsed.to_file_path().map_err(|()| StoreUrlError::Path)?;
                return Ok(Self {
                    text: text.to_owned(),
                    place: StorePlace::Directory(dir),
                });
            }
            "https" | "http" => {
                return Ok(Self {
                    text: text.to_owned(),
                    place: StorePlace::Web(text.parse()?),
                });
            }
            _ => return Err(StoreUrlError::Scheme),
        };
        // A bucket has no port; the service is configured by the variables of its own tools.
        if parsed.port().is_some() {
            return Err(StoreUrlError::Surplus);
        }
        let bucket = parsed.host_str().unwrap_or_default();
        if bucket.is_empty() {
            return Err(StoreUrlError::NoBucket);
        }
        Ok(Self {
            text: text.to_owned(),
            place: StorePlace::Bucket {
                service,
                bucket: bucket.to_owned(),
                prefix: parsed.path().trim_matches('/').to_owned(),
            },
        })
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let place = text.parse::<StoreUrl>().map(|url| match url.place {
            StorePlace::Bucket { bucket, prefix, .. } => format!("{bucket} {prefix}"),
            StorePlace::Directory(dir) => dir.display().to_string(),
            StorePlace::Web(url) => url.to_string(),
        });
        let place = place.map_err(|error| error.to_string());
        assert_eq!(
            place.as_deref().map_err(|error| &**error),
            expected,
            "{text:?}"
        );
    }

    #[test]
    fn stores_are_buckets_directories_and_web_servers() {
        check("s3://b", Ok("b "));
        check("gs://b-1/a/b/", Ok("b-1 a/b"));
        check("https://facts.example/x", Ok("https://facts.example/x"));
        if cfg!(unix) {
            check("file:///var/facts", Ok("/var/facts"));
            check(
                "file://host/x",
                Err("it is not the absolute path of a directory"),
            );
        }
        let surplus = "a user, a port, a query or a fragment has no place in it";
        for text in [
            "s3://k:s@b/x",
            "az://b/x?sig=1",
            "https://u@h/x",
            "s3://b:1/",
        ] {
            check(text, Err(surplus));
        }
        let scheme = "it does not begin with s3://, gs://, az://, file:/// or https://";
        for text in ["bucket", "/var/x", "ftp://h/x", ""] {
            check(text, Err(scheme));
        }
        check("s3:///x", Err("it names no bucket"));
    }
}
