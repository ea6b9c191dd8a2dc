//! Providers and platforms as they are written, and settings of which there may be one for each.

use super::values::{Located, ProjectReader};
use super::{PlatformName, ProviderName, RuleSetting};
use crate::diag::{self, Diagnostic, Span, rules};
use crate::hcl::tree::{Block, Body};
use crate::platform::Platform;

/// A provider as an example.
pub(super) const EXAMPLE: &str = "hashicorp/aws";

pub(super) fn platforms(body: &Body, reader: &mut ProjectReader) -> Vec<PlatformName> {
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
        "all" | "current" | "locked" => (
            "this depends on the release, the machine or the lock file, and the file is for all of them",
            "name the platforms",
        ),
        name => match name.parse::<Platform>() {
            Ok(platform) => {
                // Any two words are a platform to the programs, so that a spelling mistake is no error.
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

/// Returns the provider that the label of a block names, once.
pub(super) fn own_name(
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

pub(super) fn provider(text: &str, at: Span, reader: &mut ProjectReader) -> Option<ProviderName> {
    let name = ProviderName::new(text);
    if name.is_none() {
        let help = "write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE";
        let remark = "this is no provider address";
        reader.invalid("Invalid provider address", at, remark, help);
    }
    name
}

/// Reports a second setting about the findings of one rule and provider.
pub(super) fn distinct(
    setting: &RuleSetting,
    block: &Block,
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
        let title = format!("Duplicate {} block", block.kind.text);
        reader.twice(&title, block.header, *first);
    }
}
