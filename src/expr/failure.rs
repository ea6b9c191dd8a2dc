//! Why an expression has no value.

/// Why something has no value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// Something that is never known here, under the program's title.
    Unknown(&'static str),
    /// A fault of types or values, under the program's title.
    Type(&'static str),
    /// What could not be determined for certain, with the reason.
    Uncertain(&'static str),
}
