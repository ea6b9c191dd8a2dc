//! The edits that a moved provider needs, root by root.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::module::spelled;
use crate::addr::ProviderAddr;
use crate::authenticate::Rules;
use crate::config::{Loaded, state_command};
use crate::diag::{FileId, Span, Texts};
use crate::driver::{Job, OpenResult};
use crate::hash::Hashes;
use crate::hcl::tree::{Body, ExprKind, Item};
use crate::lock::{LockOptions, sound};

use crate::locker::{self, OutdatedRequest, VersionComparison};
use crate::lockfile::{self, LockFile};
use crate::report::{Failure, RootResult};
use crate::requirement::{RequirementOrigin, Requirements, StateSeen};
use crate::run::edits::PlannedEdits;
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::typed_addr::TypedAddr;
use crate::run::user::enforcement;
use crate::run::user::sources::Sources;
use crate::{hcl, project};

/// The edits of all roots, and what remains to be done by hand.
#[derive(Default)]
pub(super) struct ReplacedRoots {
    pub(super) edits: PlannedEdits,
    /// The commands that change the states, in the order of the roots.
    pub(super) state_commands: Vec<String>,
    pub(super) remarks: Vec<String>,
    /// Some root has the old provider.
    is_known: bool,
}

/// The job that plans the edits.
pub(super) struct ReplaceJob<'r, 'a> {
    pub(super) session: Rc<Session<'a>>,
    old: &'r TypedAddr,
    new: &'r TypedAddr,
    sources: Sources<'a>,
    pub(super) replaced: ReplacedRoots,
}

/// A root with the old provider.
pub(super) struct AffectedRoot {
    pub(super) root: Root,
    pub(super) loaded: Loaded,
    pub(super) old: ProviderAddr,
    pub(super) new: ProviderAddr,
    /// The lock file with the entry at its new address, without hashes.
    lock: LockFile,
    /// The requirements on the old provider as those on the new one.
    requirements: Requirements,
    source: usize,
}

impl<'r, 'a> ReplaceJob<'r, 'a> {
    pub(super) fn new(
        session: &Rc<Session<'a>>,
        options: &LockOptions,
        old: &'r TypedAddr,
        new: &'r TypedAddr,
    ) -> Self {
        Self {
            session: Rc::clone(session),
            old,
            new,
            sources: Sources::new(Rc::clone(session), options.source.choice(session.options)),
            replaced: ReplacedRoots::default(),
        }
    }
}

impl Job for ReplaceJob<'_, '_> {
    type Opened = AffectedRoot;
    type Done = ();

