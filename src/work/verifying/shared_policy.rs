//! A policy that several repositories share: `--policy FILE` or `--policy URL@sha256:DIGEST`.

use std::cell::OnceCell;
use std::path::Path;

use crate::addr::Url;
use crate::diag::{Severity, Texts};
use crate::flavor::{Flavor, Program};
use crate::hash::{hex_of_digest, sha256};
use crate::project::{self, MAX_FILE_BYTES, Project};
use crate::report::Failure;
use crate::run::session::Session;
use crate::sources::documents::{DocumentAnswer, document};

/// The name of the digest behind a URL.
const ALGORITHM: &str = "sha256:";

/// A policy beside that of the project file; both count.
pub(super) struct SharedPolicy {
    /// The file or URL, as typed.
    pub(super) name: String,
    bytes: Vec<u8>,
    settings: OnceCell<Project>,
}

impl SharedPolicy {
    /// Reads a file, or fetches a document whose digest is named.
    ///
    /// # Errors
    /// If it cannot be read, is another document, or has an error.
    pub(super) fn read(session: &Session<'_>, typed: &str) -> Result<Self, Failure> {
        let unusable = |cause: String| {
            Failure::new(format!("the policy {typed} cannot be used")).because(cause)
        };
        let bytes = if typed.contains("://") {
            // A document is fetched, and its digest compared.
            let help = "write --policy https://HOST/PATH@sha256:DIGEST; `sha256sum FILE` prints the digest";
            let is_digest =
                |text: &&str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
            let parts = typed.rsplit_once('@').and_then(|(url, digest)| {
                let digest = digest.strip_prefix(ALGORITHM).filter(is_digest)?;
                Some((url, digest.to_ascii_lowercase()))
            });
            let Some((url, digest)) = parts else {
                let cause = "a URL needs the digest of its document".to_owned();
                return Err(unusable(cause).help(help));
            };
            let url: Url = url
                .parse()
                .map_err(|_| unusable("this is no URL".to_owned()).help(help))?;
            let net = session.net(Flavor::newest(Program::Terraform));
            let answer = document(&net, &url, MAX_FILE_BYTES, None);
            let answer = answer.map_err(|error| Failure::from_error(&error))?;
            let DocumentAnswer::Document { body, .. } = answer else {
                let cause = "the server says that nothing has changed".to_owned();
                return Err(unusable(cause));
            };
            let found = hex_of_digest(&sha256(&body));
            if found != digest {
                let help = "read the change, and write the new digest only if it is meant";
                return Err(unusable(format!("its SHA-256 is {found}")).help(help));
            }
            body
        } else {
            let path = session.options.below(Path::new(typed));
            let read = session.world.disk.read(&path, MAX_FILE_BYTES);
            read.map_err(|error| unusable(error.to_string()))?
        };
        let mut texts = Texts::default();
        let file = texts.add(typed.to_owned(), bytes.clone());
        let (project, problems) = project::parse(file, &bytes);
        let mut errors = problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error);
        if let Some(error) = errors.next() {
            let at = error.primary.as_ref().map_or(0, |label| label.span.start);
            let line = texts.position(file, at).line;
            return Err(unusable(format!("line {line}: {}", error.title)));
        }
        if project.policy.is_none() {
            return Err(unusable("it has no policy block".to_owned()));
        }
        Ok(Self {
            name: typed.to_owned(),
            bytes,
            settings: OnceCell::new(),
        })
    }

    /// Returns its settings with its name, once a root was opened.
    pub(super) fn settings(&self) -> Option<(&Project, &str)> {
        Some((self.settings.get()?, &self.name))
    }

    /// Returns its settings, whose places are in these texts; those that have ended do not count.
    pub(super) fn project(&self, session: &Session<'_>, texts: &mut Texts) -> &Project {
        self.settings.get_or_init(|| {
            let file = texts.add(self.name.clone(), self.bytes.clone());
            let (mut project, _) = project::parse(file, &self.bytes);
            project.end_settings(session.world.clock.now());
            project
        })
    }
}
