//! The worst cases of every reader, for `scripts/bench-hostile.sh`.
//!
//! `list` prints a line for each case: number, reader, kind, name, and the largest size that says anything. `make N BYTES DIR` writes the files of a case
//! into a directory, and prints the arguments of the command that reads it; for a reader of the library
//! there are none. `read N BYTES` reads a case in memory.
#![allow(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]
#![allow(clippy::print_stdout, reason = "what it prints is what it is for")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "benches touch the real world"
)]

use std::fs;
use std::path::Path;

#[path = "../tests/support/worst/mod.rs"]
mod worst;
#[path = "../tests/support/zips.rs"]
mod zips;

use worst::{Case, Reader, Reading, groups};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let readers: Vec<Reader> = groups().into_iter().flatten().collect();
    let cases: Vec<(&Reader, &Case)> = readers
        .iter()
        .flat_map(|reader| reader.cases.iter().map(move |case| (reader, case)))
        .collect();
    match words[..] {
        ["list", ..] => {
            for (number, (reader, case)) in cases.iter().enumerate() {
                let Reader { name, allowed, .. } = reader;
                println!("{number}\t{name}\t{}\t{}\t{allowed}", case.kind, case.name);
            }
        }
        ["make", number, bytes, dir, ..] => {
            let (reader, case) = cases[number.parse::<usize>().unwrap()];
            if let Reading::Command(command) = reader.read {
                write(dir, command.file, &(case.make)(bytes.parse().unwrap()));
                for (name, text) in command.beside {
                    write(dir, name, text.as_bytes());
                }
                println!("{}", command.args.join(" "));
            }
        }
        ["read", number, bytes, ..] => {
            let (reader, case) = cases[number.parse::<usize>().unwrap()];
            reader.work((case.make)(bytes.parse().unwrap()))();
        }
        // As `cargo bench` runs it.
        _ => println!("scripts/bench-hostile.sh measures {} cases", cases.len()),
    }
}

/// Writes a file; one without a name becomes the standard input.
fn write(dir: &str, name: &str, bytes: &[u8]) {
    let name = if name.is_empty() { "stdin" } else { name };
    let path = Path::new(dir).join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
