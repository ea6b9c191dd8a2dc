//! The blocks and arguments of a project file.

use crate::addr::{Hostname, ProviderPattern};
use crate::diag::{self, Diagnostic, FileId, Level, RULES, Severity, Span, did_you_mean, rules};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::hcl;
use crate::hcl::tree::{Block, Body};
use crate::package::{H1Trust, KeyId, MinAge, Undated};
use crate::platform::Platform;

use super::patterns::PatternError;
use super::values::{Faults, Known, Located, listed};
use super::{
    Allow, PinnedKey, Place, PlatformName, Policy, Project, ProviderName, ProviderSetting,
    RootPatterns, RootsFrom, RuleSetting, Trust,
};

const TOP: Known = Known {
    what: "a project file",
    arguments: &["platforms", "flavor", "roots"],
    blocks: &["roots", "provider", "rule", "trust", "policy"],
    elsewhere: &[],
};

const ROOTS: Known = Known {
    what: "a roots block",
    arguments: &["from"],
    blocks: &[],
    elsewhere: &[],
};

const PROVIDER: Known = Known {
    what: "a provider block",
    arguments: &["platforms"],
    blocks: &[],
    elsewhere: &[("key_id", "a provider block in policy")],
};

const RULE: Known = Known {
    what: "a rule block",
    arguments: &["level", "reason", "provider"],
    blocks: &[],
    elsewhere: &[],
};

const TRUST: Known = Known {
    what: "a trust block",
    arguments: &["h1", "h1_from", "require_signature", "imported_facts"],
    blocks: &[],
    elsewhere: &[],
};

const POLICY: Known = Known {
    what: "a policy block",
    arguments: &["allow", "min_age", "undated"],
    blocks: &["provider"],
    elsewhere: &[],
};

const POLICY_PROVIDER: Known = Known {
    what: "a provider block in policy",
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
    let (body, found) = hcl::parse(file, bytes);
    let mut faults = Faults { file, found };
    let project = project(&body, &mut faults);
    diag::in_order(&mut faults.found);
    (project, faults.found)
}

fn project(body: &Body, faults: &mut Faults) -> Project {
    faults.names(body, &TOP);
    let mut project = Project {
        platforms: platforms(body, faults),
        flavor: flavor(body, faults),
        roots: roots(body, faults),
        ..Project::default()
    };
    let mut providers = Vec::new();
    for block in faults.blocks(body, "provider") {
        faults.names(&block.body, &PROVIDER);
        let platforms = platforms(&block.body, faults);
        if let Some(name) = own_name(block, &mut providers, faults) {
            project.providers.push(ProviderSetting { name, platforms });
        }
    }
    let mut rules = Vec::new();
    for block in faults.blocks(body, "rule") {
        if let Some(setting) = rule(block, faults) {
            distinct(&setting, block.header, &rules, faults);
            rules.push((setting, block.header));
        }
    }
    if let Some(block) = only(&faults.blocks(body, "roots"), faults) {
        project.roots_from = roots_from(block, faults);
    }
    project.rules = rules.into_iter().map(|(setting, _)| setting).collect();
    if let Some(block) = only(&faults.blocks(body, "trust"), faults) {
        project.trust = trust(&block.body, project.flavor, faults);
    }
    project.policy =
        only(&faults.blocks(body, "policy"), faults).map(|block| policy(&block.body, faults));
    project
}

/// Returns the only block of a kind that may stand once and takes no label.
fn only<'b>(blocks: &[&'b Block], faults: &mut Faults) -> Option<&'b Block> {
    let (first, others) = blocks.split_first()?;
    faults.no_label(first);
    for again in others {
        let title = format!("Duplicate {} block", again.kind.text);
        faults.twice(&title, again.header, first.header);
    }
    Some(first)
}

fn platforms(body: &Body, faults: &mut Faults) -> Vec<PlatformName> {
    let texts = faults.some_texts(body, "platforms").unwrap_or_default();
    let names = texts.iter().filter_map(|text| platform(text, faults));
    names.collect()
}

fn platform(text: &Located<String>, faults: &mut Faults) -> Option<PlatformName> {
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
        name => match name.parse() {
            Ok(platform) => {
                rare(&platform, text.span, faults);
                return Some(PlatformName::Named(platform));
            }
            Err(_) => (
                "this is not a platform",
                "write OS_ARCH with exactly one underscore, as in linux_amd64, or common",
            ),
        },
    };
    faults.invalid("Invalid platform", text.span, remark, help);
    None
}

/// Doubts a platform that no provider is commonly released for.
fn rare(platform: &Platform, at: Span, faults: &mut Faults) {
    if !platform.is_common() {
        let note = Diagnostic::note(rules::PROJECT_ODD, "Rare platform");
        let remark = "providers are rarely released for it: is it spelled right?";
        faults.push(note.at(faults.file, at, remark));
    }
}

fn flavor(body: &Body, faults: &mut Faults) -> FlavorChoice {
    let Some(text) = faults.text(body, "flavor") else {
        return FlavorChoice::Auto;
    };
    text.value.parse().unwrap_or_else(|_| {
        let help = "write terraform, opentofu, one of them with a version, as in terraform@1.11, \
                    or auto";
        faults.invalid("Invalid flavor", text.span, "this is no flavor", help);
        FlavorChoice::Auto
    })
}

