//! The constraints of all roots that exclude wanted versions, and their new texts.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::foreign;
use crate::addr::ProviderAddr;
use crate::authenticate::Rules;
use crate::config::Loaded;
use crate::diag::Texts;
use crate::driver::{self, Job, OpenResult, RunInputs};
use crate::lock::moves::{Moves, NamedInRoots};
use crate::lock::opened::sound;
use crate::lock::{LockOptions, LockRequest, wanted};
use crate::locker::{self, ComparedVersions, OutdatedRequest, VersionComparison};
use crate::project::Policy;
use crate::remote_module::RemoteModules;
use crate::report::{CommandResult, Failure, RootResult};
use crate::requirement::{Requirement, RequirementOrigin, Requirements};
use crate::resolve::{Goal, Goals, Reach};
use crate::run::edits::{EditablePlace, EditedRoot, NotEditable, PlannedEdits};
use crate::run::options::job_count;
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::user::enforcement;
use crate::run::user::modules::{AutoModules, UserModules};
use crate::run::user::sources::Sources;
use crate::version::{ConstraintForm, Constraints, RaiseError, Version, raise};
use crate::workspace::Reading;

/// The job that plans the edits of all roots.
struct EditJob<'r, 'a> {
    session: Rc<Session<'a>>,
    moves: &'r Moves,
    form: ConstraintForm,
    modules: &'r dyn RemoteModules,
    sources: Sources<'a>,
    named: NamedInRoots,
    edits: PlannedEdits,
}

/// A root whose constraints may be edited.
struct EditableRoot {
    root: Root,
    loaded: Loaded,
    goals: Goals,
    policy: Option<Policy>,
    /// The number of its source.
    source: usize,
}

/// Plans the edits of all roots; the result is clean if all of them can be edited.
pub(super) fn plan(
    session: &Rc<Session<'_>>,
    request: LockRequest<'_>,
    moves: &Moves,
    form: ConstraintForm,
) -> (PlannedEdits, CommandResult) {
    let LockOptions {
        configuration,
        source,
        jobs,
        ..
    } = request.options;
    let modules = UserModules::new(session, configuration, AutoModules::Fetched);
    let mut job = EditJob {
        session: Rc::clone(session),
        moves,
        form,
        modules: &modules,
        sources: Sources::new(Rc::clone(session), source.choice(session.options)),
        named: NamedInRoots::default(),
        edits: PlannedEdits::default(),
    };
    let inputs = RunInputs {
        reading: Some(Reading {
            pins: request.pins,
            ..modules.reading()
        }),
        changed: request.changed,
        jobs: job_count(*jobs),
        ..RunInputs::of_locks(session, request.roots)
    };
    let all = driver::over_roots(&mut job, inputs);
    (job.edits, all.into_result(request.command))
}

impl Job for EditJob<'_, '_> {
    type Opened = EditableRoot;
    type Done = ();

