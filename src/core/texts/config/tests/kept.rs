//! Directories that many roots of a run read.

use super::*;
use crate::world::mem::MemFiles;
use crate::world::{CachedDisk, Disk as _};

/// Number of files in the module that all roots call; reading it costs as many calls.
const FILES: usize = 40;

fn disk_of(roots: &[&str]) -> MemFiles {
    let call =
        "module \"m\" {\n  source = \"../../m\"\n}\nmodule \"n\" {\n  source = \"../../m/n\"\n}\n";
    let mut files: Vec<(String, String)> = roots
        .iter()
        .map(|root| (format!("/top/live/{root}/main.tf"), call.to_owned()))
        .collect();
    for number in 0..FILES {
        let text = format!("resource \"alpha{number}_x\" \"y\" {{}}\nnope {{}}\n");
        files.push((format!("/top/m/f{number:02}.tf"), text));
    }
    let nested = "module \"up\" {\n  source = \"..\"\n}\nx = \n";
    files.push(("/top/m/n/main.tf".to_owned(), nested.to_owned()));
    files.into_iter().collect()
}

fn read(files: &dyn Files, root: &str) -> String {
    let mut texts = Texts::default();
    let settings = Settings::new(TERRAFORM);
    let loaded = load(files, &mut texts, Path::new(root), &settings);
    outlined(&loaded, &texts, TERRAFORM)
}

#[test]
fn a_directory_is_read_once_in_a_run_whatever_calls_it() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let files = disk_of(&names);
    let disk = CachedDisk::new(&files, "/top".into());
    // As the search for roots does.
    glance(&disk, Path::new("/top/m"), TERRAFORM).unwrap();
    assert!(files.calls() >= FILES);
    let before = files.calls();
    let outlines: Vec<String> = std::thread::scope(|scope| {
        let readers = names.map(|name| {
            let disk = &disk;
            scope.spawn(move || read(disk, &format!("/top/live/{name}")))
        });
        readers.map(|reader| reader.join().unwrap()).into()
    });
    let calls = files.calls() - before;
    // A root costs its own file and some looks at directories. One that read the module again would cost FILES more.
    assert!(calls < names.len() * FILES / 2, "{calls}");
    for (name, outline) in names.iter().zip(outlines) {
        // What is said of a root is what is said of it alone.
        let alone = read(&files, &format!("/top/live/{name}"));
        assert_eq!(outline, alone, "{name}");
        assert!(outline.contains("/top/m/f00.tf:2: "), "{outline}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    let files = disk_of(&["a"]);
    let disk = CachedDisk::new(&files, "/top".into());
    let before = read(&disk, "/top/live/a");
    assert!(before.contains("alpha0"), "{before}");
    let path = Path::new("/top/m/f00.tf");
    let old = files.read(path, 999).unwrap();
    disk.replace(path, Some(&old), b"resource \"beta_x\" \"y\" {}\n")
        .unwrap();
    let after = read(&disk, "/top/live/a");
    assert!(
        after.contains("beta") && !after.contains("alpha0"),
        "{after}"
    );
}

#[test]
fn paths_are_shown_without_detours() {
    let files = MemFiles::with(&[
        (
            "envs/dev/main.tf",
            "module \"m\" {\n  source = \"../../modules/m\"\n}\n",
        ),
        ("modules/m/main.tf", "nope {}\n"),
    ]);
    for (root, shown) in [
        ("envs/dev", "modules/m/main.tf"),
        ("modules/../envs/dev", "modules/m/main.tf"),
    ] {
        let outline = read(&files, root);
        assert_eq!(outline, format!("{shown}:1: Unsupported block type\n"));
    }
}
