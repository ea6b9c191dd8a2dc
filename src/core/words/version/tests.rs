use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

/// Every kind of pre-release that the order distinguishes, lowest first, by rules 2.
const PRERELEASES: [&str; 15] = [
    "2", "3", "02", "10", "-", "B", "a", "beta", "rc10", "rc9", ".", "..", "1.a", "a.", "a.b",
];

fn version(text: &str) -> Version {
    text.parse().expect("valid")
}

fn lock(text: &str) -> Constraints {
    Constraints::parse_lock(text).expect("valid")
}

#[track_caller]
fn check_version(given: &str, canonical: &str) {
    assert_eq!(version(given).to_string(), canonical, "from {given:?}");
}

#[track_caller]
fn check_not_version(given: &str, reason: VersionFault) {
    let error = given.parse::<Version>().expect_err("invalid");
    assert_eq!(error, VersionError::new(given, reason));
}

#[track_caller]
fn check_constraints(given: &str, canonical: &str) {
    assert_eq!(lock(given).to_string(), canonical, "from {given:?}");
}

#[track_caller]
fn check_not_constraints(given: &str, reason: VersionFault) {
    let error = Constraints::parse_lock(given).expect_err("invalid");
    assert_eq!(error, ConstraintError::new(given, reason));
}

#[track_caller]
fn check_why_not(constraints: &str, given: &str, expected: &str) {
    let constraints = lock(constraints);
    let refusal = match constraints.why_not(&version(given)) {
        None => "allowed".to_owned(),
        Some(VersionRefusal::Unspecified) => "unspecified".to_owned(),
        Some(VersionRefusal::PrereleaseNotNamed) => "not named".to_owned(),
        Some(VersionRefusal::Term(term)) => term.to_string(),
    };
    assert_eq!(refusal, expected, "{given} for {constraints}");
}

#[test]
fn a_version_prints_in_canonical_form() {
    check_version("1", "1.0.0");
    check_version("1.2.3.", "1.2.3");
    check_version("00000000000000000000001.02", "1.2.0");
    check_version("1.2.3-", "1.2.3");
    check_version("1.2.3-a+", "1.2.3-a");
    check_version("1-beta..1+b-rc1", "1.0.0-beta..1+b-rc1");
    check_version("\u{a0}1.2.3", "1.2.3");
    check_version("18446744073709551615.0.0", "18446744073709551615.0.0");
}

#[test]
fn a_refused_version_says_why() {
    check_not_version("", VersionFault::Empty);
    check_not_version(" ", VersionFault::Empty);
    check_not_version("1.2.3.4", VersionFault::TooManyNumbers);
    check_not_version("v1.2.3", VersionFault::Prefix);
    check_not_version("1.x", VersionFault::Wildcard);
    check_not_version("latest", VersionFault::NoNumber);
    check_not_version(" 1.2.3", VersionFault::NoNumber);
    check_not_version("1.2.3 ", VersionFault::Malformed);
    check_not_version("1.2.3\u{a0}", VersionFault::Malformed);
    check_not_version("1.2.3-é", VersionFault::Malformed);
    check_not_version("1.2.-beta", VersionFault::Malformed);
    check_not_version("1.2.3-+b", VersionFault::Malformed);
    check_not_version("18446744073709551616.0.0", VersionFault::TooLarge);
    let error = "1.2.3.4".parse::<Version>().expect_err("invalid");
    assert_eq!(
        error.to_string(),
        r#""1.2.3.4" is no version: it has more than three numbers"#
    );
}

#[test]
fn prereleases_are_ordered_by_the_count_of_parts_first() {
    let sorted: Vec<_> = PRERELEASES
        .iter()
        .map(|prerelease| version(&format!("1.0.0-{prerelease}")))
        .chain([version("1.0.0"), version("1.0.0+0"), version("1.0.0+a")])
        .collect();
    assert!(sorted.is_sorted_by(|low, high| low < high), "{sorted:?}");
    let metadata_is_ignored = version("1.0.0-a+1").precedence(&version("1.0.0-a+2"));
    assert_eq!(metadata_is_ignored, Ordering::Equal);
}

