//! From text to values. A fault in a file is a diagnostic; parsers return all of them and what they understood.

#[doc(hidden)]
pub mod cliconfig;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod effective;
#[doc(hidden)]
pub mod expr;
#[doc(hidden)]
pub mod hcl;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod lockfile;
#[doc(hidden)]
pub mod module_config;
#[doc(hidden)]
pub mod pins;
#[doc(hidden)]
pub mod project;
#[doc(hidden)]
pub mod remote_module;
#[doc(hidden)]
pub mod terragrunt;
