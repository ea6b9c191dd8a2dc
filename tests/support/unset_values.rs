//! Blocks of OpenTofu that use a variable without a value, on which no provider depends; shared by the tests that ask
//! OpenTofu and those that replay what it wrote.

use crate::lab::{Lab, zip_of};
use crate::registry::Registry;

pub(crate) const PLATFORMS: &str = "linux_amd64,linux_arm64";

/// The lock file that OpenTofu 1.12.6 wrote for each of them: `providers lock` for both platforms.
pub(crate) const RECORDED: &str = "fixtures/parity/values.lock.hcl";

const MAIN: &str = "terraform {\n  required_providers {\n    demo = { source = \"acme/demo\", version = \"~> 1.0\" }\n  }\n}\n\nvariable \"v\" {}\n";

/// A block with its name, and true if a plain `init` passes without the value.
pub(crate) type Block = (&'static str, &'static str, bool);

pub(crate) const BLOCKS: &[Block] = &[
    (
        "backend",
        "terraform {\n  backend \"gcs\" {\n    bucket = var.v\n  }\n}\n",
        false,
    ),
    (
        "backend-local",
        "locals {\n  k = \"${var.v}!\"\n}\nterraform {\n  backend \"gcs\" {\n    bucket = local.k\n  }\n}\n",
        false,
    ),
    (
        "encryption",
        "terraform {\n  encryption {\n    key_provider \"pbkdf2\" \"k\" {\n      passphrase = var.v\n    }\n    \
         method \"aes_gcm\" \"m\" {\n      keys = key_provider.pbkdf2.k\n    }\n    state {\n      method = \
         method.aes_gcm.m\n    }\n  }\n}\n",
        false,
    ),
    ("provider", "provider \"demo\" {\n  x = var.v\n}\n", true),
    (
        "data",
        "data \"demo_thing\" \"t\" {\n  name = var.v\n}\n",
        true,
    ),
];

/// Publishes the packages of the provider that the roots require.
pub(crate) fn publish(registry: &Registry) {
    for platform in ["linux_amd64", "linux_arm64", "darwin_arm64"] {
        let zip = zip_of(&[("terraform-provider-demo_v1.0.0", platform)]);
        registry.add_zip("acme/demo", "1.0.0", platform, &zip);
    }
}

/// Writes a root with a block.
pub(crate) fn write(lab: &Lab, root: &str, block: &str) {
    lab.write(&format!("{root}/main.tf"), format!("{MAIN}\n{block}"));
}