fn roots(body: &Body, faults: &mut Faults) -> RootPatterns {
    let Some(argument) = body.attribute("roots") else {
        return RootPatterns::default();
    };
    let wrong = |error: PatternError, at, help: &str, faults: &mut Faults| {
        faults.invalid("Invalid pattern", at, &error.to_string(), help);
    };
    let mut globs = Vec::new();
    for text in faults.texts(body, "roots").unwrap_or_default() {
        match RootPatterns::pattern(&text.value) {
            Ok(glob) => globs.push(glob),
            Err(error) => {
                let help = "write a path from the directory of this file on, with forward slashes; \
                            * stands for any part of a name, ** for any directories";
                wrong(error, text.span, help, faults);
            }
        }
    }
    RootPatterns::new(globs).unwrap_or_else(|error| {
        wrong(error, argument.value.span, "write fewer patterns", faults);
        RootPatterns::default()
    })
}

fn roots_from(block: &Block, faults: &mut Faults) -> Option<RootsFrom> {
    faults.names(&block.body, &ROOTS);
    let Some(from) = faults.text(&block.body, "from") else {
        let help = "write from = \"atlantis.yaml\"";
        faults.invalid("Missing argument", block.header, "from is missing", help);
        return None;
    };
    match RootPatterns::directory(&from.value) {
        Ok(path) => Some(RootsFrom {
            path: path.display().to_string(),
            place: Place {
                file: faults.file,
                span: from.span,
            },
        }),
        Err(error) => {
            let help = "write the path of a file, from the directory of this one on";
            faults.invalid("Invalid path", from.span, &error.to_string(), help);
            None
        }
    }
}

/// Returns the provider that the label of a block names, once.
fn own_name(
    block: &Block,
    seen: &mut Vec<(ProviderName, Span)>,
    faults: &mut Faults,
) -> Option<ProviderName> {
    let label = faults.label(block, EXAMPLE)?;
    let name = provider(&label.text, label.span, faults)?;
    match seen.iter().find(|(other, _)| other.overlaps(&name)) {
        Some((_, first)) => {
            faults.twice("Duplicate provider block", block.header, *first);
            None
        }
        None => {
            seen.push((name.clone(), block.header));
            Some(name)
        }
    }
}

fn provider(text: &str, at: Span, faults: &mut Faults) -> Option<ProviderName> {
    let name = ProviderName::new(text);
    if name.is_none() {
        let help = "write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE";
        let remark = "this is no provider address";
        faults.invalid("Invalid provider address", at, remark, help);
    }
    name
}

fn rule(block: &Block, faults: &mut Faults) -> Option<RuleSetting> {
    faults.names(&block.body, &RULE);
    let name = faults
        .label(block, rules::PLATFORMS_INCOMPLETE)
        .and_then(|label| {
            let known = RULES.iter().find(|rule| rule.name == label.text);
            if known.is_none() {
                let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
                let help = did_you_mean(&label.text, &names)
                    .unwrap_or_else(|| "write a name as findings show it in brackets".into());
                let remark = "there is no such rule";
                faults.invalid("Unknown rule", label.span, remark, &help);
            }
            known
        });
    let level = level(block, faults);
    let reason = faults.text(&block.body, "reason");
    let stated = reason.as_ref().filter(|text| !text.value.trim().is_empty());
    // What is there and of another type was reported already.
    let is_absent = reason.is_some() || block.body.attribute("reason").is_none();
    if level == Some(Level::Off) && stated.is_none() && is_absent {
        let at = reason.as_ref().map_or(block.header, |text| text.span);
        let title = "Missing reason";
        let remark = "a rule that is turned off needs a reason";
        faults.invalid(title, at, remark, "say why, as in reason = \"…\"");
    }
    let narrowed = faults.text(&block.body, "provider");
    let provider = match narrowed {
        Some(text) => Some(provider(&text.value, text.span, faults)?),
        // A narrower setting that cannot be read is none about all providers.
        None if block.body.attribute("provider").is_some() => return None,
        None => None,
    };
    Some(RuleSetting {
        rule: name?.name,
        level: level?,
        reason: reason.map(|text| text.value),
        provider,
    })
}

fn level(block: &Block, faults: &mut Faults) -> Option<Level> {
    if block.body.attribute("level").is_none() {
        let help = "write level = \"off\", \"note\", \"warning\" or \"error\"";
        faults.invalid("Missing level", block.header, "level is missing", help);
        return None;
    }
    let text = faults.text(&block.body, "level")?;
    choice("Invalid level", &text, &LEVELS, faults)
}

