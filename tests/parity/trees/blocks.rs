//! The blocks of a module, in native and in JSON syntax.

use serde_json::{Value, json};

use super::files::way;
use super::strategy::{
    Call, Entry, Extra, Module, Override, ProviderBlock, Repeats, Resource, Style,
};

/// Something that stands at the top of a file.
pub(super) enum Block<'t> {
    Required(Vec<&'t Entry>),
    Provider(&'t ProviderBlock),
    /// A resource with its name.
    Resource(Resource, String),
    /// What an override says about the life of a resource.
    Lifecycle(Resource, String),
    /// A call with its name and the source.
    Call(Call, String, String),
    Extra(&'t Extra, usize),
}

/// The type of a block, its labels, and its body.
type Json = (&'static str, Vec<String>, Value);

/// Returns the blocks that declare.
pub(super) fn primary<'t>(module: &'t Module, dir: &str, dirs: &[String]) -> Vec<Block<'t>> {
    let mut blocks = Vec::new();
    if !module.entries.is_empty() {
        blocks.push(Block::Required(module.entries.iter().collect()));
    }
    blocks.extend(module.providers.iter().map(Block::Provider));
    let resources = module.resources.iter().enumerate();
    blocks
        .extend(resources.map(|(n, resource)| Block::Resource(resource.clone(), format!("r{n}"))));
    let calls = module.calls.iter().enumerate();
    blocks.extend(calls.map(|(n, call)| {
        let source = way(dir, &dirs[call.target], call.spelling);
        Block::Call(call.clone(), format!("c{n}"), source)
    }));
    let extras = module.extras.iter().enumerate();
    blocks.extend(extras.map(|(n, extra)| Block::Extra(extra, n)));
    blocks
}

/// Returns the blocks that change what others declare.
pub(super) fn overrides<'t>(module: &'t Module, dir: &str, dirs: &[String]) -> Vec<Block<'t>> {
    let block = |one: &'t Override| match one {
        Override::Entry(entry) => Block::Required(vec![entry]),
        Override::Provider(block) => Block::Provider(block),
        Override::Resource(place, provider) => {
            let resource = Resource {
                provider: Some(provider),
                ..module.resources[*place].clone()
            };
            Block::Resource(resource, format!("r{place}"))
        }
        Override::Lifecycle(place) => {
            Block::Lifecycle(module.resources[*place].clone(), format!("r{place}"))
        }
        Override::Call(place, target) => {
            let call = Call {
                target: *target,
                repeats: Repeats::Once,
                spelling: 0,
                passes: Vec::new(),
                defaults: Vec::new(),
            };
            Block::Call(call, format!("c{place}"), way(dir, &dirs[*target], 0))
        }
    };
    module.overrides.iter().map(block).collect()
}

impl Block<'_> {
    /// Writes it in native syntax.
    pub(super) fn native(&self) -> String {
        match self {
            Self::Required(entries) => {
                let entries: String = entries.iter().map(|entry| native_entry(entry)).collect();
                format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n")
            }
            Self::Provider(block) => {
                let alias = match block.alias {
                    true => "  alias = \"own\"\n",
                    false => "",
                };
                let version = block.version.map(|text| format!("  version = {text:?}\n"));
                let version = version.unwrap_or_default();
                format!("provider {:?} {{\n{alias}{version}}}\n", block.name)
            }
            Self::Resource(resource, name) => native_resource(resource, name),
            Self::Lifecycle(resource, name) => {
                let (block, type_name) = (resource.block, resource.type_name);
                format!("{block} {type_name:?} {name:?} {{\n  count = 0\n}}\n")
            }
            Self::Call(call, name, source) => native_call(call, name, source),
            Self::Extra(extra, n) => native_extra(extra, *n),
        }
    }

    /// Returns it in JSON syntax; one thing may take several blocks.
    pub(super) fn json(&self) -> Vec<Json> {
        let one = |kind, labels: &[&str], body| {
            let labels = labels.iter().map(|&label| label.to_owned()).collect();
            vec![(kind, labels, body)]
        };
        match self {
            Self::Required(entries) => {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|one| (one.name, json_entry(one)))
                    .collect();
                let entries: serde_json::Map<String, Value> = entries
                    .into_iter()
                    .map(|(name, entry)| (name.to_owned(), entry))
                    .collect();
                one("terraform", &[], json!({ "required_providers": entries }))
            }
            Self::Provider(block) => {
                let mut body = json!({});
                if block.alias {
                    body["alias"] = "own".into();
                }
                if let Some(version) = block.version {
                    body["version"] = version.into();
                }
                one("provider", &[block.name], body)
            }
            Self::Resource(resource, name) => {
                let mut body = json!({});
                if let Some(provider) = resource.provider {
                    body["provider"] = provider.into();
                }
                if resource.nested {
                    body["resource"]["beta_x"]["y"]["provider"] = "gamma".into();
                }
                one(resource.block, &[resource.type_name, name], body)
            }
            Self::Lifecycle(resource, name) => {
                let labels = [resource.type_name, name];
                one(resource.block, &labels, json!({ "count": 0 }))
            }
            Self::Call(call, name, source) => one("module", &[name], json_call(call, source)),
            Self::Extra(extra, n) => json_extra(extra, *n),
        }
    }
}

