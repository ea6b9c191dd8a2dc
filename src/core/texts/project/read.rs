//! The blocks and arguments of a project file.

use crate::addr::{Hostname, ProviderPattern};
use crate::diag::{self, Diagnostic, FileId, Level, RULES, Severity, Span, did_you_mean, rules};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::hcl;
use crate::hcl::tree::{Block, Body};
use crate::package::{H1Trust, KeyId, MinAge, Undated};
use crate::platform::Platform;

use super::patterns::RootPatternError;
use super::values::{BodySchema, Located, ProjectReader, listed};
use super::{
    Allow, PinnedKey, PlatformName, Policy, Project, ProviderName, ProviderSetting, RootPatterns,
    RootsFrom, RuleSetting, SettingPlace, Trust,
};
use super::{audit, packages};

const TOP: BodySchema = BodySchema {
    subject: "a project file",
    arguments: &["platforms", "flavor", "roots"],
    blocks: &[
        "roots", "provider", "rule", "packages", "trust", "policy", "audit", "modules",
    ],
    elsewhere: &[],
};

const ROOTS: BodySchema = BodySchema {
    subject: "a roots block",
    arguments: &["from"],
    blocks: &[],
    elsewhere: &[],
};

const MODULES: BodySchema = BodySchema {
    subject: "a modules block",
    arguments: &["lock"],
    blocks: &[],
    elsewhere: &[],
};

const PROVIDER: BodySchema = BodySchema {
    subject: "a provider block",
    arguments: &["platforms"],
    blocks: &[],
    elsewhere: &[("key_id", "a provider block in policy")],
};

const RULE: BodySchema = BodySchema {
    subject: "a rule block",
    arguments: &["level", "reason", "provider", "until"],
    blocks: &[],
    elsewhere: &[],
};

const TRUST: BodySchema = BodySchema {
    subject: "a trust block",
    arguments: &["h1", "h1_from", "require_signature", "imported_facts"],
    blocks: &[],
    elsewhere: &[],
};

const POLICY: BodySchema = BodySchema {
    subject: "a policy block",
    arguments: &["allow", "min_age", "undated"],
    blocks: &["provider"],
    elsewhere: &[],
};

const POLICY_PROVIDER: BodySchema = BodySchema {
    subject: "a provider block in policy",
    arguments: &["key_id"],
    blocks: &[],
    elsewhere: &[("platforms", "a provider block outside policy")],
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

const UNDATED: [(&str, Undated); 2] = [("accept", Undated::Accept), ("refuse", Undated::Refuse)];

/// A provider as an example.
const EXAMPLE: &str = "hashicorp/aws";

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
            distinct(&setting, block.header, &rules, reader);
            rules.push((setting, block.header));
        }
    }
    if let Some(block) = only(&reader.blocks(body, "roots"), reader) {
        project.roots_from = roots_from(block, reader);
    }
    project.rules = rules.into_iter().map(|(setting, _)| setting).collect();
    if let Some(block) = only(&reader.blocks(body, "trust"), reader) {
        project.trust = trust(&block.body, project.flavor, reader);
    }
    if let Some(block) = only(&reader.blocks(body, "packages"), reader) {
        project.packages = packages::read(block, reader);
    }
    if let Some(block) = only(&reader.blocks(body, "audit"), reader) {
        project.ignored_advisories = audit::read(block, reader);
    }
    if let Some(block) = only(&reader.blocks(body, "modules"), reader) {
        reader.names(&block.body, &MODULES);
        project.pins_modules = reader.flag(&block.body, "lock").unwrap_or_default();
    }
    project.policy =
        only(&reader.blocks(body, "policy"), reader).map(|block| policy(&block.body, reader));
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

fn platforms(body: &Body, reader: &mut ProjectReader) -> Vec<PlatformName> {
    reader
        .some_texts(body, "platforms")
        .unwrap_or_default()
        .iter()
        .filter_map(|text| platform(text, reader))
        .collect()
}

