//! Buckets of S3, Google Cloud Storage and Azure, by `object_store` over the connections of this program.

use std::io;
use std::time::Duration;

use futures_util::StreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{HttpClient, HttpConnector};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Error, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions,
    RetryConfig, UpdateVersion,
};
use reqwest::Client;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::addr::StoreService;
use crate::world::{Env, SharedObjects, VersionedObject};

/// Time limit of one operation, with its repetitions and with the request for credentials.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Maximum number of objects that are listed.
const MAX_LISTED: usize = 1_000_000;

/// Lets the library use the proxies, certificates and connections of this program.
#[derive(Debug)]
struct Connections(Client);

impl HttpConnector for Connections {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

/// The objects of a bucket below a prefix.
pub(super) struct Bucket<'a> {
    runtime: &'a Runtime,
    store: Box<dyn ObjectStore>,
    prefix: String,
}

impl<'a> Bucket<'a> {
    /// Opens a bucket with the credentials that the environment states.
    ///
    /// # Errors
    /// If these are not usable.
    pub(super) fn open(
        env: &dyn Env,
        client: Client,
        runtime: &'a Runtime,
        (service, bucket, prefix): (StoreService, &str, &str),
    ) -> io::Result<Self> {
        let retry = RetryConfig {
            backoff: BackoffConfig::default(),
            max_retries: 3,
            retry_timeout: TIME_LIMIT,
        };
        let connections = Connections(client);
        let vars = |prefix: &str| {
            let named = env.names(prefix).into_iter();
            named.filter_map(|name| {
                Some((
                    name.to_ascii_lowercase(),
                    env.var(&name)?.into_string().ok()?,
                ))
            })
        };
        let store: Result<Box<dyn ObjectStore>, Error> = match service {
            StoreService::S3 => {
                let mut builder = AmazonS3Builder::new();
                for (name, value) in vars("AWS_") {
                    if let Ok(key) = name.parse::<AmazonS3ConfigKey>() {
                        builder = builder.with_config(key, value);
                    }
                }
                let builder = builder.with_bucket_name(bucket).with_retry(retry);
                let store = builder.with_http_connector(connections).build();
                store.map(|store| Box::new(store) as _)
            }
            StoreService::Google => {
                let mut builder = GoogleCloudStorageBuilder::new();
                for (name, value) in vars("GOOGLE_") {
                    if let Ok(key) = name.parse::<GoogleConfigKey>() {
                        builder = builder.with_config(key, value);
                    }
                }
                let builder = builder.with_bucket_name(bucket).with_retry(retry);
                let store = builder.with_http_connector(connections).build();
                store.map(|store| Box::new(store) as _)
            }
            StoreService::Azure => {
                let mut builder = MicrosoftAzureBuilder::new();
                for (name, value) in vars("AZURE_") {
                    if let Ok(key) = name.parse::<AzureConfigKey>() {
                        builder = builder.with_config(key, value);
                    }
                }
                let builder = builder.with_container_name(bucket).with_retry(retry);
                let store = builder.with_http_connector(connections).build();
                store.map(|store| Box::new(store) as _)
            }
        };
        Ok(Self {
            runtime,
            store: store.map_err(broken)?,
            prefix: prefix.to_owned(),
        })
    }

    fn path(&self, key: &str) -> Path {
        Path::from_iter(self.prefix.split('/').chain(key.split('/')))
    }

    /// Waits for an operation, at most for the time limit.
    fn wait<T>(
        &self,
        operation: impl Future<Output = object_store::Result<T>>,
    ) -> io::Result<Result<T, Error>> {
        // Inside the block, because a timer needs the runtime when it is made.
        let done = self
            .runtime
            .block_on(async { timeout(TIME_LIMIT, operation).await });
        done.map_err(|_| {
            let limit = format!("no answer within {} s", TIME_LIMIT.as_secs());
            io::Error::new(io::ErrorKind::TimedOut, limit)
        })
    }
}

impl SharedObjects for Bucket<'_> {
    fn get(&self, key: &str, limit: u64) -> io::Result<Option<VersionedObject>> {
        let path = self.path(key);
        let read = self.wait(async {
            let found = self.store.get(&path).await?;
            let version = &found.meta;
            let tag =
                [&version.e_tag, &version.version].map(|part| part.as_deref().unwrap_or_default());
            let tag = tag.join("\n");
            let mut bytes = Vec::new();
            let mut parts = found.into_stream();
            // The length that the server states may be wrong.
            while let Some(part) = parts.next().await {
                bytes.extend(part?);
                if bytes.len() as u64 > limit {
                    return Ok(None);
                }
            }
            Ok(Some(VersionedObject { bytes, tag }))
        })?;
        match read {
            Ok(Some(object)) => Ok(Some(object)),
            Ok(None) => Err(io::ErrorKind::FileTooLarge.into()),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(broken(error)),
        }
    }

    fn put(&self, key: &str, bytes: &[u8], over: Option<&VersionedObject>) -> io::Result<bool> {
        let mode = match over {
            None => PutMode::Create,
            Some(object) => {
                let (e_tag, version) = object.tag.split_once('\n').unwrap_or_default();
                let stated = |part: &str| (!part.is_empty()).then(|| part.to_owned());
                PutMode::Update(UpdateVersion {
                    e_tag: stated(e_tag),
                    version: stated(version),
                })
            }
        };
        let path = self.path(key);
        let options = PutOptions::from(mode);
        let put = self.store.put_opts(&path, bytes.to_vec().into(), options);
        match self.wait(put)? {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            // Of two requests at the same moment S3 refuses one with 409.
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(broken(error)),
        }
    }

    fn list(&self, above: &str) -> io::Result<Vec<String>> {
        let path = self.path(above);
        let mut parts = self.store.list(Some(&path));
        let mut keys = Vec::new();
        while let Some(next) = self
            .wait(async { parts.next().await.transpose() })?
            .map_err(broken)?
        {
            let key = next.location.to_string();
            let below = key.strip_prefix(&self.prefix).unwrap_or(&key);
            keys.push(below.trim_start_matches('/').to_owned());
            if keys.len() > MAX_LISTED {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
        keys.sort();
        Ok(keys)
    }

    fn remove(&self, key: &str, _: &VersionedObject) -> io::Result<()> {
        match self.wait(self.store.delete(&self.path(key)))? {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(broken(error)),
        }
    }
}

fn is_conflict(error: &Error) -> bool {
    let text = error.to_string();
    text.contains("409 Conflict") || text.contains("status code: 409")
}

/// Maximum length of the text of an error, in characters: it may hold an answer of the server.
const MAX_ERROR: usize = 200;

/// Converts an error of the library; its text names no secret.
fn broken(error: Error) -> io::Error {
    let mut cause: &dyn std::error::Error = &error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let text: String = cause
        .to_string()
        .chars()
        .take(MAX_ERROR)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    io::Error::other(text.trim().to_owned())
}
