//! Messages with what the table says about them.

use super::known::{self, KnownError};
use super::output::{MAX_MESSAGES, ProgramMessage};
use super::subject::{self, Subject};
use crate::diag::Severity;
use crate::flavor::{Flavor, Program};

/// A message, or an item of the list in one, with what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExplainedMessage {
    /// The severity that the program gave it.
    pub(crate) severity: Severity,
    /// The title that the program printed.
    pub(crate) title: String,
    /// The text below the title, or the item of its list, in one line.
    pub(crate) text: String,
    /// The kind of error; `None` if it is not recognised.
    pub(crate) known: Option<&'static KnownError>,
    /// The things that it names.
    pub(crate) subject: Subject,
}

/// Explains the messages of an output, each once.
///
/// `flavor` is that of the program that printed it: it decides on the default host.
pub(crate) fn explain(messages: &[ProgramMessage], flavor: Flavor) -> Vec<ExplainedMessage> {
    let mut all: Vec<ExplainedMessage> = Vec::new();
    for message in messages {
        for part in parts(message) {
            let explained = part.explained(message.severity, flavor);
            // One cause is often printed by several steps of a command.
            let is_new = !all.iter().any(|other| {
                (other.known, &other.subject) == (explained.known, &explained.subject)
                    && (other.known.is_some() || other.title == explained.title)
            });
            if is_new {
                all.push(explained);
            }
        }
    }
    all
}

/// Returns the program that printed an output, if it shows that.
pub(crate) fn printed_by(output: &str) -> Option<Program> {
    let names = |words: &[&str]| words.iter().any(|word| output.contains(word));
    // The last is a title of OpenTofu alone (rules 2.4).
    if names(&[
        "OpenTofu",
        "opentofu.org/docs",
        "tofu init",
        "tofu provider",
        "Failed to resolve provider packages",
    ]) {
        // Terraform never names OpenTofu.
        Some(Program::OpenTofu)
    } else if names(&["Terraform ", "terraform init", "terraform provider"]) {
        Some(Program::Terraform)
    } else {
        None
    }
}

/// Finds known errors in an output that has lost the titles, as a log that keeps some lines alone.
pub(crate) fn untitled(output: &str) -> Vec<ProgramMessage> {
    output
        .lines()
        .map(str::trim)
        .filter(|line| known::find(line, line).is_some())
        .take(MAX_MESSAGES)
        .map(|line| ProgramMessage {
            severity: Severity::Error,
            title: line.to_owned(),
            body: Vec::new(),
        })
        .collect()
}

/// One fault of a message: all of it, or an item of its list.
struct MessagePart {
    title: String,
    /// The text around the item.
    lead: String,
    text: String,
}

impl MessagePart {
    fn explained(self, severity: Severity, flavor: Flavor) -> ExplainedMessage {
        let whole = in_one_line(&format!("{} {} {}", self.title, self.lead, self.text));
        ExplainedMessage {
            severity,
            known: known::find(&self.title, &whole),
            // An item names its own provider, and the sentence above the list what all items share, as the platform.
            subject: subject::of(&[&self.text, &self.title, &self.lead], flavor),
            title: self.title,
            text: in_one_line(&self.text),
        }
    }
}

/// Takes a message apart into its faults.
fn parts(message: &ProgramMessage) -> Vec<MessagePart> {
    let items: Vec<&str> = message
        .body
        .iter()
        .filter_map(|line| line.trim_start().strip_prefix("- "))
        .collect();
    if let Some((prefix, rest)) = known::folded(&message.title) {
        // `2 problems:` and a list, or the title and the text of the only one (rules 2.1).
        let folded = if items.is_empty() { vec![rest] } else { items };
        let text_below = message.body.join(" ");
        return folded
            .into_iter()
            .map(|problem| {
                let (title, text) = problem.split_once(": ").unwrap_or((problem, &text_below));
                MessagePart {
                    title: title.trim().to_owned(),
                    lead: prefix.to_owned(),
                    text: text.to_owned(),
                }
            })
            .collect();
    }
    // Elsewhere a line with a hyphen is a part of the text, such as the places that were searched.
    if !known::is_list(&message.title) || items.is_empty() {
        return vec![MessagePart {
            title: message.title.clone(),
            lead: String::new(),
            text: message.body.join(" "),
        }];
    }
    let lead: Vec<&str> = message
        .body
        .iter()
        .map(String::as_str)
        .filter(|line| !line.trim_start().starts_with("- "))
        .collect();
    items
        .into_iter()
        .map(|item| MessagePart {
            title: message.title.clone(),
            lead: lead.join(" "),
            text: item.to_owned(),
        })
        .collect()
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl ExplainedMessage {
    /// Returns the command that the table names, if it names one, for the things that the message is about.
    pub(crate) fn command(&self, known: &KnownError, flavor: Flavor) -> Option<String> {
        let Subject {
            provider,
            platform,
            host,
            ..
        } = &self.subject;
        let names: [(&str, Option<String>); 4] = [
            ("{program}", Some(flavor.command().to_owned())),
            ("{provider}", provider.as_ref().map(ToString::to_string)),
            ("{platform}", platform.as_ref().map(ToString::to_string)),
            ("{host}", host.as_ref().map(ToString::to_string)),
        ];
        // `lockctl lock --platform` without a platform is no command, so the part is left out as a whole.
        let filled = known.command.iter().filter_map(|part| {
            names.iter().try_fold(part.clone(), |text, (name, value)| {
                if !text.contains(name) {
                    return Some(text);
                }
                Some(text.replace(name, value.as_ref()?))
            })
        });
        let command = filled.collect::<Vec<_>>().join(" ");
        let command = command.strip_prefix(known::QUESTION).unwrap_or(&command);
        (!command.is_empty()).then(|| command.to_owned())
    }
}