#[test]
fn constraint_text_is_canonical() {
    check_constraints(">= 1.2, ~> 3", ">= 1.2.0, ~> 3.0");
    check_constraints(
        " !=1,<1.0,<= 1,~> 1,~>1.0.0,=1,>=1,>1 ",
        "> 1.0.0, >= 1.0.0, 1.0.0, ~> 1.0.0, ~> 1.0, <= 1.0.0, < 1.0.0, != 1.0.0",
    );
    check_constraints("1.0.0+b, 1.0.0+a, 1, 1", "1.0.0, 1.0.0+a, 1.0.0+b");
    check_constraints("~> 1-beta+x", "~> 1.0-beta+x");
    check_constraints(">= 1., < 2,", ">= 1.0.0, < 2.0.0");
    check_constraints("", "");
    check_constraints("\u{a0}\t", "");
}

#[test]
fn a_refused_constraint_says_why() {
    check_not_constraints("≥ 1", VersionFault::Operator);
    check_not_constraints(">~> 1", VersionFault::Operator);
    check_not_constraints(">=  1", VersionFault::Spacing);
    check_not_constraints(">=\t1", VersionFault::Spacing);
    check_not_constraints("1 2", VersionFault::Comma);
    check_not_constraints("1, , 2", VersionFault::EmptyItem);
    check_not_constraints(",", VersionFault::EmptyItem);
    check_not_constraints(">= v1", VersionFault::Prefix);
    check_not_constraints("1.*", VersionFault::Wildcard);
    check_not_constraints(">=", VersionFault::NoNumber);
    check_not_constraints("< ,", VersionFault::NoNumber);
    check_not_constraints("~> 1.2.3.4", VersionFault::TooManyNumbers);
    check_not_constraints("> 99999999999999999999", VersionFault::TooLarge);
}

#[test]
fn operators_of_other_tools_lead_to_the_one_that_is_meant() {
    #[track_caller]
    fn check(sign: &str, advice: &str) {
        for text in [format!("{sign} 1.0"), format!(">= 0.1, {sign}1.0.0")] {
            let wanted =
                format!("{text:?} is no version constraint: {sign:?} is no operator; {advice}");
            let in_config = Constraints::parse_config(&text).expect_err("invalid");
            assert_eq!(in_config.to_string(), wanted);
            let in_lock = Constraints::parse_lock(&text).expect_err("invalid");
            assert_eq!(in_lock.to_string(), wanted);
            let of_core = CoreConstraints::parse_required(&text).expect_err("invalid");
            assert_eq!(of_core.to_string(), wanted);
        }
    }
    for (sign, meant) in [
        ("=>", ">="),
        ("=<", "<="),
        ("==", "="),
        ("===", "="),
        (">==", ">="),
        ("<>", "!="),
        ("~", "~>"),
        ("~=", "~>"),
    ] {
        check(sign, &format!("write \"{meant}\""));
    }
    check("^", "\"~>\" before two numbers allows one major version");
}

#[test]
fn the_configuration_must_pass_both_grammars() {
    let refused_by = |text| {
        Constraints::parse_config(text).expect_err("invalid");
        if CoreConstraints::parse(text).is_ok() {
            "strict"
        } else {
            "lenient"
        }
    };
    for text in ["", "1,", "1.", "^1", "9223372036854775808", "1.0.0-a..b"] {
        assert_eq!(refused_by(text), "lenient", "{text:?}");
    }
    for text in ["v1", "1.2.3.4", ">=  1", "1.0.0beta", "1.0.0-a~b"] {
        assert_eq!(refused_by(text), "strict", "{text:?}");
    }
    assert!(Constraints::parse_config("9223372036854775807").is_ok());
}

#[test]
fn a_refusal_names_the_first_term_that_is_not_met() {
    check_why_not("", "1.0.0", "allowed");
    check_why_not("", "1.0.0-a", "not named");
    check_why_not(">= 1.0.0-a", "1.0.0-a", "not named");
    check_why_not("1.0.0-a", "1.0.0-a", "allowed");
    check_why_not("1.0.0-a, ~> 0.9", "1.0.0-a", "allowed");
    check_why_not("1.0.0-a+x", "1.0.0-a", "1.0.0-a+x");
    check_why_not(">= 3, >= 2", "1.0.0", ">= 2.0.0");
    check_why_not("0.0.0", "0.0.0", "unspecified");
    check_why_not("0.0.0-a", "0.0.0-a", "allowed");
    // Seen in Terraform 1.11.4: metadata makes it a version like any other.
    check_why_not("", "0.0.0+b", "allowed");
    check_why_not("~> 1.2.0", "1.3.0", "~> 1.2.0");
    check_why_not("~> 1.2", "2.0.0", "~> 1.2");
}

