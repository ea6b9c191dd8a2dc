//! What commands share: roots opened with advice, the network by the rules of a flavor, sources of
//! packages, wanted platforms, how values were computed, results printed.

pub(super) mod computed;
pub(super) mod holding;
mod host_tokens;
pub(super) mod installation;
pub(super) mod modules;
pub(super) mod network;
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

use crate::world::Env;

/// Returns whether the environment makes OpenTofu refuse expired keys.
pub(super) fn enforces_expiration(env: &dyn Env) -> bool {
    let value = env.var("OPENTOFU_ENFORCE_GPG_EXPIRATION");
    value.is_some_and(|value| value == "true")
}
