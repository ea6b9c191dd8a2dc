//! Counting, and the table of the specification.

use super::routes::plan;
use super::*;
use crate::flavor::Flavor;

/// Makes a hash out of a scheme and a short name, with a value of the right form if the program knows
/// the scheme.
fn hash(text: &str) -> Hash {
    let (scheme, name) = text.split_once(':').expect("a scheme");
    let text = match scheme {
        "h1" => format!("h1:{name:A<42}A="),
        "zh" => {
            let digits: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
            format!("zh:{digits:0<64}")
        }
        _ => text.to_owned(),
    };
    let hash: Hash = text.parse().expect("valid");
    assert!(hash.is_well_formed(), "{hash}");
    hash
}

fn hashes(texts: &[&str]) -> Hashes {
    texts.iter().map(|text| hash(text)).collect()
}

fn platforms(texts: &[&str]) -> Vec<Platform> {
    texts
        .iter()
        .map(|text| text.parse().expect("valid"))
        .collect()
}

fn known(pairs: &[(&str, &str)]) -> BTreeMap<Platform, Hash> {
    pairs
        .iter()
        .map(|(p, h)| (p.parse().expect("valid"), hash(h)))
        .collect()
}

/// Checks how many wanted platforms lack an `h1:` for sure, how many are reported, and which can be named.
#[track_caller]
fn check_coverage(
    listed: &[&str],
    wanted: &[&str],
    pairs: &[(&str, &str)],
    counts: [usize; 2],
    certain: &[&str],
) {
    let coverage = coverage(&hashes(listed), &platforms(wanted), &known(pairs));
    assert_eq!(
        [coverage.lacking(), coverage.missed()],
        counts,
        "{listed:?}"
    );
    assert_eq!(coverage.certainly_lacking(), platforms(certain));
}

#[test]
fn hashes_are_counted_where_no_package_shows_whose_they_are() {
    let (linux, arm, darwin) = ("linux_amd64", "linux_arm64", "darwin_arm64");
    let three = [linux, darwin, "windows_amd64"];
    check_coverage(&["h1:a", "zh:b"], &three, &[], [2, 2], &[]);
    let two = [linux, darwin];
    check_coverage(&["h1:a"], &two, &[(linux, "h1:a")], [1, 1], &[darwin]);
    // A hash of an unwanted platform covers nothing.
    check_coverage(&["h1:a"], &[darwin], &[(linux, "h1:a")], [1, 1], &[darwin]);
    // A platform whose hash is not recorded lacks it, whatever else is there.
    let other = [(linux, "h1:other")];
    check_coverage(&["h1:a", "h1:b"], &two, &other, [1, 1], &[linux]);
    let unsure = coverage(&hashes(&["h1:a", "h1:b"]), &platforms(&two), &known(&other));
    assert_eq!(unsure.unexplained, 2);
    assert_eq!(unsure.unknown, platforms(&[darwin]));
    assert_eq!(unsure.perhaps_lacking(), platforms(&[darwin, linux]));
    // What packages show hides nothing that counting reports (rules 1.2).
    let same = [(linux, "h1:a"), (arm, "h1:a")];
    check_coverage(&["h1:a"], &[linux, arm], &same, [0, 1], &[]);
}

/// What can match no package covers no platform, and yet is a hash to the program.
#[test]
fn a_hash_of_the_wrong_form_counts_for_nothing() {
    let wrong = ["h1:AAA", "zh:XYZ", "zh:abc"].map(|text| text.parse::<Hash>().expect("valid"));
    let listed: Hashes = wrong.iter().cloned().collect();
    let wanted = platforms(&["linux_amd64"]);
    let coverage = coverage(&listed, &wanted, &BTreeMap::new());
    assert_eq!((coverage.recorded, coverage.lacking()), (0, 1));
    assert_eq!(coverage.certainly_lacking(), wanted);
    let recorded = EntryHashes::of(&wrong, KnownPackage::default());
    assert_eq!(recorded.otherwise, []);
    let recorded = recorded.likely;
    assert!(!recorded.own_h1 && !recorded.is_blind(), "{recorded:?}");
    assert_eq!(recorded.zh, Zh::Others);
}

