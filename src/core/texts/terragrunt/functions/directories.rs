//! Functions about directories: of the unit, of its parents, of its repository.

use std::io::ErrorKind;

use super::{Answer, path, refused, uncertain};
use crate::expr::{ExtraFault, Typed};
use crate::terragrunt::evaluation::{Evaluation, directory};
use crate::terragrunt::file_names::{UNIT_FILE, UNIT_FILE_JSON};
use crate::terragrunt::limits::MAX_PARENTS;
use crate::world::{FileKind, clean, is_outside, relative};

/// Searches the directories above the unit for a name (rules 5.1).
pub(super) fn find(evaluation: &mut Evaluation<'_>, at: usize, args: &[&str]) -> Answer {
    if args.len() > 2 {
        return refused("find_in_parent_folders takes no more than two arguments");
    }
    let name = args.first().copied().unwrap_or_default();
    let dir = evaluation.instances[at].unit_dir.clone();
    // Without a name a root file in JSON comes first (rules 5.1).
    let names = match name {
        "" => vec![UNIT_FILE_JSON, UNIT_FILE],
        name => vec![name],
    };
    // The search starts above the unit: a unit is not its own parent (rules 5.1).
    for above in dir.ancestors().skip(1).take(MAX_PARENTS) {
        for name in &names {
            let candidate = clean(&above.join(name.trim_start_matches('/')));
            match evaluation.files.kind(&candidate) {
                Ok(FileKind::File | FileKind::Directory) => return Ok(path(&candidate)),
                Ok(_) => {}
                // A name that may exist outside of the known files leaves the result open.
                Err(error) if is_outside(&error) => {
                    return uncertain(format!("{} may not be looked at", candidate.display()));
                }
                Err(error) => match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => {}
                    _ => return Err(ExtraFault::Uncertain(error.to_string())),
                },
            }
        }
    }
    match args.get(1) {
        // The fallback need not exist (rules 5.1).
        Some(fallback) => Ok(Typed::string(*fallback)),
        None => refused(format!(
            "there is no {} above {}",
            if name.is_empty() { UNIT_FILE } else { name },
            dir.display()
        )),
    }
}

/// Calls a function about the parent (rules 5.2).
pub(super) fn of_include(
    evaluation: &mut Evaluation<'_>,
    at: usize,
    name: &str,
    args: &[&str],
) -> Answer {
    if args.len() > 1 {
        return refused(format!("{name} takes no more than one argument"));
    }
    let included = evaluation
        .included(at, args.first().copied())
        .map_err(|stop| {
            let reason = &stop.diagnostic().title;
            ExtraFault::Uncertain(format!("the parents are not known: {reason}"))
        })?;
    let unit_dir = evaluation.instances[at].unit_dir.clone();
    let parent_dir = match &included[..] {
        // A unit without a parent is its own (rules 5.2).
        [] => unit_dir.as_path(),
        [parent] => directory(parent),
        _ => {
            return refused(format!(
                "{name} needs the label of one of the include blocks"
            ));
        }
    };
    Ok(match name {
        "path_relative_to_include" => Typed::string(relative(parent_dir, &unit_dir)),
        "path_relative_from_include" => Typed::string(relative(&unit_dir, parent_dir)),
        _ => path(parent_dir),
    })
}

/// Calls a function about the repository (rules 5.5).
pub(super) fn of_repository(
    evaluation: &Evaluation<'_>,
    at: usize,
    name: &str,
) -> Result<String, ExtraFault> {
    let dir = &evaluation.instances[at].unit_dir;
    let root = match &evaluation.around.repository {
        Some(root) if dir.starts_with(root) => root,
        Some(_) => return uncertain("the repository is not known"),
        None => return refused("this is not inside a git repository"),
    };
    // The unit may lie in a repository inside of this one, such as a submodule.
    let has_inner = dir
        .ancestors()
        .take_while(|above| *above != root)
        .any(|above| evaluation.files.kind(&above.join(".git")).is_ok());
    if has_inner {
        return uncertain("there is another repository in between");
    }
    Ok(match name {
        "get_repo_root" => root.display().to_string(),
        "get_path_from_repo_root" => relative(root, dir),
        _ => relative(dir, root),
    })
}
