//! Values in settings of OpenTofu: backends, encryption, keys of providers (rules 9.8, 10.1, 10.3).

use std::sync::Arc;

use crate::config::loaded::BackendUse;
use crate::config::tree::reader::Reader;
use crate::config::tree::values::names::Names;
use crate::config::tree::values::{Outcome, ROOT, Role, Stop, Values, at, refuse};
use crate::diag::Severity;
use crate::expr::{Type, Typed, Value};
use crate::module_config::decode::contents::{
    Backend, ComputedBackend, Contents, Late, LocalBackend,
};
use crate::module_config::syntax::references;

impl Values {
    /// Computes the settings of the root; returns where the state is kept.
    pub(in crate::config) fn settings(
        &mut self,
        root: &Contents,
        use_: BackendUse,
        reader: &mut Reader<'_>,
    ) -> Option<Backend> {
        for late in &root.encryption {
            self.encryption(late, reader);
        }
        let Some(Backend::Computed(computed)) = &root.backend else {
            return root.backend.clone();
        };
        let before = reader.found.len();
        let backend = self.backend(computed, reader);
        if use_ == BackendUse::LeftAlone {
            for fault in reader.found.iter_mut().skip(before) {
                fault.severity = fault.severity.min(Severity::Warning);
            }
        }
        Some(backend)
    }

    fn backend(&mut self, computed: &ComputedBackend, reader: &mut Reader<'_>) -> Backend {
        let elsewhere = Backend::Elsewhere {
            kind: computed.kind.clone(),
            place: computed.place,
        };
        let mut local = LocalBackend::default();
        let (mut secret, mut passing, mut is_known) = (false, false, true);
        for (name, late) in &computed.arguments {
            let Ok(value) = self.evaluate(ROOT, late, Role::Source, reader) else {
                is_known = false;
                continue;
            };
            let (value, marks) = Arc::unwrap_or_clone(value).bare();
            secret |= marks.sensitive;
            passing |= marks.ephemeral;
            is_known &= value.value.is_wholly_known();
            let text = value.value.to_text().map(Into::into);
            match &**name {
                "path" => local.path = text,
                "workspace_dir" => local.workspace_dir = text,
                _ => {}
            }
        }
        let titles = [
            (secret, "Backend config contains sensitive values"),
            (passing, "Backend config contains ephemeral values"),
        ];
        for (_, title) in titles.iter().filter(|(is_so, _)| *is_so) {
            refuse(title, computed.place, "it is kept in plain text", reader);
        }
        match computed.is_local && is_known && !secret && !passing {
            true => Backend::Local(local),
            false => elsewhere,
        }
    }

    /// Checks what an argument of an encryption names; its value is nothing that requires a provider.
    fn encryption(&mut self, late: &Late, reader: &mut Reader<'_>) {
        let own = |root: &str| ["key_provider", "method"].contains(&root);
        for used in references::inside(&late.expr) {
            if !own(used.root) {
                let place = at(late, used.span);
                let names = &mut Names::default();
                // What is wrong is reported; what is uncertain changes no requirement.
                let _: Outcome<()> = self.name(ROOT, used, place, Role::Source, names, reader);
            }
        }
    }

    /// Checks the keys of a provider: maps and sets of strings, known and no secret.
    pub(super) fn for_each(&mut self, node: usize, late: &Late, reader: &mut Reader<'_>) {
        let value = match self.evaluate(node, late, Role::Source, reader) {
            Ok(value) => value,
            Err(Stop::Refused | Stop::Unfit | Stop::Uncertain(_)) => return,
        };
        if !is_set_of_keys(value) {
            let remark = "a map or a set of known strings is needed here";
            refuse("Invalid for_each argument", late.place(), remark, reader);
        }
    }
}

fn is_set_of_keys(value: Arc<Typed>) -> bool {
    let (value, marks) = Arc::unwrap_or_clone(value).unmarked();
    if !marks.is_none() {
        return false;
    }
    match (&value.ty, &value.value) {
        (Type::Map(_) | Type::Object(_), Value::Object(_)) => true,
        (Type::Set(_), Value::Tuple(items)) => {
            items.iter().all(|item| matches!(item, Value::String(_)))
        }
        _ => false,
    }
}