#[test]
fn the_largest_number_has_no_next() {
    let largest = u64::MAX;
    check_why_not(
        &format!("~> {largest}"),
        &format!("{largest}.7.0"),
        "allowed",
    );
    check_why_not(
        &format!("~> 1.{largest}.0"),
        &format!("1.{largest}.7"),
        "allowed",
    );
    let term = format!("~> 1.{largest}.0");
    check_why_not(&term, "2.0.0", &term);
}

#[test]
fn the_newest_is_the_greatest_with_its_metadata() {
    let offered = ["1.0.0+b", "1.0.0+a", "1.0.0", "0.9.0", "2.0.0-a"].map(version);
    let newest = |constraints| {
        lock(constraints)
            .newest(offered.iter())
            .map(Version::to_string)
    };
    assert_eq!(newest("").as_deref(), Some("1.0.0+b"));
    assert_eq!(newest("1.0.0").as_deref(), Some("1.0.0"));
    assert_eq!(newest("~> 2.0"), None);
}

#[test]
fn core_constraints_have_rules_of_their_own() {
    let allows = |constraints, given: &str| {
        CoreConstraints::parse(constraints)
            .expect("valid")
            .allows(&version(given))
    };
    // Each row was also put into a module manifest and shown to Terraform 1.11.4.
    for (constraints, given, expected) in [
        ("1.0.0", "1.0.0", true),
        ("~> 1", "5.0.0", true),
        ("1.0.0", "1.0.0+b", true),
        (">= 1.0.0-alpha", "1.0.0-beta", true),
        (">= 0.9.0", "1.0.0-beta", false),
        (">= 0.9.0-a", "1.0.0-beta", false),
        ("!= 2.0.0", "1.0.0-beta", true),
        ("1.0.0-beta", "1.0.0-beta", true),
        ("1.0.0beta", "1.0.0-beta", true),
        ("= 1.0.0-beta , > 0.9", "1.0.0-beta", false),
        ("> 1.0.0-beta", "1.0.0-beta.1", true),
        ("~> 1.0.0-alpha", "1.0.0-beta", true),
        ("~> 1.0.0-alpha", "1.0.0", false),
        ("1.0.0.0-beta", "1.0.0", true),
        ("1.0.0-", "1.0.0", false),
    ] {
        assert_eq!(
            allows(constraints, given),
            expected,
            "{constraints} {given}"
        );
    }
}

#[test]
fn core_constraints_print_as_written_with_single_spaces() {
    for (given, printed) in [
        (">=  v1.2, != 1.3.0.0", ">= 1.2, != 1.3.0.0"),
        ("~> 3", "~> 3"),
        ("= 1.0.0-rc1", "1.0.0-rc1"),
        ("<2,>1", "< 2, > 1"),
    ] {
        let read = CoreConstraints::parse(given).expect("valid");
        assert_eq!(read.to_string(), printed, "of {given:?}");
        assert_eq!(CoreConstraints::parse(printed).expect("valid"), read);
    }
}

#[test]
fn a_required_version_takes_no_prerelease() {
    for text in ["> 1.0.0-rc1", "1.0.0-", "1.0.0beta", "1.0.0~x"] {
        let error = CoreConstraints::parse_required(text).expect_err("invalid");
        assert!(error.is_forbidden_prerelease(), "{text}");
    }
    for text in ["", "1,", "V1", "1.x", "1.0-a..b", "99999999999999999999"] {
        let error = CoreConstraints::parse_required(text).expect_err("invalid");
        assert!(!error.is_forbidden_prerelease(), "{text}");
    }
}