fn native_resource(resource: &Resource, name: &str) -> String {
    let provider = resource.provider.map(|name| match resource.quoted {
        true => format!("  provider = {name:?}\n"),
        false => format!("  provider = {name}\n"),
    });
    let (block, type_name) = (resource.block, resource.type_name);
    let provider = provider.unwrap_or_default();
    let nested = match resource.nested {
        true => "  resource \"beta_x\" \"y\" {\n    provider = gamma\n  }\n",
        false => "",
    };
    format!("{block} {type_name:?} {name:?} {{\n{provider}{nested}}}\n")
}

fn native_call(call: &Call, name: &str, source: &str) -> String {
    let repeats = match call.repeats {
        Repeats::Once => "",
        Repeats::Count => "  count = 0\n",
        Repeats::ForEach => "  for_each = toset([\"x\"])\n",
        Repeats::DependsOn => "  depends_on = [terraform_data.x]\n",
    };
    let mut text = format!("module {name:?} {{\n  source = {source:?}\n{repeats}");
    if !call.passes.is_empty() || !call.defaults.is_empty() {
        let aliases = call.passes.iter();
        let aliases = aliases.map(|name| format!("    {name}.passed = {name}.own\n"));
        let defaults = call.defaults.iter();
        let defaults = defaults.map(|name| format!("    {name} = {name}\n"));
        let pairs: String = aliases.chain(defaults).collect();
        text += &format!("  providers = {{\n{pairs}  }}\n");
    }
    text + "}\n"
}

fn json_call(call: &Call, source: &str) -> Value {
    let mut body = json!({ "source": source });
    match call.repeats {
        Repeats::Once => {}
        Repeats::Count => body["count"] = 0.into(),
        Repeats::ForEach => body["for_each"] = json!({ "x": "y" }),
        Repeats::DependsOn => body["depends_on"] = json!(["terraform_data.x"]),
    }
    for name in &call.passes {
        body["providers"][format!("{name}.passed")] = format!("{name}.own").into();
    }
    for &name in &call.defaults {
        body["providers"][name] = name.into();
    }
    body
}

fn native_entry(entry: &Entry) -> String {
    let name = entry.name;
    let written = |text: &str| match entry.style {
        Style::Computed => format!("true ? \"${{{text:?}}}\" : \"x\""),
        Style::Heredoc if !text.is_empty() && !text.starts_with(' ') => {
            format!("<<-EOT\n      {text}\n      EOT\n")
        }
        _ => format!("{text:?}"),
    };
    // A heredoc has a line end, which only a constraint can bear.
    let source = entry.source.map(|text| match entry.style {
        Style::Heredoc => format!("{text:?}\n"),
        _ => written(text),
    });
    if let (true, Some(version)) = (entry.short, entry.version) {
        return format!("    {name} = {}\n", written(version).trim_end_matches('\n'));
    }
    let alias = entry.alias.then(|| format!("[{name}.passed]"));
    let pairs = [
        ("source", source),
        ("version", entry.version.map(written)),
        ("configuration_aliases", alias),
    ];
    let pairs = pairs
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)));
    match entry.style {
        Style::OneLine | Style::Computed => {
            let pairs: Vec<String> = pairs
                .map(|(key, value)| format!("{key} = {value}"))
                .collect();
            format!("    {name} = {{ {} }}\n", pairs.join(", "))
        }
        Style::Lines | Style::Heredoc => {
            let line = |(key, value): (&str, String)| {
                format!("      {key} = {}\n", value.trim_end_matches('\n'))
            };
            let lines: String = pairs.map(line).collect();
            format!("    {name} = {{\n{lines}    }}\n")
        }
        Style::Quoted => {
            let lines = pairs.map(|(key, value)| format!("      {key:?} : {value},\n"));
            format!("    {name} = {{ # x\n{}    }}\n", lines.collect::<String>())
        }
    }
}

