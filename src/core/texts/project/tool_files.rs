//! Whose rules apply by the files of other tools, which say what program is run in a directory (rules 3.3).

use std::path::{Path, PathBuf};

use crate::diag::FileId;
use crate::flavor::{Program, StatedFlavor};
use crate::hcl;
use crate::hcl::tree::ExprKind;
use crate::world::Files;

use super::lists::{self, MAX_LIST_BYTES};
use super::locate::ProjectPlace;

/// Maximum size of a file that is read for nothing but the program, in bytes; larger ones state nothing.
const MAX_TOOL_FILE_BYTES: u64 = 256 * 1024;

/// The reader of each kind of file, in order of precedence within a directory.
const READERS: [(&str, ReadStatements); 8] = [
    (".terraform-version", |text| {
        version_file(Program::Terraform, text)
    }),
    (".opentofu-version", |text| {
        version_file(Program::OpenTofu, text)
    }),
    (".tool-versions", tool_versions),
    ("mise.toml", mise),
    (".mise.toml", mise),
    ("terragrunt.hcl", terragrunt),
    ("root.hcl", terragrunt),
    (ATLANTIS, |_| Vec::new()),
];

/// The file whose statements are about single directories below it.
const ATLANTIS: &str = "atlantis.yaml";

type ReadStatements = fn(&str) -> Vec<StatedFlavor>;

/// A statement about the program that is run in a directory and below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolStatement {
    /// The path of the file, to show.
    pub path: PathBuf,
    /// The program, and its version where the file states one.
    pub stated: StatedFlavor,
    /// The absolute path of the only directory that it is about, if it is about one.
    only: Option<PathBuf>,
}

impl ToolStatement {
    /// Returns the program that is stated.
    #[must_use]
    pub fn program(&self) -> Program {
        self.stated.flavor.program()
    }

    /// Returns true if the statement is about a directory, by its absolute path, that is not above the file.
    #[must_use]
    pub fn concerns(&self, dir: &Path) -> bool {
        self.only.as_ref().is_none_or(|only| only == dir)
    }
}

/// Lists what the files in a directory state; nothing of a file that is missing, too large or broken.
#[must_use]
pub fn statements(files: &dyn Files, dir: &ProjectPlace) -> Vec<ToolStatement> {
    let mut statements = Vec::new();
    for (name, read) in READERS {
        let path = dir.file(name);
        let limit = if name == ATLANTIS {
            MAX_LIST_BYTES
        } else {
            MAX_TOOL_FILE_BYTES
        };
        // The tool reports what is wrong with its file.
        let Ok(Ok(text)) = files.read(&path, limit).map(String::from_utf8) else {
            continue;
        };
        statements.extend(read(&text).into_iter().map(|stated| ToolStatement {
            path: path.clone(),
            stated,
            only: None,
        }));
        if name == ATLANTIS {
            let projects = lists::stated_programs(&text).unwrap_or_default();
            statements.extend(projects.into_iter().map(|(below, stated)| ToolStatement {
                path: path.clone(),
                stated,
                only: Some(dir.absolute().join(below)),
            }));
        }
    }
    statements
}

/// Reads the file of `tfenv` or `tofuenv`: the first line that is more than a comment.
fn version_file(program: Program, text: &str) -> Vec<StatedFlavor> {
    text.lines()
        .map(without_comment)
        .find(|line| !line.is_empty())
        .map(|version| StatedFlavor::of_tool(program, version))
        .into_iter()
        .collect()
}

