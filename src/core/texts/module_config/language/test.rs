//! The blocks of test files, which no override file changes.

use super::*;

/// Test files (config rules 6): only the blocks that may require something are looked into.
pub(crate) static TEST_FILE: Schema = strict(
    &[],
    &[
        block("run", &["name"], &RUN),
        block("provider", &["name"], &PROVIDER),
        block("mock_provider", &["name"], &ANY),
        block("variables", &[], &NAMES),
        block("override_resource", &[], &ANY),
        block("override_data", &[], &ANY),
        block("override_module", &[], &ANY),
        block("variable", &["name"], &ANY).known_to(Flavor::has_newer_tests),
        block("test", &[], &ANY).known_to(Flavor::has_newer_tests),
    ],
);

pub(crate) static RUN: Schema = open(
    &[],
    &[
        block("variables", &[], &NAMES),
        block("module", &[], &RUN_MODULE),
    ],
);

/// The module that a run calls.
pub(crate) static RUN_MODULE: Schema = strict(&[any("source"), any("version")], &[]);
