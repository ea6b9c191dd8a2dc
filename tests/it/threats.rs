//! The threat model in SECURITY.md names tests that exist.

use std::path::Path;

/// Appends the sources of all tests below a directory.
fn collect(dir: &Path, sources: &mut String) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_threat_has_a_test() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(top.join(".github/SECURITY.md")).unwrap();
    let (_, section) = page.split_once("## Who may be hostile\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert_eq!(rows.len(), 9);
    let mut sources = String::new();
    collect(&top.join("src"), &mut sources);
    collect(&top.join("tests"), &mut sources);
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let names: Vec<&str> = cells[3].split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test in: {row}");
        for name in names {
            let is_there = sources.contains(&format!("fn {name}("));
            assert!(is_there, "no test {name} of: {row}");
        }
    }
}
