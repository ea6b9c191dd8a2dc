//! What tests say of texts and of the output of commands.

use serde_json::Value;
use snapbox::IntoData;

use crate::lab::Outcome;

/// Assertions about a text; they show it if they fail.
pub(crate) trait Text {
    /// The text is that of a snapshot.
    fn reads(&self, expected: impl IntoData);

    fn has(&self, part: impl AsRef<str>);

    fn lacks(&self, part: impl AsRef<str>);
}

impl Text for str {
    #[track_caller]
    fn reads(&self, expected: impl IntoData) {
        snapbox::assert_data_eq!(self, expected);
    }

    #[track_caller]
    fn has(&self, part: impl AsRef<Self>) {
        let part = part.as_ref();
        assert!(self.contains(part), "{part:?} is not in:\n{self}");
    }

    #[track_caller]
    fn lacks(&self, part: impl AsRef<Self>) {
        let part = part.as_ref();
        assert!(!self.contains(part), "{part:?} is in:\n{self}");
    }
}

impl Outcome {
    #[track_caller]
    pub(crate) fn exits(self, code: u8) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// The document on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    #[track_caller]
    pub(crate) fn stdout_eq(&self, expected: impl IntoData) {
        self.stdout.reads(expected);
    }

    #[track_caller]
    pub(crate) fn stderr_eq(&self, expected: impl IntoData) {
        self.stderr.reads(expected);
    }

    #[track_caller]
    pub(crate) fn stdout_has(&self, part: impl AsRef<str>) {
        self.stdout.has(part);
    }

    #[track_caller]
    pub(crate) fn stderr_has(&self, part: impl AsRef<str>) {
        self.stderr.has(part);
    }

    #[track_caller]
    pub(crate) fn stdout_lacks(&self, part: impl AsRef<str>) {
        self.stdout.lacks(part);
    }

    #[track_caller]
    pub(crate) fn stderr_lacks(&self, part: impl AsRef<str>) {
        self.stderr.lacks(part);
    }
}
