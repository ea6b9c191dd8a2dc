//! `lockctl why`: which places require a provider, and whether any version can satisfy them all.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::cli::World;
use crate::cli::args::{Common, Why};
use crate::cli::output::{Output, RootOutput};
use crate::cli::root::Root;
use crate::cli::roots;
use crate::cli::unseen::{self, Names, Unseen};
use crate::config::{Loaded, OverriddenPlaces};
use crate::diag::{FileId, Span, Texts, nearest};
use crate::report::json::{ExplainedProvider, Overridden, Provider, RequiringPlace, Status};
use crate::report::{Block, Failure, Tone};
use crate::requirement::{Origin, PathStep, Requirement, Requirements};
use crate::version::{Constraints, Version};
use crate::world::Replaced;

pub(in crate::cli) fn run(common: &Common, args: &Why, world: World<'_>) -> Output {
    // What else may be meant is asked only where no root requires the provider.
    let mut meant = BTreeMap::new();
    let mut ran = roots::each(common, &args.roots, world, |root, texts, output| {
        let configuration = &args.configuration;
        let loaded = unseen::load(root, configuration, (common, world), (texts, output))?;
        let Some(loaded) = loaded else {
            return Ok(Replaced::Done);
        };
        let unseen = Unseen::new(&loaded, root, configuration, common);
        let provider = find(&args.provider, root, &loaded.requirements)?;
        let why = Explained::new(&provider, &loaded, root, texts);
        why.tell(output, common.verbose);
        if let (true, Some(remark)) = (why.places.is_empty(), why.meant()) {
            meant.insert(output.json.path.clone(), remark);
        }
        let consequence = "and may require it, too";
        if let Some(remark) = unseen.remark(Names::Told, consequence) {
            output.remark(remark);
        }
        Ok(Replaced::Done)
    });
    if ran.outputs.iter().any(requires) {
        leave_out(&mut ran.outputs);
    } else {
        for output in &mut ran.outputs {
            if let Some(remark) = meant.remove(&output.json.path) {
                output.remark(remark);
            }
        }
    }
    Output::of_roots("why", ran)
}

/// Tells whether a root requires the provider.
fn requires(output: &RootOutput) -> bool {
    output.json.providers.iter().any(|one| match one {
        Provider::Explained(one) => !one.places.is_empty(),
        _ => false,
    })
}

/// Passes over roots that do not require the provider, where another one does.
fn leave_out(outputs: &mut [RootOutput]) {
    for output in outputs.iter_mut().filter(|output| !requires(output)) {
        if output.json.status == Status::Findings {
            output.json.status = Status::Clean;
            output.report.results.clear();
        }
    }
}

/// Finds the provider that is meant: by its address, or by a type that only one required provider has.
fn find(typed: &str, root: &Root, requirements: &Requirements) -> Result<ProviderAddr, Failure> {
    let required = || requirements.providers.keys();
    let addr = ProviderAddr::parse(typed, root.flavor).map_err(|error| {
        Failure::from_error(&error).help("write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE")
    })?;
    if !requirements.providers.contains_key(&addr) && !typed.contains('/') {
        let mut same_type = required().filter(|other| other.type_name() == addr.type_name());
        if let (Some(only), None) = (same_type.next(), same_type.next()) {
            return Ok(only.clone());
        }
    }
    Ok(addr)
}

/// A provider with everything that requires it.
struct Explained<'a> {
    provider: &'a ProviderAddr,
    /// In the order to show.
    places: Vec<&'a Requirement>,
    /// What those in override files take the place of.
    overridden: OverriddenPlaces,
    requirements: &'a Requirements,
    /// All conditions together.
    constraints: Constraints,
    /// Places that no version can satisfy together.
    clash: Vec<&'a Requirement>,
    /// The version that is locked.
    locked: Option<Version>,
    root: &'a Root,
    texts: &'a Texts,
}

