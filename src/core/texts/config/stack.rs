//! Terraform Stacks, as far as HashiCorp documents them (rules 13).

use std::path::Path;
use std::sync::Arc;

use crate::config::limits::{MAX_FILE_BYTES, MAX_FILES};
use crate::config::loaded::Loaded;
use crate::diag::{Diagnostic, FileId, Span, Texts, has_errors, rules};
use crate::flavor::Flavor;
use crate::module_config::decode::contents::Contents;
use crate::module_config::decode::providers;
use crate::module_config::file::{ModuleFile, ModuleFileRole, Syntax};
use crate::module_config::syntax;
use crate::requirement::{ModulePath, Requirement, RequirementOrigin};
use crate::world::{DirEntry, FileKind, Files};

/// The title of the note on what is not read of a Stack.
const NOT_READ: &str = "Terraform Stack: the modules of its components are not read";

/// Endings of files that declare components; the second one is that of older versions.
const COMPONENTS: [&str; 2] = [".tfcomponent.hcl", ".tfstack.hcl"];

/// The ending of files that declare deployments, which require no provider.
const DEPLOYMENTS: &str = ".tfdeploy.hcl";

/// Returns whether the files of a directory make it a Terraform Stack.
#[must_use]
pub fn is_stack(entries: &[DirEntry]) -> bool {
    let ends = |ending: &str| entries.iter().any(|entry| has_ending(entry, ending));
    COMPONENTS.into_iter().any(ends) || ends(DEPLOYMENTS)
}

fn has_ending(entry: &DirEntry, ending: &str) -> bool {
    let name = entry.name.as_encoded_bytes();
    entry.kind != FileKind::Directory && name.ends_with(ending.as_bytes())
}

/// Reads the providers that a Stack requires by itself; the modules of its components count as not seen.
#[must_use]
pub fn load_stack(files: &dyn Files, texts: &mut Texts, dir: &Path, flavor: Flavor) -> Loaded {
    let mut entries = files.list(dir).unwrap_or_default();
    entries.retain(|entry| {
        COMPONENTS
            .into_iter()
            .any(|ending| has_ending(entry, ending))
    });
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    // The components are other configurations: what they require is never known from these files.
    let mut loaded = Loaded::unseen(FileId::ALONE, "", NOT_READ);
    for (position, entry) in entries.iter().take(MAX_FILES).enumerate() {
        // Messages show paths as the programs do, without `./`.
        let path = if dir == Path::new(".") {
            entry.name.clone().into()
        } else {
            dir.join(&entry.name)
        };
        let (bytes, unread) = match files.read(&path, MAX_FILE_BYTES) {
            Ok(bytes) => (bytes, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let id = texts.add(files.shown(&path), bytes);
        if let Some(reason) = unread {
            let error = Diagnostic::error(rules::FILE_UNREADABLE, "Failed to read file");
            loaded
                .diagnostics
                .push(error.at(id, Span::default(), reason));
        }
        if position == 0 {
            loaded.show_at(id);
        }
        loaded.add_required(id, texts, flavor);
    }
    if entries.is_empty() {
        let id = texts.add(files.shown(dir), Vec::new());
        loaded.show_at(id);
    }
    loaded.requirements.faulty = has_errors(&loaded.diagnostics);
    loaded
}

impl Loaded {
    /// Moves the note on what is not seen to the beginning of a file.
    fn show_at(&mut self, file: FileId) {
        for label in self
            .diagnostics
            .iter_mut()
            .filter_map(|it| it.primary.as_mut())
        {
            label.file = file;
        }
        for call in &mut self.requirements.unseen_calls {
            call.file = file;
        }
    }

    /// Adds the blocks `required_providers` of a file, which are no part of another block in a Stack.
    fn add_required(&mut self, id: FileId, texts: &Texts, flavor: Flavor) {
        let file = ModuleFile {
            id,
            role: ModuleFileRole::Primary,
            syntax: Syntax::Native,
            only: None,
        };
        let (body, mut faults) = syntax::parse(file, texts.bytes(id), flavor);
        let mut contents = Contents::default();
        for block in body.blocks() {
            if block.kind.text == "required_providers" {
                providers::required_providers(block, &mut contents, &mut faults);
            }
        }
        self.diagnostics.extend(faults.into_found());
        // Faults are reported, and what could be read counts all the same.
        for required in contents.required {
            let requirement = Requirement {
                constraints: Arc::new(required.stated.constraints),
                module: ModulePath::default(),
                origin: RequirementOrigin::RequiredProviders,
                file: required.stated.place.file,
                span: required.stated.place.span,
            };
            self.requirements
                .providers
                .entry(required.addr)
                .or_default()
                .push(requirement);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::MemFiles;

    #[test]
    fn a_stack_requires_what_its_component_files_say() {
        let files = MemFiles::with(&[
            (
                "s/providers.tfcomponent.hcl",
                "required_providers {\n  aws = {\n    source  = \"hashicorp/aws\"\n    version = \"~> 5.7.0\"\n  }\n}\n\
                 provider \"aws\" \"this\" {\n  config {\n    region = var.region\n  }\n}\n\
                 component \"c\" {\n  for_each = var.regions\n  source   = \"./c\"\n}\n",
            ),
            (
                "s/old.tfstack.hcl",
                "required_providers {\n  random = { source = \"hashicorp/random\" }\n}\n",
            ),
            ("s/x.tfdeploy.hcl", "required_providers {\n  no = {}\n}\n"),
        ]);
        let mut texts = Texts::default();
        let loaded = load_stack(&files, &mut texts, Path::new("s"), Flavor::Terraform1_16);
        let required: Vec<String> = loaded
            .requirements
            .providers
            .keys()
            .map(|addr| format!("{addr} {}", loaded.requirements.constraints(addr)))
            .collect();
        let wanted = [
            "registry.terraform.io/hashicorp/aws ~> 5.7.0",
            "registry.terraform.io/hashicorp/random ",
        ];
        assert_eq!(required, wanted);
        assert!(!loaded.requirements.faulty && !loaded.requirements.is_complete());
        assert_eq!(loaded.diagnostics.len(), 1, "{:?}", loaded.diagnostics);
    }
}
