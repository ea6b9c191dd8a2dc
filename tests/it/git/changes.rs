//! Which lock files differ between revisions, the index and the work tree.

use std::path::{Path, PathBuf};

use lockctl::git::{BlobContent, GitError, Repository, RevisionKind, Side, Status};
use lockctl::os::RealRun;

use crate::repo::Repo;

const LOCK: &str = ".terraform.lock.hcl";

fn found(dir: &Path) -> Repository<'static> {
    Repository::find(&RealRun, dir).unwrap()
}

/// A lock file of some lines, of which one distinguishes it from others.
fn text(mark: &str) -> String {
    let common: String = (0..20).map(|n| format!("# line {n}\n")).collect();
    format!("{common}# {mark}\n")
}

/// Lists changes as `STATUS OLD > NEW`.
fn listed(repository: &Repository<'_>, sides: &(Side, Side)) -> Vec<String> {
    let changes = repository.changes(&sides.0, &sides.1).unwrap();
    let shown = changes.iter().map(|change| {
        let path = |entry: &lockctl::git::TreeEntry| entry.path.display().to_string();
        let old = change.old.as_ref().map(path).unwrap_or_default();
        let new = change.new.as_ref().map(path).unwrap_or_default();
        format!("{:?} {old} > {new}", change.status)
    });
    shown.collect()
}

/// `main` with five lock files; `side` changes each in another way.
fn two_branches() -> Option<Repo> {
    let repo = Repo::new()?;
    for dir in ["", "kept/", "moved/", "gone/", "ä b/"] {
        repo.write(&format!("{dir}{LOCK}"), text(dir));
    }
    repo.write("main.tf", "").commit("first");
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write(LOCK, text("changed"));
    repo.write(&format!("ä b/{LOCK}"), text("changed, too"));
    repo.write(&format!("new/{LOCK}"), "# quite another\n");
    repo.write(&format!("deep/er/{LOCK}"), text("moved/"));
    repo.remove(&format!("gone/{LOCK}"))
        .remove(&format!("moved/{LOCK}"));
    repo.write("main.tf", "# changed\n").commit("second");
    Some(repo)
}

const ON_SIDE: [&str; 5] = [
    "Modified .terraform.lock.hcl > .terraform.lock.hcl",
    "Renamed moved/.terraform.lock.hcl > deep/er/.terraform.lock.hcl",
    "Deleted gone/.terraform.lock.hcl > ",
    "Added  > new/.terraform.lock.hcl",
    "Modified ä b/.terraform.lock.hcl > ä b/.terraform.lock.hcl",
];

#[test]
fn two_revisions_are_compared_from_anywhere_and_in_bare_repositories() {
    let Some(repo) = two_branches() else { return };
    let bare = repo.bare("copy.git");
    for dir in [repo.path().to_owned(), repo.lab.path("kept"), bare] {
        let repository = found(&dir);
        let sides = repository.sides("main..side").unwrap();
        assert_eq!(listed(&repository, &sides), ON_SIDE, "from {dir:?}");
        let (side, main) = repository.sides("side..main").unwrap();
        assert_eq!(listed(&repository, &(side, main)).len(), 5);
    }
    assert_eq!(found(&repo.lab.path("kept")).prefix(), Path::new("kept"));
    assert!(matches!(
        found(&repo.lab.path("copy.git")).sides("main"),
        Err(GitError::Bare)
    ));
}

#[test]
fn contents_are_read_up_to_a_limit() {
    let Some(repo) = two_branches() else { return };
    let repository = found(repo.path());
    let (old, new) = repository.sides("main..side").unwrap();
    let changes = repository.changes(&old, &new).unwrap();
    let new = changes.iter().filter_map(|change| change.new.as_ref());
    let blobs: Vec<_> = new.filter_map(|entry| entry.blob.clone()).collect();
    let contents = repository.read(&blobs, 1 << 20).unwrap();
    let expected = ["changed", "moved/"].map(|mark| BlobContent::Bytes(text(mark).into()));
    assert_eq!(contents[..2], expected);
    assert_eq!(
        contents[2],
        BlobContent::Bytes(b"# quite another\n".to_vec())
    );
    let contents = repository.read(&blobs, 20).unwrap();
    assert!(matches!(
        contents[0],
        BlobContent::TooLarge { bytes: 200.. }
    ));
    assert_eq!(
        contents[2],
        BlobContent::Bytes(b"# quite another\n".to_vec())
    );
}

#[test]
fn a_branch_is_compared_with_where_it_began() {
    let Some(repo) = two_branches() else { return };
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write(&format!("only-on-main/{LOCK}"), "# x\n")
        .commit("third");
    let repository = found(repo.path());
    let of = |text: &str| listed(&repository, &repository.sides(text).unwrap());
    assert_eq!(of("main...side"), ON_SIDE);
    assert_eq!(of("...side"), ON_SIDE);
    assert_eq!(of("side...").len(), 1);
    assert_eq!(of("main..side").len(), 6);
    repo.git(&["checkout", "--quiet", "--orphan", "lonely"]);
    repo.commit("another beginning");
    let error = repository.sides("main...lonely").unwrap_err();
    let said = "\"main\" and \"lonely\" have no commit in common";
    assert_eq!(error.to_string(), said);
}

