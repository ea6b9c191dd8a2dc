//! The blocks and arguments of a project file.

use crate::addr::StoreUrl;
use crate::diag::{self, Diagnostic, FileId, Level, RULES, Severity, did_you_mean, rules};
use crate::flavor::{FlavorChoice, Program};
use crate::hcl;
use crate::hcl::tree::{Block, Body};
use crate::package::{FactKey, H1Trust};

use super::names::{distinct, own_name, platforms, provider};
use super::patterns::RootPatternError;
use super::values::{BodySchema, ProjectReader, choice};
use super::{Project, ProviderSetting, RootPatterns, RootsFrom, RuleSetting, StoreSetting, Trust};
use super::{audit, memory, packages, policy};

const TOP: BodySchema = BodySchema {
    subject: "a project file",
    arguments: &["platforms", "flavor", "roots"],
    blocks: &[
        "roots", "provider", "rule", "packages", "store", "trust", "policy", "audit", "modules",
    ],
};

const ROOTS: BodySchema = BodySchema {
    subject: "a roots block",
    arguments: &["from"],
    blocks: &[],
};

const MODULES: BodySchema = BodySchema {
    subject: "a modules block",
    arguments: &["lock"],
    blocks: &[],
};

const PROVIDER: BodySchema = BodySchema {
    subject: "a provider block",
    arguments: &["platforms"],
    blocks: &[],
};

const RULE: BodySchema = BodySchema {
    subject: "a rule block",
    arguments: &["level", "reason", "provider", "until"],
    blocks: &[],
};

const TRUST: BodySchema = BodySchema {
    subject: "a trust block",
    arguments: &[
        "h1",
        "h1_from",
        "require_signature",
        "imported_facts",
        "fact_keys",
        "attestation_roots",
    ],
    blocks: &[memory::PROVIDER],
};

const STORE: BodySchema = BodySchema {
    subject: "a store block",
    arguments: &["url", "read_only"],
    blocks: &[],
};

const LEVELS: [(&str, Level); 4] = [
    ("off", Level::Off),
    ("note", Level::As(Severity::Note)),
    ("warning", Level::As(Severity::Warning)),
    ("error", Level::As(Severity::Error)),
];

const H1_TRUST: [(&str, H1Trust); 3] = [
    ("proven", H1Trust::Proven),
    ("as-tofu", H1Trust::AsTofu),
    ("claimed", H1Trust::Claimed),
];

pub(super) fn read(file: FileId, bytes: &[u8]) -> (Project, Vec<Diagnostic>) {
    let (body, problems) = hcl::parse(file, bytes);
    let mut reader = ProjectReader { file, problems };
    let project = project(&body, &mut reader);
    diag::in_order(&mut reader.problems);
    (project, reader.problems)
}

fn project(body: &Body, reader: &mut ProjectReader) -> Project {
    reader.names(body, &TOP);
    let mut project = Project {
        platforms: platforms(body, reader),
        flavor: flavor(body, reader),
        roots: roots(body, reader),
        ..Project::default()
    };
    let mut providers = Vec::new();
    for block in reader.blocks(body, "provider") {
        reader.names(&block.body, &PROVIDER);
        let platforms = platforms(&block.body, reader);
        if let Some(name) = own_name(block, &mut providers, reader) {
            project.providers.push(ProviderSetting { name, platforms });
        }
    }
    let mut rules = Vec::new();
    // The same rule may have a level for all providers and others for single ones.
    for block in reader.blocks(body, "rule") {
        if let Some(setting) = rule(block, reader) {
            distinct(&setting, block, &rules, reader);
            rules.push((setting, block.header));
        }
    }
    if let Some(block) = only(&reader.blocks(body, "roots"), reader) {
        project.roots_from = roots_from(block, reader);
    }
    project.rules = rules.into_iter().map(|(setting, _)| setting).collect();
    if let Some(block) = only(&reader.blocks(body, "trust"), reader) {
        // The flavor was read above, because it decides the registry of addresses without a host.
        project.trust = trust(&block.body, project.flavor, reader);
    }
    if let Some(block) = only(&reader.blocks(body, "packages"), reader) {
        project.packages = packages::read(block, reader);
    }
    if let Some(block) = only(&reader.blocks(body, "store"), reader) {
        project.store = store(block, reader);
    }
    if let Some(block) = only(&reader.blocks(body, "audit"), reader) {
        project.ignored_advisories = audit::read(block, reader);
    }
    if let Some(block) = only(&reader.blocks(body, "modules"), reader) {
        reader.names(&block.body, &MODULES);
        project.pins_modules = reader.flag(&block.body, "lock").unwrap_or_default();
    }
    project.policy =
        only(&reader.blocks(body, "policy"), reader).map(|block| policy::read(&block.body, reader));
    project
}

