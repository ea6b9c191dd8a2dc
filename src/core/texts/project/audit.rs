//! `audit { ignore "GO-…" { … } }`: advisories that `audit` ignores.

use crate::diag::Span;
use crate::hcl::tree::Block;

use super::values::{BodySchema, ProjectReader};
use super::{SettingEnd, SettingPlace};

const AUDIT: BodySchema = BodySchema {
    subject: "an audit block",
    arguments: &[],
    blocks: &["ignore"],
};

const IGNORE: BodySchema = BodySchema {
    subject: "an ignore block",
    arguments: &["reason", "until"],
    blocks: &[],
};

/// Maximum length of the name of an advisory, in bytes.
const MAX_ID_BYTES: usize = 64;

/// An advisory that the project file ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredAdvisory {
    /// The identifier, or one of its aliases.
    pub id: String,
    /// The reason, in the words of the project file.
    pub reason: String,
    /// The day when the exception ends, if there is one.
    pub until: Option<SettingEnd>,
    /// The place of the identifier in the file.
    pub place: SettingPlace,
}

pub(super) fn read(block: &Block, reader: &mut ProjectReader) -> Vec<IgnoredAdvisory> {
    reader.names(&block.body, &AUDIT);
    let mut ignored: Vec<(IgnoredAdvisory, Span)> = Vec::new();
    for block in reader.blocks(&block.body, "ignore") {
        reader.names(&block.body, &IGNORE);
        let Some(label) = reader.label(block, "GO-2025-4152") else {
            continue;
        };
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_id =
            (1..=MAX_ID_BYTES).contains(&label.text.len()) && label.text.bytes().all(is_allowed);
        if !is_id {
            let remark = "this is not the name of an advisory";
            let help = "write a name as `lockctl audit` shows it, as in GO-2025-4152";
            reader.invalid("Invalid advisory", label.span, remark, help);
        }
        let reason = reader.reason(block, "an advisory that is ignored needs a reason");
        // An exception with an invalid end is dropped: without its end it would never expire.
        let Some(until) = reader.until(&block.body) else {
            continue;
        };
        if !is_id {
            continue;
        }
        let setting = IgnoredAdvisory {
            id: label.text.clone(),
            reason,
            until,
            place: reader.place(label.span),
        };
        let is_same = |other: &IgnoredAdvisory| other.id.eq_ignore_ascii_case(&setting.id);
        match ignored.iter().find(|(other, _)| is_same(other)) {
            Some((_, first)) => reader.twice("Duplicate ignore block", block.header, *first),
            None => ignored.push((setting, block.header)),
        }
    }
    ignored.into_iter().map(|(setting, _)| setting).collect()
}