/// Finds a word in a table.
fn choice<T: Copy>(
    title: &str,
    text: &Located<String>,
    table: &[(&str, T)],
    faults: &mut Faults,
) -> Option<T> {
    let found = table.iter().find(|(word, _)| *word == text.value);
    if found.is_none() {
        let words: Vec<&str> = table.iter().map(|(word, _)| *word).collect();
        let help = did_you_mean(&text.value, &words);
        let help = help.unwrap_or_else(|| format!("it can be {}", words.join(", ")));
        faults.invalid(title, text.span, "this word has no meaning here", &help);
    }
    found.map(|(_, value)| *value)
}

/// Reports a second setting about the findings of one rule and provider.
fn distinct(setting: &RuleSetting, at: Span, before: &[(RuleSetting, Span)], faults: &mut Faults) {
    let same = |other: &RuleSetting| {
        let provider = match (&setting.provider, &other.provider) {
            (Some(own), Some(other)) => own.overlaps(other),
            (None, None) => true,
            _ => false,
        };
        provider && other.rule == setting.rule
    };
    if let Some((_, first)) = before.iter().find(|(other, _)| same(other)) {
        faults.twice("Duplicate rule block", at, *first);
    }
}

fn trust(body: &Body, flavor: FlavorChoice, faults: &mut Faults) -> Trust {
    faults.names(body, &TRUST);
    let h1 = faults.text(body, "h1").and_then(|text| {
        let h1 = choice("Invalid trust", &text, &H1_TRUST, faults)?;
        let stated = match flavor {
            FlavorChoice::Stated(stated) => Some(stated.flavor.program()),
            FlavorChoice::Auto => None,
        };
        if h1 == H1Trust::AsTofu && stated == Some(Program::Terraform) {
            let remark = "Terraform's registry states no h1: hashes";
            let help = "write \"proven\", or state the flavor opentofu";
            faults.invalid("Invalid trust", text.span, remark, help);
        }
        Some(h1)
    });
    let hosts = faults.texts(body, "h1_from").unwrap_or_default();
    let hosts = hosts.into_iter().filter_map(|text| {
        let host = text.value.parse::<Hostname>();
        if let Err(error) = &host {
            let help = "write the name as a browser shows it, without scheme or path";
            faults.invalid("Invalid hostname", text.span, &error.to_string(), help);
        }
        host.ok()
    });
    Trust {
        h1,
        h1_from: hosts.collect(),
        require_signature: faults
            .flag(body, "require_signature")
            .filter(|wanted| *wanted)
            .and_then(|_| place(body, "require_signature", faults)),
        imported_facts: faults.flag(body, "imported_facts").unwrap_or(false),
    }
}

fn policy(body: &Body, faults: &mut Faults) -> Policy {
    faults.names(body, &POLICY);
    let patterns: Option<Vec<String>> = faults.some_texts(body, "allow").map(|texts| {
        let good = texts.into_iter().filter(|text| is_pattern(text, faults));
        good.map(|text| text.value).collect()
    });
    let allow = patterns.zip(place(body, "allow", faults));
    let allow = allow.map(|(patterns, place)| Allow { patterns, place });
    let min_age = faults.text(body, "min_age").and_then(|text| {
        let min_age = text.value.parse::<MinAge>();
        if let Err(error) = &min_age {
            let help = "write a number of hours, days or weeks, as in 12h, 7d or 2w";
            faults.invalid("Invalid age", text.span, &error.to_string(), help);
        }
        min_age.ok()
    });
    let undated = faults.text(body, "undated");
    let undated = undated.and_then(|text| choice("Invalid choice", &text, &UNDATED, faults));
    let mut seen = Vec::new();
    let mut keys = Vec::new();
    for block in faults.blocks(body, "provider") {
        faults.names(&block.body, &POLICY_PROVIDER);
        let name = own_name(block, &mut seen, faults);
        let key = key(block, faults);
        let place = place(&block.body, "key_id", faults);
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

/// Returns where an argument has its value.
fn place(body: &Body, name: &str, faults: &Faults) -> Option<Place> {
    let argument = body.attribute(name)?;
    Some(Place {
        file: faults.file,
        span: argument.value.span,
    })
}

fn is_pattern(text: &Located<String>, faults: &mut Faults) -> bool {
    let mut read = Flavor::ALL.map(|flavor| ProviderPattern::parse(&text.value, flavor));
    if read.iter().any(Result::is_ok) {
        return true;
    }
    if let Err(error) = read[0].as_mut() {
        let examples = ["hashicorp/aws", "hashicorp/*", "example.com/*/*"];
        let help = format!("write a pattern as in {}", listed(&examples));
        faults.invalid("Invalid pattern", text.span, &error.to_string(), &help);
    }
    false
}

fn key(block: &Block, faults: &mut Faults) -> Option<KeyId> {
    if block.body.attribute("key_id").is_none() {
        let help = "write key_id = \"…\", as `lockctl lock -v` prints it";
        faults.invalid("Missing key", block.header, "key_id is missing", help);
        return None;
    }
    let text = faults.text(&block.body, "key_id")?;
    let key = KeyId::parse(&text.value);
    if key.is_none() {
        let remark = "this is neither the ID of a key nor its fingerprint";
        let help = "write 16 or 40 hexadecimal digits, as in 34365D9472D7468F";
        faults.invalid("Invalid key", text.span, remark, help);
    }
    key
}
