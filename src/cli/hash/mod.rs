//! `lockctl hash`: the hashes of packages at hand.

use std::fmt::Write as _;
use std::path::Path;

use crate::archive::{ArchiveError, FileDigest, Limits, dir, zip};
use crate::cli::FAILED;
use crate::cli::World;
use crate::cli::args::{Common, Hash};
use crate::cli::oddities::describe;
use crate::cli::output::Output;
use crate::cli::roots::Ran;
use crate::cli::setup;
use crate::parallel;
use crate::report::json::{FailedPackage, HashedPackage, Package, PackageFile};
use crate::report::{Block, Failure, Tone};
use crate::world::{FileKind, Files};

pub(in crate::cli) fn run(common: &Common, args: &Hash, world: World<'_>) -> Output {
    let mut output = Output::of_roots("hash", Ran::default());
    for typed in &args.paths {
        let path = setup::below(common, typed);
        match hash_one(world.disk, &path) {
            Ok(hashed) => say(&mut output, &path, &hashed, args.files),
            Err(failure) => {
                let failed = FailedPackage::new(path.display().to_string(), (&failure).into());
                output.packages.push(Package::Failed(failed));
                output.report.notes.push(Block::Failure(failure));
                output.exit = FAILED;
            }
        }
    }
    output
}

/// A package of either form, hashed.
enum Hashed {
    Zip(zip::ZipHashes),
    Directory(dir::DirHashes),
}

fn hash_one(files: &dyn Files, path: &Path) -> Result<Hashed, Failure> {
    let unreadable = |cause: std::io::Error| Failure {
        title: format!("{} cannot be read", path.display()),
        causes: vec![cause.to_string()],
        help: Some("name a zip file or an unpacked directory".to_owned()),
    };
    let refused = |error: ArchiveError| {
        let inner = Failure::from_error(&error);
        Failure {
            title: format!("{} cannot be hashed", path.display()),
            causes: std::iter::once(inner.title).chain(inner.causes).collect(),
            help: Some("name a zip file or an unpacked directory of a provider".to_owned()),
        }
    };
    match files.kind(path).map_err(unreadable)? {
        FileKind::Directory => {
            dir::hash_directory(files, path, &Limits::PACKAGE, parallel::cores())
                .map(Hashed::Directory)
                .map_err(refused)
        }
        _ => {
            let reader = files.open(path).map_err(unreadable)?;
            zip::hash_zip(reader, &Limits::PACKAGE)
                .map(Hashed::Zip)
                .map_err(refused)
        }
    }
}

fn say(output: &mut Output, path: &Path, hashed: &Hashed, with_files: bool) {
    let shown = path.display();
    let (h1, files) = match hashed {
        Hashed::Zip(zip) => (&zip.h1, &zip.files),
        Hashed::Directory(dir) => (&dir.h1, &dir.files),
    };
    let is_program = |file: &FileDigest| {
        file.name.starts_with(b"terraform-provider-") && !file.name.contains(&b'/')
    };
    if !files.iter().any(is_program) {
        let text =
            format!("{shown}: no file terraform-provider-… at the top: is it a provider package?");
        output.report.notes.push(Block::Remark(Tone::Warning, text));
    }
    let mut lines = Vec::new();
    let mut package = HashedPackage {
        path: shown.to_string(),
        h1: h1.as_str().to_owned(),
        zh: None,
        member_h1: None,
        oddities: None,
        files: with_files.then(|| files.iter().map(file_row).collect()),
    };
    if let Hashed::Zip(zip) = hashed {
        lines.push(format!("{}  {shown}", zip.zh));
        let told: Vec<String> = zip.oddities.iter().map(describe).collect();
        package.zh = Some(zip.zh.as_str().to_owned());
        package.member_h1 = Some(zip.member_h1.as_str().to_owned());
        package.oddities = Some(told.clone());
        for text in told {
            output
                .report
                .notes
                .push(Block::Remark(Tone::Warning, format!("{shown}: {text}")));
        }
    }
    lines.push(format!("{h1}  {shown}"));
    if let Hashed::Zip(zip) = hashed
        && zip.member_h1 != zip.h1
    {
        lines.push(format!(
            "{}  {shown} (of its members: checked, never recorded)",
            zip.member_h1
        ));
    }
    if with_files {
        lines.extend(files.iter().map(file_line));
    }
    output.report.results.push(Block::Lines(lines));
    output.packages.push(Package::Hashed(package));
}

fn file_line(file: &FileDigest) -> String {
    format!(
        "  {}  {:>12}  {}",
        hex(file),
        file.size,
        String::from_utf8_lossy(&file.name)
    )
}

fn file_row(file: &FileDigest) -> PackageFile {
    PackageFile {
        name: String::from_utf8_lossy(&file.name).into_owned(),
        size: file.size,
        sha256: hex(file),
    }
}

fn hex(file: &FileDigest) -> String {
    file.digest
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        })
}
