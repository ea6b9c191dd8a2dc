//! The parts of a binary, for reports of defects.

use std::env::consts::{ARCH, OS};
use std::sync::LazyLock;

use crate::flavor::Flavor;

/// The commit that the binary was built from; release builds set the variable.
const COMMIT: Option<&str> = option_env!("LOCKCTL_COMMIT");

/// The implementation of TLS and the roots that it trusts.
const TLS: &str = "rustls with ring; certificates of the system, else those of Mozilla";

/// The answer to `lockctl --version --verbose` after the name of the program, a line for each part.
pub static VERSION_TEXT: LazyLock<String> = LazyLock::new(|| {
    let rules = Flavor::ALL.map(|flavor| flavor.to_string()).join(", ");
    let commit = COMMIT.unwrap_or("unknown");
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "{version}\ncommit: {commit}\nplatform: {OS} {ARCH}\nfeatures: cli, fetch\nTLS: {TLS}\nrules: {rules}"
    )
});
