//! Values in settings of OpenTofu: backends and encryption (rules 9.8, 10.3).

use std::sync::Arc;

use crate::config::tree::reader::Reader;
use crate::config::tree::values::{ExprRole, Outcome, ROOT, Values, at, refuse};
use crate::expr::{Marks, UsedNames};
use crate::module_config::decode::contents::{Backend, ComputedBackend, Contents, LocalBackend};
use crate::module_config::decode::late::Late;
use crate::module_config::syntax::references;

impl Values {
    /// Computes the settings of the root; returns the backend, which keeps the state.
    pub(in crate::texts::config) fn settings(
        &mut self,
        root: &Contents,
        reader: &mut Reader<'_>,
    ) -> Option<Backend> {
        let before = reader.found.len();
        for late in &root.encryption {
            self.encryption(late, reader);
        }
        let backend = match &root.backend {
            Some(Backend::Computed(computed)) => Some(self.backend(computed, reader)),
            constant => constant.clone(),
        };
        reader.spare_lock(before);
        backend
    }

    fn backend(&mut self, computed: &ComputedBackend, reader: &mut Reader<'_>) -> Backend {
        let mut local = LocalBackend::default();
        let (mut all_marks, mut is_known) = (Marks::default(), true);
        for (name, late) in &computed.arguments {
            let Ok(value) = self.evaluate(ROOT, late, ExprRole::Source, reader) else {
                is_known = false;
                continue;
            };
            let (value, marks) = Arc::unwrap_or_clone(value).bare();
            all_marks = all_marks.and(marks);
            is_known &= value.value.is_wholly_known();
            let text = value.value.to_text().map(Into::into);
            match &**name {
                "path" => local.path = text,
                "workspace_dir" => local.workspace_dir = text,
                _ => {}
            }
        }
        let titles = [
            (
                all_marks.sensitive,
                "Backend config contains sensitive values",
            ),
            (
                all_marks.ephemeral,
                "Backend config contains ephemeral values",
            ),
        ];
        // Marked values are refused in backends, and allowed in `encryption` (rules 9.8).
        for (has_mark, title) in titles {
            if has_mark {
                refuse(title, computed.place, "it is kept in plain text", reader);
            }
        }
        if computed.is_local && is_known && all_marks.is_none() {
            return Backend::Local(local);
        }
        Backend::Elsewhere {
            kind: computed.kind.clone(),
            place: computed.place,
        }
    }

    /// Checks the names in an argument of an encryption; its value requires no provider.
    fn encryption(&mut self, late: &Late, reader: &mut Reader<'_>) {
        for used in references::inside(&late.expr) {
            // These two name blocks of the encryption itself.
            if !["key_provider", "method"].contains(&used.root) {
                let place = at(late, used.span);
                let names = &mut UsedNames::default();
                // Errors are reported; an uncertain value changes no requirement.
                let _: Outcome<()> = self.name(ROOT, used, place, ExprRole::Source, names, reader);
            }
        }
    }
}
