//! Limits: the page on them is true, and every reader takes memory and work in proportion to its input.
//!
//! Work is counted in allocations and allocated bytes, which are the same on every machine and under any
//! load: what is copied, read or built again for each part of an input shows there.
//! `scripts/bench-hostile.sh` measures the time.

mod constants;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use allocation_counter::{AllocationInfo, measure};
use constants::{ConstantValue, constants};

use super::worst::{Case, KINDS, Reader, Reading, groups};

/// The size of the smallest input, in bytes; the others are twice and four times as large.
const SIZE: usize = 8 << 10;

/// How many times as much work the second doubling may add as the first one does. It is 2 where work grows as
/// the input does, and 4 where it grows with the square.
const MOST: u64 = 3;

/// Allocations, and kilobytes, that any step of growth may add: a table that grows, a thread, a message.
const SLACK: u64 = 1_200;

/// Cases by reader whose cost grows faster up to a limit of its own: of snippets (`MAX_PROBLEMS`, each of the
/// lines between two places that are `MAX_SHOWN` bytes apart), of values and of work (`MAX_KEPT`, `MAX_WORK`).
const BOUNDED: &[(&str, &str)] = &[
    ("Terragrunt unit", "all local values"),
    ("configuration, expressions", "a union of ranges"),
    ("configuration, expressions", "doubled lists"),
    ("configuration, expressions", "doubled text"),
    ("configuration, expressions", "ranges"),
    ("configuration, expressions", "replaced text"),
    ("lock files, merge", "one entry"),
];

/// The most memory that these may take, in bytes.
const BOUNDED_BYTES: u64 = 128 << 20;

/// Sizes of parts, of what is kept, and of what is written: no input is limited by them alone.
const NO_LIMITS_OF_INPUT: &[&str] = &[
    "addr::repository::MAX_BYTES",
    "archive::layout::MAX_PART_BYTES",
    "archive::layout::MAX_PATH_BYTES",
    "audit::go_version::MAX_VERSION_BYTES",
    "audit::index::MAX_ID_BYTES",
    "authenticate::known::MAX_REMEMBERED_BYTES",
    "run::pages::MAX_PAGE_BYTES",
    "module_config::syntax::convert::MAX_NAMES_BYTES",
    "modules::archive::kind::MAX_BEGINNING_BYTES",
    "modules::git::command::MAX_LINE_BYTES",
    "modules::git::objects::MAX_BATCH_BYTES",
    "modules::git::objects::MAX_LINK_BYTES",
    "modules::package::build::MAX_ONE_PATH_BYTES",
    "modules::package::build::MAX_PART_BYTES",
    "modules::store::local::MAX_READ_BYTES",
    "project::audit::MAX_ID_BYTES",
    "project::submodules::MAX_PATH_BYTES",
    "report::markdown::MAX_BYTES",
    "sources::modules::directory::MAX_ADDRESS_BYTES",
    "sources::modules::registry::MAX_ADDRESS_BYTES",
    "sources::oci::session::MAX_PING_BYTES",
    "sources::release_contents::MAX_NAME_BYTES",
    "store::text::MAX_LINE_BYTES",
    "terragrunt::limits::MAX_SHARED_BYTES",
    "workspace::kept_locks::MAX_KEPT_BYTES",
    "world::memo::MAX_KEPT_BYTES",
];

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/front/guide/topics/limits.md");
    fs::read_to_string(path).unwrap()
}

/// The lines of the blocks of the page, each block with its first line.
fn blocks(page: &str) -> Vec<Vec<&str>> {
    page.split("\n```")
        .skip(1)
        .step_by(2)
        .map(|block| block.lines().skip(1).collect())
        .collect()
}

