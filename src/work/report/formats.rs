//! The formats that programs of CI read.

use std::io::{self, Write};

use super::{Checked, EscapedIn, github, junit, sarif};

/// A format that programs of CI read.
#[derive(Clone, Copy, Debug)]
pub struct CheckFormat {
    /// Its name, as typed.
    pub name: &'static str,
    /// Writes a document in this format.
    pub render: fn(&mut dyn Write, &Checked<'_>) -> io::Result<()>,
    /// The language that it is written in.
    pub language: EscapedIn,
    /// Nothing else may be printed, not even to standard error.
    pub stands_alone: bool,
}

impl PartialEq for CheckFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CheckFormat {}

/// Every format that programs of CI read, in the order of help.
pub const CHECK_FORMATS: &[CheckFormat] = &[
    CheckFormat {
        name: "sarif",
        render: sarif::render,
        language: EscapedIn::Json,
        stands_alone: false,
    },
    CheckFormat {
        name: "junit",
        render: junit::render,
        language: EscapedIn::Xml,
        stands_alone: false,
    },
    // The runner reads commands from either stream.
    CheckFormat {
        name: "github",
        render: github::render,
        language: EscapedIn::Commands,
        stands_alone: true,
    },
];
