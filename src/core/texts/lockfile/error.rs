//! The error of a lock file that the programs refuse.

use std::fmt;

use crate::diag::{Diagnostic, Position, Severity, Texts};

/// The faults of a lock file that a program would refuse.
///
/// Displayed as one line per error, `LINE:COLUMN: TITLE: NOTE`, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockFileError {
    /// The errors, each with its position, if it has one.
    pub errors: Vec<(Option<Position>, Diagnostic)>,
}

impl LockFileError {
    pub(super) fn new(bytes: &[u8], diagnostics: Vec<Diagnostic>) -> Self {
        let mut texts = Texts::default();
        let file = texts.add("", bytes);
        // The diagnostics hold byte offsets only, and the text is gone when the error is printed.
        let errors = diagnostics
            .into_iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .map(|diagnostic| {
                let label = diagnostic.primary.as_ref();
                let position = label.map(|label| texts.position(file, label.span.start));
                (position, diagnostic)
            })
            .collect();
        Self { errors }
    }
}

impl fmt::Display for LockFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (position, diagnostic)) in self.errors.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            if let Some(Position { line, column }) = position {
                write!(f, "{line}:{column}: ")?;
            }
            f.write_str(&diagnostic.title)?;
            if let Some(label) = &diagnostic.primary
                && !label.note.is_empty()
            {
                write!(f, ": {}", label.note)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for LockFileError {}

#[cfg(test)]
mod tests {
    use crate::flavor::Flavor;
    use crate::lockfile::LockFile;

    #[test]
    fn an_error_is_one_line_per_fault() {
        let text = b"provider \"a/b\" {\n}\n\nprovider \"registry.terraform.io/c/d\" {\n  \
                     version = \"v1\"\n}\nx = 1\n";
        let error = LockFile::parse(text, Flavor::Terraform1_11).expect_err("it is refused");
        let lines: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), error.errors.len());
        assert!(
            lines[0].starts_with("1:10: Non-normalized provider source address: must be"),
            "{lines:?}"
        );
        assert!(
            lines[1].starts_with("5:13: Invalid provider version number: "),
            "{lines:?}"
        );
        assert_eq!(lines[2], "7:1: Unsupported argument: not expected here");
    }
}
