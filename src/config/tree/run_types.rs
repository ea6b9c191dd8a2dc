//! What the `provider` blocks of a test file stand for: its runs must agree on it.
//!
//! By experiment with Terraform 1.11.4 (rules 6.7): runs go in their order. One
//! that calls a module fixes the addresses of the blocks that it uses and that are not fixed yet, and
//! never minds. One of the root fixes them, too, and is refused where another one was fixed before.
//! Only names that `required_providers` of either module declare count.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::addr::ProviderAddr;
use crate::config::decode::contents::Contents;
use crate::config::decode::run_providers::{TestRun, UsedProvider};
use crate::config::file::SourcePlace;
use crate::config::syntax::names::ProviderKey;
use crate::config::tree::resolve::Module;
use crate::diag::Diagnostic;
use crate::flavor::Flavor;

/// Reports runs of the root that take a block for another provider than a run before.
pub(in crate::config) fn check(
    file: &Contents,
    root: &Contents,
    called: &BTreeMap<&str, Rc<Module>>,
    flavor: Flavor,
    found: &mut Vec<Diagnostic>,
) {
    let mut fixed: BTreeMap<&ProviderKey, &ProviderAddr> = BTreeMap::new();
    for run in &file.runs {
        let module = match called.get(&*run.name) {
            Some(module) => &module.contents,
            None if run.calls_module => continue,
            None => root,
        };
        for used in used(run, &file.test_providers) {
            let declared = module
                .required
                .iter()
                .find(|one| one.local_name == used.inside.0);
            let Some(declared) = declared else { continue };
            let first = *fixed.entry(used.block).or_insert(&declared.addr);
            if *first != declared.addr && !run.calls_module {
                let remark = format!(
                    "a run before takes this for {}, the root module for {}",
                    first.short(flavor),
                    declared.addr.short(flavor)
                );
                let error = Diagnostic::error("configuration-invalid", "Provider type mismatch");
                let help = "give the two providers different names in the test file";
                found.push(
                    error
                        .at(used.place.file, used.place.span, remark)
                        .help(help),
                );
                return;
            }
        }
    }
}

/// Lists what a run uses: what it passes, else all blocks without alias.
fn used<'a>(
    run: &'a TestRun,
    blocks: &'a BTreeMap<ProviderKey, SourcePlace>,
) -> Vec<UsedProvider<&'a ProviderKey>> {
    if run.passed.is_empty() {
        let defaults = blocks.iter().filter(|((_, alias), _)| alias.is_none());
        let used = defaults.map(|(key, place)| UsedProvider {
            inside: key,
            block: key,
            place: *place,
        });
        return used.collect();
    }
    let passed = run.passed.iter();
    let passed = passed.filter(|one| blocks.contains_key(&one.block));
    let used = passed.map(|one| UsedProvider {
        inside: &one.inside,
        block: &one.block,
        place: one.place,
    });
    used.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::told;

    const MODULES: [(&str, &str); 4] = [
        (
            "m1/m.tf",
            "terraform {\n  required_providers {\n    beta = {}\n  }\n}\n",
        ),
        (
            "m2/m.tf",
            "terraform {\n  required_providers {\n    beta = { source = \"acme/beta\" }\n  }\n}\n",
        ),
        ("m3/m.tf", ""),
        ("m4/m.tf", "resource \"beta_x\" \"y\" {}\n"),
    ];
    const DECLARED: &str =
        "terraform {\n  required_providers {\n    beta = { source = \"acme/alpha\" }\n  }\n}\n";

    /// A run of the root, or with `NAME` one of a module, or with `NAME=BLOCK` one that passes a block.
    fn run(at: usize, what: &str) -> String {
        let (module, passed) = match what.split_once('=') {
            Some((module, block)) => (module, format!(" providers = {{\n beta = {block}\n }}\n")),
            None => (what, String::new()),
        };
        let module = match module {
            "root" => String::new(),
            name => format!(" module {{\n source = \"./{name}\"\n }}\n"),
        };
        format!("run \"r{at}\" {{\n{passed}{module}}}\n")
    }

    #[track_caller]
    fn check(root: &str, block: &str, runs: &[&str], expected: &str) {
        let runs: String = runs
            .iter()
            .enumerate()
            .map(|(at, what)| run(at, what))
            .collect();
        let test = format!("{block}{runs}");
        let mut files = MODULES.to_vec();
        files.extend([("main.tf", root), ("t.tftest.hcl", &*test)]);
        let told = told("", &files, Flavor::Terraform1_11);
        let errors: Vec<&str> = told
            .lines()
            .filter(|line| line.contains("mismatch"))
            .collect();
        assert_eq!(errors.join(" "), expected, "{test}");
    }

    #[test]
    fn runs_agree_on_what_a_block_stands_for() {
        const BLOCK: &str = "provider \"beta\" {}\n";
        const MOCK: &str = "mock_provider \"beta\" {}\n";
        const ALIAS: &str = "provider \"beta\" {\n alias = \"x\"\n}\n";
        let refused = "t.tftest.hcl:1: Provider type mismatch";
        check(DECLARED, BLOCK, &["root"], "");
        check(DECLARED, BLOCK, &["m1"], "");
        check(DECLARED, BLOCK, &["m1", "root"], refused);
        check(DECLARED, BLOCK, &["root", "m1"], "");
        check(DECLARED, MOCK, &["m1", "root"], refused);
        check(DECLARED, BLOCK, &["m3", "root"], "");
        check(DECLARED, BLOCK, &["m4", "root"], "");
        check(DECLARED, "", &["m1", "root"], "");
        check("", BLOCK, &["m1", "m2"], "");
        check("", BLOCK, &["m2", "root"], "");
        check("resource \"beta_x\" \"z\" {}\n", BLOCK, &["m2", "root"], "");
        check(DECLARED, BLOCK, &["m1=beta", "root"], refused);
        check(DECLARED, ALIAS, &["m1", "root"], "");
        check(DECLARED, ALIAS, &["m1=beta.x", "root"], "");
        let refused = "t.tftest.hcl:14: Provider type mismatch";
        check(DECLARED, ALIAS, &["m1=beta.x", "root=beta.x"], refused);
    }
}