#[test]
fn a_step_is_judged_by_semver_where_it_can_be() {
    #[track_caller]
    fn check(from: &str, to: &str, expected: VersionStep) {
        assert_eq!(
            step(&version(from), &version(to)),
            expected,
            "{from} to {to}"
        );
    }
    check("1.0.0", "1.0.0", VersionStep::Same);
    check("1.0.0+a", "1.0.0+b", VersionStep::Up(Upgrade::Metadata));
    check("1.2.3", "1.2.4", VersionStep::Up(Upgrade::Patch));
    check("1.2.3", "1.3.0", VersionStep::Up(Upgrade::Minor));
    check("1.2.3", "2.0.0-a", VersionStep::Up(Upgrade::Major));
    check("2.0.0", "1.9.9", VersionStep::Down);
    check("1.0.0-rc1", "1.0.0", VersionStep::Up(Upgrade::Prerelease));
    check("1.0.0", "1.0.0-rc1", VersionStep::Down);
    check(
        "1.0.0-alpha.1",
        "1.0.0-beta",
        VersionStep::Up(Upgrade::Prerelease),
    );
    check("1.0.0-alpha.01", "1.0.0-beta", VersionStep::Down);
}

/// A version whose numbers are below 3, so that all of them fit on one scale.
#[derive(Clone, Copy, Debug)]
struct Small {
    numbers: [usize; 3],
    /// An index into `PRERELEASES`; its length means a release.
    rank: usize,
    metadata: &'static str,
}

impl Small {
    /// Returns the place on a scale where every number takes the room of all pre-releases.
    fn place(self) -> usize {
        let [major, minor, patch] = self.numbers;
        ((major * 4 + minor) * 4 + patch) * (PRERELEASES.len() + 1) + self.rank
    }

    fn text(self, numbers: usize) -> String {
        let mut text = self.numbers[..numbers]
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(".");
        if let Some(prerelease) = PRERELEASES.get(self.rank) {
            text += &format!("-{prerelease}");
        }
        if !self.metadata.is_empty() {
            text += &format!("+{}", self.metadata);
        }
        text
    }
}

/// Returns by places on the scale whether one constraint holds.
fn holds(sign: &str, numbers: usize, bound: Small, candidate: Small) -> bool {
    let numbers_kept = |kept: usize| {
        let mut next = Small {
            numbers: [0; 3],
            rank: PRERELEASES.len(),
            metadata: "",
        };
        next.numbers[..kept].copy_from_slice(&bound.numbers[..kept]);
        next.numbers[kept - 1] += 1;
        (bound.place()..next.place()).contains(&candidate.place())
    };
    let same = bound.place() == candidate.place() && bound.metadata == candidate.metadata;
    match sign {
        "" | "=" => same,
        "!=" => !same,
        ">" => candidate.place() > bound.place(),
        ">=" => candidate.place() >= bound.place(),
        "<" => candidate.place() < bound.place(),
        "<=" => candidate.place() <= bound.place(),
        _ => numbers_kept(if numbers == 3 { 2 } else { 1 }),
    }
}

fn small() -> impl Strategy<Value = Small> {
    let rank = prop_oneof![Just(PRERELEASES.len()), 0..PRERELEASES.len()];
    let metadata = prop_oneof![Just(""), Just("a"), Just("b.1")];
    ([0..3usize, 0..3usize, 0..3usize], rank, metadata).prop_map(|(numbers, rank, metadata)| {
        Small {
            numbers,
            rank,
            metadata,
        }
    })
}

fn term() -> impl Strategy<Value = (&'static str, usize, Small)> {
    let signs = prop::sample::select(vec!["", "=", "!=", ">", ">=", "<", "<=", "~>"]);
    (signs, 1..=3usize, small()).prop_map(|(sign, numbers, mut bound)| {
        bound.numbers[numbers..].fill(0);
        (sign, numbers, bound)
    })
}

/// Any version at all, with suffixes that share parts often.
fn any_version() -> impl Strategy<Value = String> {
    let number = prop_oneof![0..3u64, any::<u64>()];
    let suffix = "([0-2ab-]|[.]){0,6}";
    ([number.clone(), number.clone(), number], suffix, suffix).prop_map(
        |([major, minor, patch], prerelease, metadata)| {
            let mut text = format!("{major}.{minor}.{patch}");
            if !prerelease.is_empty() {
                text += &format!("-{prerelease}");
            }
            if !metadata.is_empty() {
                text += &format!("+{metadata}");
            }
            text
        },
    )
}