#[test]
fn index_and_work_tree_are_compared_with_revisions() {
    let Some(repo) = two_branches() else { return };
    repo.write(LOCK, text("staged")).git(&["add", LOCK]);
    repo.write(&format!("kept/{LOCK}"), text("on disk"));
    repo.write(&format!("untracked/{LOCK}"), text("new"));
    repo.write(&format!("ignored/{LOCK}"), text("new"));
    repo.write(&format!(".terraform/modules/x/{LOCK}"), text("new"));
    repo.write(".gitignore", "/ignored\n");
    let head = || Side::At(found(repo.path()).revision("HEAD").unwrap());
    let staged = format!("Modified {LOCK} > {LOCK}");
    let on_disk = format!("Modified kept/{LOCK} > kept/{LOCK}");
    let untracked = format!("Added  > untracked/{LOCK}");
    for dir in [repo.path().to_owned(), repo.lab.path("kept")] {
        let repository = found(&dir);
        let of = |old, new| listed(&repository, &(old, new));
        assert_eq!(of(head(), Side::Index), [&*staged]);
        let all = [&*staged, &*on_disk, &*untracked];
        assert_eq!(of(head(), Side::WorkTree), all);
        assert_eq!(of(Side::Index, Side::WorkTree), all[1..]);
        let changes = repository.changes(&head(), &Side::WorkTree).unwrap();
        let new = changes[1].new.as_ref().unwrap();
        assert_eq!(new.blob, None);
        let path = repository.top().unwrap().join(&new.path);
        assert_eq!(std::fs::read_to_string(path).unwrap(), text("on disk"));
    }
}

#[test]
fn an_unfinished_merge_is_told() {
    let Some(repo) = two_branches() else { return };
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write(LOCK, text("otherwise")).commit("third");
    assert_eq!(repo.try_git(&["merge", "--quiet", "side"]).0, Some(1));
    let repository = found(repo.path());
    let head = Side::At(repository.revision("HEAD").unwrap());
    for (new, status) in [
        (Side::Index, Status::Unmerged),
        // There the file holds conflict markers.
        (Side::WorkTree, Status::Modified),
    ] {
        let changes = repository.changes(&head, &new).unwrap();
        let own = changes
            .iter()
            .filter(|change| change.path() == Path::new(LOCK));
        let statuses: Vec<Status> = own.map(|change| change.status).collect();
        assert_eq!(statuses, [status], "{new:?}");
    }
}

#[test]
fn revisions_are_what_git_takes_them_for() {
    let Some(repo) = two_branches() else { return };
    repo.git(&["tag", "-a", "-m", "x", "v1", "main"]);
    let repository = found(repo.path());
    let id = |text: &str| repository.revision(text).unwrap().id;
    let head = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(id("HEAD").as_str(), head.trim_end());
    assert_eq!(id("side"), id("HEAD"));
    assert_eq!(id("HEAD~1"), id("v1"));
    assert_eq!(id(&head[..8]), id("HEAD"));
    let tree = repository.revision("HEAD^{tree}").unwrap();
    assert_eq!(tree.kind, RevisionKind::Tree);
    for text in [
        "nowhere",
        "HEAD~9",
        "HEAD:main.tf",
        "--all",
        "-n1",
        "HEAD -- x",
        "HEAD\n",
    ] {
        let error = repository.revision(text).unwrap_err();
        let said = format!("{text:?} names no commit of this repository");
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn what_a_configuration_names_is_not_run() {
    let Some(repo) = two_branches() else { return };
    let marker = repo.lab.path("was-run");
    let touch = format!("touch {}", marker.display());
    for name in [
        "core.pager",
        "core.fsmonitor",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "core.sshCommand",
    ] {
        repo.git(&["config", name, &touch]);
    }
    repo.write(".gitattributes", "*.hcl diff=x\n");
    repo.write(LOCK, text("on disk"));
    let repository = found(repo.path());
    for text in ["main", "main..side", "main...side"] {
        let sides = repository.sides(text).unwrap();
        assert!(listed(&repository, &sides).len() >= 5);
    }
    assert!(!marker.exists());
}

#[test]
fn a_directory_outside_of_any_repository_is_named() {
    if Repo::new().is_none() {
        return;
    }
    let dir = crate::temp::dir();
    let outside = Repository::find(&RealRun, dir.path()).unwrap_err();
    assert!(
        matches!(outside, GitError::NoRepository { .. }),
        "{outside:?}"
    );
    let missing: PathBuf = dir.path().join("nowhere");
    let error = Repository::find(&RealRun, &missing).unwrap_err();
    assert!(matches!(error, GitError::NotRun { .. }), "{error:?}");
}
