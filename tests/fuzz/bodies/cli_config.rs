//! CLI configuration of both programs, in either syntax.

use std::path::Path;

use lockctl::cliconfig::{ConfigChoice, read};
use lockctl::diag::Texts;
use lockctl::flavor::Flavor;
use lockctl::world::mem::MemEnv;

use super::{Budget, diagnostics, tree};

const BUDGET: Budget = Budget {
    base_bytes: 1 << 20,
    bytes: 1_000,
    base_allocations: 5_000,
    allocations: 200,
};

pub fn run(data: &[u8]) {
    let files = tree::files("/home", "rc", data);
    for flavor in Flavor::ALL {
        let mut texts = Texts::default();
        let choice = ConfigChoice {
            flavor,
            file: Some(Path::new("/home/rc")),
        };
        let env = MemEnv::default();
        let (config, problems) = BUDGET.spend(data, || read(&files, &env, &mut texts, choice));
        for problem in &problems {
            for label in problem.primary.iter().chain(&problem.related) {
                diagnostics::check_span(texts.bytes(label.file), label.span);
            }
        }
        let (again, later) = read(&files, &env, &mut Texts::default(), choice);
        assert!(again == config && later.len() == problems.len());
        // Messages never show a token.
        let printed = format!("{config:?}");
        assert!(
            !is_only_secret(data) || !printed.contains(SECRET),
            "{printed}"
        );
    }
}

const SECRET: &str = "s3cr3t";

/// Returns true if the secret is nothing but a token or password; a host may have the same name.
fn is_only_secret(data: &[u8]) -> bool {
    let mut text = String::from_utf8_lossy(data).into_owned();
    for before in ["token = \"", "password = \"", "\"token\": \""] {
        text = text.replace(&format!("{before}{SECRET}\""), "");
    }
    !text.contains(SECRET)
}