fn platform(text: &Located<String>, reader: &mut ProjectReader) -> Option<PlatformName> {
    let (remark, help) = match &*text.value {
        "common" => return Some(PlatformName::Common),
        "all" => (
            "only `lock` finds out what a release offers, so `verify` could not check it",
            "name the platforms, or lock with --platform all",
        ),
        "current" => (
            "this depends on the machine, and the file is for all of them",
            "name the platforms",
        ),
        "locked" => (
            "this depends on the lock file that it shall be compared with",
            "name the platforms",
        ),
        name => match name.parse::<Platform>() {
            Ok(platform) => {
                if !platform.is_common() {
                    let note = Diagnostic::note(rules::PROJECT_ODD, "Rare platform");
                    let spelling = diag::spelling_of(&platform);
                    let remark = format!("providers are rarely released for it: {spelling}");
                    reader.push(note.at(reader.file, text.span, remark));
                }
                return Some(PlatformName::Named(platform));
            }
            Err(_) => (
                "this is not a platform",
                "write OS_ARCH with exactly one underscore, as in linux_amd64, or common",
            ),
        },
    };
    reader.invalid("Invalid platform", text.span, remark, help);
    None
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
            place: SettingPlace {
                file: reader.file,
                span: from.span,
            },
        }),
        Err(error) => {
            let help = "write the path of a file, from the directory of this one on";
            reader.invalid("Invalid path", from.span, &error.to_string(), help);
            None
        }
    }
}

/// Returns the provider that the label of a block names, once.
fn own_name(
    block: &Block,
    named: &mut Vec<(ProviderName, Span)>,
    reader: &mut ProjectReader,
) -> Option<ProviderName> {
    let label = reader.label(block, EXAMPLE)?;
    let name = provider(&label.text, label.span, reader)?;
    // A name without a host means another registry to each program, so texts are not compared: two blocks
    // are about one provider if they are for any flavor.
    match named.iter().find(|(other, _)| other.overlaps(&name)) {
        Some((_, first)) => {
            reader.twice("Duplicate provider block", block.header, *first);
            None
        }
        None => {
            named.push((name.clone(), block.header));
            Some(name)
        }
    }
}