/// The limits on the page, by the paths of their constants, as they stand there.
fn stated_limits(page: &str) -> BTreeMap<String, String> {
    let mut limits = BTreeMap::new();
    for block in &blocks(page)[1..] {
        let mut module = "";
        for line in block.iter().filter(|line| !line.is_empty()) {
            let Some(row) = line.strip_prefix("  ") else {
                module = line;
                continue;
            };
            let (row, name) = row.rsplit_once("  ").unwrap();
            let (_, value) = row.rsplit_once("  ").unwrap();
            let path = format!("{module}::{name}");
            let again = limits.insert(path, value.trim().to_owned());
            assert_eq!(again, None, "{module}::{name}");
        }
    }
    limits
}

/// The forms in which a value may be stated.
fn forms(value: ConstantValue) -> Vec<String> {
    const BYTES: &[(&str, u128)] = &[
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ];
    const TIMES: &[(&str, u128)] = &[
        ("seconds", 1000),
        ("minutes", 60_000),
        ("hours", 3_600_000),
        ("days", 86_400_000),
    ];
    let (number, units) = match value {
        ConstantValue::Number(number) => (number, BYTES),
        ConstantValue::Milliseconds(number) => (number, TIMES),
    };
    let with_unit = units
        .iter()
        .filter(|(_, size)| number % size == 0)
        .map(|(unit, size)| format!("{} {unit}", grouped(number / size)));
    with_unit.chain([grouped(number)]).collect()
}

/// A number with a comma between groups of three digits.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn the_page_states_the_limits_of_the_sources() {
    let (page, constants) = (page(), constants());
    let limits = stated_limits(&page);
    assert!(limits.len() > 100, "{} limits", limits.len());
    for (path, stated) in &limits {
        let value = constants.get(path);
        let value = *value.unwrap_or_else(|| panic!("{path} is no constant of the sources"));
        let forms = forms(value);
        assert!(
            forms.contains(stated),
            "{path}: {stated}, not one of {forms:?}"
        );
    }
    for line in blocks(&page).into_iter().flatten() {
        let columns = line.chars().count();
        assert!(columns <= 76, "a terminal indents blocks: {line}");
    }
}

#[test]
fn every_size_that_is_read_is_on_the_page() {
    let constants = constants();
    let sizes: BTreeSet<&str> = constants
        .keys()
        .filter(|path| {
            let name = path.rsplit("::").next().unwrap();
            name.starts_with("MAX_") && name.ends_with("BYTES")
        })
        .map(String::as_str)
        .collect();
    let limits = stated_limits(&page());
    let stated: BTreeSet<&str> = limits.keys().map(String::as_str).collect();
    let others: BTreeSet<&str> = NO_LIMITS_OF_INPUT.iter().copied().collect();
    let missing: Vec<_> = sizes
        .iter()
        .filter(|path| !stated.contains(*path) && !others.contains(*path))
        .collect();
    assert!(
        missing.is_empty(),
        "no row of src/front/guide/topics/limits.md: {missing:?}"
    );
    let gone: Vec<_> = others
        .iter()
        .filter(|path| !sizes.contains(*path) || stated.contains(*path))
        .collect();
    assert!(gone.is_empty(), "gone, or on the page: {gone:?}");
}

/// The memory of each reader on the page, in bytes for each byte of its input.
fn stated_memory(page: &str) -> BTreeMap<String, u64> {
    let blocks = blocks(page);
    blocks[0][1..]
        .iter()
        .map(|row| {
            let (name, rest) = row.split_at(28);
            let bytes = rest.split_whitespace().next().unwrap();
            (name.trim().to_owned(), bytes.parse().unwrap())
        })
        .collect()
}

#[test]
fn every_reader_has_a_row_and_cases_of_many_kinds() {
    let readers: Vec<Reader> = groups().into_iter().flatten().collect();
    let page = page();
    let rows = stated_memory(&page);
    let names: BTreeSet<String> = readers
        .iter()
        .map(|reader| reader.name.to_owned())
        .collect();
    assert_eq!(rows.into_keys().collect::<BTreeSet<_>>(), names);
    for reader in &readers {
        let kinds: BTreeSet<&str> = reader.cases.iter().map(|case| case.kind).collect();
        assert!(kinds.len() >= 3, "{}: {kinds:?}", reader.name);
        assert!(kinds.iter().all(|kind| KINDS.contains(kind)), "{kinds:?}");
    }
}

