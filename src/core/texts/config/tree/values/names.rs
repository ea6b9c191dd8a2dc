//! Names that an expression may use, and their values (rules 9.2, 9.3).

use std::path::Path;
use std::sync::Arc;

use crate::config::tree::reader::Reader;
use crate::config::tree::resolve::Module;
use crate::config::tree::values::{
    ExprRole, Outcome, REFUSED, Stage, Stop, Values, refuse, uncertain,
};
use crate::expr::{Typed, UsedNames};
use crate::flavor::Flavor;
use crate::hcl::tree::Step;
use crate::module_config::decode::variables::Given;
use crate::module_config::file::SourcePlace;
use crate::module_config::syntax::references::{self, Reference};

impl Values {
    /// Finds the value of one name that an expression uses.
    pub(super) fn name(
        &mut self,
        node: usize,
        used: Reference<'_>,
        place: SourcePlace,
        role: ExprRole,
        names: &mut UsedNames,
        reader: &mut Reader<'_>,
    ) -> Outcome<()> {
        if let Some(title) = references::fault(used, self.flavor) {
            refuse(title, place, "", reader);
            return Err(REFUSED);
        }
        let attribute = match used.steps.first() {
            Some(Step::Attr(word)) => word.text.as_str(),
            _ => "",
        };
        let root = match used.root {
            // OpenTofu reads both names.
            "tofu" if self.flavor.is_opentofu() => "terraform",
            root => root,
        };
        let value = match root {
            "var" => Some(self.used_variable(node, attribute, place, reader)?),
            "local" => Some(self.used_local(node, attribute, place, reader)?),
            // Terraform computes versions from variables and local values only (rules 9.1).
            "path" if role == ExprRole::Version && !self.flavor.is_opentofu() => None,
            "path" => Some(self.path(node, attribute, place, reader)?),
            "terraform" => self.terraform(attribute, place, reader)?,
            _ => None,
        };
        if let Some(value) = value {
            names.add_attribute(used.root, attribute, value);
            return Ok(());
        }
        if role == ExprRole::Value && !self.is_strict() {
            // Terraform looks only at the names of the source itself (rules 9.3).
            names.add_unknown(used.root);
            return Ok(());
        }
        let (title, remark) = refusal(role, used.root, self.flavor);
        refuse(title, place, remark, reader);
        Err(REFUSED)
    }

    fn used_variable(
        &mut self,
        node: usize,
        name: &str,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let module = self.declarations(node);
        let variable = module
            .iter()
            .flat_map(|module| &module.contents.variables)
            .find(|variable| variable.name == name);
        let Some(variable) = variable else {
            let titles = [
                "Undefined variable",
                "Reference to undeclared input variable",
            ];
            return Err(self.undefined(titles, &format!("variable {name:?}"), place, reader));
        };
        let constant = variable.constant.as_ref();
        let is_early = self.stage == Stage::Early;
        // Terraform computes only variables that say `const = true` (rules 9.2).
        if is_early && !self.flavor.is_opentofu() && !Given::says(constant, true) {
            return Ok(Arc::new(Typed::unknown(variable.value_type())));
        }
        if self.is_strict() && Given::says(constant, false) {
            let title = "Unable to use variable in static context";
            refuse(title, place, "the variable is not const", reader);
            return Err(REFUSED);
        }
        let value = self.variable(node, variable, reader);
        self.report_use(&value, place, reader);
        value
    }

    fn used_local(
        &mut self,
        node: usize,
        name: &str,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let module = self.declarations(node);
        let local = module
            .iter()
            .flat_map(|module| &module.contents.locals)
            .find(|local| local.name == name);
        let Some(local) = local else {
            let titles = ["Undefined local", "Reference to undeclared local value"];
            return Err(self.undefined(titles, &format!("local value {name:?}"), place, reader));
        };
        let value = self.local(node, local, reader);
        self.report_use(&value, place, reader);
        value
    }

    fn declarations(&self, node: usize) -> Option<Arc<Module>> {
        self.modules
            .get(&node)
            .map(|module| Arc::clone(&module.module))
    }

    /// Refuses a name that its module does not declare, under the title of OpenTofu or of Terraform.
    fn undefined(
        &self,
        [of_opentofu, of_terraform]: [&str; 2],
        subject: &str,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Stop {
        let title = if self.flavor.is_opentofu() {
            of_opentofu
        } else {
            of_terraform
        };
        let remark = format!("this module has no {subject}");
        refuse(title, place, &remark, reader);
        REFUSED
    }

    /// Returns the value of `path.NAME`, relative to the root except for `path.cwd`.
    fn path(
        &self,
        node: usize,
        name: &str,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let dir = match (name, self.modules.get(&node)) {
            ("module", Some(module)) => module.dir.as_path(),
            ("root", _) => Path::new(""),
            ("cwd", _) => self
                .absolute_root
                .as_deref()
                .ok_or_else(|| uncertain(place, "the working directory is not known"))?,
            _ => {
                let title = "Invalid \"path\" attribute";
                refuse(title, place, "there is no such path", reader);
                return Err(REFUSED);
            }
        };
        // The programs write the directory of the root as `.`.
        let dir = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        };
        Ok(Arc::new(Typed::string(dir.display().to_string())))
    }

    /// Returns `terraform.NAME`; `None` if it is not known early.
    fn terraform(
        &self,
        name: &str,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Outcome<Option<Arc<Typed>>> {
        let is_known = self.flavor.is_opentofu() || self.stage == Stage::Plan;
        let title = match (self.is_strict(), name) {
            (_, "workspace") if is_known => {
                return Ok(Some(Arc::new(Typed::string(&*self.workspace))));
            }
            (true, "applying") => "Invalid attribute in static context",
            (true, _) => "Invalid \"terraform\" attribute",
            (false, _) => return Ok(None),
        };
        refuse(title, place, "only the workspace is known early", reader);
        Err(REFUSED)
    }
}

/// Returns the title and the remark for a name that is not known before the plan.
fn refusal(role: ExprRole, root: &str, flavor: Flavor) -> (&'static str, &'static str) {
    match role {
        _ if flavor.is_opentofu() && root == "module" => (
            "Module output not supported in static context",
            "outputs are known after the plan only",
        ),
        _ if flavor.is_opentofu() => (
            "Dynamic value in static context",
            "this is known after the plan only",
        ),
        ExprRole::Version => (
            "Invalid module version",
            "a version is made of variables and local values only",
        ),
        ExprRole::Source | ExprRole::Value => (
            "Invalid module source",
            "a source is made of variables, local values and paths only",
        ),
    }
}
