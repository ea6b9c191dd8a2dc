//! Module sources: what the `source` of a `module` block names.

use std::fmt;

use super::Hostname;

/// What the source of a call names, in normal form; its `Display` is what `modules.json` records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModuleSource {
    /// A directory, from the calling module on.
    Local(LocalModule),
    /// A module of a registry.
    Registry(RegistryModule),
    /// A package that is fetched from where its address says.
    Remote(RemoteModule),
}

/// A directory, from the calling module on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalModule {
    /// The path with slashes, without `.` and `..` between its parts; begins with `./` or `../`.
    pub path: Box<str>,
}

/// A module of a registry, as in `registry.terraform.io/acme/net/aws//modules/vpc`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegistryModule {
    /// The host of the registry.
    pub host: Hostname,
    /// Whose module it is; case matters.
    pub namespace: Box<str>,
    /// What it is called; case matters.
    pub name: Box<str>,
    /// The remote system that it is for.
    pub system: Box<str>,
    /// The directory of the module in its package, with slashes; empty for the package itself.
    pub sub: Box<str>,
}

/// A package with a full address, as in `git::https://example.com/net.git//vpc?ref=v1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteModule {
    /// The address of the package: a URL with its query, behind `KIND::` where that is forced.
    ///
    /// Two packages are the same within a run if this text is equal.
    pub package: Box<str>,
    /// The directory of the module in the package, with slashes, perhaps with a pattern; empty for the
    /// package itself.
    pub sub: Box<str>,
}

impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(local) => f.write_str(&local.path),
            Self::Registry(registry) => registry.fmt(f),
            Self::Remote(remote) => remote.fmt(f),
        }
    }
}

impl fmt::Display for RegistryModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host.unicode();
        write!(f, "{host}/{}/{}/{}", self.namespace, self.name, self.system)?;
        match &*self.sub {
            "" => Ok(()),
            sub => write!(f, "//{sub}"),
        }
    }
}

impl fmt::Display for RemoteModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sub.is_empty() {
            return f.write_str(&self.package);
        }
        match self.package.split_once('?') {
            Some((address, query)) => write!(f, "{address}//{}?{query}", self.sub),
            None => write!(f, "{}//{}", self.package, self.sub),
        }
    }
}
