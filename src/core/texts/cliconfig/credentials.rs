//! The token that is sent to a host (rules 4).

use std::collections::BTreeMap;

use super::CliConfig;
use crate::addr::Hostname;
use crate::world::{Env, Secret};

/// The beginning of the names of variables with tokens.
const PREFIX: &str = "TF_TOKEN_";

impl CliConfig {
    /// Returns the token for a host: that of a variable, else that of the files.
    ///
    /// It may be empty, and is sent then too: an empty variable hides the files.
    #[must_use]
    pub fn token(&self, host: &Hostname) -> Option<&Secret> {
        self.tokens.get(host)?.as_ref()
    }

    /// Returns whether the credentials helper would be run for a host: it is when neither a
    /// variable nor a `credentials` block names the host.
    #[must_use]
    pub fn needs_helper(&self, host: &Hostname) -> bool {
        self.helper.is_some() && !self.tokens.contains_key(host)
    }
}

/// Collects the variables that hold tokens; names that are no hosts are passed over.
pub(super) fn from_env(env: &dyn Env) -> BTreeMap<Hostname, Secret> {
    env.names(PREFIX)
        .into_iter()
        .filter_map(|variable| {
            // Shells set no variables with hyphens and dots, so these are encoded (rules 4.2).
            let name = variable.strip_prefix(PREFIX)?;
            let name = name.replace("__", "-").replace('_', ".");
            let host = Hostname::parse_either(&name).ok()?;
            // A token that is no text could not be sent.
            let token = env.var(&variable)?.into_string().ok()?;
            Some((host, Secret::new(token)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::MemEnv;

    #[track_caller]
    fn check(variable: &str, host: Option<&str>) {
        let mut env = MemEnv::default();
        env.vars.insert(variable.to_owned(), "secret".into());
        let found: Vec<String> = from_env(&env).keys().map(ToString::to_string).collect();
        assert_eq!(found.first().map(String::as_str), host, "{variable}");
    }

    #[test]
    fn names_of_variables_are_decoded_as_the_programs_do() {
        check("TF_TOKEN_app_terraform_io", Some("app.terraform.io"));
        check("TF_TOKEN_a__b_example", Some("a-b.example"));
        check("TF_TOKEN_a-b.example", Some("a-b.example"));
        check("TF_TOKEN_café_fr", Some("café.fr"));
        check("TF_TOKEN_xn____caf__dma_fr", Some("café.fr"));
        check("TF_TOKEN_xn--caf-dma.fr", Some("café.fr"));
        check("TF_TOKEN_localhost:18443", Some("localhost:18443"));
        check("TF_TOKEN_", None);
        check("TF_TOKEN_a___b", None);
        check("TF_TOKEN__a", None);
        check("TF_TOKENS", None);
    }
}