impl<'a> Explained<'a> {
    fn new(
        provider: &'a ProviderAddr,
        loaded: &'a Loaded,
        root: &'a Root,
        texts: &'a Texts,
    ) -> Self {
        let requirements = &loaded.requirements;
        let entry = root.document().lock.providers.remove(provider);
        let places = requirements.providers.get(provider);
        let mut places: Vec<&Requirement> = places.into_iter().flatten().collect();
        places.sort_by_key(|place| (place.origin == Origin::State, &place.module));
        Self {
            provider,
            overridden: OverriddenPlaces::of(&places, loaded, texts, root.flavor),
            places,
            requirements,
            constraints: requirements.constraints(provider),
            clash: requirements.clash(provider),
            locked: entry.map(|entry| entry.version),
            root,
            texts,
        }
    }
}

impl Explained<'_> {
    fn tell(&self, output: &mut RootOutput, verbose: bool) {
        output.json.providers.push(Provider::Explained(self.json()));
        if self.places.is_empty() {
            self.not_required(output);
            return;
        }
        let rows = Block::Table(self.rows(verbose));
        output.report.results.push(rows);
        let (tone, verdict) = self.verdict();
        if tone == Tone::Bad {
            output.json.status = Status::Findings;
        }
        output.report.results.push(Block::Verdict(tone, verdict));
    }

    /// Says that nothing visible requires the provider.
    fn not_required(&self, output: &mut RootOutput) {
        let name = self.provider.short(self.root.flavor);
        let what = match self.requirements.unseen_calls.is_empty() {
            true => "nothing in the configuration",
            false => "nothing that can be seen of the configuration",
        };
        let mut text = format!("{what} requires {name}");
        if let Some(version) = &self.locked {
            text += &format!("; the lock file holds {version}");
        }
        output.json.status = Status::Findings;
        let verdict = Block::Verdict(Tone::Warning, text);
        output.report.results.push(verdict);
    }

    /// Asks whether something else is meant that is required, of the same type or one that is
    /// written almost alike; else names everything that is required.
    fn meant(&self) -> Option<String> {
        let required = || self.requirements.providers.keys();
        let short = |addr: &ProviderAddr| addr.short(self.root.flavor);
        let types = required().map(ProviderAddr::type_name);
        if let Some(near) = nearest(self.provider.type_name(), types) {
            let meant = required().filter(|addr| addr.type_name() == near);
            let meant: Vec<String> = meant.map(short).collect();
            return Some(format!("did you mean {}?", meant.join(" or ")));
        }
        let known: Vec<String> = required().map(short).collect();
        (!known.is_empty()).then(|| format!("it requires {}", known.join(", ")))
    }

    /// Makes a row for each place; ways that lead to the same one share it unless all are to be told.
    fn rows(&self, verbose: bool) -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<&Requirement>> = Vec::new();
        let mut known: BTreeMap<(FileId, Span, Origin), usize> = BTreeMap::new();
        for place in self.places.iter().copied() {
            let new = rows.len();
            let row = match verbose {
                true => new,
                false => *known
                    .entry((place.file, place.span, place.origin))
                    .or_insert(new),
            };
            if row == new {
                rows.push(Vec::new());
            }
            rows[row].push(place);
        }
        let rows = rows.into_iter().map(|same| {
            vec![
                self.place(same[0]),
                any_or(&same[0].constraints),
                unseen::some_of(same.iter().map(|place| module(place))).join(", "),
                self.by(same[0]),
            ]
        });
        rows.collect()
    }

    /// Says what alone requires the provider, where that is worth knowing.
    fn only(&self) -> &'static str {
        let by_test = |place: &&Requirement| {
            let first = place.module.steps().first();
            matches!(first, Some(PathStep::Test(_)))
        };
        let by_state = |place: &&Requirement| place.origin == Origin::State;
        if self.places.iter().all(by_state) {
            "; only the state needs it"
        } else if self.places.iter().all(by_test) {
            "; only test runs need it"
        } else {
            ""
        }
    }

    /// Says in one sentence whether the conditions can be met, and what is locked.
    fn verdict(&self) -> (Tone, String) {
        let name = self.provider.short(self.root.flavor);
        if !self.clash.is_empty() {
            let clash = self.clash.iter();
            let clash: Vec<String> = clash
                .map(|place| format!("\"{}\" in {}", place.constraints, self.place(place)))
                .collect();
            return (
                Tone::Bad,
                format!("no version of {name} can meet {}", clash.join(" and ")),
            );
        }
        if self.provider.is_builtin(self.root.flavor) {
            return (Tone::Good, format!("{name} is built in and never locked"));
        }
        let wanted = match self.constraints.is_empty() {
            true => format!("{name}: any version will do"),
            false => format!("{name} must meet \"{}\"", self.constraints),
        };
        let only = self.only();
        match &self.locked {
            None => (Tone::Good, format!("{wanted}; not locked{only}")),
            Some(version) if self.constraints.allows(version) => {
                (Tone::Good, format!("{wanted}; locked at {version}{only}"))
            }
            Some(version) => (
                Tone::Bad,
                format!("{wanted}; locked at {version}, which does not{only}"),
            ),
        }
    }

    /// Names a place; of a state the file only, of which nothing is shown.
    fn place(&self, place: &Requirement) -> String {
        match place.origin {
            Origin::State => self.texts.name(place.file).to_owned(),
            _ => self.named(place.file, place.span),
        }
    }

    fn named(&self, file: FileId, span: Span) -> String {
        let at = self.texts.position(file, span.start);
        format!("{}:{}:{}", self.texts.name(file), at.line, at.column)
    }

    /// Says what kind of place it is, and which other places no longer count because of it.
    fn by(&self, place: &Requirement) -> String {
        let kind = by(place.origin);
        let replaced = self.overridden.by(place).iter();
        let replaced: Vec<String> = replaced.map(|at| self.named(at.file, at.span)).collect();
        match &*replaced {
            [] => kind.to_owned(),
            all => format!("{kind}, overrides {}", all.join(" and ")),
        }
    }

    fn json(&self) -> ExplainedProvider {
        let rows = |places: &[&Requirement]| places.iter().map(|place| self.row(place)).collect();
        ExplainedProvider {
            provider: self.provider.to_string(),
            constraints: self.constraints.to_string(),
            satisfiable: self.clash.is_empty(),
            locked: self.locked.as_ref().map(ToString::to_string),
            complete: self.requirements.is_complete(),
            places: rows(&self.places),
            clash: rows(&self.clash),
        }
    }

    fn row(&self, place: &Requirement) -> RequiringPlace {
        let at = self.texts.position(place.file, place.span.start);
        let is_shown = place.origin != Origin::State;
        let replaced = self.overridden.by(place).iter().map(|place| {
            let at = self.texts.position(place.file, place.span.start);
            Overridden {
                file: self.texts.name(place.file).to_owned(),
                line: at.line,
                column: at.column,
            }
        });
        RequiringPlace {
            file: self.texts.name(place.file).to_owned(),
            line: is_shown.then_some(at.line),
            column: is_shown.then_some(at.column),
            constraints: place.constraints.to_string(),
            module: match is_shown {
                true => place.module.to_string(),
                false => "state".to_owned(),
            },
            by: place.origin.into(),
            overrides: replaced.collect(),
        }
    }
}

fn any_or(constraints: &Constraints) -> String {
    if constraints.is_empty() {
        "any version".to_owned()
    } else {
        constraints.to_string()
    }
}

/// Names the module that a place stands in, as the programs address it.
fn module(place: &Requirement) -> String {
    if place.origin == Origin::State {
        return "state".to_owned();
    }
    if place.module.is_root() {
        return "root module".to_owned();
    }
    place.module.to_string()
}

/// Says what kind of place it is.
fn by(origin: Origin) -> &'static str {
    match origin {
        Origin::RequiredProviders => "required_providers",
        Origin::ProviderBlock => "provider block",
        Origin::Implied => "block of its type",
        Origin::State => "resource of the state",
    }
}
