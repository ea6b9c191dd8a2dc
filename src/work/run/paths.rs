//! An output as the formats of CI need it: with paths from the top of the repository on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use crate::project::{self, ProjectPlace};
use crate::report::RootResult;
use crate::run::World;
use crate::world::{FileKind, clean};

/// Returns how the formats of CI name the paths of a root, which start at the top of its repository.
pub(crate) fn from_the_top(world: World<'_>) -> impl Fn(&RootResult, &str) -> String {
    // CI services show annotations by paths from the top of the repository, wherever the job was started.
    let current = world.env.current_dir().unwrap_or_default();
    let checkout = project::repository(world.disk, &ProjectPlace::new(&current, &current));
    let tops: RefCell<BTreeMap<String, PathBuf>> = RefCell::default();
    move |root, path| {
        let mut tops = tops.borrow_mut();
        let top = tops.entry(root.path.clone()).or_insert_with(|| {
            let place = ProjectPlace::new(Path::new(&root.path), &current);
            let top = project::repository(world.disk, &place).map(|top| {
                // A submodule, at whose top `.git` is a file (gitrepository-layout(5)), is part of a checkout.
                let is_part =
                    world.disk.kind(&top.absolute().join(".git")).ok() == Some(FileKind::File);
                checkout
                    .clone()
                    .filter(|checkout| is_part && top.absolute().starts_with(checkout.absolute()))
                    .unwrap_or(top)
            });
            top.map_or_else(|| current.clone(), |top| top.absolute().to_owned())
        });
        below(top, &clean(&current.join(path)))
    }
}

/// Names an absolute path from a directory on; as it is if it is not below.
///
/// The parts have `/` between them on every system; `.` is the directory itself.
fn below(top: &Path, path: &Path) -> String {
    // It compares whole parts: `/home/repository` is not below `/home/repo`.
    let Ok(rest) = path.strip_prefix(top) else {
        return path.display().to_string().replace(MAIN_SEPARATOR, "/");
    };
    if rest.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let parts: Vec<_> = rest
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_string_lossy(),
            other => other.as_os_str().to_string_lossy(),
        })
        .collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_named_from_the_top_on() {
        let named = |path: &str| below(Path::new("/home/repo"), Path::new(path));
        assert_eq!(named("/home/repo"), ".");
        assert_eq!(named("/home/repo/live/a/main.tf"), "live/a/main.tf");
        assert_eq!(
            named("/home/repository/main.tf"),
            "/home/repository/main.tf"
        );
        assert_eq!(named("/work"), "/work");
    }
}
