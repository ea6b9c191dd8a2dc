//! The version of a fetched module that would allow a version of a provider.

use crate::addr::ProviderAddr;
use crate::addr::module::{ModuleSource, RegistryModule};
use crate::config::{self, ConfigSources, Loaded, Settings};
use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::remote_module::{ModuleRequest, PinRequest, RemoteModules, RequestedSource};
use crate::requirement::ModulePath;
use crate::version::Version;

/// Says which module has to change, and whether its newest version allows the provider's version; nothing is asked
/// for but modules of registries.
pub(super) fn help(
    (loaded, module): (&Loaded, &ModulePath),
    (provider, wanted): (&ProviderAddr, &Version),
    flavor: Flavor,
    (modules, texts): (&dyn RemoteModules, &Texts),
) -> String {
    // Only the call that this repository writes can select another version of the module, and of all that it calls.
    let key = module.manifest_key();
    let call = loaded
        .remote_calls
        .iter()
        .filter(|call| {
            key.strip_prefix(&call.key)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        .min_by_key(|call| call.key.len());
    let Some(call) = call else {
        return format!("a version of that module is needed whose constraint allows {wanted}");
    };
    let line = texts.position(call.file, call.span.start).line;
    let place = format!("{}:{line}", texts.name(call.file));
    let version = call.version.as_ref();
    let stated = version.map_or_else(String::new, |version| format!(" with version {version}"));
    let called = format!("{place} calls {}{stated}", call.source.shown());
    let newest = match &call.source {
        ModuleSource::Registry(source) => newest(source, provider, wanted, flavor, modules),
        ModuleSource::Remote(_) | ModuleSource::Local(_) => None,
    };
    match newest {
        Some((newest, true)) => {
            format!("{called}: its newest version, {newest}, allows {wanted}")
        }
        Some((newest, false)) => {
            format!("{called}: its newest version, {newest}, does not allow {wanted} either")
        }
        None => format!("{called}: a version is needed whose constraint allows {wanted}"),
    }
}

/// Returns the newest version of a module, and whether it and all that it calls allow a version of a provider; `None`
/// if that could not be read.
fn newest(
    source: &RegistryModule,
    provider: &ProviderAddr,
    wanted: &Version,
    flavor: Flavor,
    modules: &dyn RemoteModules,
) -> Option<(Version, bool)> {
    let request = ModuleRequest {
        source: RequestedSource::Registry(source, None),
        flavor,
        pin: PinRequest::Unused,
    };
    let found = modules.find(&request).ok()?;
    let sources = ConfigSources {
        files: &*found.files,
        modules,
    };
    let settings = Settings {
        reads_state: false,
        ..Settings::new(flavor)
    };
    let read = config::load_with(sources, &mut Texts::default(), &found.dir, &settings);
    let is_allowed = read.requirements.constraints(provider).allows(wanted);
    // A module that cannot be read may exclude it.
    let is_seen = read.requirements.unseen_calls.is_empty() && !read.requirements.faulty;
    (is_seen || !is_allowed).then_some((found.version?, is_allowed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote_module::{FoundModule, ModuleFailure};
    use crate::world::mem::MemFiles;
    use std::path::PathBuf;
    use std::sync::Arc;

    /// A registry whose newest version of every module is 2.1.0.
    struct Newest(&'static str);

    impl RemoteModules for Newest {
        fn find(&self, _: &ModuleRequest<'_>) -> Result<FoundModule, ModuleFailure> {
            let required = format!(
                "terraform {{\n  required_providers {{\n    x = {{ version = \"{}\" }}\n  }}\n}}\n",
                self.0
            );
            Ok(FoundModule {
                files: Arc::new(MemFiles::with(&[("main.tf", &*required)])),
                dir: PathBuf::new(),
                package: "p".into(),
                shown: "p".into(),
                version: "2.1.0".parse().ok(),
                commit: None,
                place: None,
                hash: None,
                warnings: Vec::new(),
            })
        }
    }

    #[track_caller]
    fn check(call: &str, newest: &'static str, said: &str) {
        let flavor = Flavor::Terraform1_11;
        let text = format!("module \"far\" {{\n  {call}\n}}\n");
        let files = MemFiles::with(&[("r/main.tf", &*text)]);
        let mut texts = Texts::default();
        let loaded = config::load(&files, &mut texts, "r".as_ref(), &Settings::new(flavor));
        let module = loaded.modules[1].path.clone();
        let provider = ProviderAddr::parse("hashicorp/x", flavor).expect("an address");
        let wanted = "6.2.0".parse().expect("a version");
        let help = help(
            (&loaded, &module),
            (&provider, &wanted),
            flavor,
            (&Newest(newest), &texts),
        );
        assert_eq!(help, said);
    }

    #[test]
    fn the_newest_version_of_the_module_is_compared() {
        let call = "source  = \"example.com/a/b/c\"\n  version = \"~> 1.0\"";
        let called =
            "r/main.tf:2 calls example.com/a/b/c with version ~> 1.0: its newest version, 2.1.0,";
        check(call, ">= 6.0", &format!("{called} allows 6.2.0"));
        check(
            call,
            "~> 5.0",
            &format!("{called} does not allow 6.2.0 either"),
        );
        check(
            "source = \"git::https://example.com/far.git?ref=v1\"",
            ">= 6.0",
            "r/main.tf:2 calls git::https://example.com/far.git?ref=v1: a version is needed whose constraint allows 6.2.0",
        );
    }
}