fn json_entry(entry: &Entry) -> Value {
    if let (true, Some(version)) = (entry.short, entry.version) {
        return version.into();
    }
    let mut body = json!({});
    if let Some(source) = entry.source {
        body["source"] = source.into();
    }
    if let Some(version) = entry.version {
        body["version"] = version.into();
    }
    if entry.alias {
        body["configuration_aliases"] = json!([format!("{}.passed", entry.name)]);
    }
    body
}

fn native_extra(extra: &Extra, n: usize) -> String {
    match extra {
        Extra::Check(type_name) => format!(
            "check \"k{n}\" {{\n  data {type_name:?} \"d{n}\" {{}}\n  assert {{\n    \
             condition = path.root != 1\n    error_message = \"x\"\n  }}\n}}\n"
        ),
        Extra::Import(type_name, provider) => {
            let provider = provider.map(|name| format!("  provider = {name}\n"));
            let provider = provider.unwrap_or_default();
            format!("import {{\n  to = {type_name}.i\n  id = \"x\"\n{provider}}}\n")
        }
        Extra::Moved => "moved {\n  from = zeta_x.a\n  to = zeta_x.b\n}\n".to_owned(),
        Extra::Removed => {
            "removed {\n  from = zeta_x.c\n  lifecycle {\n    destroy = false\n  }\n}\n".to_owned()
        }
        Extra::Meta(name) => {
            format!("terraform {{\n  provider_meta {name:?} {{\n    x = 1\n  }}\n}}\n")
        }
        Extra::Values => format!(
            "variable \"v{n}\" {{\n  default = null\n}}\nlocals {{\n  l{n} = var.v{n}\n}}\n\
             output \"o{n}\" {{\n  value = [for x in [local.l{n}] : x]\n}}\n"
        ),
        Extra::Backend => {
            "terraform {\n  backend \"local\" {\n    path = \"terraform.tfstate\"\n  }\n}\n"
                .to_owned()
        }
        Extra::CoreVersion(text) => format!("terraform {{\n  required_version = {text:?}\n}}\n"),
    }
}

fn json_extra(extra: &Extra, n: usize) -> Vec<Json> {
    let labels = |name: &str| vec![format!("{name}{n}")];
    match extra {
        Extra::Check(type_name) => {
            let data = json!({ *type_name: { format!("d{n}"): {} } });
            let assert = json!({ "condition": "${path.root != 1}", "error_message": "x" });
            vec![(
                "check",
                labels("k"),
                json!({ "data": data, "assert": assert }),
            )]
        }
        Extra::Import(type_name, provider) => {
            let mut body = json!({ "to": format!("{type_name}.i"), "id": "x" });
            if let Some(provider) = provider {
                body["provider"] = (*provider).into();
            }
            vec![("import", Vec::new(), body)]
        }
        Extra::Moved => {
            let body = json!({ "from": "zeta_x.a", "to": "zeta_x.b" });
            vec![("moved", Vec::new(), body)]
        }
        Extra::Removed => {
            let body = json!({ "from": "zeta_x.c", "lifecycle": { "destroy": false } });
            vec![("removed", Vec::new(), body)]
        }
        Extra::Meta(name) => {
            let body = json!({ "provider_meta": { *name: { "x": 1 } } });
            vec![("terraform", Vec::new(), body)]
        }
        Extra::Values => vec![
            ("variable", labels("v"), json!({ "default": null })),
            (
                "locals",
                Vec::new(),
                json!({ format!("l{n}"): format!("${{var.v{n}}}") }),
            ),
            (
                "output",
                labels("o"),
                json!({ "value": format!("${{local.l{n}}}") }),
            ),
        ],
        Extra::Backend => {
            let body = json!({ "backend": { "local": { "path": "terraform.tfstate" } } });
            vec![("terraform", Vec::new(), body)]
        }
        Extra::CoreVersion(text) => {
            vec![("terraform", Vec::new(), json!({ "required_version": text }))]
        }
    }
}