    fn open(
        &mut self,
        root: Root,
        loaded: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<AffectedRoot>, Failure> {
        let flavor = root.flavor;
        let (old, new) = (self.old.by_rules_of(flavor)?, self.new.by_rules_of(flavor)?);
        let Some(loaded) = sound(&root, loaded, result)? else {
            return Ok(OpenResult::Finished);
        };
        let document = &root.document().lock;
        let is_required = loaded.requirements.providers.contains_key(&old);
        if !is_required && !document.providers.contains_key(&old) {
            return Ok(OpenResult::Finished);
        }
        self.replaced.is_known = true;
        let mut lock = document.clone();
        if let Some(entry) = lock.providers.remove(&old) {
            lock.providers
                .entry(new.clone())
                .or_insert(lockfile::ProviderLock {
                    hashes: Hashes::default(),
                    ..entry
                });
        }
        let mut requirements = loaded.requirements.clone();
        if let Some(places) = requirements.providers.remove(&old) {
            requirements
                .providers
                .entry(new.clone())
                .or_default()
                .extend(places);
        }
        let source = self.sources.of_root(&root, true, texts, result)?;
        Ok(source.map_or(OpenResult::Finished, |source| {
            OpenResult::Ready(AffectedRoot {
                root,
                loaded,
                old,
                new,
                lock,
                requirements,
                source,
            })
        }))
    }

    fn obstacles(&self) -> Vec<Failure> {
        if self.replaced.is_known {
            return Vec::new();
        }
        let title = format!("{} cannot be replaced: nothing requires it", self.old);
        vec![Failure::new(title).help("name the provider as `lockctl tree` does")]
    }

    fn work(&mut self, mut roots: Vec<(AffectedRoot, &mut RootResult)>, texts: &Texts) -> Vec<()> {
        self.keep_offered(&mut roots);
        let mut project_files = BTreeSet::new();
        for (opened, result) in &mut roots {
            for failure in self.sources_of(opened, texts) {
                result.fail(failure);
            }
            let root = &opened.root;
            let requirements = &opened.loaded.requirements;
            let is_in_state = requirements
                .places(&opened.old)
                .iter()
                .any(|place| place.origin == RequirementOrigin::State);
            if is_in_state || requirements.state == StateSeen::No {
                self.replaced.state_commands.push(state_command(
                    root.flavor,
                    &root.dir,
                    &opened.old,
                    &opened.new,
                ));
            }
            if let Some(lock) = &root.lock {
                let text = lockfile::write(&opened.lock, root.flavor);
                self.replaced
                    .edits
                    .rewrite(&root.lock_path, &lock.bytes, text.into_bytes());
            }
            let path = root.project_file();
            if let Some(path) = path.filter(|path| project_files.insert(path.to_owned())) {
                let failure = self.project_file(path, opened).err();
                if let Some(failure) = failure {
                    result.fail(failure);
                }
            }
        }
        roots.iter().map(|_| ()).collect()
    }
}

impl ReplaceJob<'_, '_> {
    /// Takes out entries whose version the new address does not offer, so that the newest allowed is selected.
    fn keep_offered(&mut self, roots: &mut [(AffectedRoot, &mut RootResult)]) {
        let sources = self.sources.by_number();
        let named: Vec<BTreeSet<ProviderAddr>> = roots
            .iter()
            .map(|(opened, _)| [opened.new.clone()].into())
            .collect();
        let requests: Vec<OutdatedRequest<'_>> = roots
            .iter()
            .zip(&named)
            .map(|((opened, _), named)| OutdatedRequest {
                source: &sources[opened.source],
                requirements: &opened.requirements,
                lock: &opened.lock,
                overridden: &[],
                named,
                policy: None,
            })
            .collect();
        let enforced = enforcement(self.session.world.env);
        let compared = locker::outdated(&|flavor| Rules { flavor, enforced }, &requests);
        for ((opened, _), compared) in roots.iter_mut().zip(compared) {
            let lacks = compared.iter().any(|provider| {
                matches!(&provider.standing, VersionComparison::Offered { outlook, .. } if !outlook.offers_locked)
            });
            if lacks && let Some(entry) = opened.lock.providers.remove(&opened.new) {
                self.replaced.remarks.push(format!(
                    "{}: {} does not offer {}, so that the newest allowed version is selected",
                    opened.root.dir.display(),
                    opened.new.short(opened.root.flavor),
                    entry.version
                ));
            }
        }
    }

    /// Plans the edits of a project file: labels, and texts in lists and arguments, that are the old address.
    fn project_file(
        &mut self,
        path: &std::path::Path,
        opened: &AffectedRoot,
    ) -> Result<(), Failure> {
        let world = self.session.world;
        let bytes = world
            .disk
            .read(path, project::MAX_FILE_BYTES)
            .map_err(|error| {
                Failure::new(format!("{} cannot be read", path.display()))
                    .because(error.to_string())
            })?;
        let (body, _) = hcl::parse(FileId::ALONE, &bytes);
        let mut found = Vec::new();
        texts_of(&body, &mut |text, span| {
            let addr = ProviderAddr::parse(text, opened.root.flavor).ok();
            // A type alone is an address, too, and any word may be one.
            if text.contains('/') && addr.as_ref() == Some(&opened.old) {
                let new = spelled(&opened.new, text, opened.root.flavor);
                found.push((span, hcl::edit::quoted(&new)));
            }
        });
        if !found.is_empty() {
            let edited = hcl::edit::splice(&bytes, found);
            self.replaced.edits.rewrite(path, &bytes, edited);
        }
        Ok(())
    }
}

/// Visits the labels of blocks and the texts of arguments and lists, each with its place.
fn texts_of(body: &Body, visit: &mut dyn FnMut(&str, Span)) {
    for item in &body.items {
        match item {
            Item::Block(block) => {
                for label in &block.labels {
                    visit(&label.text, label.span);
                }
                texts_of(&block.body, visit);
            }
            Item::Attribute(attribute) => match &attribute.value.kind {
                ExprKind::String(text) => visit(text, attribute.value.span),
                ExprKind::Tuple(elements) => {
                    for element in elements {
                        if let ExprKind::String(text) = &element.kind {
                            visit(text, element.span);
                        }
                    }
                }
                _ => {}
            },
        }
    }
}