/// Returns the only block of a kind that takes no label and must not be repeated.
fn only<'b>(blocks: &[&'b Block], reader: &mut ProjectReader) -> Option<&'b Block> {
    let (first, others) = blocks.split_first()?;
    reader.no_label(first);
    for again in others {
        let title = format!("Duplicate {} block", again.kind.text);
        reader.twice(&title, again.header, first.header);
    }
    Some(first)
}

fn flavor(body: &Body, reader: &mut ProjectReader) -> FlavorChoice {
    let Some(text) = reader.text(body, "flavor") else {
        return FlavorChoice::Auto;
    };
    text.value.parse().unwrap_or_else(|_| {
        let help = "write terraform, opentofu, one of them with a version, as in terraform@1.11, \
                    or auto";
        reader.invalid("Invalid flavor", text.span, "this is no flavor", help);
        FlavorChoice::Auto
    })
}

fn roots(body: &Body, reader: &mut ProjectReader) -> RootPatterns {
    let Some(argument) = body.attribute("roots") else {
        return RootPatterns::default();
    };
    let wrong = |error: RootPatternError, at, help: &str, reader: &mut ProjectReader| {
        reader.invalid("Invalid pattern", at, &error.to_string(), help);
    };
    let mut globs = Vec::new();
    for text in reader.texts(body, "roots").unwrap_or_default() {
        match RootPatterns::pattern(&text.value) {
            Ok(glob) => globs.push(glob),
            Err(error) => {
                let help = "write a path from the directory of this file on, with forward slashes; \
                            * stands for any part of a name, ** for any directories";
                wrong(error, text.span, help, reader);
            }
        }
    }
    // Each pattern is fine, but the matcher of all of them has a limit of its own.
    RootPatterns::new(globs).unwrap_or_else(|error| {
        wrong(error, argument.value.span, "write fewer patterns", reader);
        RootPatterns::default()
    })
}

fn roots_from(block: &Block, reader: &mut ProjectReader) -> Option<RootsFrom> {
    reader.names(&block.body, &ROOTS);
    let Some(from) = reader.text(&block.body, "from") else {
        let help = "write from = \"atlantis.yaml\"";
        reader.invalid("Missing argument", block.header, "from is missing", help);
        return None;
    };
    match RootPatterns::directory(&from.value) {
        Ok(path) => Some(RootsFrom {
            path: path.display().to_string(),
            place: reader.place(from.span),
        }),
        Err(error) => {
            let help = "write the path of a file, from the directory of this one on";
            reader.invalid("Invalid path", from.span, &error.to_string(), help);
            None
        }
    }
}