/// Reads the file of `asdf`: a line for each tool, with its version and those that replace it.
fn tool_versions(text: &str) -> Vec<StatedFlavor> {
    text.lines()
        .filter_map(|line| {
            let (tool, versions) = without_comment(line).split_once(char::is_whitespace)?;
            let version = versions.split_whitespace().next()?;
            Some(StatedFlavor::of_tool(program_of_tool(tool)?, version))
        })
        .collect()
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// Reads the table `tools` of a file of `mise`.
fn mise(text: &str) -> Vec<StatedFlavor> {
    let Ok(document) = toml_edit::Document::parse(text) else {
        return Vec::new();
    };
    let tools = document
        .get("tools")
        .and_then(|tools| tools.as_table_like());
    tools
        .into_iter()
        .flat_map(|tools| tools.iter())
        .filter_map(|(name, tool)| {
            // Of several versions the first is the one that is run.
            let first = tool.as_array().and_then(|versions| versions.get(0));
            let tool = first.map_or_else(|| tool.clone(), |first| first.clone().into());
            let version = tool
                .as_str()
                .or_else(|| tool.as_table_like()?.get("version")?.as_str())?;
            Some(StatedFlavor::of_tool(program_of_tool(name)?, version))
        })
        .collect()
}

/// Returns the program that a version manager installs under a name, as in `aqua:opentofu/opentofu`.
fn program_of_tool(name: &str) -> Option<Program> {
    match name.rsplit([':', '/']).next()? {
        "terraform" => Some(Program::Terraform),
        "opentofu" => Some(Program::OpenTofu),
        _ => None,
    }
}

/// Reads `terraform_binary` of a file of Terragrunt, where it is no more than a text.
fn terragrunt(text: &str) -> Vec<StatedFlavor> {
    const NAME: &str = "terraform_binary";
    // Most files have no such attribute, and searching is much faster than parsing.
    if !text.contains(NAME) {
        return Vec::new();
    }
    let (body, _) = hcl::parse(FileId::ALONE, text.as_bytes());
    let binary = body.attribute(NAME).map(|attribute| &attribute.value.kind);
    let Some(ExprKind::String(path)) = binary else {
        return Vec::new();
    };
    let program = match path.rsplit(['/', '\\']).next().unwrap_or_default() {
        "terraform" | "terraform.exe" => Program::Terraform,
        "tofu" | "tofu.exe" => Program::OpenTofu,
        _ => return Vec::new(),
    };
    vec![StatedFlavor::of_tool(program, "")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::MemFiles;

    /// Checks what a file at the top states about a directory below it.
    #[track_caller]
    fn check(name: &str, text: &str, expected: &str) {
        let files = MemFiles::with(&[(&format!("/r/{name}"), text)]);
        let top = ProjectPlace::new(Path::new("/r"), Path::new("/"));
        let found: Vec<String> = statements(&files, &top)
            .into_iter()
            .filter(|statement| statement.concerns(Path::new("/r/live/a")))
            .map(|statement| statement.stated.to_string())
            .collect();
        assert_eq!(found.join(" "), expected, "from {name}: {text}");
    }

    #[test]
    fn version_files_state_a_version_or_only_the_program() {
        for (text, expected) in [
            ("1.9.5\n", "terraform@1.9.5"),
            ("v1.9.5\r\n", "terraform@1.9.5"),
            ("# why\n\n1.9.5 # because\n1.8.0\n", "terraform@1.9.5"),
            ("1.15.0-beta1", "terraform@1.15.0"),
            ("1.9", "terraform@1.9"),
            ("latest", "terraform"),
            ("latest:^1.8", "terraform"),
            ("latest-allowed", "terraform"),
            ("min-required", "terraform"),
            ("~> 1.9.0", "terraform"),
            ("# nothing\n", ""),
            ("", ""),
        ] {
            check(".terraform-version", text, expected);
            let expected = expected.replace("terraform", "opentofu");
            check(".opentofu-version", text, &expected);
        }
    }

    #[test]
    fn lists_of_tools_name_one_program_or_both() {
        for (text, expected) in [
            ("nodejs 22\nterraform 1.9.5 1.8.0\n", "terraform@1.9.5"),
            ("opentofu 1.12.6 # pinned\n", "opentofu@1.12.6"),
            (
                "terraform 1.9.5\nopentofu latest\n",
                "terraform@1.9.5 opentofu",
            ),
            ("# terraform 1.9.5\nterraform\nterraform-docs 0.1.0\n", ""),
            ("terraform ref:v1.9.5\n", "terraform"),
        ] {
            check(".tool-versions", text, expected);
        }
        for (text, expected) in [
            ("[tools]\nterraform = \"1.9\" # newest\n", "terraform@1.9"),
            (
                "[tools]\nterraform = [\"1.9.5\", \"1.8\"]\n",
                "terraform@1.9.5",
            ),
            ("tools.opentofu = { version = '1.12.6' }", "opentofu@1.12.6"),
            ("[tools.opentofu]\nversion = \"1\"\n", "opentofu"),
            (
                "[tools]\n\"aqua:opentofu/opentofu\" = \"latest\"\n",
                "opentofu",
            ),
            ("[env]\nterraform = \"1.9\"\n[tools]\nnode = 1\n", ""),
            ("[tools\nterraform = \"1.9\"\n", ""),
        ] {
            check("mise.toml", text, expected);
            check(".mise.toml", text, expected);
        }
    }

    #[test]
    fn terragrunt_names_the_program_and_no_version() {
        for (text, expected) in [
            ("terraform_binary = \"tofu\"\n", "opentofu"),
            ("terraform_binary = \"/opt/bin/terraform\"\n", "terraform"),
            ("terraform_binary = get_env(\"BIN\", \"tofu\")\n", ""),
            ("terraform_binary = \"terramate\"\n", ""),
            ("locals { terraform_binary = \"tofu\" }\n", ""),
        ] {
            check("terragrunt.hcl", text, expected);
            check("root.hcl", text, expected);
        }
    }

    #[test]
    fn atlantis_states_a_program_for_each_of_its_directories() {
        for (project, expected) in [
            (
                "dir: live/a\n  terraform_version: v1.9.5",
                "terraform@1.9.5",
            ),
            (
                "dir: ./live/a\n  terraform_distribution: opentofu\n  terraform_version: 1.12.6",
                "opentofu@1.12.6",
            ),
            (
                "dir: live/a\n  terraform_distribution: opentofu",
                "opentofu",
            ),
            ("dir: live/a", ""),
            ("dir: live/b\n  terraform_version: v1.9.5", ""),
            // Each workspace of a directory is a project.
            (
                "dir: live/a\n  terraform_version: 1.9.5\n- dir: live/a\n  terraform_version: 1.8.0",
                "terraform",
            ),
            ("dir: live/a\n  terraform_version: [1.9.5]", ""),
            ("dir: [", ""),
        ] {
            check(
                "atlantis.yaml",
                &format!("projects:\n- {project}\n"),
                expected,
            );
        }
    }

    #[test]
    fn a_file_that_is_too_large_states_nothing() {
        let bytes = usize::try_from(MAX_TOOL_FILE_BYTES).unwrap();
        check(
            ".terraform-version",
            &format!("1.9.5\n{}", " ".repeat(bytes)),
            "",
        );
    }
}