    fn open(
        &mut self,
        root: Root,
        loaded: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<EditableRoot>, Failure> {
        let Some(loaded) = sound(&root, loaded, result)? else {
            return Ok(OpenResult::Finished);
        };
        let lock = &root.document().lock;
        let goals = self
            .moves
            .goals(&root, &loaded, lock, None, &mut self.named)?;
        let Some(goals) = goals else {
            return Ok(OpenResult::Finished);
        };
        let asks = loaded
            .requirements
            .providers
            .keys()
            .any(|provider| matches!(goals.of(provider), Some(Goal::Newest(_))));
        let source = self.sources.of_root(&root, asks, texts, result)?;
        Ok(source.map_or(OpenResult::Finished, |source| {
            OpenResult::Ready(EditableRoot {
                policy: wanted::policy(Some(self.moves), &root),
                root,
                loaded,
                goals,
                source,
            })
        }))
    }

    fn work(&mut self, roots: Vec<(EditableRoot, &mut RootResult)>, texts: &Texts) -> Vec<()> {
        for (opened, _) in &roots {
            self.edits.roots.insert(
                opened.root.dir.clone(),
                EditedRoot {
                    before: opened.stated(),
                    remarks: Vec::new(),
                },
            );
        }
        let wanted = self.wanted(&roots, texts);
        roots
            .into_iter()
            .zip(wanted)
            .map(|((opened, result), wanted)| {
                for (provider, version) in wanted {
                    for failure in self.edit(&opened, &provider, &version, texts) {
                        result.fail(failure);
                    }
                }
            })
            .collect()
    }
}

impl EditJob<'_, '_> {
    /// Returns the wanted versions of each root: those that are named, and the newest that constraints allow which
    /// are not edited.
    fn wanted(
        &mut self,
        roots: &[(EditableRoot, &mut RootResult)],
        texts: &Texts,
    ) -> Vec<BTreeMap<ProviderAddr, Version>> {
        let mut wanted = Vec::new();
        let mut relaxed = Vec::new();
        for (opened, _) in roots {
            let mut exact = BTreeMap::new();
            let mut requirements = Requirements {
                edited: opened.stated(),
                ..opened.loaded.requirements.clone()
            };
            let mut moving = BTreeSet::new();
            for (provider, places) in &mut requirements.providers {
                match opened.goals.of(provider) {
                    Some(Goal::Exactly(version)) => {
                        exact.insert(provider.clone(), version.clone());
                    }
                    Some(Goal::Newest(reach)) if !provider.is_builtin(opened.root.flavor) => {
                        moving.insert(provider.clone());
                        // A place that will be edited must not limit the version that it is edited to.
                        places.retain(|place| self.place(opened, place, texts).is_err());
                        let entry = opened.root.document().lock.providers.get(provider);
                        let any = opened.loaded.requirements.providers[provider].first();
                        places.extend(any.and_then(|place| {
                            let within = within(*reach, &entry?.version)?;
                            Some(Requirement {
                                constraints: Arc::new(within),
                                ..place.clone()
                            })
                        }));
                        // Without any place the provider would count as not required.
                        if places.is_empty() {
                            places.extend(any.map(|place| Requirement {
                                constraints: Arc::default(),
                                ..place.clone()
                            }));
                        }
                    }
                    Some(Goal::Keep) | None | Some(Goal::Newest(_)) => {}
                }
            }
            wanted.push(exact);
            relaxed.push((requirements, moving));
        }
        self.add_newest(roots, &relaxed, &mut wanted);
        wanted
    }

    fn add_newest(
        &mut self,
        roots: &[(EditableRoot, &mut RootResult)],
        relaxed: &[(Requirements, BTreeSet<ProviderAddr>)],
        wanted: &mut [BTreeMap<ProviderAddr, Version>],
    ) {
        let sources = self.sources.by_number();
        let mut numbers = Vec::new();
        let mut requests = Vec::new();
        for (number, ((opened, _), (requirements, moving))) in roots.iter().zip(relaxed).enumerate()
        {
            if moving.is_empty() {
                continue;
            }
            numbers.push(number);
            requests.push(OutdatedRequest {
                source: &sources[opened.source],
                requirements,
                lock: &opened.root.document().lock,
                overridden: &[],
                named: moving,
                policy: opened.policy.as_ref(),
            });
        }
        let enforced = enforcement(self.session.world.env);
        let compared = locker::outdated(&|flavor| Rules { flavor, enforced }, &requests);
        for (number, compared) in numbers.into_iter().zip(compared) {
            let opened = &roots[number].0;
            for provider in compared {
                let held = opened.held(&relaxed[number].0, &provider);
                if let Some(root) = self.edits.roots.get_mut(&opened.root.dir) {
                    root.remarks.extend(held);
                }
                // A provider that no source knows fails when it is locked.
                if let VersionComparison::Offered { outlook, .. } = provider.standing
                    && let Ok(newest) = outlook.allowed
                {
                    let version = provider.old_enough.unwrap_or(newest);
                    if provider.locked.is_none_or(|locked| locked < version) {
                        wanted[number].insert(provider.provider, version);
                    }
                }
            }
        }
    }

