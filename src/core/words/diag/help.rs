//! The next step that a diagnostic advises, with the command that takes it as a value.

use std::collections::BTreeSet;
use std::fmt;

use super::shortened::{MAX_TEXT, shortened};

/// Advice on what to do next, imperative.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Help {
    /// The text; a command in it is that for the root at hand.
    pub text: String,
    /// The same text with the command for all roots of the run; `None` if the text names no such command.
    text_for_all: Option<String>,
    /// The command that alone is the next step; `None` if there is anything to find out or decide first.
    pub command: Option<RootCommand>,
    /// Only an edit of the configuration helps: no command does.
    pub by_hand: bool,
    /// The command that names a provider, with the text around it; `None` if the text has none.
    about_provider: Option<Box<ProviderCommand>>,
}

/// A command that names a provider, in its sentence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ProviderCommand {
    before: String,
    /// The command without the provider.
    command: RootCommand,
    provider: String,
    after: String,
}

/// Maximum number of providers that a command names; for more it names none, and concerns all.
const MAX_PROVIDERS: usize = 12;

/// A command line for one root of a run, with the one that does the same for all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RootCommand {
    /// The command for the root at hand.
    pub for_root: String,
    /// The command for all roots of the run.
    pub for_all: String,
}

impl Help {
    /// Makes advice to edit the configuration, where no command helps.
    pub fn by_hand(text: impl Into<String>) -> Self {
        Self {
            by_hand: true,
            ..text.into().into()
        }
    }

    /// Returns the text as it is for all roots of the run, without the provider that its command names.
    #[must_use]
    pub fn for_all(&self) -> &str {
        self.text_for_all.as_deref().unwrap_or(&self.text)
    }

    /// Returns the advice that serves for all of these, whose texts [for all roots](Self::for_all) are equal: its
    /// command names the providers of all. `None` if there are none.
    #[must_use]
    pub fn of_several<'a>(
        helps: impl Iterator<Item = &'a Self> + Clone,
        is_one_root: bool,
    ) -> Option<AdviceText> {
        let first = helps.clone().next()?;
        let line = |command: &RootCommand| {
            if is_one_root {
                command.for_root.clone()
            } else {
                command.for_all.clone()
            }
        };
        let Some(shared) = &first.about_provider else {
            let text = if is_one_root {
                &first.text
            } else {
                first.for_all()
            };
            return Some(AdviceText {
                text: text.to_owned(),
                command: first.command.as_ref().map(line),
            });
        };
        let providers: BTreeSet<&str> = helps
            .filter_map(|help| Some(&*help.about_provider.as_ref()?.provider))
            .collect();
        // A line with hundreds of names is of no use; without names the command is about all of them.
        let command = if providers.len() > MAX_PROVIDERS {
            line(&shared.command)
        } else {
            let providers = Vec::from_iter(providers).join(" ");
            line(&shared.command.with(providers))
        };
        let text = shared.around(&command);
        Some(AdviceText {
            text: shortened(&text, MAX_TEXT).into_owned(),
            command: first.command.as_ref().map(|_| command),
        })
    }

    /// Adds a line below, which names no command.
    #[must_use]
    pub fn and(mut self, line: &str) -> Self {
        for text in [Some(&mut self.text), self.text_for_all.as_mut()]
            .into_iter()
            .flatten()
        {
            text.push('\n');
            text.push_str(line);
        }
        if let Some(parts) = &mut self.about_provider {
            parts.after.push('\n');
            parts.after.push_str(line);
        }
        self
    }
}

/// Advice as it is shown once for several findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdviceText {
    pub text: String,
    /// The command that fixes all of them, if a command alone does.
    pub command: Option<String>,
}

impl ProviderCommand {
    fn around(&self, command: &str) -> String {
        format!("{}`{command}`{}", self.before, self.after)
    }
}

impl RootCommand {
    /// Makes a command that is the same for one root and for all of them.
    pub fn new(command: impl Into<String>) -> Self {
        let command = command.into();
        Self {
            for_all: command.clone(),
            for_root: command,
        }
    }

    /// Returns the command with further arguments behind it.
    #[must_use]
    pub fn with(&self, arguments: impl fmt::Display) -> Self {
        Self {
            for_root: format!("{} {arguments}", self.for_root),
            for_all: format!("{} {arguments}", self.for_all),
        }
    }

    /// Returns the command that has these arguments; a space is before them already.
    #[must_use]
    pub fn after(&self, command: &str) -> Self {
        Self {
            for_root: format!("{command}{self}"),
            for_all: format!("{command}{}", self.for_all),
        }
    }

    /// Returns the advice to run the command; `rest` goes on behind it, as in `" to create it"`.
    #[must_use]
    pub fn run(&self, rest: &str) -> Help {
        Help {
            command: Some(self.clone()),
            ..self.named_in(|command| format!("run `{command}`{rest}"))
        }
    }

    /// Returns advice that names the command, and says more than to run it.
    #[must_use]
    pub fn named_in(&self, text: impl Fn(&str) -> String) -> Help {
        Help {
            text_for_all: Some(shortened(&text(&self.for_all), MAX_TEXT).into_owned()),
            ..text(&self.for_root).into()
        }
    }
}

/// Quotes a word for a shell, where it needs that.
#[must_use]
pub fn quoted(word: &str) -> String {
    // Both shells of Windows take the separator as it is, and know these quotes around spaces.
    let is_separator = |c| cfg!(windows) && c == '\\';
    let plain = |c: char| c.is_alphanumeric() || "_./-:@%+,=".contains(c) || is_separator(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if cfg!(windows) && word.chars().all(|c| plain(c) || c == ' ') {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl RootCommand {
    /// Returns advice with the command for a provider in the midst of a text; the same advice on several providers
    /// is one, whose command names all of them.
    #[must_use]
    pub fn for_provider(
        &self,
        provider: impl fmt::Display,
        before: impl Into<String>,
        after: impl Into<String>,
    ) -> Help {
        let parts = ProviderCommand {
            before: before.into(),
            command: self.clone(),
            provider: provider.to_string(),
            after: after.into(),
        };
        let command = self.with(&parts.provider);
        let text_for_all = parts.around(&self.for_all);
        Help {
            text_for_all: Some(shortened(&text_for_all, MAX_TEXT).into_owned()),
            about_provider: Some(Box::new(parts.clone())),
            command: Some(command.clone()),
            ..parts.around(&command.for_root).into()
        }
    }
}

impl fmt::Display for RootCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.for_root)
    }
}

impl From<String> for Help {
    fn from(text: String) -> Self {
        Self {
            text: shortened(&text, MAX_TEXT).into_owned(),
            text_for_all: None,
            command: None,
            by_hand: false,
            about_provider: None,
        }
    }
}

impl From<&str> for Help {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
