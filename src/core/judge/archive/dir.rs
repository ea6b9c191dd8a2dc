//! The hash of an unpacked package.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::executable::is_program;
use super::{ArchiveError, FileDigest, Limits, UnpackError};
use crate::contents::{ProgramContents, ProgramScanner};
use crate::hash::{Hash, READ_BUFFER_BYTES, Sha256Stream, h1_of_digests};
use crate::parallel;
use crate::world::{Disk, DraftDirectory, FileKind, Files};

/// The hash of an unpacked package, with its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirHashes {
    /// The hash of its files.
    pub h1: Hash,
    /// The files, by name.
    pub files: Vec<FileDigest>,
}

/// A file that was found, but not read yet.
struct FoundFile {
    name: Box<[u8]>,
    path: PathBuf,
    /// The target of a link that counts as it is.
    target: Option<PathBuf>,
}

/// Hashes the files of an unpacked package, `jobs` of them at once (rules 2).
///
/// Every file below `dir` counts, hidden ones too, and every link to a file, with the content of its
/// target wherever that is. Directories do not count. `dir` itself may be a link.
///
/// # Errors
/// A link to a directory, a link that leads nowhere, anything that is neither file nor directory, a
/// line feed in a name, what exceeds the limits, what cannot be read. Of several files that cannot
/// be read, the first by name is reported.
///
/// # Examples
/// ```
/// use std::num::NonZeroUsize;
/// use std::path::Path;
///
/// use lockctl_core::archive::Limits;
/// use lockctl_core::world::mem::MemFiles;
///
/// let files = MemFiles::with(&[("/p/terraform-provider-x", "program")]);
/// let one = NonZeroUsize::MIN;
/// let hashed = lockctl_core::hash_directory(&files, Path::new("/p"), &Limits::PACKAGE, one)?;
/// assert!(hashed.h1.as_str().starts_with("h1:"));
/// # Ok::<(), lockctl_core::archive::ArchiveError>(())
/// ```
pub fn hash_directory(
    files: &dyn Files,
    dir: &Path,
    limits: &Limits,
    jobs: NonZeroUsize,
) -> Result<DirHashes, ArchiveError> {
    let found = list(files, dir, limits, None)?;
    of_digests(parallel::map(jobs, &found, |file| {
        digest(files, file, &mut vec![0; READ_BUFFER_BYTES])
    }))
}

/// Hashes the files of an installed module package.
///
/// It differs from [`hash_directory`] in two ways: what is named `.git` does not count, and a link counts with
/// its target as it is written, wherever it leads.
///
/// # Errors
/// As there, except for links.
pub fn hash_module(disk: &dyn Disk, dir: &Path) -> Result<DirHashes, ArchiveError> {
    let found = list(disk, dir, &Limits::MODULE, Some(disk))?;
    // The files are many and small: threads and a buffer for each would cost more than their hashes.
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    of_digests(found.iter().map(|file| digest(disk, file, &mut buffer)))
}

fn of_digests(
    digests: impl IntoIterator<Item = Result<FileDigest, ArchiveError>>,
) -> Result<DirHashes, ArchiveError> {
    let files = digests.into_iter().collect::<Result<Vec<_>, _>>()?;
    let h1 = h1_of_digests(files.iter().map(|file| (&*file.name, file.digest)))?;
    Ok(DirHashes { h1, files })
}

/// Returns how many bytes [`hash_directory`] would read.
///
/// # Errors
/// As there, as far as that is known without reading them.
pub fn size(files: &dyn Files, dir: &Path, limits: &Limits) -> Result<u64, ArchiveError> {
    let mut bytes = 0_u64;
    for file in list(files, dir, limits, None)? {
        let size = files
            .open(&file.path)
            .and_then(|mut reader| reader.seek(io::SeekFrom::End(0)))
            .map_err(at(&file.path))?;
        bytes = bytes.saturating_add(size);
    }
    Ok(bytes)
}

