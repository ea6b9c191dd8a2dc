//! Include blocks of a unit, with the parents that they name (rules 3).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::documents::ParsedFile;
use super::evaluation::{
    Evaluation, ExprContext, FileRole, Include, MergeStrategy, ReadFailure, Sharing, block, blocks,
    label,
};
use super::limits::MAX_INCLUDES;
use super::outcome::{FilePlace, Outcome, Stop};
use crate::diag::{Diagnostic, FileId, rules};
use crate::expr::Demand;
use crate::hcl::tree::{Attribute, Block};
use crate::world::clean;

impl Evaluation<'_> {
    /// Returns the include blocks of a unit, with their parents.
    pub(super) fn includes(&mut self, at: usize) -> Outcome<Arc<Vec<Include>>> {
        if self.instances[at].role != FileRole::Unit {
            return Ok(Arc::default());
        }
        match self.includes.begin(at) {
            Demand::Computed(includes) => return includes,
            // Functions in an include block see no parents.
            Demand::Cycle => return Ok(Arc::default()),
            Demand::Begun => {}
        }
        let includes = self.read_includes(at).map(Arc::new);
        self.includes.finish(at, includes.clone());
        includes
    }

    /// Returns the parents of a unit, in the order of their blocks.
    pub(super) fn parents(&mut self, at: usize) -> Outcome<Vec<usize>> {
        let includes = self.includes(at)?;
        Ok(includes
            .iter()
            .filter_map(|include| include.parent.clone().ok())
            .collect())
    }

    /// Returns the errors of parents of the unit that are missing, although nothing of them is merged.
    pub(super) fn missing_parents(&mut self) -> Vec<Diagnostic> {
        let includes = self.includes(0).unwrap_or_default();
        includes
            .iter()
            .filter_map(|include| include.parent.as_ref().err())
            .map(|stop| stop.diagnostic().clone())
            .collect()
    }

    fn read_includes(&mut self, at: usize) -> Outcome<Vec<Include>> {
        let document = Arc::clone(&self.instances[at].document);
        let mut includes: Vec<Include> = Vec::new();
        for block in blocks(&document, "include") {
            let place = self.place(at, block.header);
            if includes.len() >= MAX_INCLUDES {
                return Err(Stop::uncertain(place, "too many files are included"));
            }
            let include = self.read_include(at, block, place)?;
            // Only one block may have no label, also beside others with labels (rules 3.1).
            if include.is_bare && includes.iter().any(|other| other.is_bare) {
                let title = "Multiple bare include blocks";
                let note = "give each include block a label";
                return Err(Stop::invalid(title, place, note));
            }
            includes.push(include);
        }
        Ok(includes)
    }

    fn read_include(&mut self, at: usize, block: &Block, place: FilePlace) -> Outcome<Include> {
        const ARGUMENTS: [&str; 3] = ["path", "expose", "merge_strategy"];
        let unsupported = block
            .body
            .attributes()
            .find(|attribute| !ARGUMENTS.contains(&attribute.name.text.as_str()));
        if let Some(attribute) = unsupported {
            let place = self.place(at, attribute.name.span);
            let title = "Unsupported argument";
            return Err(Stop::refused(rules::UNSUPPORTED_ITEM, title, place, ""));
        }
        let Some(path) = block.body.attribute("path") else {
            let title = "Missing required argument";
            return Err(Stop::invalid(title, place, "path is required"));
        };
        let path_place = self.attribute_place(at, path);
        let path = self.text(at, path, ExprContext::Include)?.ok_or_else(|| {
            Stop::invalid("Unsuitable value type", path_place, "null is not allowed")
        })?;
        if path.is_empty() {
            let title = "An include block must specify a path";
            return Err(Stop::invalid(title, path_place, ""));
        }
        // The path is relative to the unit, not to the working directory (rules 3.1).
        let path = clean(&self.instances[at].unit_dir.join(path));
        let is_exposed = match block.body.attribute("expose") {
            Some(expose) => match self.text(at, expose, ExprContext::Include)?.as_deref() {
                None | Some("false") => false,
                Some("true") => true,
                Some(_) => {
                    let place = self.attribute_place(at, expose);
                    return Err(Stop::wrong_type(place, "a bool is required"));
                }
            },
            None => false,
        };
        let strategy = match block.body.attribute("merge_strategy") {
            Some(strategy) => self.strategy(at, strategy)?,
            None => MergeStrategy::Shallow,
        };
        let parent = match self.document(&path, Sharing::Shared) {
            Ok((document, file)) => Ok(self.parent(at, &path, path_place, document, file)?),
            Err(failure) => {
                let stop = failure.stop("Include configuration not found", &path, path_place);
                // Nothing of it is merged, so that what decides the files may be known without it (rules 3.5).
                if strategy != MergeStrategy::None || failure != ReadFailure::Missing {
                    return Err(stop);
                }
                Err(stop)
            }
        };
        Ok(Include {
            label: label(block),
            is_bare: block.labels.is_empty(),
            path,
            is_exposed,
            strategy,
            parent,
        })
    }

    fn strategy(&mut self, at: usize, attribute: &Attribute) -> Outcome<MergeStrategy> {
        let place = self.attribute_place(at, attribute);
        let text = self.text(at, attribute, ExprContext::Include)?;
        match text.as_deref() {
            None | Some("shallow") => Ok(MergeStrategy::Shallow),
            Some("deep") => Ok(MergeStrategy::Deep),
            Some("no_merge") => Ok(MergeStrategy::None),
            Some(other) => {
                let note = format!("{other:?} is none of no_merge, shallow and deep");
                Err(Stop::invalid("Unknown merge strategy", place, &note))
            }
        }
    }

    fn parent(
        &mut self,
        at: usize,
        path: &Path,
        place: FilePlace,
        document: Arc<ParsedFile>,
        file: FileId,
    ) -> Outcome<usize> {
        let is_nested = block(&document, "include").is_some();
        let parent = self.add(document, file, FileRole::Parent(at));
        self.check_syntax(parent)?;
        // A parent includes nothing (rules 3.1).
        if is_nested {
            let note = format!("{} includes another file", path.display());
            let title = "Only one level of includes is allowed";
            return Err(Stop::invalid(title, place, &note));
        }
        Ok(parent)
    }

    /// Returns the paths of the parents that relative functions may mean (rules 5.2): one, or none of a unit without
    /// parents; else the label names no single one.
    pub(super) fn included(&mut self, at: usize, label: Option<&str>) -> Outcome<Vec<PathBuf>> {
        // In a parent these functions are about the parent itself (rules 3.2).
        if let FileRole::Parent(_) = self.instances[at].role {
            return Ok(vec![self.instances[at].document.path.clone()]);
        }
        let includes = self.includes(at)?;
        // Of two blocks with one label the later counts (rules 3.1).
        let labelled = includes
            .iter()
            .rev()
            .find(|include| label.is_some_and(|label| include.label == label));
        Ok(match labelled {
            Some(include) => vec![include.path.clone()],
            // With one parent the label is not checked (rules 5.2).
            None => includes
                .iter()
                .map(|include| include.path.clone())
                .collect(),
        })
    }
}
