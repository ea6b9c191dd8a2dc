//! Errors about the source of a module.

/// A text that is no source of a module, with what is wrong about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ModuleSourceError {
    kind: ModuleSourceErrorKind,
    title: &'static str,
    /// The text would be a local source with `./` in front.
    lacks_dot: bool,
}

/// The fault of a source. Nothing of the text is kept: it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ModuleSourceErrorKind {
    /// The text is an address of no kind.
    #[error("it is no local path, no address of a registry's module and no URL")]
    Nothing,
    /// The path behind `//` leads out of the package.
    #[error("the path behind // leads out of the package")]
    LeavesPackage,
    /// An address on GitHub has fewer than three parts.
    #[error("an address on github.com needs an owner and a repository")]
    GithubParts,
    /// An address of a storage service has not the form of one.
    #[error("the address of the storage service is incomplete")]
    StorageForm,
    /// The text would be a URL, but cannot be parsed as one.
    #[error("the URL cannot be read")]
    BadUrl,
}

impl ModuleSourceError {
    /// The title of a source that is nothing at all.
    pub const TITLE: &str = "Invalid module source address";
    /// The title of a source beside a version that is no address of a registry's module.
    pub const REGISTRY_TITLE: &str = "Invalid registry module source address";

    pub(super) fn of_call(text: &str, kind: ModuleSourceErrorKind) -> Self {
        // A path of plain names is most likely a directory.
        let is_path = |c: char| c.is_ascii_alphanumeric() || "-_./~".contains(c);
        Self {
            kind,
            title: Self::TITLE,
            lacks_dot: kind == ModuleSourceErrorKind::Nothing && text.chars().all(is_path),
        }
    }

    pub(super) fn of_registry(text: &str, kind: ModuleSourceErrorKind) -> Self {
        Self {
            title: Self::REGISTRY_TITLE,
            lacks_dot: false,
            ..Self::of_call(text, kind)
        }
    }

    /// Returns the title of the programs.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self.kind {
            _ if self.title == Self::REGISTRY_TITLE => "only a module of a registry has versions",
            _ if self.lacks_dot => "a local path starts with ./ or ../",
            ModuleSourceErrorKind::Nothing => {
                "write a local path with ./, the address of a registry's module, or a URL as in git::https://…"
            }
            ModuleSourceErrorKind::LeavesPackage => {
                "name a directory inside of the package behind //"
            }
            ModuleSourceErrorKind::GithubParts => "write github.com/OWNER/REPOSITORY",
            ModuleSourceErrorKind::StorageForm | ModuleSourceErrorKind::BadUrl => {
                "write the address in full, as in git::https://… or s3::https://…"
            }
        }
    }
}
