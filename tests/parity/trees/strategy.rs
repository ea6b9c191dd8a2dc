//! Random module trees that Terraform can read, or nearly so.

use proptest::prelude::*;
use proptest::sample::select;

use super::repair::repaired;

pub(super) const NAMES: &[&str] = &["alpha", "beta", "gamma", "delta"];
const SOURCES: &[&str] = &[
    "acme/alpha",
    "acme/beta",
    "ACME/Alpha",
    "gamma",
    "hashicorp/delta",
    "registry.terraform.io/acme/beta",
    "REGISTRY.terraform.io:443/Acme/beta",
    "example.com/acme/alpha",
    "Example.COM/acme/alpha",
    "example.com:8443/acme/gamma",
];
const CONSTRAINTS: &[&str] = &[
    ">= 1.0",
    ">=1",
    ">= 1, <2",
    ">= 1.0.0",
    "= 1.0.0",
    "~> 1.0",
    "~> 1",
    "~>1",
    "~>1.1.0",
    "~> 1.1.0, >= 1.1.5",
    "1.1.0",
    "= 1.1",
    "!= 1.2.0",
    "!= 1.1, != 1.2.0",
    "< 3",
    "<= 2.1.3",
    "> 0.9, < 2",
    ">= 1.0.0,<2.0.0",
    "  >= 0.9 ,  != 0.9.1 ",
    ">= 1.0, >= 1.0",
    ">= 00.9",
    "< 10.0.0, < 9.0.0",
    ">= 1.0.0-beta1",
    ">= 3.0.0-beta1, < 4",
    "3.0.0-beta1",
    "~> 3.0.0-beta1",
    "1.0.0+meta",
    "",
];
/// What stands in the place of a source where the tree has its one fault.
const BAD_SOURCES: &[&str] = &[
    "",
    "a/b/c/d",
    "acme/",
    "acme/al_pha",
    "ac_me/alpha",
    "-acme/alpha",
    "acme/terraform-alpha",
    "bad_host.example/acme/alpha",
    "https://example.com/acme/alpha",
    "xn--bcher-kva.example/acme/alpha",
    "acme/terraform-provider-alpha",
    "-/alpha",
    "terraform.io/builtin/nothing",
];
const BAD_CONSTRAINTS: &[&str] = &[
    "==1.1",
    "latest",
    ">= 1.0,",
    "=> 1.0",
    "~> 1.0 < 2",
    "1.0.0.0",
    "v1.0",
    "~> ",
    ">= 1.x",
    "1.0.0-",
    "^1.0",
    "> 1.*",
];
const TYPES: &[&str] = &[
    "alpha_x",
    "beta_y_z",
    "gamma",
    "Delta_x",
    "terraform_data",
    "alpha_",
];

/// A tree: the root, then modules that are called by ones before them.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) modules: Vec<Module>,
    pub(super) tests: Vec<Test>,
    pub(super) state: Option<State>,
    /// What is wrong with it, and in which module.
    pub(super) fault: Option<(usize, Fault)>,
    /// Whether what Terraform would refuse was left in.
    pub(super) wild: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Module {
    pub(super) entries: Vec<Entry>,
    pub(super) providers: Vec<ProviderBlock>,
    pub(super) resources: Vec<Resource>,
    pub(super) calls: Vec<Call>,
    pub(super) overrides: Vec<Override>,
    pub(super) extras: Vec<Extra>,
    /// Which file its first block stands in.
    pub(super) first_file: usize,
    /// The module in whose directory its own is, if it is not that of the root.
    pub(super) inside: usize,
    /// Whether blocks of a kind lie in one object of JSON rather than in a list.
    pub(super) nests: bool,
}

/// An entry of `required_providers`.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) source: Option<&'static str>,
    pub(super) version: Option<&'static str>,
    /// How it is written in native syntax.
    pub(super) style: Style,
    /// Whether it is a mere version constraint.
    pub(super) short: bool,
    /// Whether callers must pass `NAME.passed`.
    pub(super) alias: bool,
}

