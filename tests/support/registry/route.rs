//! Which document a path names.

/// A kind of request, as rules name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Discovery,
    Versions,
    Download,
    Package,
    Shasums,
    Signature,
    Redirect,
    MirrorIndex,
    MirrorVersion,
    MirrorPackage,
    Release,
    Other,
}

/// A path, taken apart; sources are `namespace/type` in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Discovery,
    Versions {
        source: String,
    },
    Download {
        source: String,
        version: String,
        platform: String,
    },
    /// What a registry says of a version beside its protocol.
    Release {
        source: String,
        version: String,
    },
    File {
        kind: Kind,
        source: String,
        version: String,
        file: String,
    },
    Redirect {
        hops: u64,
        rest: String,
    },
    /// A file of the network mirror.
    Mirror {
        kind: Kind,
        source: String,
        file: String,
    },
    Other,
}

impl Kind {
    /// All names that a rule may use.
    pub(crate) const NAMES: &[&str] = &[
        "discovery",
        "versions",
        "download",
        "package",
        "shasums",
        "signature",
        "redirect",
        "mirror_index",
        "mirror_version",
        "mirror_package",
        "release",
        "other",
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl Route {
    /// Takes a path without its query apart.
    pub(crate) fn of(path: &str) -> Self {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let source = |namespace: &str, name: &str| format!("{namespace}/{name}").to_lowercase();
        match *parts {
            [".well-known", "terraform.json"] => Self::Discovery,
            ["v1", "providers", namespace, name, "versions"] => Self::Versions {
                source: source(namespace, name),
            },
            ["v1", "providers", namespace, name, version] => Self::Release {
                source: source(namespace, name),
                version: version.to_owned(),
            },
            [
                "v1",
                "providers",
                namespace,
                name,
                version,
                "download",
                os,
                arch,
            ] => Self::Download {
                source: source(namespace, name),
                version: version.to_owned(),
                platform: format!("{os}_{arch}"),
            },
            ["files", namespace, name, version, file] => Self::File {
                kind: kind_of_file(file),
                source: source(namespace, name),
                version: version.to_owned(),
                file: file.to_owned(),
            },
            ["hop", hops, ref rest @ ..] if rest.len() == 4 => Self::Redirect {
                hops: hops.parse().unwrap_or(1),
                rest: rest.join("/"),
            },
            ["mirror", _, namespace, name, file] => Self::Mirror {
                kind: kind_of_mirror_file(file),
                source: source(namespace, name),
                file: file.to_owned(),
            },
            _ => Self::Other,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Discovery => Kind::Discovery,
            Self::Versions { .. } => Kind::Versions,
            Self::Download { .. } => Kind::Download,
            Self::Release { .. } => Kind::Release,
            Self::File { kind, .. } | Self::Mirror { kind, .. } => *kind,
            Self::Redirect { .. } => Kind::Redirect,
            Self::Other => Kind::Other,
        }
    }
}

fn kind_of_file(file: &str) -> Kind {
    if file.ends_with("_SHA256SUMS") {
        Kind::Shasums
    } else if file.ends_with("_SHA256SUMS.sig") {
        Kind::Signature
    } else {
        Kind::Package
    }
}

fn kind_of_mirror_file(file: &str) -> Kind {
    if file == "index.json" {
        Kind::MirrorIndex
    } else if file.ends_with(".json") {
        Kind::MirrorVersion
    } else {
        Kind::MirrorPackage
    }
}