/// Reads the build information of the provider's program in an unpacked package; unknown without a program of that type.
///
/// # Errors
/// If the directory or the program cannot be read, or exceeds the limits.
pub fn program_contents(
    files: &dyn Files,
    dir: &Path,
    limits: &Limits,
    type_name: &str,
) -> Result<ProgramContents, ArchiveError> {
    // In the byte order of names, as the programs search for it.
    let entries = files.list(dir).map_err(at(dir))?;
    let program = entries.iter().find(|entry| {
        entry.kind != FileKind::Directory && is_program(entry.name.as_encoded_bytes(), type_name)
    });
    // Terraform and OpenTofu install no package without a program of its provider, so its contents are unknown.
    let Some(program) = program else {
        return Ok(ProgramContents::Unknown);
    };
    let mut scanner = ProgramScanner::new();
    let path = dir.join(&program.name);
    PieceReader::new(files, limits).read(&path, |piece| {
        scanner.push(piece);
        Ok::<_, ArchiveError>(())
    })?;
    Ok(scanner.finish())
}

/// Copies the files of an unpacked package into another directory.
///
/// Accepts and refuses what [`hash_directory`] does: a link to a file is copied as a file.
///
/// # Errors
/// The first file that cannot be read or written, or what exceeds the limits.
pub fn copy_files(
    disk: &dyn Disk,
    dir: &Path,
    limits: &Limits,
    into: &mut dyn DraftDirectory,
) -> Result<(), UnpackError> {
    // Everything is listed and checked before the first byte is written.
    let mut reader = PieceReader::new(disk, limits);
    for file in list(disk, dir, limits, None)? {
        let executable = disk.executable(&file.path).map_err(at(&file.path))?;
        let mut copy = into
            .create(&file.name, executable)
            .map_err(UnpackError::Write)?;
        reader.read(&file.path, |piece| {
            copy.write_all(piece).map_err(UnpackError::Write)
        })?;
        copy.flush().map_err(UnpackError::Write)?;
    }
    Ok(())
}

/// Reads files piece by piece, up to the limit on their bytes together.
struct PieceReader<'a> {
    files: &'a dyn Files,
    limit: u64,
    bytes: u64,
    buffer: Vec<u8>,
}

impl<'a> PieceReader<'a> {
    fn new(files: &'a dyn Files, limits: &Limits) -> Self {
        Self {
            files,
            limit: limits.unpacked_bytes,
            bytes: 0,
            buffer: vec![0; READ_BUFFER_BYTES],
        }
    }

    /// Stops at the first error, also of `take`: after a failed write the rest may be gigabytes.
    fn read<E: From<ArchiveError>>(
        &mut self,
        path: &Path,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reader = self.files.open(path).map_err(at(path))?;
        loop {
            let length = match reader.read(&mut self.buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(at(path)(error).into()),
            };
            self.bytes += length as u64;
            // A sparse file takes no space on its disk, but may take hours to read, and would fill another disk.
            if self.bytes > self.limit {
                let (bytes, limit) = (self.bytes, self.limit);
                return Err(ArchiveError::TooLarge { bytes, limit }.into());
            }
            take(&self.buffer[..length])?;
        }
    }
}

