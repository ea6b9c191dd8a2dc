//! Buckets of S3, Google Cloud Storage and Azure, by `object_store` over the connections of this program.

use std::io;
use std::str::FromStr;

use futures_util::StreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{HttpClient, HttpConnector};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Error, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions,
    RetryConfig, UpdateVersion,
};
use reqwest::Client;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::addr::StoreService;
use crate::world::{Env, SHARED_TIME_LIMIT, SharedObjects, VersionedObject};

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
            retry_timeout: SHARED_TIME_LIMIT,
        };
        let connections = Connections(client);
        let store: Result<Box<dyn ObjectStore>, Error> = match service {
            StoreService::S3 => configured(env, "AWS_", AmazonS3Builder::with_config)
                // Objects are removed one by one, which every service of the protocol understands.
                .with_disable_bulk_delete(true)
                .with_bucket_name(bucket)
                .with_retry(retry)
                .with_http_connector(connections)
                .build()
                .map(|store| Box::new(store) as _),
            StoreService::Google => {
                configured(env, "GOOGLE_", GoogleCloudStorageBuilder::with_config)
                    .with_bucket_name(bucket)
                    .with_retry(retry)
                    .with_http_connector(connections)
                    .build()
                    .map(|store| Box::new(store) as _)
            }
            StoreService::Azure => configured(env, "AZURE_", MicrosoftAzureBuilder::with_config)
                .with_container_name(bucket)
                .with_retry(retry)
                .with_http_connector(connections)
                .build()
                .map(|store| Box::new(store) as _),
        };
        Ok(Self {
            runtime,
            store: store.map_err(broken)?,
            prefix: prefix.to_owned(),
        })
    }

    fn path(&self, key: &str) -> Path {
        self.prefix
            .split('/')
            .chain(key.split('/'))
            // There may be no prefix.
            .filter(|part| !part.is_empty())
            .collect()
    }

    /// Waits for an operation with its repetitions and its request for credentials, at most for the time limit.
    fn wait<T>(
        &self,
        operation: impl Future<Output = object_store::Result<T>>,
    ) -> io::Result<Result<T, Error>> {
        // Inside the block, because a timer needs the runtime when it is made.
        let done = self
            .runtime
            .block_on(async { timeout(SHARED_TIME_LIMIT, operation).await });
        done.map_err(|_| {
            let limit = format!("no answer within {} s", SHARED_TIME_LIMIT.as_secs());
            io::Error::new(io::ErrorKind::TimedOut, limit)
        })
    }
}

impl SharedObjects for Bucket<'_> {
    fn get(&self, key: &str, limit: u64) -> io::Result<Option<VersionedObject>> {
        let path = self.path(key);
        let read = self.wait(async {
            let found = self.store.get(&path).await?;
            // A condition names the first one for S3 and Azure, and the second one for Google.
            let tag = [&found.meta.e_tag, &found.meta.version]
                .map(|part| part.as_deref().unwrap_or_default())
                .join("\n");
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
            // Of two requests at the same moment S3 refuses one with 409, which is `AlreadyExists`, too.
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
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

    fn remove(&self, key: &str, _: Option<&VersionedObject>) -> io::Result<bool> {
        match self.wait(self.store.delete(&self.path(key)))? {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(true),
            Err(error) => Err(broken(error)),
        }
    }
}

/// Makes a builder with the settings of the library that the environment states, as in `AWS_REGION`.
fn configured<B: Default, K: FromStr>(
    env: &dyn Env,
    prefix: &str,
    set: impl Fn(B, K, String) -> B,
) -> B {
    env.names(prefix)
        .into_iter()
        .filter_map(|name| {
            // Variables of other programs begin with the same word.
            let key = name.to_ascii_lowercase().parse().ok()?;
            Some((key, env.var(&name)?.into_string().ok()?))
        })
        .fold(B::default(), |builder, (key, value)| {
            set(builder, key, value)
        })
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
    io::Error::other(text.trim_end_matches([':', ' ']).to_owned())
}
