//! Lock files, changes and configurations with what is known about them: our own few
//! (`fixtures/corpus`), and those of the same layout in the directory that `LOCKCTL_CORPUS` names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A part of a corpus: a folder with a table about what is in it.
pub(crate) struct Corpus {
    pub(crate) dir: PathBuf,
    pub(crate) rows: Vec<Row>,
    /// It is made of files as they are found in public repositories.
    #[allow(dead_code, reason = "not every test binary asks for it")]
    pub(crate) is_public: bool,
}

/// A row of a table, by the names of the columns.
pub(crate) struct Row(BTreeMap<String, String>);

impl Row {
    #[track_caller]
    pub(crate) fn get(&self, column: &str) -> &str {
        self.0.get(column).expect("the table has the column")
    }
}

/// Returns the part of this name of our own corpus, and of the public one if it is named.
#[track_caller]
pub(crate) fn parts(part: &str, table: &str) -> Vec<Corpus> {
    let read = |(at, dir): (usize, PathBuf)| {
        let text = std::fs::read_to_string(dir.join(table)).expect("a folder has its table");
        let rows = rows(&text);
        complete(&dir, &rows);
        Corpus {
            dir,
            rows,
            is_public: at > 0,
        }
    };
    folders(part).into_iter().enumerate().map(read).collect()
}

/// Returns the folders of a part of a corpus: our own, then the public one.
pub(crate) fn folders(part: &str) -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = top.join("fixtures/corpus").join(part);
    let public = std::env::var_os("LOCKCTL_CORPUS").map(|dir| Path::new(&dir).join(part));
    std::iter::once(own).chain(public).collect()
}

fn rows(table: &str) -> Vec<Row> {
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let row = |line: &str| {
        let cells = line.split('\t').chain(std::iter::repeat(""));
        let named = header.iter().zip(cells);
        Row(named
            .map(|(name, cell)| ((*name).to_owned(), cell.to_owned()))
            .collect())
    };
    lines.map(row).collect()
}

/// Makes sure that whatever is in a folder has a row, and the other way round: what was dropped
/// there is not left out unnoticed. The first column is the name.
#[track_caller]
fn complete(dir: &Path, rows: &[Row]) {
    let entries = std::fs::read_dir(dir).expect("the folder is there");
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> = names.filter(|name| !name.ends_with(".tsv")).collect();
    let name = |row: &Row| row.0.get("file").or(row.0.get("dir")).unwrap().clone();
    let listed: BTreeSet<String> = rows.iter().map(name).collect();
    assert_eq!(names, listed, "files and rows of {}", dir.display());
}