/// Returns true if the work on three inputs, each twice as large as the one before, grows faster than they do.
fn grows_faster([small, middle, large]: [u64; 3]) -> bool {
    let first = middle.saturating_sub(small);
    // Where a limit stops the work on larger inputs, they cost no more than the smaller ones; and tables that grow
    // by doubling make steps.
    let before = small.max(middle);
    large.saturating_sub(middle) > MOST * first + SLACK && large > 2 * before
}

#[track_caller]
fn check(group: usize) {
    let page = page();
    let stated = stated_memory(&page);
    let mut faults = Vec::new();
    for reader in &groups()[group] {
        let stated = stated[reader.name];
        let (mut most, mut worst) = (0, "");
        for case in reader.cases {
            let costs = [SIZE, 2 * SIZE, 4 * SIZE].map(|bytes| cost(reader, case, bytes));
            let name = format!("{}: {} {}", reader.name, case.kind, case.name);
            let is_bounded = BOUNDED.contains(&(reader.name, case.name));
            for (what, work) in [
                ("allocations", costs.map(|cost| cost.count_total)),
                ("kilobytes", costs.map(|cost| cost.bytes_total >> 10)),
            ] {
                if !is_bounded && grows_faster(work) {
                    faults.push(format!("{name}: {work:?} {what} for twice the input each"));
                }
            }
            let added = costs[2].bytes_max.saturating_sub(costs[1].bytes_max);
            let bytes = added.div_ceil(2 * SIZE as u64);
            if is_bounded {
                let most = costs.iter().map(|cost| cost.bytes_max).max();
                if most > Some(BOUNDED_BYTES) {
                    faults.push(format!("{name}: {most:?} bytes"));
                }
                continue;
            }
            if bytes > stated {
                faults.push(format!("{name}: {bytes} bytes for each byte, not {stated}"));
            }
            if bytes >= most {
                (most, worst) = (bytes, case.name);
            }
        }
        println!("{:28} {most:6} bytes for each byte: {worst}", reader.name);
        // A peak below that of reading the arguments does not show.
        if stated > 2 * most + 16 {
            faults.push(format!(
                "{}: no more than {most} bytes, not {stated}",
                reader.name
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn cost(reader: &Reader, case: &Case, bytes: usize) -> AllocationInfo {
    let mut reader = reader.clone();
    // What is printed for people has a limit of its own, and takes long without optimisation.
    if let Reading::Command(command) = &mut reader.read {
        command.has_json = true;
    }
    measure(reader.work((case.make)(bytes)))
}

#[test]
fn lock_files_cost_no_more_than_the_page_says() {
    check(0);
}

#[test]
fn configuration_costs_no_more_than_the_page_says() {
    check(1);
}

#[test]
#[cfg_attr(windows, ignore = "a path takes more memory there")]
fn other_documents_cost_no_more_than_the_page_says() {
    check(2);
}

#[test]
fn archives_cost_no_more_than_the_page_says() {
    check(3);
}

#[test]
fn evidence_costs_no_more_than_the_page_says() {
    check(4);
}

#[test]
fn answers_of_servers_cost_no_more_than_the_page_says() {
    check(5);
}

/// The count notices what it is there for.
#[test]
fn a_square_is_noticed() {
    let square = |parts: usize| {
        let text = "x".repeat(parts);
        measure(|| (0..parts).for_each(|at| drop(text[at..].to_owned()))).bytes_total >> 10
    };
    assert!(grows_faster([SIZE, 2 * SIZE, 4 * SIZE].map(square)));
}
