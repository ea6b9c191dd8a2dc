//! Words of other rooms as those of the JSON output, which keeps its own whatever these are called.

use crate::authenticate::Class;
use crate::config::BranchKind;
use crate::git::Part;
use crate::report::json::{
    ChangeKind, FileKind, GitSettingKind, ModuleKind, Outcome, PlaceKind, Provenance, Risk, Route,
    SignerClass, Step,
};
use crate::requirement::Origin;
use crate::{coverage, package, review, version};

/// Returns how far a change of a version goes up, if it does.
pub(super) fn step(step: version::Step) -> Option<Step> {
    match step {
        version::Step::Same | version::Step::Down => None,
        version::Step::Metadata => Some(Step::Metadata),
        version::Step::Prerelease => Some(Step::Prerelease),
        version::Step::Patch => Some(Step::Patch),
        version::Step::Minor => Some(Step::Minor),
        version::Step::Major => Some(Step::Major),
    }
}

impl From<review::Risk> for Risk {
    fn from(risk: review::Risk) -> Self {
        match risk {
            review::Risk::Routine => Self::Routine,
            review::Risk::Notice => Self::Notice,
            review::Risk::Warning => Self::Warning,
            review::Risk::Danger => Self::Danger,
        }
    }
}

impl From<review::Kind> for ChangeKind {
    fn from(kind: review::Kind) -> Self {
        match kind {
            review::Kind::Added => Self::Added,
            review::Kind::Removed => Self::Removed,
            review::Kind::HostSwitched => Self::HostSwitched,
            review::Kind::NamespaceSwitched => Self::NamespaceSwitched,
            review::Kind::Upgraded => Self::Upgraded,
            review::Kind::Downgraded => Self::Downgraded,
            review::Kind::ConstraintsChanged => Self::ConstraintsChanged,
            review::Kind::HashesAdded => Self::HashesAdded,
            review::Kind::HashesRemoved => Self::HashesRemoved,
            review::Kind::HashesReplaced => Self::HashesReplaced,
        }
    }
}

impl From<&review::FileCause> for FileKind {
    fn from(cause: &review::FileCause) -> Self {
        match cause {
            review::FileCause::Added => Self::Added,
            review::FileCause::Deleted => Self::Deleted,
            review::FileCause::Renamed { .. } => Self::Renamed,
            review::FileCause::Unmerged => Self::Unmerged,
            review::FileCause::Broken => Self::Broken,
            review::FileCause::WasBroken => Self::WasBroken,
            review::FileCause::HeaderSwitched(_) => Self::HeaderSwitched,
            review::FileCause::HeaderAdded => Self::HeaderAdded,
            review::FileCause::HeaderLost => Self::HeaderLost,
            review::FileCause::CommentsLost(_) => Self::CommentsLost,
            review::FileCause::LineEnds => Self::LineEnds,
            review::FileCause::FormatOnly => Self::FormatOnly,
        }
    }
}

impl From<BranchKind> for ModuleKind {
    fn from(kind: BranchKind) -> Self {
        match kind {
            BranchKind::Root => Self::Root,
            BranchKind::Call => Self::Call,
            BranchKind::Test => Self::Test,
            BranchKind::Run => Self::Run,
            BranchKind::State => Self::State,
        }
    }
}

impl From<Origin> for PlaceKind {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::RequiredProviders => Self::RequiredProviders,
            Origin::ProviderBlock => Self::ProviderBlock,
            Origin::Implied => Self::Implied,
            Origin::State => Self::State,
        }
    }
}

impl From<package::Provenance> for Provenance {
    fn from(provenance: package::Provenance) -> Self {
        match provenance {
            package::Provenance::Signed => Self::Signed,
            package::Provenance::Proven => Self::Proven,
            package::Provenance::Computed => Self::Computed,
            package::Provenance::Kept => Self::Kept,
        }
    }
}

impl From<Class> for SignerClass {
    fn from(class: Class) -> Self {
        match class {
            Class::HashiCorp => Self::HashiCorp,
            Class::Partner => Self::Partner,
            Class::SelfSigned => Self::SelfSigned,
            Class::Signed => Self::Signed,
        }
    }
}

impl From<Part> for GitSettingKind {
    fn from(part: Part) -> Self {
        match part {
            Part::Setting => Self::Config,
            Part::Attribute => Self::Attribute,
        }
    }
}

impl From<coverage::Route> for Route {
    fn from(route: coverage::Route) -> Self {
        match route {
            coverage::Route::Registry => Self::Registry,
            coverage::Route::UnpackedMirror => Self::UnpackedMirror,
            coverage::Route::PackedMirror => Self::PackedMirror,
            coverage::Route::PluginCache => Self::PluginCache,
            coverage::Route::Readonly => Self::Readonly,
            coverage::Route::Plan => Self::Plan,
            coverage::Route::PlanAfterInit => Self::PlanAfterInit,
            coverage::Route::Validate => Self::Validate,
        }
    }
}

impl From<coverage::Outcome> for Outcome {
    fn from(outcome: coverage::Outcome) -> Self {
        match outcome {
            coverage::Outcome::Passes => Self::Passes,
            coverage::Outcome::Rewrites => Self::Rewrites,
            coverage::Outcome::Warns => Self::Warns,
            coverage::Outcome::Fails => Self::Fails,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: impl serde::Serialize, name: &str) {
        let word = serde_json::to_string(&word).expect("a word");
        assert_eq!(word, format!("{name:?}"));
    }

    /// People and programs are told the same words.
    #[test]
    fn words_are_the_names_that_people_are_told() {
        use review::{Kind, Risk as Grade};
        for risk in [Grade::Routine, Grade::Notice, Grade::Warning, Grade::Danger] {
            check(Risk::from(risk), risk.name());
        }
        for kind in [
            Kind::Added,
            Kind::Removed,
            Kind::HostSwitched,
            Kind::NamespaceSwitched,
            Kind::Upgraded,
            Kind::Downgraded,
            Kind::ConstraintsChanged,
            Kind::HashesAdded,
            Kind::HashesRemoved,
            Kind::HashesReplaced,
        ] {
            check(ChangeKind::from(kind), kind.name());
        }
    }

    #[test]
    fn routes_and_outcomes_are_words_of_the_matrix() {
        check(
            Route::from(coverage::Route::UnpackedMirror),
            "unpacked-mirror",
        );
        check(
            Route::from(coverage::Route::PlanAfterInit),
            "plan-after-init",
        );
        use coverage::Outcome as Foretold;
        for outcome in [
            Foretold::Passes,
            Foretold::Warns,
            Foretold::Rewrites,
            Foretold::Fails,
        ] {
            check(Outcome::from(outcome), outcome.word());
        }
    }
}
