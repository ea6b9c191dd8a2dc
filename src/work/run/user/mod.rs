//! The configuration of the user's machine: CLI configuration, credentials, sources of packages and modules.

pub(crate) mod caches;
pub(crate) mod config;
mod helper_program;
mod host_tokens;
mod methods;
pub(crate) mod modules;
mod oci_logins;
pub(crate) mod sources;

use crate::authenticate::Enforcement;
use crate::world::Env;

/// Reads the checks that the environment makes OpenTofu enforce; only the exact value `true` counts.
pub(crate) fn enforcement(env: &dyn Env) -> Enforcement {
    let is_set = |name: &str| env.var(name).is_some_and(|value| value == "true");
    Enforcement {
        validation: is_set("OPENTOFU_ENFORCE_GPG_VALIDATION"),
        expiration: is_set("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
    }
}