/// Lists all files in the byte order of their names, as the hash requires, without following links to directories;
/// `module` reads the links of a package of modules.
fn list(
    files: &dyn Files,
    dir: &Path,
    limits: &Limits,
    module: Option<&dyn Disk>,
) -> Result<Vec<FoundFile>, ArchiveError> {
    let mut found = Vec::new();
    let mut seen = 0;
    let mut to_list = vec![(dir.to_owned(), Vec::new(), 0)];
    while let Some((dir, prefix, depth)) = to_list.pop() {
        if depth > limits.depth {
            let limit = limits.depth;
            return Err(ArchiveError::TooDeep { path: dir, limit });
        }
        // Hidden files count; an empty directory leaves no trace in the hash (rules 2.1, 2.2).
        for entry in files.list(&dir).map_err(at(&dir))? {
            seen += 1;
            if seen > limits.entries {
                let limit = limits.entries;
                return Err(ArchiveError::TooManyEntries { limit });
            }
            // Git's own files differ from clone to clone.
            if module.is_some() && entry.name == ".git" {
                continue;
            }
            let path = dir.join(&entry.name);
            // On Unix these are the raw bytes of the name.
            let mut name = [&*prefix, entry.name.as_encoded_bytes()].concat();
            // The type is checked before anything is opened: to open a FIFO would wait for ever.
            let kind = match (entry.kind, module) {
                (FileKind::Symlink, None) => files.kind(&path).map_err(at(&path))?,
                (kind, _) => kind,
            };
            match (kind, module) {
                (FileKind::Directory, _) if entry.kind == FileKind::Directory => {
                    name.push(b'/');
                    to_list.push((path, name, depth + 1));
                }
                (FileKind::Symlink, Some(disk)) => {
                    let name = name.into();
                    let target = disk.link(&path).map_err(at(&path))?;
                    found.push(FoundFile { name, path, target });
                }
                // A link to a file counts with the content of its target, also outside of the package (rules 2.1).
                (FileKind::File, _) => {
                    let name = name.into();
                    let target = None;
                    found.push(FoundFile { name, path, target });
                }
                // The programs fail on these as well, except for a FIFO, where Terraform waits for ever (rules 2.3).
                (FileKind::Directory, _) => return Err(ArchiveError::LinkToDirectory { path }),
                (FileKind::Symlink | FileKind::Other, _) => {
                    return Err(ArchiveError::NotRegular { path });
                }
            }
        }
    }
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn digest(
    files: &dyn Files,
    file: &FoundFile,
    buffer: &mut [u8],
) -> Result<FileDigest, ArchiveError> {
    let mut stream = Sha256Stream::default();
    let size = match &file.target {
        Some(target) => {
            let target = target.as_os_str().as_encoded_bytes();
            stream.update(target);
            target.len() as u64
        }
        None => files
            .open(&file.path)
            .and_then(|reader| stream.read_all(reader, buffer))
            .map_err(at(&file.path))?,
    };
    Ok(FileDigest {
        name: file.name.clone(),
        size,
        digest: stream.finish(),
    })
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
    let path = path.to_owned();
    move |cause| ArchiveError::Path { path, cause }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::{MemFiles, slashed};
    use crate::world::{DirEntry, ReadSeek};

    /// Files of which some cannot be opened.
    struct Torn(MemFiles);

    impl Files for Torn {
        fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
            self.0.read(path, limit)
        }

        fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
            match path.extension() {
                Some(_) => Err(io::ErrorKind::PermissionDenied.into()),
                None => self.0.open(path),
            }
        }

        fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
            self.0.list(dir)
        }

        fn kind(&self, path: &Path) -> io::Result<FileKind> {
            self.0.kind(path)
        }

        fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
            self.0.resolve(path)
        }
    }

    #[test]
    fn files_are_named_by_their_whole_path_and_sorted() {
        let files = MemFiles::with(&[("/p/a/b", "1"), ("/p/a-b", "2"), ("/q/c", "3")]);
        let found = hash_directory(&files, Path::new("/p"), &Limits::PACKAGE, parallel::cores())
            .expect("readable");
        let names: Vec<_> = found.files.iter().map(|file| &*file.name).collect();
        assert_eq!(names, [&b"a-b"[..], b"a/b"]);
        assert_eq!(found.files[1].size, 1);
        assert_eq!(
            found.h1,
            hash_directory(
                &files,
                Path::new("/p/."),
                &Limits::PACKAGE,
                parallel::cores()
            )
            .expect("readable")
            .h1
        );
    }

    #[test]
    fn a_missing_package_is_an_error() {
        let error = hash_directory(
            &MemFiles::default(),
            Path::new("/p"),
            &Limits::PACKAGE,
            parallel::cores(),
        );
        assert_eq!(error.expect_err("missing").to_string(), "reading /p failed");
    }

    #[test]
    fn the_first_file_that_fails_is_reported_whichever_thread_reads_it() {
        let mut names: Vec<String> = (10..40).map(|n| format!("/p/{n}")).collect();
        names[17].push_str(".torn");
        names[18].push_str(".torn");
        let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "text")).collect();
        let torn = Torn(MemFiles::with(&files));
        for _ in 0..50 {
            let error = hash_directory(&torn, Path::new("/p"), &Limits::PACKAGE, parallel::cores());
            let message = slashed(error.expect_err("torn").to_string());
            assert_eq!(message, "reading /p/27.torn failed");
        }
    }
}