fn rule(block: &Block, reader: &mut ProjectReader) -> Option<RuleSetting> {
    reader.names(&block.body, &RULE);
    let name = reader
        .label(block, rules::PLATFORMS_INCOMPLETE)
        .and_then(|label| {
            let rule = RULES.iter().find(|rule| rule.name == label.text);
            if rule.is_none() {
                let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
                let help = did_you_mean(&label.text, &names)
                    .unwrap_or_else(|| "write a name as findings show it in brackets".into());
                let remark = "there is no such rule";
                reader.invalid("Unknown rule", label.span, remark, &help);
            }
            rule
        });
    let level = level(block, reader);
    let reason = if level == Some(Level::Off) {
        Some(reader.reason(block, "a rule that is turned off needs a reason"))
    } else {
        reader.text(&block.body, "reason").map(|text| text.value)
    };
    let provider = match reader.text(&block.body, "provider") {
        Some(text) => Some(provider(&text.value, text.span, reader)?),
        // A narrower setting that cannot be read is none about all providers.
        None if block.body.attribute("provider").is_some() => return None,
        None => None,
    };
    let until = reader.until(&block.body)?;
    Some(RuleSetting {
        // Last, so that a wrong name does not hide the other faults of the block.
        rule: name?.name,
        level: level?,
        reason,
        provider,
        until,
        place: reader.place(block.header),
    })
}

fn level(block: &Block, reader: &mut ProjectReader) -> Option<Level> {
    if block.body.attribute("level").is_none() {
        let help = "write level = \"off\", \"note\", \"warning\" or \"error\"";
        reader.invalid("Missing level", block.header, "level is missing", help);
        return None;
    }
    let text = reader.text(&block.body, "level")?;
    choice("Invalid level", &text, &LEVELS, reader)
}

fn trust(body: &Body, flavor: FlavorChoice, reader: &mut ProjectReader) -> Trust {
    reader.names(body, &TRUST);
    let h1 = reader.text(body, "h1").and_then(|text| {
        let h1 = choice("Invalid trust", &text, &H1_TRUST, reader)?;
        let stated = match flavor {
            FlavorChoice::Stated(stated) => Some(stated.flavor.program()),
            FlavorChoice::Auto => None,
        };
        // Only OpenTofu's `init` writes `h1:` hashes that a registry states.
        if h1 == H1Trust::AsTofu && stated == Some(Program::Terraform) {
            let remark = "Terraform's registry states no h1: hashes";
            let help = "write \"proven\", or state the flavor opentofu";
            reader.invalid("Invalid trust", text.span, remark, help);
        }
        Some(h1)
    });
    let mut h1_from = Vec::new();
    for text in reader.texts(body, "h1_from").unwrap_or_default() {
        h1_from.extend(reader.host(&text));
    }
    let mut fact_keys = Vec::new();
    for text in reader.some_texts(body, "fact_keys").unwrap_or_default() {
        match text.value.parse::<FactKey>() {
            Ok(key) => fact_keys.push(key),
            Err(error) => {
                let help = "write the public key as `lockctl cache keygen` prints it";
                reader.invalid("Invalid key", text.span, &error.to_string(), help);
            }
        }
    }
    Trust {
        h1,
        h1_from,
        // `false` asks for nothing; only `true` needs a place, which findings point at.
        require_signature: reader
            .flag(body, "require_signature")
            .filter(|wanted| *wanted)
            .and_then(|_| body.attribute("require_signature"))
            .map(|argument| reader.place(argument.value.span)),
        imported_facts: reader.flag(body, "imported_facts").unwrap_or(false),
        memory: memory::read(body, reader),
        fact_keys,
        attestation_roots: reader
            .text(body, "attestation_roots")
            .map(|text| text.value.into()),
    }
}

fn store(block: &Block, reader: &mut ProjectReader) -> Option<StoreSetting> {
    let body = &block.body;
    reader.names(body, &STORE);
    let read_only = reader.flag(body, "read_only").unwrap_or(false);
    if body.attribute("url").is_none() {
        let help = "write url = \"s3://BUCKET/PREFIX\"";
        reader.invalid("Missing argument", block.header, "url is missing", help);
        return None;
    }
    let text = reader.text(body, "url")?;
    let url = text.value.parse::<StoreUrl>().map_err(|error| {
        let help = "write a URL as in s3://bucket/lockctl; credentials come from the environment";
        reader.invalid("Invalid URL", text.span, &error.to_string(), help);
    });
    let url = url.ok()?;
    Some(StoreSetting { url, read_only })
}