#[test]
fn a_platform_without_a_package_lacks_it_whatever_is_recorded() {
    let wanted = platforms(&["linux_amd64", "openbsd_arm"]);
    let coverage = coverage(&hashes(&["h1:a", "h1:b"]), &wanted, &BTreeMap::new());
    assert_eq!(coverage.missed(), 0);
    let coverage = coverage.without(|platform| platform.to_string() == "openbsd_arm");
    assert_eq!((coverage.lacking(), coverage.missed()), (1, 1));
    assert_eq!(coverage.certainly_lacking(), platforms(&["openbsd_arm"]));
}

/// The package of a platform, and the `h1:` of others.
const OWN: (&str, &str) = ("h1:own", "zh:own");

/// What the routes come to, for an entry that is required and fits: `ok`, `rewrites`, `warns` or the
/// title of the failure, with `*` where nothing is compared and the title of a warning behind a `+`.
#[track_caller]
fn check(flavor: Flavor, listed: &[&str], wanted: [&str; 4]) {
    let listed: Vec<Hash> = listed.iter().map(|text| hash(text)).collect();
    let (h1, zh) = (hash(OWN.0), hash(OWN.1));
    let facts = KnownPackage {
        h1: Some(&h1),
        zh: Some(&zh),
        ..KnownPackage::default()
    };
    let guess =
        EntryHashes::of(&listed, facts).each(|hashes| Guess::known(state(EntryNeed::Fits, hashes)));
    let found: Vec<String> = predict_guess(&guess, flavor).iter().map(spelled).collect();
    assert_eq!(found, wanted, "for {listed:?} by {flavor}");
}

fn state(need: EntryNeed, hashes: EntryHashes) -> LockState {
    LockState::EntryState(EntryState {
        need,
        by: NeededBy::CONFIGURATION,
        hashes,
        has_twin: false,
    })
}

fn spelled(prediction: &Prediction) -> String {
    let star = if prediction.unchecked { "*" } else { "" };
    let mark = if prediction.assumed { "?" } else { "" };
    match (&prediction.title, prediction.outcome) {
        (Some(title), Outcome::Fails) => format!("{title}{mark}{star}"),
        (Some(title), outcome) => format!("{}{mark}{star} + {title}", outcome.word()),
        (None, outcome) => format!("{}{mark}{star}", outcome.word()),
    }
}

const INCOMPLETE: &str = "rewrites + Incomplete lock file information for providers";
const INCOMPLETE_BLIND: &str = "rewrites* + Incomplete lock file information for providers";
const REFUSED: &str = "Failed to install provider";
const NOT_THERE: &str = "Required plugins are not installed";
const WARNS: &str = "warns + Provider lock file not updated";
const WARNS_BLIND: &str = "warns* + Provider lock file not updated";
/// Returns the title of a package that `plan` finds changed, where the programs differ.
fn changed(flavor: Flavor) -> &'static str {
    if flavor.is_opentofu() {
        "failed to read provider configuration schema"
    } else {
        NOT_THERE
    }
}

/// The rows of `hash` rules 3.5 that are accepted everywhere, in its order.
#[test]
fn what_is_right_or_blank_is_accepted_everywhere() {
    for flavor in Flavor::ALL {
        let blind = ["rewrites*", INCOMPLETE_BLIND, "rewrites*", WARNS_BLIND];
        check(flavor, &[], blind);
        check(flavor, &["h2:x"], blind);
        let own = ["rewrites", "passes", "passes", WARNS];
        check(flavor, &["h1:own"], own);
        check(flavor, &["h1:own", "h1:wrong", "zh:wrong"], own);
        check(flavor, &["h1:own", "zh:a", "zh:own"], ["passes"; 4]);
    }
}

/// The other rows of that table.
#[test]
fn without_the_right_h1_the_route_decides() {
    for flavor in Flavor::ALL {
        let (yes, blind, no) = ("rewrites", "rewrites*", REFUSED);
        check(flavor, &["h1:wrong"], [no; 4]);
        check(flavor, &["h1:wrong", "zh:wrong"], [no; 4]);
        check(flavor, &["zh:own"], [yes, blind, yes, WARNS]);
        check(flavor, &["zh:a", "zh:own"], [yes, blind, yes, WARNS]);
        check(flavor, &["zh:wrong"], [no, blind, no, no]);
        check(flavor, &["h1:wrong", "zh:own"], [yes, no, yes, WARNS]);
    }
}

