//! The API of GitHub as the environment names it: that of the job in Actions, or of the user.

use crate::addr::Url;
use crate::report::Failure;
use crate::sources::release_contents::GITHUB_API;
use crate::world::{Credentials, Env, Secret};

/// The API of GitHub, or of a GitHub Enterprise.
pub(crate) struct GithubApi {
    /// The address, with a slash at its end.
    pub(crate) url: Url,
    pub(crate) token: Option<Credentials>,
    /// The host of the repositories that it knows.
    pub(crate) host: String,
}

impl GithubApi {
    /// Reads the environment; makes no request.
    ///
    /// # Errors
    /// If `GITHUB_API_URL` or `GITHUB_SERVER_URL` is no address.
    pub(crate) fn read(env: &dyn Env) -> Result<Self, Failure> {
        let variable = |name: &str| {
            let value = env.var(name)?.into_string().ok()?;
            (!value.is_empty()).then_some(value)
        };
        let address = |name: &str, usual: &str| {
            let text = variable(name).unwrap_or_else(|| usual.to_owned());
            text.parse::<Url>().map_err(|error| {
                Failure::from_error(&error).help(format!("{name} is an address of GitHub"))
            })
        };
        let token = variable("GITHUB_TOKEN").or_else(|| variable("GH_TOKEN"));
        Ok(Self {
            url: address("GITHUB_API_URL", GITHUB_API)?.as_directory(),
            token: token.map(|token| Credentials::Bearer(Secret::new(token))),
            host: address("GITHUB_SERVER_URL", "https://github.com")?
                .origin()
                .host,
        })
    }
}
