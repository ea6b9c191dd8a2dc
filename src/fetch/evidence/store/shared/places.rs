//! Shared stores without a service: a directory, and a web server that is read only.

use std::io::{self, Read as _};
use std::path::PathBuf;

use crate::addr::{StorePlace, StoreUrl, Url};
use crate::world::{
    Disk, FileKind, Http, HttpRequest, Replaced, SHARED_TIME_LIMIT, SharedObjects, VersionedObject,
    is_key_word,
};

/// Opens the store of a URL.
///
/// # Errors
/// If the environment has no usable credentials for its service.
pub fn open<'a>(
    url: &StoreUrl,
    disk: &'a dyn Disk,
    http: &'a dyn Http,
) -> io::Result<Box<dyn SharedObjects + 'a>> {
    match url.place() {
        StorePlace::Bucket { .. } => http.bucket(url),
        StorePlace::Directory(dir) => Ok(Box::new(DirectoryStore {
            disk,
            dir: dir.clone(),
        })),
        StorePlace::Web(base) => Ok(Box::new(WebStore {
            http,
            base: base.clone(),
        })),
    }
}

/// Objects as files of a directory that several users may write to.
struct DirectoryStore<'a> {
    disk: &'a dyn Disk,
    dir: PathBuf,
}

impl SharedObjects for DirectoryStore<'_> {
    fn get(&self, key: &str, limit: u64) -> io::Result<Option<VersionedObject>> {
        match self.disk.read(&self.dir.join(key), limit) {
            Ok(bytes) => Ok(Some(VersionedObject {
                bytes,
                tag: String::new(),
            })),
            // A directory that is not there may be one that is not mounted.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.disk.kind(&self.dir).map(|_| None)
            }
            Err(error) => Err(error),
        }
    }

    fn put(&self, key: &str, bytes: &[u8], over: Option<&VersionedObject>) -> io::Result<bool> {
        self.disk.kind(&self.dir)?;
        let path = self.dir.join(key);
        if let Some(above) = path.parent() {
            self.disk.make_directory(above)?;
        }
        let old = over.map(|object| &*object.bytes);
        Ok(self.disk.replace(&path, old, bytes)? == Replaced::Done)
    }

    fn list(&self, above: &str) -> io::Result<Vec<String>> {
        let mut keys = Vec::new();
        let mut open = vec![above.to_owned()];
        while let Some(above) = open.pop() {
            let entries = match self.disk.list(&self.dir.join(&above)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let Some(name) = entry.name.to_str().filter(|name| is_key_word(name)) else {
                    continue;
                };
                let key = format!("{above}/{name}");
                match entry.kind {
                    FileKind::Directory => open.push(key),
                    FileKind::File => keys.push(key),
                    FileKind::Symlink | FileKind::Other => {}
                }
            }
        }
        keys.sort();
        Ok(keys)
    }

    fn remove(&self, key: &str, read: Option<&VersionedObject>) -> io::Result<bool> {
        let path = self.dir.join(key);
        match read {
            Some(read) => Ok(self.disk.remove(&path, &read.bytes)? == Replaced::Done),
            None => self.disk.delete(&path).map(|()| true),
        }
    }
}

/// Objects below a URL.
struct WebStore<'a> {
    http: &'a dyn Http,
    base: Url,
}

impl SharedObjects for WebStore<'_> {
    fn get(&self, key: &str, limit: u64) -> io::Result<Option<VersionedObject>> {
        let url = StoreUrl::below(&self.base, key).map_err(io::Error::other)?;
        let response = self.http.get(&HttpRequest {
            url: &url,
            headers: &[],
            credentials: None,
            timeout: Some(SHARED_TIME_LIMIT),
            first_byte: SHARED_TIME_LIMIT,
            idle: SHARED_TIME_LIMIT,
            compressed: true,
        })?;
        match response.status {
            404 | 410 => return Ok(None),
            200 => {}
            // No redirection is followed: a store is one place.
            status => return Err(io::Error::other(format!("it answers with status {status}"))),
        }
        let mut bytes = Vec::new();
        response.body.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Some(VersionedObject {
            bytes,
            tag: String::new(),
        }))
    }

    fn put(&self, _: &str, _: &[u8], _: Option<&VersionedObject>) -> io::Result<bool> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn list(&self, _: &str) -> io::Result<Vec<String>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove(&self, _: &str, _: Option<&VersionedObject>) -> io::Result<bool> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
}