#[test]
fn what_init_would_tidy_up_is_a_change() {
    let tidied = ["rewrites", INCOMPLETE, INCOMPLETE, WARNS];
    for flavor in Flavor::ALL {
        check(flavor, &["h1:own", "h2:x"], tidied);
        check(flavor, &["h1:own", "h1:own"], tidied);
        let beside_others = ["rewrites", "rewrites", "rewrites", WARNS];
        check(flavor, &["zh:a", "zh:own", "h1:own"], beside_others);
    }
}

/// Nothing is known of the package, and `h1:` are counted.
#[track_caller]
fn check_guess(listed: &[&str], facts: KnownPackage<'_>, wanted: [&str; 4]) {
    let listed: Vec<Hash> = listed.iter().map(|text| hash(text)).collect();
    let guess =
        EntryHashes::of(&listed, facts).each(|hashes| Guess::known(state(EntryNeed::Fits, hashes)));
    let predictions = predict_guess(&guess, Flavor::Terraform1_11);
    let found: Vec<String> = predictions.iter().map(spelled).collect();
    assert_eq!(found, wanted, "for {listed:?}");
}

#[test]
fn only_what_would_come_out_otherwise_is_assumed() {
    let counted = KnownPackage {
        counts_suffice: true,
        may_be_recorded: true,
        ..KnownPackage::default()
    };
    check_guess(&["h1:a", "zh:a", "zh:b"], counted, ["passes?"; 4]);
    // Too few count as missing.
    let too_few = KnownPackage {
        counts_suffice: false,
        ..counted
    };
    let warns = "warns? + Provider lock file not updated";
    check_guess(
        &["h1:a", "zh:a", "zh:b"],
        too_few,
        [
            "rewrites?",
            "Failed to install provider?",
            "rewrites?",
            warns,
        ],
    );
}

#[test]
fn a_single_zh_may_be_that_of_another_platform() {
    // Without any h1: nothing can be attributed wrongly, and two zh: are the list of the release.
    check_guess(
        &["zh:a", "zh:b"],
        KnownPackage::default(),
        ["rewrites", "rewrites*", "rewrites", WARNS],
    );
    // One zh: may be that of another platform.
    check_guess(
        &["zh:a"],
        KnownPackage::default(),
        [
            "rewrites?",
            "rewrites*",
            "rewrites?",
            "warns? + Provider lock file not updated",
        ],
    );
}

#[track_caller]
fn check_state(state: LockState, flavor: Flavor, wanted: [&str; 4]) {
    let found: Vec<String> = predict(&state, flavor).iter().map(spelled).collect();
    assert_eq!(found, wanted, "for {state:?} by {flavor}");
}

/// An entry to which nothing could be added.
const COMPLETE: EntryHashes = EntryHashes {
    own_h1: true,
    other_h1: false,
    zh: Zh::Release,
    unknown_schemes: false,
    in_order: true,
    lacks_stated: false,
};

const CHANGES: &str = "Provider dependency changes detected";
const INCONSISTENT: &str = "Inconsistent dependency lock file";

/// Two good `zh:` beside one in upper case are no whole list: it may be that of any platform.
#[test]
fn nothing_is_certain_of_a_list_with_a_broken_hash() {
    let zh =
        |letter: &str| -> Hash { format!("zh:{}", letter.repeat(64)).parse().expect("a hash") };
    let seen = |own: &str| {
        let listed = [zh(own), zh("b"), zh("c")];
        let hashes = EntryHashes::of(&listed, KnownPackage::default());
        let state = hashes.each(|hashes| Guess::known(state(EntryNeed::Fits, hashes)));
        let registry = predict_guess(&state, Flavor::Terraform1_16).remove(0);
        (registry.outcome, registry.assumed)
    };
    assert_eq!(seen("a"), (Outcome::Rewrites, false));
    assert_eq!(seen("A"), (Outcome::Rewrites, true));
    // A fact about the platform's own zip decides.
    let own = zh("a");
    let facts = KnownPackage {
        zh: Some(&own),
        ..KnownPackage::default()
    };
    let listed = [zh("A"), zh("b"), zh("c")];
    let hashes = EntryHashes::of(&listed, facts);
    assert_eq!(
        (hashes.likely.zh, hashes.otherwise),
        (Zh::Others, Vec::new())
    );
}

#[test]
fn an_entry_is_added_removed_or_stands_in_the_way() {
    for flavor in Flavor::ALL {
        check_state(
            LockState::Nothing(NeededBy::CONFIGURATION),
            flavor,
            ["rewrites*", INCOMPLETE_BLIND, "rewrites*", CHANGES],
        );
        check_state(
            state(EntryNeed::NotRequired, COMPLETE),
            flavor,
            ["rewrites", "rewrites", "rewrites", CHANGES],
        );
        let query = flavor.no_version_title();
        check_state(state(EntryNeed::Outside, COMPLETE), flavor, [query; 4]);
    }
}

