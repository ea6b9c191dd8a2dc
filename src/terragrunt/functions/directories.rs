//! Functions about directories: of the unit, of its parents, of its repository.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Answer, path};
use crate::expr::{ExtraFault, Typed};
use crate::terragrunt::discovery::{UNIT_FILE, UNIT_FILE_JSON};
use crate::terragrunt::evaluation::Evaluation;
use crate::terragrunt::evaluation::directory;
use crate::terragrunt::include::{Included, ways};
use crate::terragrunt::limits::MAX_PARENTS;
use crate::terragrunt::surroundings::{Repository, relative};
use crate::world::{FileKind, clean, is_outside};

/// Looks for a name in all directories above the unit (rules 5.1).
pub(super) fn find(evaluation: &mut Evaluation<'_>, at: usize, args: &[&str]) -> Answer {
    if args.len() > 2 {
        let reason = "find_in_parent_folders takes no more than two arguments".to_owned();
        return Err(ExtraFault::Call(reason));
    }
    let name = args.first().copied().unwrap_or_default();
    let is_root_name = name.is_empty() || name == UNIT_FILE;
    let around = evaluation.around;
    if is_root_name
        && (around.has_switch("root-terragrunt-hcl") || around.has_switch("strict-mode"))
    {
        let reason = "terragrunt.hcl is not allowed as the name of a root file".to_owned();
        return Err(ExtraFault::Call(reason));
    }
    let dir = evaluation.instances[at].unit_dir.clone();
    let names = match name {
        "" => vec![UNIT_FILE_JSON, UNIT_FILE],
        name => vec![name],
    };
    for above in dir.ancestors().skip(1).take(MAX_PARENTS) {
        for name in &names {
            let candidate = clean(&above.join(name.trim_start_matches('/')));
            if is_there(evaluation, &candidate)? {
                return Ok(path(&candidate));
            }
        }
    }
    match args.get(1) {
        Some(fallback) => Ok(Typed::string(*fallback)),
        None => Err(ExtraFault::Call(format!(
            "there is no {} above {}",
            if name.is_empty() { UNIT_FILE } else { name },
            dir.display()
        ))),
    }
}

fn is_there(evaluation: &Evaluation<'_>, path: &Path) -> Result<bool, ExtraFault> {
    match evaluation.files.kind(path) {
        Ok(FileKind::File | FileKind::Directory) => Ok(true),
        Ok(_) => Ok(false),
        Err(error) if is_outside(&error) => Err(ExtraFault::Uncertain(format!(
            "{} may not be looked at",
            path.display()
        ))),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(false),
            _ => Err(ExtraFault::Uncertain(error.to_string())),
        },
    }
}

/// Answers what depends on the parent (rules 5.2).
pub(super) fn of_include(
    evaluation: &mut Evaluation<'_>,
    at: usize,
    name: &str,
    args: &[&str],
) -> Answer {
    if args.len() > 1 {
        let reason = format!("{name} takes no more than one argument");
        return Err(ExtraFault::Call(reason));
    }
    let found = evaluation.included(at, args.first().copied());
    let found = found.map_err(|stop| {
        let reason = stop.diagnostic().title.clone();
        ExtraFault::Uncertain(format!("the parents are not known: {reason}"))
    })?;
    let unit_dir = evaluation.instances[at].unit_dir.clone();
    let parent = match found {
        Included::Itself => {
            return Ok(match name {
                "get_parent_terragrunt_dir" => path(&unit_dir),
                _ => Typed::string("."),
            });
        }
        Included::Parent(parent) => parent,
        Included::Several => {
            let reason = format!("{name} needs the label of an include block");
            return Err(ExtraFault::Call(reason));
        }
        Included::Missing => {
            let reason = "there is no include block with this label".to_owned();
            return Err(ExtraFault::Call(reason));
        }
    };
    let (to_unit, to_parent) = ways(&unit_dir, &parent);
    Ok(match name {
        "path_relative_to_include" => Typed::string(to_unit),
        "path_relative_from_include" => Typed::string(to_parent),
        _ => path(directory(&parent)),
    })
}

/// Answers what depends on the repository (rules 5.5).
pub(super) fn of_repository(
    evaluation: &Evaluation<'_>,
    at: usize,
    name: &str,
) -> Result<String, ExtraFault> {
    let dir = &evaluation.instances[at].unit_dir;
    let root = match &evaluation.around.repository {
        Repository::At(root) if dir.starts_with(root) => nearest(evaluation, dir, root),
        Repository::At(_) | Repository::Unknown => {
            let reason = "the repository is not known".to_owned();
            return Err(ExtraFault::Uncertain(reason));
        }
        Repository::None => {
            let reason = "this is not inside a git repository".to_owned();
            return Err(ExtraFault::Call(reason));
        }
    };
    let root =
        root.ok_or_else(|| ExtraFault::Uncertain("another repository lies between".to_owned()))?;
    Ok(match name {
        "get_repo_root" => root.display().to_string(),
        "get_path_from_repo_root" => relative(&root, dir),
        _ => relative(dir, &root),
    })
}

/// Returns the root, unless the directory is in a repository of its own below it.
fn nearest(evaluation: &Evaluation<'_>, dir: &Path, root: &Path) -> Option<PathBuf> {
    let between = dir.ancestors().take_while(|above| *above != root);
    let mut inner = between.map(|above| above.join(".git"));
    let has_inner = inner.any(|git| evaluation.files.kind(&git).is_ok());
    (!has_inner).then(|| root.to_owned())
}
