//! `lockctl hash`: the hashes of packages at hand.

mod text;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;

use crate::acquire::{self, PackageHashes};
use crate::archive::{ArchiveError, FileDigest};
use crate::hash::hex_of_digest;
use crate::package::Local;
use crate::parallel;
use crate::report::json::{FailedPackage, HashedPackageRow, PackageFile, PackageRow};
use crate::report::{CLEAN, FAILED};
use crate::report::{
    CommandResult, Failure, Look, PackageResult, ResultSubject, Sentence, TextBlock,
};
use crate::run::command::Command;
use crate::run::options::examples;
use crate::run::session::Session;
use crate::world::{FileKind, Files};

/// Print the hashes of packages: zip files or unpacked directories
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl hash terraform-provider-null_3.2.3_linux_amd64.zip", "print zh: and h1:"),
    ("lockctl hash --files ./package", "the digest of each file, too"),
]))]
pub(crate) struct HashArgs {
    /// Zip files or unpacked directories
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Also print the digest of every file in a package
    #[arg(long)]
    pub(crate) files: bool,
}

impl Command for HashArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let packages: Vec<PackageResult> = self
            .paths
            .iter()
            .map(|typed| {
                let path = session.options.below(typed);
                match hash_one(session.world.disk, &path) {
                    Ok(hashed) => result(&path, &hashed, self.files),
                    Err(failure) => PackageResult {
                        package: PackageRow::Failed(FailedPackage::new(
                            path.display().to_string(),
                            failure,
                        )),
                        remarks: Vec::new(),
                    },
                }
            })
            .collect();
        let has_failed = |result: &PackageResult| matches!(result.package, PackageRow::Failed(_));
        let exit = if packages.iter().any(has_failed) {
            FAILED
        } else {
            CLEAN
        };
        CommandResult {
            exit,
            ..CommandResult::of("hash", ResultSubject::Packages(packages))
        }
    }

    fn text(&self, result: &CommandResult, _look: Look) -> Vec<TextBlock> {
        text::blocks(result)
    }
}

fn hash_one(files: &dyn Files, path: &Path) -> Result<PackageHashes, Failure> {
    let unreadable = |cause: std::io::Error| {
        Failure::new(format!("{} cannot be read", path.display()))
            .because(cause.to_string())
            .help("name a zip file or an unpacked directory")
    };
    let refused = |error: ArchiveError| {
        let inner = Failure::from_error(&error);
        Failure {
            title: format!("{} cannot be hashed", path.display()),
            causes: std::iter::once(inner.title).chain(inner.causes).collect(),
            help: Some("name a zip file or an unpacked directory of a provider".to_owned()),
        }
    };
    let place = match files.kind(path).map_err(unreadable)? {
        FileKind::Directory => Local::Directory(path.to_owned()),
        _ => Local::Archive(path.to_owned()),
    };
    acquire::hash_local(files, &place, parallel::cores()).map_err(refused)
}

fn result(path: &Path, hashed: &PackageHashes, with_files: bool) -> PackageResult {
    let shown = path.display();
    let mut remarks = Vec::new();
    // Both programs look for this prefix at the top of a package only (`archive` rules 6.1). The type is
    // not compared: nothing says here which provider the package is of.
    let is_program = |file: &FileDigest| {
        file.name.starts_with(b"terraform-provider-") && !file.name.contains(&b'/')
    };
    // Any zip can be hashed; a typing mistake should not look like a provider.
    if !hashed.files.iter().any(is_program) {
        remarks.push(Sentence::warning(format!(
            "{shown}: no file terraform-provider-… at the top: is it a provider package?"
        )));
    }
    let mut package = HashedPackageRow {
        path: shown.to_string(),
        h1: vec![hashed.h1.clone()],
        zh: None,
        member_h1: None,
        oddities: None,
        files: with_files.then(|| hashed.files.iter().map(file).collect()),
    };
    // A `zh:` is the SHA-256 of the archive, which an unpacked directory does not have.
    if let Some(zip) = &hashed.zip {
        for oddity in &zip.oddities {
            remarks.push(Sentence::warning(format!("{shown}: {oddity}")));
        }
        package.zh = Some(vec![zip.zh.clone()]);
        package.member_h1 = Some(zip.member_h1.clone());
        package.oddities = Some(zip.oddities.iter().map(ToString::to_string).collect());
    }
    PackageResult {
        package: PackageRow::Hashed(package),
        remarks,
    }
}

fn file(file: &FileDigest) -> PackageFile {
    PackageFile {
        // A name is text in JSON; the hash was computed from its bytes.
        name: String::from_utf8_lossy(&file.name).into_owned(),
        size: file.size,
        sha256: hex_of_digest(&file.digest),
    }
}
