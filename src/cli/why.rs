//! `lockctl why`: which places require a provider, and whether any version can satisfy them all.

use serde_json::json;

use super::World;
use super::args::{Common, Why};
use super::output::{Output, RootOutput};
use super::root::Root;
use super::roots;
use crate::addr::ProviderAddr;
use crate::diag::{Texts, has_errors};
use crate::report::json::Status;
use crate::report::{Block, Failure, Tone};
use crate::requirement::{Origin, Requirement, Requirements};
use crate::version::Constraints;
use crate::world::Replaced;

pub(super) fn run(common: &Common, args: &Why, world: World<'_>) -> Output {
    let ran = roots::each(common, &args.roots, world, |root, texts, output| {
        explain(args, world, root, (texts, output))
    });
    Output::of_roots("why", ran)
}

fn explain(
    args: &Why,
    world: World<'_>,
    root: &Root,
    (texts, output): (&mut Texts, &mut RootOutput),
) -> Result<Replaced, Failure> {
    let loaded = root.load(world, &args.configuration, texts);
    if !loaded.found {
        return Err(root.no_configuration());
    }
    output.faults(&loaded.diagnostics, texts);
    if has_errors(&loaded.diagnostics) {
        return Ok(Replaced::Done);
    }
    let requirements = &loaded.requirements;
    let provider = find(&args.provider, root, requirements)?;
    let Some(places) = requirements.providers.get(&provider) else {
        not_required(output, root, requirements, &provider);
        return Ok(Replaced::Done);
    };
    let why = Explained {
        provider: &provider,
        places,
        constraints: requirements.constraints(&provider),
        clash: requirements.clash(&provider),
        root,
        texts,
    };
    why.tell(output);
    Ok(Replaced::Done)
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

/// Says that nothing visible requires a provider.
fn not_required(
    output: &mut RootOutput,
    root: &Root,
    requirements: &Requirements,
    provider: &ProviderAddr,
) {
    let name = provider.short(root.flavor);
    let mut text = format!("nothing in the configuration requires {name}");
    let document = root.document();
    if let Some(entry) = document.lock.providers.get(provider) {
        text += &format!("; the lock file holds {}", entry.version);
    }
    output.json.status = Status::Findings;
    let required = requirements.providers.keys();
    let known: Vec<String> = required.map(|addr| addr.short(root.flavor)).collect();
    output
        .report
        .results
        .push(Block::Verdict(Tone::Warning, text));
    if !known.is_empty() {
        output.remark(format!("it requires {}", known.join(", ")));
    }
}

/// A provider with everything that requires it.
struct Explained<'a> {
    provider: &'a ProviderAddr,
    places: &'a [Requirement],
    /// All conditions together.
    constraints: Constraints,
    /// Places that no version can satisfy together.
    clash: Vec<&'a Requirement>,
    root: &'a Root,
    texts: &'a Texts,
}

impl Explained<'_> {
    fn tell(&self, output: &mut RootOutput) {
        output.json.providers.push(self.json());
        let rows = self.places.iter().map(|place| {
            vec![
                self.place(place),
                any_or(&place.constraints),
                module(place),
                by(place.origin).to_owned(),
            ]
        });
        output.report.results.push(Block::Table(rows.collect()));
        let (tone, verdict) = self.verdict();
        if tone == Tone::Bad {
            output.json.status = Status::Findings;
        }
        output.report.results.push(Block::Verdict(tone, verdict));
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
            false => format!("{name}: \"{}\" must hold", self.constraints),
        };
        let document = self.root.document();
        match document.lock.providers.get(self.provider) {
            None => (Tone::Good, format!("{wanted}; not locked")),
            Some(entry) if self.constraints.allows(&entry.version) => {
                (Tone::Good, format!("{wanted}; locked at {}", entry.version))
            }
            Some(entry) => (
                Tone::Bad,
                format!("{wanted}; locked at {}, which does not", entry.version),
            ),
        }
    }

    fn place(&self, place: &Requirement) -> String {
        let at = self.texts.position(place.file, place.span.start);
        format!("{}:{}:{}", self.texts.name(place.file), at.line, at.column)
    }

    fn json(&self) -> serde_json::Value {
        let place = |place: &Requirement| {
            let at = self.texts.position(place.file, place.span.start);
            json!({
                "file": self.texts.name(place.file),
                "line": at.line,
                "column": at.column,
                "constraints": place.constraints.to_string(),
                "module": place.module.to_string(),
                "by": by(place.origin),
            })
        };
        let document = self.root.document();
        let locked = document.lock.providers.get(self.provider);
        json!({
            "provider": self.provider.to_string(),
            "constraints": self.constraints.to_string(),
            "satisfiable": self.clash.is_empty(),
            "locked": locked.map(|entry| entry.version.to_string()),
            "places": self.places.iter().map(place).collect::<Vec<_>>(),
            "clash": self.clash.iter().copied().map(place).collect::<Vec<_>>(),
        })
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

fn by(origin: Origin) -> &'static str {
    match origin {
        Origin::RequiredProviders => "required_providers",
        Origin::ProviderBlock => "provider block",
        Origin::Implied => "block of its type",
        Origin::State => "resource of the state",
    }
}
