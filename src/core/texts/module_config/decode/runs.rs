//! Test files (config rules 6, 12.8).
//!
//! Two things add requirements: modules that runs call and, with OpenTofu, `provider` blocks.

use crate::module_config::syntax::names::ProviderKey;
use crate::module_config::validate::conditions;
use std::collections::BTreeMap;
use std::path::Path;

use crate::diag::{Diagnostic, Span, rules};
use crate::hcl::tree::{Block, Body};
use crate::module_config::decode::contents::{Call, CallVersion, Contents, PassedArgument};
use crate::module_config::decode::{calls, mocks, providers, variables};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::{references, words};
use crate::module_config::validate::bodies;

/// Decodes a test file; each call of its runs is named after the run.
pub(crate) fn decode(body: &Body, faults: &mut Faults) -> Contents {
    let mut contents = Contents::default();
    let blocks = bodies::check(body, &language::TEST_FILE, faults);
    let before = faults.errors();
    let title = "Multiple \"test\" blocks";
    if let Some(block) = bodies::at_most_one(&blocks, "test", title, faults) {
        bodies::check(&block.body, &language::TEST, faults);
        experimental(&block.body, faults);
    }
    // After an error in its `test` block, Terraform does not look at the rest of the file.
    if faults.errors() > before {
        return contents;
    }
    let values = once(&blocks, "variables", faults);
    let mut seen = TestFileNames::default();
    for (kind, block) in &blocks {
        match *kind {
            "run" => {
                seen.run(block, faults);
                contents.calls.extend(run(block, faults));
            }
            "provider" => {
                let mut declared = Contents::default();
                providers::provider_block(block, &mut declared, faults);
                // Only OpenTofu adds providers of test files to the requirements (config rules 6.2).
                if !faults.flavor.is_opentofu() {
                    seen.provider(block, &mut declared, faults);
                }
                contents.append(declared);
            }
            "mock_provider" => {
                if let Some(key) = mocks::provider(block, faults) {
                    seen.either(block, key, faults);
                }
            }
            "variables" => bodies::arguments_only(&block.body, faults),
            "variable" => seen.variable(block, faults),
            _ if kind.starts_with("override_") => mocks::target(kind, block, faults),
            _ => {}
        }
    }
    if let Some(values) = values {
        seen.values(values, faults);
    }
    mocks::duplicates(&blocks, None, faults);
    contents
}

/// Reports what only alpha versions take.
fn experimental(body: &Body, faults: &mut Faults) {
    if let Some(argument) = body.attribute("skip_cleanup") {
        let remark = "only alpha versions have this";
        faults.invalid("Invalid attribute", argument.name.span, remark);
    }
}

/// Reports blocks beyond the first one of a kind.
fn once<'b>(
    blocks: &[(&'static str, &'b Block)],
    kind: &'static str,
    faults: &mut Faults,
) -> Option<&'b Block> {
    bodies::at_most_one(blocks, kind, &format!("Multiple \"{kind}\" blocks"), faults)
}

const TWO_VARIABLES: &str = "Duplicate \"variable\" block names";

/// Names that stand in the test file at hand, with the place of the first of each.
#[derive(Default)]
struct TestFileNames {
    runs: BTreeMap<String, Span>,
    variables: BTreeMap<String, Span>,
    providers: BTreeMap<ProviderKey, Span>,
}

impl TestFileNames {
    /// OpenTofu does not care about names of runs.
    fn run(&mut self, block: &Block, faults: &mut Faults) {
        let [name] = &*block.labels else { return };
        // To Terraform the second run of a name is an error (config rules 6.5).
        let first = self.runs.get(&name.text).copied();
        if let Some(first) = first.filter(|_| !faults.flavor.is_opentofu()) {
            twice("Duplicate \"run\" block names", block, first, faults);
        }
        self.runs.entry(name.text.clone()).or_insert(block.header);
    }

    /// Decodes a variable of the test file; one with an error in it does not count.
    fn variable(&mut self, block: &Block, faults: &mut Faults) {
        let before = faults.errors();
        variables::decode(block, faults);
        let [name] = &*block.labels else { return };
        if faults.errors() > before {
            return;
        }
        match self.variables.get(&name.text) {
            Some(first) => twice(TWO_VARIABLES, block, *first, faults),
            None => {
                self.variables.insert(name.text.clone(), block.header);
            }
        }
    }

    /// Compares the values for the module with the variables that the test file has of its own.
    fn values(&self, values: &Block, faults: &mut Faults) {
        for value in values.body.attributes() {
            if let Some(declared) = self.variables.get(&value.name.text) {
                let remark = "the variables block has a value of it, too";
                faults.invalid(TWO_VARIABLES, *declared, remark);
            }
        }
    }

    /// Takes the `provider` block that was decoded: with Terraform it adds nothing.
    fn provider(&mut self, block: &Block, declared: &mut Contents, faults: &mut Faults) {
        for provider in declared.provider_blocks.drain(..) {
            self.either(block, provider.key(), faults);
        }
    }

