//! Words of other rooms as those of the JSON output, which keeps its own whatever these are called.

use crate::authenticate::Class;
use crate::config::BranchKind;
use crate::report::json::{ModuleKind, Outcome, PlaceKind, Provenance, Route, SignerClass};
use crate::requirement::Origin;
use crate::{coverage, package};

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
