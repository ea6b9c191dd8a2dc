//! Which project file governs a directory.

use std::path::Path;
use std::time::SystemTime;

use crate::diag::Texts;
use crate::project::{ProjectPlace, Projects};
use crate::world::mem::{MemFiles, slashed};

/// Returns the path of the file that governs a directory, as it is shown.
fn nearest(files: &MemFiles, dir: &str, current: &str) -> Option<String> {
    let mut projects = Projects::nearest(files, SystemTime::UNIX_EPOCH);
    let place = ProjectPlace::new(Path::new(dir), Path::new(current));
    let file = projects.of(&place, &mut Texts::default());
    let again = projects.of(&place, &mut Texts::default());
    assert_eq!(file.path, again.path);
    file.path.as_ref().map(slashed)
}

#[test]
fn the_nearest_file_counts_up_to_the_top_of_the_repository() {
    let files = MemFiles::with(&[
        ("/w/.lockctl.hcl", ""),
        ("/w/repo/.git/HEAD", ""),
        ("/w/repo/live/.lockctl.hcl", ""),
        ("/w/repo/live/a/main.tf", ""),
        ("/w/repo/live/own/.lockctl.hcl", ""),
        ("/w/repo/other/main.tf", ""),
        ("/w/tree/.git", "gitdir: elsewhere"),
        ("/w/tree/a/main.tf", ""),
        ("/w/loose/main.tf", ""),
    ]);
    for (dir, wanted) in [
        ("/w/repo/live/a", Some("/w/repo/live/.lockctl.hcl")),
        ("/w/repo/live", Some("/w/repo/live/.lockctl.hcl")),
        ("/w/repo/live/own", Some("/w/repo/live/own/.lockctl.hcl")),
        ("/w/repo/other", None),
        ("/w/repo", None),
        ("/w/tree/a", None),
        ("/w/loose", Some("/w/.lockctl.hcl")),
    ] {
        assert_eq!(nearest(&files, dir, "/").as_deref(), wanted, "of {dir}");
    }
}

#[test]
fn paths_above_are_shown_as_one_would_type_them() {
    let at = |dir, current| {
        let place = ProjectPlace::new(Path::new(dir), Path::new(current));
        let parent = place.parent().unwrap();
        let shown = |place: &ProjectPlace| slashed(place.shown());
        (shown(&place), shown(&parent), slashed(parent.absolute()))
    };
    for (dir, shown, parent, absolute) in [
        (".", ".", "..", "/w"),
        ("a", "a", ".", "/w/r"),
        ("./a/b/", "./a/b", "./a", "/w/r/a"),
        ("..", "..", "../..", "/"),
        ("../x", "../x", "..", "/w"),
        ("/q/z", "/q/z", "/q", "/q"),
    ] {
        let wanted = (shown.to_owned(), parent.to_owned(), absolute.to_owned());
        assert_eq!(at(dir, "/w/r"), wanted, "of {dir}");
    }
}

#[test]
fn a_stated_file_counts_instead_of_every_other() {
    let files = MemFiles::with(&[
        ("/w/.lockctl.hcl", "flavor = 1\n"),
        ("/w/ci.hcl", "roots = [\"a\"]\n"),
    ]);
    let mut texts = Texts::default();
    let here = ProjectPlace::new(Path::new("/w"), Path::new("/"));
    let mut stated = |path: &str| {
        let mut projects = Projects::stated(
            &files,
            SystemTime::UNIX_EPOCH,
            &mut texts,
            Path::new(path),
            &here,
        );
        let file = projects.of(&here, &mut texts);
        let title = file
            .diagnostics
            .first()
            .map(|problem| problem.title.clone());
        (file.project.roots.contain("a".as_ref()), title)
    };
    assert_eq!(stated("/w/ci.hcl"), (true, None));
    assert_eq!(stated("/dev/null"), (false, None));
    let title = Some("Failed to read project file".to_owned());
    assert_eq!(stated("/w/none.hcl"), (false, title));
}

#[test]
fn a_file_that_is_too_large_is_an_error() {
    let large = "#".repeat(300_000);
    let files = MemFiles::with(&[("/w/.lockctl.hcl", &large), ("/w/.git/HEAD", "")]);
    let mut projects = Projects::nearest(&files, SystemTime::UNIX_EPOCH);
    let here = ProjectPlace::new(Path::new("/w"), Path::new("/"));
    let file = projects.of(&here, &mut Texts::default());
    assert_eq!(file.diagnostics[0].title, "Failed to read project file");
}
