//! The variables of the environment about a shared store.

use std::path::Path;

use crate::addr::StoreUrl;
use crate::authenticate::FactSigner;
use crate::report::Failure;
use crate::run::World;
use crate::world::Env;

/// Names the store instead of the project file.
const STORE: &str = "LOCKCTL_STORE";

/// Holds the private key that signs what is added to the store.
const KEY: &str = "LOCKCTL_FACT_KEY";

/// Names the file that holds it.
const KEY_FILE: &str = "LOCKCTL_FACT_KEY_FILE";

/// Maximum size of a file with a key, in bytes.
const MAX_KEY_BYTES: u64 = 1024;

/// Returns the URL of the store, if the environment states one.
///
/// # Errors
/// If it is none.
pub(crate) fn url(env: &dyn Env) -> Result<Option<StoreUrl>, Failure> {
    let Some(text) = stated(env, STORE) else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|error| {
        Failure::new(format!("{STORE} is no URL of a store"))
            .because(format!("{error}"))
            .help("write a URL as in s3://bucket/lockctl")
    })
}

/// Returns the key that signs what is added to the store, if the environment has one.
///
/// # Errors
/// If it is none; the text itself is not repeated.
pub(crate) fn signer(world: World<'_>) -> Result<Option<FactSigner>, Failure> {
    let (name, text) = match (stated(world.env, KEY), stated(world.env, KEY_FILE)) {
        (Some(text), _) => (KEY.to_owned(), text),
        (None, Some(path)) => {
            let bytes = world.disk.read(Path::new(&path), MAX_KEY_BYTES);
            let bytes = bytes.map_err(|error| {
                Failure::new(format!("{path} cannot be read"))
                    .because(error.to_string())
                    .help(format!("correct {KEY_FILE}"))
            })?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            (path, text)
        }
        (None, None) => return Ok(None),
    };
    FactSigner::parse(&text).map(Some).map_err(|error| {
        Failure::new(format!("{name} holds no private key"))
            .because(error.to_string())
            .help("`lockctl cache keygen NAME` prints one")
    })
}

fn stated(env: &dyn Env, name: &str) -> Option<String> {
    let value = env.var(name)?.into_string().ok()?;
    (!value.is_empty()).then_some(value)
}
