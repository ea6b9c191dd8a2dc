//! The next step that a diagnostic advises, with the command that takes it as a value.

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
}

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

    /// Returns the text as it is for all roots of the run.
    #[must_use]
    pub fn for_all(&self) -> &str {
        self.text_for_all.as_deref().unwrap_or(&self.text)
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
        self
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