/// Writes terms as a lock file may have them.
fn text_of(terms: &[(&str, usize, Small)]) -> String {
    let terms = terms.iter().map(|(sign, numbers, bound)| {
        let term = format!("{sign} {}", bound.text(*numbers));
        term.trim().to_owned()
    });
    terms.collect::<Vec<_>>().join(",")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn allows_agrees_with_places_on_a_scale(
        terms in prop::collection::vec(term(), 0..4),
        candidate in small(),
    ) {
        let text = text_of(&terms);
        let is_release = candidate.rank == PRERELEASES.len();
        let is_zero = is_release && candidate.numbers == [0; 3] && candidate.metadata.is_empty();
        let is_named = terms.iter().any(|(sign, numbers, bound)| {
            matches!(*sign, "" | "=") && holds("=", *numbers, *bound, candidate)
        });
        let expected = !is_zero
            && (is_release || is_named)
            && terms.iter().all(|(sign, numbers, bound)| holds(sign, *numbers, *bound, candidate));
        let candidate = version(&candidate.text(3));
        prop_assert_eq!(lock(&text).allows(&candidate), expected, "{} {}", text, candidate);
    }

    #[test]
    fn an_example_exists_where_any_version_is_allowed(
        terms in prop::collection::vec(term(), 0..5),
        candidate in small(),
    ) {
        let text = text_of(&terms);
        let constraints = lock(&text);
        let example = constraints.example();
        if let Some(example) = &example {
            prop_assert!(constraints.allows(example), "{} {}", text, example);
        }
        if constraints.allows(&version(&candidate.text(3))) {
            prop_assert!(example.is_some(), "{}", text);
        }
    }

    #[test]
    fn a_printed_version_parses_to_itself(text in any_version()) {
        let parsed = version(&text);
        prop_assert_eq!(parsed.to_string(), text.as_str());
        prop_assert_eq!(version(&parsed.to_string()), parsed);
    }

    #[test]
    fn canonical_text_is_stable(terms in prop::collection::vec(term(), 0..6)) {
        let text = terms
            .iter()
            .rev()
            .map(|(sign, numbers, bound)| format!("{sign}{}", bound.text(*numbers)))
            .collect::<Vec<_>>()
            .join(" , ");
        let parsed = lock(&text);
        let again = lock(&parsed.to_string());
        prop_assert_eq!(&again, &parsed);
        prop_assert_eq!(again.to_string(), parsed.to_string());
        prop_assert_eq!(parsed.clone().union(again), parsed);
    }

    #[test]
    fn the_order_is_total(texts in prop::array::uniform3(any_version())) {
        let [a, b, c] = texts.map(|text| version(&text));
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b).is_eq(), a == b);
        let mut sorted = [&a, &b, &c];
        sorted.sort();
        prop_assert!(sorted[0] <= sorted[2], "not transitive: {:?}", sorted);
        prop_assert!(a.precedence(&b).is_eq() || a.precedence(&b) == a.cmp(&b));
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in "([0-9.,<>=!~v+x*é\u{a0} -]|[0-9]{19,21}|[a-z]){0,12}") {
        let strict = Constraints::parse_lock(&text);
        let both = Constraints::parse_config(&text);
        prop_assert!(both.is_err() || both == strict);
        prop_assert_eq!(both.is_ok(), strict.is_ok() && CoreConstraints::parse(&text).is_ok());
        if let Ok(exact) = text.parse::<Version>() {
            prop_assert_eq!(lock(&text), lock(&exact.to_string()));
        }
    }
}

/// The programs take 0.0.0 for no version at all, but not with metadata.
#[test]
fn an_example_may_need_metadata() {
    for text in ["<= 0", "<= 0, != 0.0.0", "< 0.0.1"] {
        let example = lock(text).example().map(|version| version.to_string());
        assert_eq!(example.as_deref(), Some("0.0.0+0"), "{text}");
    }
    assert_eq!(lock("< 0").example(), None);
}

#[test]
fn an_example_may_have_another_minor_or_major_version() {
    const MAX: u64 = u64::MAX;
    for (text, wanted) in [
        (format!("> 3.1.{MAX}"), Some("3.2.0")),
        (format!("> 3.{MAX}.{MAX}"), Some("4.0.0")),
        (format!("> 3.1.{}, != 3.1.{MAX}", MAX - 1), Some("3.2.0")),
        (format!("> {MAX}.{MAX}.{MAX}"), None),
    ] {
        let example = lock(&text).example().map(|version| version.to_string());
        assert_eq!(example.as_deref(), wanted, "{text}");
    }
}
