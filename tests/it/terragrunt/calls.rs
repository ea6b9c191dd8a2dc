//! The number of questions to the disk for each unit.

use lockctl::world::mem::MemFiles;

use crate::lab::Lab;

/// Maximum number of calls for a unit: its directory is listed, it is found out whether it can be entered,
/// and its file is read.
const MOST_CALLS: usize = 6;

/// Counts the calls of a run over so many units.
fn calls(units: usize) -> usize {
    let lab = Lab::new();
    let top = lab.dir().display().to_string();
    let mut files = vec![(format!("{top}/.git/HEAD"), "")];
    files.push((format!("{top}/live/root.hcl"), "locals {}\n"));
    for unit in 0..units {
        let text = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n\
                    terraform {\n  source = \"git::https://example.com/a.git\"\n}\n";
        files.push((
            format!("{top}/live/region/unit-{unit}/terragrunt.hcl"),
            text,
        ));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    let disk = MemFiles::with(&files);
    let outcome = lab.run_on(&disk, &["verify", "-r", "--terragrunt", "-q", "--offline"]);
    outcome.stdout_has("lock-missing");
    disk.calls()
}

#[test]
fn a_unit_takes_few_calls() {
    let (few, many) = (calls(10), calls(60));
    // Two threads may ask for a shared directory at the same moment: a few calls more for the whole run.
    let per_unit = (many - few) / 50;
    assert!(per_unit <= MOST_CALLS, "{few} for 10 units, {many} for 60");
}
