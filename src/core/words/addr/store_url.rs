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
    #[error(
        "write s3://BUCKET/PREFIX, gs://…, az://…, file:///DIR or https://…, without user, port of a bucket, query or \
         fragment"
    )]
    Form,
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
        let parsed = url::Url::parse(text).map_err(|_| StoreUrlError::Form)?;
        // A project file is committed, so that a password in it would be public.
        let is_surplus = !parsed.username().is_empty()
            || parsed.password().is_some()
            || parsed.query().is_some()
            || parsed.fragment().is_some();
        if is_surplus {
            return Err(StoreUrlError::Form);
        }
        let service = match parsed.scheme() {
            "s3" => StoreService::S3,
            "gs" => StoreService::Google,
            "az" => StoreService::Azure,
            "file" => {
                let dir = parsed.to_file_path().map_err(|()| StoreUrlError::Form)?;
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
            _ => return Err(StoreUrlError::Form),
        };
        let bucket = parsed.host_str().unwrap_or_default();
        // A bucket has no port; the service is configured by the variables of its own tools.
        if bucket.is_empty() || parsed.port().is_some() {
            return Err(StoreUrlError::Form);
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
    fn check(text: &str, expected: Option<&str>) {
        let place = text.parse::<StoreUrl>().map(|url| match url.place {
            StorePlace::Bucket { bucket, prefix, .. } => format!("{bucket} {prefix}"),
            StorePlace::Directory(dir) => dir.display().to_string(),
            StorePlace::Web(url) => url.to_string(),
        });
        assert_eq!(place.ok().as_deref(), expected, "{text:?}");
    }

    #[test]
    fn stores_are_buckets_directories_and_web_servers() {
        check("s3://b", Some("b "));
        check("gs://b-1/a/b/", Some("b-1 a/b"));
        check("https://facts.example/x", Some("https://facts.example/x"));
        if cfg!(unix) {
            check("file:///var/facts", Some("/var/facts"));
            check("file://host/x", None);
        }
        for text in [
            "s3://k:s@b/x",
            "az://b/x?sig=1",
            "https://u@h/x",
            "s3://b:1/",
            "bucket",
            "/var/x",
            "ftp://h/x",
            "",
            "s3:///x",
        ] {
            check(text, None);
        }
    }
}