    /// To Terraform a mock is a provider; to OpenTofu only mocks among themselves must differ.
    fn either(&mut self, block: &Block, key: ProviderKey, faults: &mut Faults) {
        let title = if faults.flavor.is_opentofu() {
            "Duplicated `mock_provider` block"
        } else {
            "Duplicate provider block"
        };
        match self.providers.get(&key) {
            Some(first) => twice(title, block, *first, faults),
            None => {
                self.providers.insert(key, block.header);
            }
        }
    }
}

pub(crate) fn twice(title: &str, block: &Block, first: Span, faults: &mut Faults) {
    let again = Diagnostic::error(rules::CONFIGURATION_INVALID, title)
        .at(faults.file, block.header, "declared again")
        .see(faults.file, first, "first declared here");
    faults.push(again);
}

/// Returns the name that the programs give to a test file, which is given from the root on.
///
/// Only one ending is removed; a name that is no text is shown as far as it is.
pub(crate) fn branch(path: &Path) -> String {
    let name = path
        .iter()
        .map(|part| part.to_string_lossy())
        .collect::<Vec<_>>()
        .join(".");
    // The name is part of the key in the manifest, in which every other ending stays (config rules
    // 6.4).
    name.strip_suffix(".tftest.hcl").unwrap_or(&name).to_owned()
}

/// Decodes a run; returns the call of its module, if it has one without a fault.
fn run(block: &Block, faults: &mut Faults) -> Option<Call> {
    let [name] = &*block.labels else { return None };
    if !words::is_identifier(&name.text) {
        faults.invalid("Invalid run block name", name.span, words::NAME);
    }
    let blocks = bodies::check(&block.body, &language::RUN, faults);
    one_of(block, "command", &["apply", "plan"], faults);
    experimental(&block.body, faults);
    once(&blocks, "variables", faults);
    if let Some(options) = once(&blocks, "plan_options", faults) {
        bodies::check(&options.body, &language::PLAN_OPTIONS, faults);
        one_of(options, "mode", &["normal", "refresh-only"], faults);
        let word = |name| {
            let argument = options.body.attribute(name)?;
            references::word(&argument.value)
        };
        if let (Some("refresh-only"), Some("false")) = (word("mode"), word("refresh")) {
            let remark = "refresh-only needs to refresh";
            faults.invalid("Incompatible plan options", options.header, remark);
        }
    }
    for (kind, nested) in &blocks {
        match *kind {
            "assert" => conditions::rule(nested, faults),
            "variables" => bodies::arguments_only(&nested.body, faults),
            // An experiment of Terraform from 1.15 on, which releases refuse (config rules 6.8).
            "backend" => {
                let remark = "only alpha versions have this block";
                faults.invalid("Invalid block", nested.header, remark);
            }
            _ if kind.starts_with("override_") => mocks::target(kind, nested, faults),
            _ => {}
        }
    }
    mocks::duplicates(&blocks, None, faults);
    let called = once(&blocks, "module", faults)?;
    call(block, &name.text, called, faults)
}

/// Checks an argument that is one of some keywords.
fn one_of(block: &Block, name: &str, words: &[&str], faults: &mut Faults) {
    let Some(argument) = block.body.attribute(name) else {
        return;
    };
    if references::word(&argument.value).is_none_or(|word| !words.contains(&word)) {
        let title = format!("Invalid \"{name}\" keyword");
        let remark = format!("write {}, without quotes", words.join(" or "));
        faults.invalid(title, argument.value.span, &remark);
    }
}

/// Reads the values that a run gives to the variables of its module.
fn values(run: &Block, faults: &Faults) -> Vec<PassedArgument> {
    run.body
        .blocks()
        .filter(|block| block.kind.text == "variables")
        .flat_map(|block| block.body.attributes())
        .map(|argument| PassedArgument::new(argument, faults))
        .collect()
}

fn call(run: &Block, name: &str, module: &Block, faults: &mut Faults) -> Option<Call> {
    let before = faults.errors();
    bodies::check(&module.body, &language::RUN_MODULE, faults);
    let version = version(module, faults);
    let Some(argument) = module.body.attribute("source") else {
        if !faults.may_hide(module.body.span) {
            let title = "Missing \"source\" attribute for module block";
            faults.invalid(title, module.header, "source is missing");
        }
        return None;
    };
    let version = version?;
    let source = calls::of_run(&argument.value, &version, faults);
    // A run whose `module` block has a fault calls nothing.
    (faults.errors() == before).then(|| Call {
        name: name.to_owned(),
        source,
        version,
        version_place: calls::version_place(module, faults),
        place: faults.place_of(&argument.value),
        header: faults.place(run.header),
        arguments: values(run, faults),
        // No program computes the source of a run (config rules 6.3).
        source_late: None,
        version_late: None,
    })
}

/// Reads the version of a module that a run calls: no program computes it.
fn version(module: &Block, faults: &mut Faults) -> Option<CallVersion> {
    let version = calls::version(module, faults);
    if let (Some(CallVersion::Computed), Some(argument)) =
        (&version, module.body.attribute("version"))
    {
        bodies::constant(&argument.value, faults);
    }
    version
}
