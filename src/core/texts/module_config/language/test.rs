//! The blocks of test files, which no override file changes.

use super::*;

/// Test files (config rules 6).
pub(crate) static TEST_FILE: Schema = strict(
    &[],
    &[
        block("run", &["name"], &RUN),
        block("provider", &["name"], &PROVIDER),
        block("mock_provider", &["name"], &MOCK_PROVIDER),
        block("variables", &[], &NAMES),
        block("override_resource", &[], &OVERRIDE_RESOURCE),
        block("override_data", &[], &OVERRIDE_RESOURCE),
        block("override_module", &[], &OVERRIDE_MODULE),
        block("variable", &["name"], &VARIABLE).known_to(Flavor::has_newer_tests),
        block("test", &[], &TEST).known_to(Flavor::has_newer_tests),
    ],
);

/// Settings for all runs of a file; one of them is for experiments only.
pub(crate) static TEST: Schema = strict(&[truth("parallel"), truth("skip_cleanup")], &[]);

pub(crate) static RUN: Schema = strict(
    &[
        reference("command"),
        any("providers"),
        references("expect_failures"),
        text("state_key").known_to(is_terraform),
        truth("parallel").known_to(Flavor::has_newer_tests),
        truth("skip_cleanup").known_to(Flavor::has_newer_tests),
    ],
    &[
        block("plan_options", &[], &PLAN_OPTIONS),
        block("assert", &[], &RULE),
        block("variables", &[], &NAMES),
        block("module", &[], &RUN_MODULE),
        block("override_resource", &[], &OVERRIDE_RESOURCE),
        block("override_data", &[], &OVERRIDE_RESOURCE),
        block("override_module", &[], &OVERRIDE_MODULE),
        // Only to be refused as an experiment (config rules 6.8).
        block("backend", &["name"], &ANY).known_to(Flavor::has_newer_tests),
    ],
);

/// The module that a run calls.
pub(crate) static RUN_MODULE: Schema = strict(&[any("source"), any("version")], &[]);

pub(crate) static PLAN_OPTIONS: Schema = strict(
    &[
        reference("mode"),
        truth("refresh"),
        references("replace"),
        references("target"),
    ],
    &[],
);

pub(crate) static MOCK_PROVIDER: Schema = strict(
    &[
        any("alias"),
        text("source").known_to(is_terraform),
        reference("override_during").known_to(is_terraform),
        any("for_each").known_to(Flavor::is_opentofu),
    ],
    &[
        block("mock_resource", &["type"], &MOCK),
        block("mock_data", &["type"], &MOCK),
        block("override_resource", &[], &OVERRIDE_RESOURCE),
        block("override_data", &[], &OVERRIDE_RESOURCE),
    ],
);

/// `mock_resource` and `mock_data` blocks.
pub(crate) static MOCK: Schema = strict(
    &[
        any("defaults"),
        reference("override_during").known_to(is_terraform),
    ],
    &[],
);

/// `override_resource` and `override_data` blocks.
pub(crate) static OVERRIDE_RESOURCE: Schema = strict(
    &[
        reference("target"),
        any("values"),
        reference("override_during").known_to(is_terraform),
    ],
    &[],
);

pub(crate) static OVERRIDE_MODULE: Schema = strict(
    &[
        reference("target"),
        any("outputs"),
        reference("override_during").known_to(is_terraform),
    ],
    &[],
);