/// How an entry is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    OneLine,
    Lines,
    /// Keys in quotes, colons.
    Quoted,
    /// Texts are computed from literals.
    Computed,
    Heredoc,
}

#[derive(Clone, Debug)]
pub(super) struct ProviderBlock {
    pub(super) name: &'static str,
    pub(super) alias: bool,
    pub(super) version: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) block: &'static str,
    pub(super) type_name: &'static str,
    pub(super) provider: Option<&'static str>,
    /// Whether the provider is written in quotes.
    pub(super) quoted: bool,
    /// Whether it holds blocks that look like some of the top level.
    pub(super) nested: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Which module, by its place in the tree.
    pub(super) target: usize,
    pub(super) repeats: Repeats,
    /// How the path is written.
    pub(super) spelling: usize,
    /// The names of providers of which the caller's `NAME.own` is passed.
    pub(super) passes: Vec<&'static str>,
    /// Whether the map of providers also names those without an alias.
    pub(super) defaults: Vec<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    Once,
    Count,
    ForEach,
    DependsOn,
}

/// A block in an override file.
#[derive(Clone, Debug)]
pub(super) enum Override {
    Entry(Entry),
    Provider(ProviderBlock),
    /// The resource at a place gets a provider.
    Resource(usize, &'static str),
    /// The call at a place leads to another module.
    Call(usize, usize),
    /// The resource at a place gets something else.
    Lifecycle(usize),
}

/// Something that stands at the top of a file and requires little.
#[derive(Clone, Debug)]
pub(super) enum Extra {
    /// A check with a data source of a type.
    Check(&'static str),
    /// An import of a resource of a type, with a provider.
    Import(&'static str, Option<&'static str>),
    Moved,
    Removed,
    Meta(&'static str),
    Values,
    /// A backend with a state of its own.
    Backend,
    CoreVersion(&'static str),
}

/// A test file.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) in_directory: bool,
    pub(super) json: bool,
    /// The module that each run calls, if it calls one.
    pub(super) runs: Vec<Option<usize>>,
    pub(super) provider: Option<&'static str>,
    pub(super) mock: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    /// The address of the provider of each resource, and whether it is in a module.
    pub(super) resources: Vec<(&'static str, bool)>,
}

/// The one thing that is wrong with a tree.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// The source of some provider.
    Source(&'static str),
    Constraint(&'static str),
    /// The `version` of a provider block.
    Version(&'static str),
    /// A file with this text.
    Text(&'static str),
    /// A file in JSON syntax with this text.
    Json(&'static str),
    /// A test file with this text.
    Test(&'static str),
    /// A state with this text.
    State(&'static str),
}

/// Makes trees of one to eight modules.
pub(super) fn tree() -> impl Strategy<Value = Tree> {
    let parts = (
        prop::collection::vec(module(), 1..=8),
        prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(test(), 1..3)],
        prop::option::weighted(0.2, prop::collection::vec(in_state(), 0..3)),
        prop::option::weighted(0.25, (0..4_usize, super::faults::fault())),
        prop::bool::weighted(0.1),
    );
    parts.prop_map(|(modules, tests, state, fault, wild)| {
        let count = modules.len();
        repaired(Tree {
            modules,
            tests,
            state: state.map(|resources| State { resources }),
            fault: fault.map(|(at, fault)| (at % count, fault)),
            wild,
        })
    })
}

pub(super) fn a_bad_source() -> impl Strategy<Value = &'static str> {
    select(BAD_SOURCES)
}

pub(super) fn a_bad_constraint() -> impl Strategy<Value = &'static str> {
    select(BAD_CONSTRAINTS)
}

fn in_state() -> impl Strategy<Value = (&'static str, bool)> {
    (select(&super::PROVIDERS[..]), any::<bool>())
}

fn test() -> impl Strategy<Value = Test> {
    let parts = (
        any::<bool>(),
        prop::bool::weighted(0.3),
        prop::collection::vec(prop::option::weighted(0.7, 0..8_usize), 0..3),
        prop::option::weighted(0.3, select(NAMES)),
        prop::option::weighted(0.2, select(NAMES)),
    );
    parts.prop_map(|(in_directory, json, runs, provider, mock)| Test {
        in_directory,
        json,
        runs,
        provider,
        mock,
    })
}

fn module() -> impl Strategy<Value = Module> {
    let parts = (
        prop::collection::vec(entry(), 0..4),
        prop::collection::vec(provider_block(), 0..3),
        prop::collection::vec(resource(), 0..4),
        prop::collection::vec(call(), 0..4),
        prop::collection::vec(an_override(), 0..3),
        prop::collection::vec(extra(), 0..3),
        (0..3_usize, 0..8_usize, any::<bool>()),
    );
    parts.prop_map(
        |(entries, providers, resources, calls, overrides, extras, ways)| {
            let (first_file, inside, nests) = ways;
            Module {
                entries,
                providers,
                resources,
                calls,
                overrides,
                extras,
                first_file,
                inside,
                nests,
            }
        },
    )
}

fn resource() -> impl Strategy<Value = Resource> {
    let parts = (
        select(&["resource", "resource", "data", "ephemeral"][..]),
        select(TYPES),
        prop::option::weighted(0.4, select(NAMES)),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
    );
    parts.prop_map(|(block, type_name, provider, quoted, nested)| Resource {
        block,
        type_name,
        provider,
        quoted,
        nested,
    })
}

fn call() -> impl Strategy<Value = Call> {
    let repeats = prop_oneof![
        5 => Just(Repeats::Once),
        1 => Just(Repeats::Count),
        1 => Just(Repeats::ForEach),
        1 => Just(Repeats::DependsOn),
    ];
    let defaults = prop::collection::vec(select(NAMES), 0..2);
    (0..8_usize, repeats, 0..3_usize, defaults).prop_map(|(target, repeats, spelling, defaults)| {
        Call {
            target,
            repeats,
            spelling,
            passes: Vec::new(),
            defaults,
        }
    })
}

fn entry() -> impl Strategy<Value = Entry> {
    let styles = [
        Style::OneLine,
        Style::Lines,
        Style::Quoted,
        Style::Computed,
        Style::Heredoc,
    ];
    let parts = (
        select(NAMES),
        prop::option::weighted(0.7, select(SOURCES)),
        prop::option::weighted(0.7, select(CONSTRAINTS)),
        select(styles.to_vec()),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.3),
    );
    parts.prop_map(|(name, source, version, style, short, alias)| {
        let short = short && version.is_some();
        Entry {
            name,
            source: source.filter(|_| !short),
            version,
            style,
            short,
            alias: alias && !short,
        }
    })
}

fn provider_block() -> impl Strategy<Value = ProviderBlock> {
    let parts = (
        select(NAMES),
        any::<bool>(),
        prop::option::weighted(0.4, select(CONSTRAINTS)),
    );
    parts.prop_map(|(name, alias, version)| ProviderBlock {
        name,
        alias,
        version,
    })
}

fn an_override() -> impl Strategy<Value = Override> {
    prop_oneof![
        3 => entry().prop_map(Override::Entry),
        1 => provider_block().prop_map(Override::Provider),
        1 => (0..4_usize, select(NAMES)).prop_map(|(at, name)| Override::Resource(at, name)),
        1 => (0..4_usize, 0..8_usize).prop_map(|(at, target)| Override::Call(at, target)),
        1 => (0..4_usize).prop_map(Override::Lifecycle),
    ]
}

fn extra() -> impl Strategy<Value = Extra> {
    let provider = prop::option::weighted(0.5, select(NAMES));
    prop_oneof![
        2 => select(TYPES).prop_map(Extra::Check),
        1 => (select(TYPES), provider).prop_map(|(ty, provider)| Extra::Import(ty, provider)),
        1 => Just(Extra::Moved),
        1 => Just(Extra::Removed),
        1 => select(NAMES).prop_map(Extra::Meta),
        2 => Just(Extra::Values),
        1 => Just(Extra::Backend),
        1 => select(&[">= 1.0", "~> 1.2", ">= 0.12, < 9"][..]).prop_map(Extra::CoreVersion),
    ]
}
