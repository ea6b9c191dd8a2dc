//! What commands share: roots opened with advice, the network by the rules of a flavor, sources of
//! packages, wanted platforms, how values were computed, results printed.

pub(super) mod computed;
mod helper_program;
pub(super) mod holding;
mod host_tokens;
pub(super) mod installation;
pub(super) mod modules;
pub(super) mod network;
mod oci_logins;
mod opening;
mod paths;
pub(super) mod platforms;
pub(super) mod print;
pub(super) mod provider;
pub(super) mod root;
pub(super) mod roots;
pub(super) mod sources;
pub(super) mod store;
pub(super) mod unseen;

use crate::authenticate::Enforcement;
use crate::world::Env;

/// Returns what the environment makes OpenTofu refuse; only the exact value `true` counts.
pub(super) fn enforcement(env: &dyn Env) -> Enforcement {
    let is_set = |name: &str| env.var(name).is_some_and(|value| value == "true");
    Enforcement {
        validation: is_set("OPENTOFU_ENFORCE_GPG_VALIDATION"),
        expiration: is_set("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
    }
}
