//! Build information as values, and as the text that `go version -m` prints.

use std::fmt;

use serde::Serialize;

use super::quoting::{quoted_key, quoted_value};

/// The build information of a Go program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildInfo {
    /// The version of Go, e.g. `go1.22.3`, with experiments after a space.
    pub go_version: String,
    /// The path of the main package; empty without module support.
    pub path: String,
    /// The module of the main package.
    pub main: Option<BuiltModule>,
    /// The other modules in the program, in the order of the file.
    pub deps: Vec<BuiltModule>,
    /// The settings of the build, in the order of the file.
    pub settings: Vec<Setting>,
}

/// A module in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ModuleInBuild"))]
pub struct BuiltModule {
    /// The path of the module.
    pub path: String,
    /// The version; `(devel)` if Go did not know it.
    pub version: String,
    /// The checksum, `h1:…`; null for modules that were not downloaded, and for replaced ones.
    pub sum: Option<String>,
    /// The module that was built in its place; absent if the module was not replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<ModuleReplacement>,
}

/// A module that was built in place of another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReplacementInBuild"))]
pub struct ModuleReplacement {
    /// A module path, or a directory of the machine that built the program.
    pub path: String,
    /// The version; empty for a directory.
    pub version: String,
    /// The checksum, `h1:…`; null for a directory.
    pub sum: Option<String>,
}

/// A setting of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "BuildSetting"))]
pub struct Setting {
    /// The name, such as `GOOS`.
    pub key: String,
    /// The value, without the quotes that Go may have written around it.
    pub value: String,
}

impl BuildInfo {
    /// Reads the text that a program has beside the Go version; `None` if Go did not write it (rules 3).
    ///
    /// ```
    /// use lockctl_core::contents::BuildInfo;
    ///
    /// let text = "path\tx.example/p\nmod\tx.example/p\tv1.0.0\t\nbuild\tvcs.modified=true\n";
    /// let info = BuildInfo::parse("go1.22.3", text).expect("sound");
    /// assert_eq!(info.is_dirty(), Some(true));
    /// ```
    #[must_use]
    pub fn parse(go_version: &str, text: &str) -> Option<Self> {
        super::parse::parse(go_version, text)
    }

    /// Reads the lines that [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn parse_printed(go_version: &str, lines: &str) -> Option<Self> {
        let text: Option<String> = lines
            .split_inclusive('\n')
            .map(|line| line.strip_prefix('\t'))
            .collect();
        Self::parse(go_version, &text?)
    }

    /// The value of a setting, if the program has it.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<&str> {
        let setting = self.settings.iter().find(|setting| setting.key == key)?;
        Some(&setting.value)
    }

    /// The revision of the source, if Go knew it.
    #[must_use]
    pub fn commit(&self) -> Option<&str> {
        self.setting("vcs.revision")
    }

    /// The time of the revision as RFC 3339 text, if Go knew it.
    #[must_use]
    pub fn time(&self) -> Option<&str> {
        self.setting("vcs.time")
    }

    /// True if the source differed from its revision; `None` if Go did not look.
    #[must_use]
    pub fn is_dirty(&self) -> Option<bool> {
        self.setting("vcs.modified").map(|value| value == "true")
    }
}

impl fmt::Display for BuildInfo {
    /// Writes the lines of `go version -m` below the one with the Go version, each with a tab before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            writeln!(f, "\tpath\t{}", self.path)?;
        }
        for (kind, module) in self
            .main
            .iter()
            .map(|module| ("mod", module))
            .chain(self.deps.iter().map(|module| ("dep", module)))
        {
            write!(f, "\t{kind}\t{}\t{}", module.path, module.version)?;
            match &module.replacement {
                None => writeln!(f, "\t{}", module.sum.as_deref().unwrap_or_default())?,
                Some(ModuleReplacement { path, version, sum }) => {
                    // Go ends this line twice (rules 3.2).
                    let sum = sum.as_deref().unwrap_or_default();
                    writeln!(f, "\n\t=>\t{path}\t{version}\t{sum}\n\t")?;
                }
            }
        }
        for Setting { key, value } in &self.settings {
            writeln!(f, "\tbuild\t{}={}", quoted_key(key), quoted_value(value))?;
        }
        Ok(())
    }
}
