//! Objects as files of a directory, where files have no owner and mode to look at.
//!
//! What is in the directory of a Windows user is that user's own unless its access list was changed, so
//! nothing but links is refused. The tests use this on all systems.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Once;

use super::exclusive;
use super::{
    MAX_KEY_WORDS, NEW_OBJECTS, absent_as_none, open_regular, patiently, read_regular, refused,
    temporary_in,
};
use crate::world::{ObjectSize, Objects, is_key_word};

/// Objects as files of a directory.
pub(super) struct DirectoryObjects {
    dir: PathBuf,
    swept: Once,
}

impl DirectoryObjects {
    /// Keeps objects in a directory, which is made when the first one is put.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            swept: Once::new(),
        }
    }

    /// Returns the path of an object; no directory on the way from the top may be a link.
    fn path(&self, key: &str) -> io::Result<PathBuf> {
        // Removes temporary files of processes that have ended; what cannot be removed does no harm.
        self.swept.call_once(|| {
            for entry in fs::read_dir(self.dir.join(NEW_OBJECTS))
                .into_iter()
                .flatten()
                .flatten()
            {
                let is_orphan = |path: &Path| {
                    open_regular(path).is_ok_and(|(file, _)| exclusive::is_orphan(&file))
                };
                if exclusive::is_temporary(&entry.file_name()) && is_orphan(&entry.path()) {
                    fs::remove_file(entry.path()).ok();
                }
            }
        });
        if !key.split('/').all(is_key_word) || key.split('/').count() > MAX_KEY_WORDS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let path = self.dir.join(key);
        let above = path.ancestors().skip(1);
        for dir in above.take_while(|dir| dir.starts_with(&self.dir)) {
            match fs::symlink_metadata(dir) {
                Ok(found) if !found.is_dir() => {
                    return Err(refused("a link or a file is in its way"));
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(path)
    }
}

impl Objects for DirectoryObjects {
    fn check(&self) -> io::Result<()> {
        match absent_as_none(fs::symlink_metadata(&self.dir))? {
            Some(found) if !found.is_dir() => {
                Err(refused("it is a link or a file, not a directory"))
            }
            _ => Ok(()),
        }
    }

    fn get(&self, key: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let path = self.path(key)?;
        let Some(found) = absent_as_none(fs::symlink_metadata(&path))? else {
            return Ok(None);
        };
        if !found.is_file() {
            return Err(refused("it is not a regular file"));
        }
        absent_as_none(
            open_regular(&path).and_then(|(file, found)| read_regular(file, found.len(), limit)),
        )
    }

    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let (path, new) = (self.path(key)?, self.dir.join(NEW_OBJECTS));
        for dir in [path.parent().unwrap_or(&self.dir), &new] {
            fs::create_dir_all(dir)?;
        }
        let (_mark, mut temporary) = temporary_in(&new)?;
        temporary.as_file().try_lock().ok();
        temporary.write_all(bytes)?;
        // No other process could read the file as long as it is locked.
        temporary.as_file().unlock().ok();
        patiently(temporary, |file| file.persist(&path))
            .map(|_| ())
            .map_err(|failed| failed.error)
    }

    fn measure(&self, above: &str) -> io::Result<Vec<ObjectSize>> {
        let mut found = Vec::new();
        let mut open = vec![above.to_owned()];
        while let Some(above) = open.pop() {
            let entries = absent_as_none(fs::read_dir(self.path(&above)?))?;
            for entry in entries.into_iter().flatten() {
                let entry = entry?;
                let name = entry.file_name();
                let Some(name) = name.to_str().filter(|name| is_key_word(name)) else {
                    continue;
                };
                let key = format!("{above}/{name}");
                // Another process may have removed it meanwhile.
                let Some(about) = absent_as_none(entry.metadata())? else {
                    continue;
                };
                // A deeper directory is no key of this program, and its tree is not walked.
                if about.is_dir() && key.split('/').count() < MAX_KEY_WORDS {
                    open.push(key);
                } else {
                    found.push(ObjectSize {
                        key,
                        bytes: about.len(),
                        written: about.modified()?,
                    });
                }
            }
        }
        found.sort();
        Ok(found)
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        absent_as_none(fs::remove_file(self.path(key)?)).map(|_| ())
    }
}