fn provider(text: &str, at: Span, reader: &mut ProjectReader) -> Option<ProviderName> {
    let name = ProviderName::new(text);
    if name.is_none() {
        let help = "write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE";
        let remark = "this is no provider address";
        reader.invalid("Invalid provider address", at, remark, help);
    }
    name
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
    let reason = reader.text(&block.body, "reason");
    let says_nothing = match &reason {
        Some(text) => text.value.trim().is_empty(),
        // A reason of another type was reported already.
        None => block.body.attribute("reason").is_none(),
    };
    if level == Some(Level::Off) && says_nothing {
        let at = reason.as_ref().map_or(block.header, |text| text.span);
        let title = "Missing reason";
        let remark = "a rule that is turned off needs a reason";
        reader.invalid(title, at, remark, "say why, as in reason = \"…\"");
    }
    let provider = match reader.text(&block.body, "provider") {
        Some(text) => Some(provider(&text.value, text.span, reader)?),
        // A narrower setting that cannot be read is none about all providers.
        None if block.body.attribute("provider").is_some() => return None,
        None => None,
    };
    let until = match reader.text(&block.body, "until") {
        Some(text) => Some(reader.day(&text)?),
        // Without its end, a setting that was meant to end would count for ever.
        None if block.body.attribute("until").is_some() => return None,
        None => None,
    };
    Some(RuleSetting {
        rule: name?.name,
        level: level?,
        reason: reason.map(|text| text.value),
        provider,
        until,
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

/// Finds a word in a table.
pub(super) fn choice<T: Copy>(
    title: &str,
    text: &Located<String>,
    table: &[(&str, T)],
    reader: &mut ProjectReader,
) -> Option<T> {
    if let Some((_, value)) = table.iter().find(|(word, _)| *word == text.value) {
        return Some(*value);
    }
    let words: Vec<&str> = table.iter().map(|(word, _)| *word).collect();
    let help = did_you_mean(&text.value, &words)
        .unwrap_or_else(|| format!("it can be {}", words.join(", ")));
    reader.invalid(title, text.span, "this word has no meaning here", &help);
    None
}

/// Reports a second setting about the findings of one rule and provider.
fn distinct(
    setting: &RuleSetting,
    at: Span,
    before: &[(RuleSetting, Span)],
    reader: &mut ProjectReader,
) {
    let is_same = |other: &RuleSetting| {
        let is_same_provider = match (&setting.provider, &other.provider) {
            (Some(provider), Some(other)) => provider.overlaps(other),
            (None, None) => true,
            _ => false,
        };
        is_same_provider && other.rule == setting.rule
    };
    if let Some((_, first)) = before.iter().find(|(other, _)| is_same(other)) {
        reader.twice("Duplicate rule block", at, *first);
    }
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
        match text.value.parse::<Hostname>() {
            Ok(host) => h1_from.push(host),
            Err(error) => {
                let help = "write the name as a browser shows it, without scheme or path";
                reader.invalid("Invalid hostname", text.span, &error.to_string(), help);
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
            .and_then(|_| place(body, "require_signature", reader)),
        imported_facts: reader.flag(body, "imported_facts").unwrap_or(false),
    }
}

fn policy(body: &Body, reader: &mut ProjectReader) -> Policy {
    reader.names(body, &POLICY);
    let allow = reader.some_texts(body, "allow").and_then(|texts| {
        let patterns = texts
            .into_iter()
            .filter(|text| is_pattern(text, reader))
            .map(|text| text.value)
            .collect();
        let place = place(body, "allow", reader)?;
        Some(Allow { patterns, place })
    });
    let min_age = reader.text(body, "min_age").and_then(|text| {
        let min_age = text.value.parse::<MinAge>();
        if let Err(error) = &min_age {
            let help = "write a number of hours, days or weeks, as in 12h, 7d or 2w";
            reader.invalid("Invalid age", text.span, &error.to_string(), help);
        }
        min_age.ok()
    });
    let undated = reader
        .text(body, "undated")
        .and_then(|text| choice("Invalid choice", &text, &UNDATED, reader));
    let mut named = Vec::new();
    let mut keys = Vec::new();
    for block in reader.blocks(body, "provider") {
        reader.names(&block.body, &POLICY_PROVIDER);
        let name = own_name(block, &mut named, reader);
        let key = key(block, reader);
        let place = place(&block.body, "key_id", reader);
        if let (Some(provider), Some(key), Some(place)) = (name, key, place) {
            keys.push(PinnedKey {
                provider,
                key,
                place,
            });
        }
    }
    Policy {
        allow,
        keys,
        min_age,
        undated: undated.unwrap_or_default(),
    }
}

fn place(body: &Body, name: &str, reader: &ProjectReader) -> Option<SettingPlace> {
    let argument = body.attribute(name)?;
    Some(SettingPlace {
        file: reader.file,
        span: argument.value.span,
    })
}

fn is_pattern(text: &Located<String>, reader: &mut ProjectReader) -> bool {
    // A pattern without a hostname means another registry to each program.
    let mut read = Flavor::ALL.map(|flavor| ProviderPattern::parse(&text.value, flavor));
    if read.iter().any(Result::is_ok) {
        return true;
    }
    if let Err(error) = read[0].as_mut() {
        let examples = ["hashicorp/aws", "hashicorp/*", "example.com/*/*"];
        let help = format!("write a pattern as in {}", listed(&examples));
        reader.invalid("Invalid pattern", text.span, &error.to_string(), &help);
    }
    false
}

fn key(block: &Block, reader: &mut ProjectReader) -> Option<KeyId> {
    if block.body.attribute("key_id").is_none() {
        let help = "write key_id = \"…\", as `lockctl lock -v` prints it";
        reader.invalid("Missing key", block.header, "key_id is missing", help);
        return None;
    }
    let text = reader.text(&block.body, "key_id")?;
    let key = KeyId::parse(&text.value);
    // A fingerprint of version 4 has 20 bytes, and the ID of the key is its last 8 (RFC 4880 section 12.2).
    if key.is_none() {
        let remark = "this is neither the ID of a key nor its fingerprint";
        let help = "write 16 or 40 hexadecimal digits, as in 34365D9472D7468F";
        reader.invalid("Invalid key", text.span, remark, help);
    }
    key
}