    fn place<'t>(
        &self,
        opened: &EditableRoot,
        place: &Requirement,
        texts: &'t Texts,
    ) -> Result<EditablePlace<'t>, NotEditable> {
        EditablePlace::find(
            self.session.world,
            &opened.root.dir,
            (&opened.loaded, &place.module),
            texts,
            (place.file, place.span),
        )?
        .quoted_text()
        .ok_or(NotEditable::Computed)
    }

    /// Plans the edits of the constraints on a provider; returns the reasons why the version stays excluded.
    fn edit(
        &mut self,
        opened: &EditableRoot,
        provider: &ProviderAddr,
        wanted: &Version,
        texts: &Texts,
    ) -> Vec<Failure> {
        let name = provider.short(opened.root.flavor);
        let mut failures = Vec::new();
        let mut seen = BTreeSet::new();
        for place in opened.loaded.requirements.places(provider) {
            let is_stated = !place.constraints.is_empty()
                && place.origin != RequirementOrigin::State
                && seen.insert((place.file, place.span));
            // A pre-release must be named by some place, but need not be excluded by any other.
            if !is_stated {
                continue;
            }
            let excludes = !place.constraints.allows(wanted);
            let shown = texts.name(place.file);
            let line = texts.position(place.file, place.span.start).line;
            let failure = |reason: String| {
                Failure::new(format!("{name} {wanted} is excluded at {shown}:{line}"))
                    .because(reason)
            };
            match self.place(opened, place, texts) {
                Ok(editable) => match raise(&editable.text, wanted, self.form) {
                    Ok(raised) => {
                        failures.extend(self.edits.add(editable, provider, raised).err());
                    }
                    Err(error @ RaiseError::Excluded(_)) => failures
                        .push(failure(error.to_string()).help(
                        "name another version, or delete that term if it has served its purpose",
                    )),
                    Err(error) => failures.push(failure(error.to_string())),
                },
                Err(_) if !excludes => {}
                Err(NotEditable::Computed) => failures.push(
                    failure("the constraint is built from parts, and is not edited".to_owned())
                        .help("write it by hand so that it allows the version"),
                ),
                Err(NotEditable::Foreign) => {
                    let (reason, help) = self.foreign(opened, place, (provider, wanted), texts);
                    failures.push(failure(reason).help(help));
                }
            }
        }
        failures
    }

    /// Says why a place is not edited, and what to do instead.
    fn foreign(
        &self,
        opened: &EditableRoot,
        place: &Requirement,
        (provider, wanted): (&ProviderAddr, &Version),
        texts: &Texts,
    ) -> (String, String) {
        if place.module.is_root() {
            let shown = texts.name(place.file);
            return (
                format!("{shown} is not a file of this repository, and is not edited"),
                format!("change it where it is written so that it allows {wanted}"),
            );
        }
        let reason = format!(
            "{} is not of this repository, and is not edited: it states {}",
            place.module, place.constraints
        );
        let help = foreign::help(
            (&opened.loaded, &place.module),
            (provider, wanted),
            opened.root.flavor,
            (self.modules, texts),
        );
        (reason, help)
    }
}

impl EditableRoot {
    /// Returns the conditions of all visible places, where recorded ones count beside them.
    fn stated(&self) -> BTreeMap<ProviderAddr, Constraints> {
        let requirements = &self.loaded.requirements;
        if requirements.unseen_calls.is_empty() {
            return BTreeMap::new();
        }
        requirements
            .providers
            .keys()
            .map(|provider| (provider.clone(), requirements.constraints(provider)))
            .collect()
    }

    /// Says that recorded conditions of modules that are not visible exclude the newest version.
    fn held(&self, relaxed: &Requirements, compared: &ComparedVersions) -> Option<String> {
        let (VersionComparison::Offered { outlook, .. } | VersionComparison::Unseen(outlook)) =
            &compared.standing
        else {
            return None;
        };
        // With `--minor` or `--patch` the newest is not wanted.
        if !matches!(
            self.goals.of(&compared.provider),
            Some(Goal::Newest(Reach::Any))
        ) {
            return None;
        }
        let newest = outlook.newest.as_ref()?;
        let entry = self
            .root
            .document()
            .lock
            .providers
            .get(&compared.provider)?;
        let terms: Constraints = relaxed
            .unseen_terms(&compared.provider, &entry.constraints)
            .iter()
            .filter(|term| !term.is_met_by(newest))
            .cloned()
            .collect();
        (!terms.is_empty()).then(|| {
            format!(
                "{} {newest} is excluded by \"{terms}\" of the lock file, which no visible module states; \
                 `--modules fetch` shows whether a module that is not visible does",
                compared.provider.short(self.root.flavor)
            )
        })
    }
}

/// Returns the versions within reach of a locked one, as a constraint.
fn within(reach: Reach, locked: &Version) -> Option<Constraints> {
    let Version {
        major,
        minor,
        patch,
        ..
    } = locked;
    let text = match reach {
        Reach::Any => return None,
        Reach::SameMajor => format!(">= {major}.{minor}.{patch}, < {}", major.checked_add(1)?),
        Reach::SameMinor => format!("~> {major}.{minor}.{patch}"),
    };
    Constraints::parse_config(&text).ok()
}
