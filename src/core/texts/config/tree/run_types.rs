//! Consistency of provider addresses between the `provider` blocks of a test file and its runs.
//!
//! Found by experiment with Terraform 1.11.4 (rules 6.7): a local name of the test file means one provider, for
//! all aliases of its blocks. Runs are checked in their order, and the first one that uses a name fixes the
//! address, if any block has the name. A run of the root is refused if it uses the name for another address; a
//! run that calls a module never is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::config::tree::resolve::Module;
use crate::diag::{Diagnostic, rules};
use crate::flavor::Flavor;
use crate::module_config::decode::contents::Contents;
use crate::module_config::decode::run_providers::TestRun;
use crate::module_config::file::SourcePlace;

/// Reports the first run of the root that takes a name for another provider than a run before.
pub(in crate::texts::config) fn check(
    file: &Contents,
    root: &Contents,
    called: &BTreeMap<&str, Arc<Module>>,
    flavor: Flavor,
    found: &mut Vec<Diagnostic>,
) {
    let mut names = RunNames {
        flavor,
        with_blocks: file
            .test_providers
            .keys()
            .map(|(name, _)| &**name)
            .collect(),
        fixed: BTreeMap::new(),
    };
    for run in &file.runs {
        let module = match called.get(&*run.name) {
            Some(module) => &module.contents,
            // The module could not be read, so that the meaning of its names is unknown.
            None if run.calls_module => continue,
            None => root,
        };
        let mismatch = if run.passed.is_empty() {
            // Without `providers` a run takes the names that its module declares (rules 6.7).
            for entry in &module.required {
                names.fix(&entry.local_name, &entry.addr);
            }
            file.test_providers
                .iter()
                .filter(|((_, alias), _)| alias.is_none())
                .find_map(|((name, _), place)| names.mismatch(name, declared(root, name)?, *place))
        } else {
            names.passed(run, module)
        };
        if let Some(mismatch) = mismatch.filter(|_| !run.calls_module) {
            found.push(mismatch);
            return;
        }
    }
}

/// The local names of a test file.
struct RunNames<'a> {
    flavor: Flavor,
    /// Those that some block has.
    with_blocks: BTreeSet<&'a str>,
    fixed: BTreeMap<&'a str, ProviderAddr>,
}

impl<'a> RunNames<'a> {
    /// Fixes the names of what a run passes; returns the first one that was fixed otherwise.
    fn passed(&mut self, run: &'a TestRun, module: &Contents) -> Option<Diagnostic> {
        let mut first = None;
        for passed in &run.passed {
            let (inside, name) = (&passed.inside.0, &passed.block.0);
            // A name that the module does not declare means what it always means.
            let implied = ProviderAddr::parse(inside, self.flavor).ok();
            let Some(addr) = declared(module, inside).cloned().or(implied) else {
                continue;
            };
            let mismatch = self.mismatch(name, &addr, passed.place);
            first = first.or(mismatch);
            self.fix(name, &addr);
        }
        first
    }

    fn fix(&mut self, name: &'a str, addr: &ProviderAddr) {
        if self.with_blocks.contains(name) {
            self.fixed.entry(name).or_insert_with(|| addr.clone());
        }
    }

    /// Returns the error of a name that is fixed to another address.
    fn mismatch(&self, name: &str, addr: &ProviderAddr, place: SourcePlace) -> Option<Diagnostic> {
        let fixed = self.fixed.get(name).filter(|fixed| *fixed != addr)?;
        let remark = format!(
            "a run before takes this for {}, the root module for {}",
            fixed.short(self.flavor),
            addr.short(self.flavor)
        );
        let error = Diagnostic::error(rules::CONFIGURATION_INVALID, "Provider type mismatch");
        let help = "give the two providers different names in the test file";
        Some(error.at(place.file, place.span, remark).help(help))
    }
}

fn declared<'m>(module: &'m Contents, name: &str) -> Option<&'m ProviderAddr> {
    module
        .required
        .iter()
        .find(|entry| entry.local_name == name)
        .map(|entry| &entry.addr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::outline;

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
        let outline = outline("", &files, Flavor::Terraform1_11);
        let errors: Vec<&str> = outline
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
        // The alias makes no difference, nor whether the block of the alias is there.
        check(DECLARED, ALIAS, &["m1=beta", "root=beta.x"], refused);
        check(DECLARED, ALIAS, &["m1=beta.x", "root=beta.y"], refused);
        check(DECLARED, "", &["m1=beta.x", "root=beta.x"], "");
        check(
            DECLARED,
            ALIAS,
            &["m1", "root=beta.x"],
            "t.tftest.hcl:11: Provider type mismatch",
        );
        check(
            DECLARED,
            BLOCK,
            &["m1=beta.x", "root"],
            "t.tftest.hcl:1: Provider type mismatch",
        );
    }

    #[test]
    fn a_name_is_one_provider_whatever_its_aliases() {
        const ROOT: &str = "terraform {\n  required_providers {\n    bar = { source = \"acme/bar\" }\n    \
                            foo = { source = \"acme/foo\" }\n  }\n}\n";
        let run = |passed: &str| {
            format!(
                "run \"{}\" {{\n providers = {{\n {passed}\n }}\n}}\n",
                passed.len()
            )
        };
        let errors = |runs: &[&str]| {
            let runs: String = runs.iter().map(|passed| run(passed)).collect();
            let test = format!("provider \"bar\" {{\n alias = \"foo\"\n}}\n{runs}");
            let files = [("main.tf", ROOT), ("t.tftest.hcl", &*test)];
            outline("", &files, Flavor::Terraform1_11)
                .lines()
                .filter(|line| line.contains("mismatch"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let refused = ["t.tftest.hcl:11: Provider type mismatch"];
        assert_eq!(errors(&["bar = bar.foo", "foo = bar"]), refused);
        assert_eq!(errors(&["foo = bar.foo", "bar = bar"]), refused);
        // What the root does not declare is a provider of HashiCorp.
        assert_eq!(errors(&["bar = bar.foo", "zed = bar.foo"]), refused);
        assert!(errors(&["foo = bar.foo", "foo.x = bar.foo"]).is_empty());
        assert!(errors(&["foo = bar.foo", "foo = baz"]).is_empty());
    }
}