/// Predictions of `plan`: what only a test needs, `init` needs all the same.
#[test]
fn plan_needs_what_it_uses() {
    let none = NeededBy {
        configuration: false,
        state: false,
    };
    let state = NeededBy {
        state: true,
        ..none
    };
    for flavor in Flavor::ALL {
        let later = |state: LockState| spelled(&plan(&state, flavor).of(Route::HerePlan));
        let nothing = |by| later(LockState::Nothing(by));
        assert_eq!(nothing(NeededBy::CONFIGURATION), INCONSISTENT, "{flavor}");
        assert_eq!(nothing(state), "Missing required provider", "{flavor}");
        assert_eq!(nothing(none), "passes", "{flavor}");
        let version = LockState::Version { fits: true };
        assert_eq!(later(version), INCONSISTENT, "{flavor}");
        let entry = |need, by, own_h1| {
            later(LockState::EntryState(EntryState {
                need,
                by,
                hashes: EntryHashes {
                    own_h1,
                    other_h1: !own_h1,
                    ..COMPLETE
                },
                has_twin: false,
            }))
        };
        let changed = changed(flavor);
        let unused = |title| match flavor.is_opentofu() {
            true => "passes*",
            false => title,
        };
        let configuration = NeededBy::CONFIGURATION;
        assert_eq!(entry(EntryNeed::Fits, state, false), changed);
        assert_eq!(entry(EntryNeed::Fits, none, false), unused(changed));
        assert_eq!(
            entry(EntryNeed::OutsideForInit, none, true),
            unused("passes")
        );
        assert_eq!(
            entry(EntryNeed::OutsideForInit, configuration, true),
            "passes"
        );
        assert_eq!(entry(EntryNeed::Outside, configuration, true), INCONSISTENT);
        assert_eq!(
            entry(EntryNeed::NotRequired, configuration, true),
            unused("passes")
        );
    }
}

#[test]
fn an_entry_of_the_other_registry_is_read_twice_by_opentofu() {
    let twins = "rewrites + Dependency lock file entries automatically updated";
    let tofu = Flavor::OpenTofu1_12;
    let complete = EntryState {
        need: EntryNeed::Fits,
        by: NeededBy::CONFIGURATION,
        hashes: COMPLETE,
        has_twin: true,
    };
    check_state(
        LockState::EntryState(complete),
        tofu,
        [twins, twins, twins, CHANGES],
    );
    let blind = "rewrites* + Dependency lock file entries automatically updated";
    let version = |fits| LockState::Version { fits };
    check_state(version(true), tofu, [blind, blind, blind, CHANGES]);
    let query = tofu.no_version_title();
    check_state(version(false), tofu, [query; 4]);
}

#[test]
fn opentofu_adds_what_its_registry_states() {
    let listed: Vec<Hash> = ["h1:own", "zh:a", "zh:b", "zh:c", "zh:own"]
        .map(hash)
        .into();
    let h1 = hash(OWN.0);
    let facts = KnownPackage {
        h1: Some(&h1),
        registry_states_h1: true,
        ..KnownPackage::default()
    };
    let guess =
        EntryHashes::of(&listed, facts).each(|hashes| Guess::known(state(EntryNeed::Fits, hashes)));
    let predictions = predict_guess(&guess, Flavor::OpenTofu1_12);
    let found: Vec<String> = predictions.iter().map(spelled).collect();
    assert_eq!(found[..2], ["rewrites?", "passes"]);
    assert_eq!(found[3], "warns? + Provider lock file not updated");
}

#[test]
fn an_unreadable_file_stops_everything() {
    let check = |flavor, title: &str| {
        let predictions =
            predict_unreadable(&["Unsupported argument", "Other"], flavor, &Route::ALL);
        let found: Vec<String> = predictions.iter().map(spelled).collect();
        assert_eq!(found, [title; 4], "{flavor}");
    };
    let folded = "failed to read dependency lock file";
    check(Flavor::Terraform1_11, folded);
    check(Flavor::Terraform1_15, "Unsupported argument");
    check(Flavor::Terraform1_16, "Unsupported argument");
    check(Flavor::OpenTofu1_12, folded);
}
