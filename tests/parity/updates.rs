//! Random roots whose versions move: `update` against `init -upgrade` and then `providers lock`.

use std::num::NonZeroUsize;

use lockctl::parallel;

use crate::dice::Dice;
use crate::lab::{Lab, zip_of};
use crate::registry::Registry;
use crate::seed::number_from;
use crate::terraform::Terraform;
use crate::{LOCK, lockctl};

/// How many roots are made up, unless `LOCKCTL_PARITY_CASES` states another number.
const CASES: u64 = 40;

/// The first of them, unless `LOCKCTL_PARITY_SEED` states another one; each root is its own seed.
const SEED: u64 = 1;

/// How many roots are tried at once.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(4).expect("positive");

/// How many providers are published.
const PROVIDERS: usize = 8;

/// What each provider has some versions of, but never two that differ in metadata only: `-upgrade`
/// chooses among these at random.
const VERSIONS: [&[&str]; 11] = [
    &["0.9.0"],
    &["1.0.0-beta1"],
    &["1.0.0", "1.0.0+b1"],
    &["1.0.1"],
    &["1.1.0-rc1"],
    &["1.1.0", "1.1.0+b2"],
    &["1.1.9"],
    &["1.10.0"],
    &["2.0.0-rc1", "2.0.0-rc1+b3"],
    &["2.0.0"],
    &["2.3.4"],
];

const CONSTRAINTS: [&str; 13] = [
    "",
    "",
    "",
    ">= 0.9.0",
    ">= 1.0.0",
    "~> 1.0",
    "~> 1.1.0",
    "< 2.0.0",
    "!= 1.1.0",
    "1.1.0-rc1",
    ">= 1.0.0-beta1",
    "> 1.0.0, <= 1.10.0",
    "> 2.0.0",
];

const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];

/// The packages of a provider, one for each version and platform.
struct Published {
    provider: String,
    packages: Vec<(&'static str, &'static str)>,
}

/// Makes up what is published, the same for all roots: about half of the versions for each provider, some
/// of them for one platform only.
fn publish() -> Vec<Published> {
    let mut dice = Dice::new(2026);
    let providers = (0..PROVIDERS).map(|number| {
        let mut packages = Vec::new();
        for spellings in VERSIONS {
            if dice.chance(55) {
                let version = dice.one_of(spellings);
                let count = if dice.chance(90) { 2 } else { 1 };
                packages.extend(
                    PLATFORMS[..count]
                        .iter()
                        .map(|platform| (version, *platform)),
                );
            }
        }
        Published {
            provider: format!("acme/p{number}"),
            packages,
        }
    });
    providers.collect()
}

fn content(provider: &str, version: &str, platform: &str) -> String {
    format!("{provider} {version} {platform}")
}

/// What is required of one provider: by the root, and by a module if it requires anything.
struct Wanted<'p> {
    published: &'p Published,
    root: &'static str,
    module: Option<&'static str>,
    /// A version that is asked for by name.
    exact: Option<&'static str>,
}

/// A root that was made up.
struct Scenario<'p> {
    wanted: Vec<Wanted<'p>>,
    platforms: &'static [&'static str],
    /// Packages come from a mirror directory rather than from the registry.
    mirror: bool,
}

impl<'p> Scenario<'p> {
    fn make_up(dice: &mut Dice, published: &'p [Published]) -> Self {
        let mut wanted: Vec<Wanted<'p>> = Vec::new();
        // At least one: without any, `providers lock` creates an empty lock file, and lockctl none.
        let always = dice.below(published.len());
        for (number, one) in published.iter().enumerate() {
            if number == always || dice.chance(25) {
                wanted.push(Wanted {
                    published: one,
                    root: dice.one_of(&CONSTRAINTS),
                    module: dice.chance(30).then(|| dice.one_of(&CONSTRAINTS)),
                    exact: None,
                });
            }
        }
        if dice.chance(30)
            && let Some(first) = wanted.first_mut()
        {
            // A pre-release must be allowed by the configuration itself, which a pin would change.
            let releases = first.published.packages.iter();
            let releases = releases.map(|(version, _)| *version);
            let releases: Vec<&str> = releases.filter(|one| !one.contains('-')).collect();
            first.exact = (!releases.is_empty()).then(|| releases[dice.below(releases.len())]);
        }
        Self {
            wanted,
            platforms: &PLATFORMS[..1 + dice.below(2)],
            mirror: dice.chance(40),
        }
    }

    /// Returns whether a version is asked for by name.
    fn is_exact(&self) -> bool {
        self.wanted.iter().any(|one| one.exact.is_some())
    }

    /// Writes the configuration; of the reference it states the version that is asked for by name.
    fn write(&self, lab: &Lab, root: &str, states_version: bool) {
        let mut of_root = String::new();
        let mut of_module = String::new();
        for one in &self.wanted {
            let pin = one.exact.filter(|_| states_version);
            let terms: Vec<&str> = [one.root].into_iter().chain(pin).collect();
            let terms: Vec<&str> = terms.into_iter().filter(|term| !term.is_empty()).collect();
            of_root += &entry(one.published, &terms.join(", "));
            if let Some(module) = one.module {
                of_module += &entry(one.published, module);
            }
        }
        let block =
            |entries: &str| format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n");
        let call = "module \"m\" {\n  source = \"./m\"\n}\n";
        lab.write(&format!("{root}/main.tf"), block(&of_root) + call);
        lab.write(&format!("{root}/m/main.tf"), block(&of_module));
    }

    fn fill_mirror(&self, lab: &Lab, published: &[Published], dice: &mut Dice) {
        std::fs::create_dir_all(lab.path("mirror")).unwrap();
        for one in published {
            let is_packed = dice.chance(50);
            for (version, platform) in &one.packages {
                let package = format!(
                    "registry.terraform.io/{}/{version}/{platform}",
                    one.provider
                );
                let text = content(&one.provider, version, platform);
                if is_packed {
                    lab.packed("mirror", &package, &text);
                } else {
                    lab.unpacked("mirror", &package, &text);
                }
            }
        }
    }

    /// Runs both programs of the reference; returns whether they succeeded, and what they said.
    fn reference(&self, terraform: &Terraform, lab: &Lab) -> (bool, String) {
        let args = ["init", "-upgrade", "-no-color", "-backend=false"];
        let (succeeded, mut said) = terraform.run(lab, "theirs", &args);
        if !succeeded {
            return (false, said);
        }
        let mut args = vec!["providers".to_owned(), "lock".into(), "-no-color".into()];
        args.extend(self.platforms.iter().map(|one| format!("-platform={one}")));
        if self.mirror {
            args.push(format!("-fs-mirror={}", lab.path("mirror").display()));
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (succeeded, more) = terraform.run(lab, "theirs", &args);
        said += &more;
        (succeeded, said)
    }

    fn update(&self, terraform: &Terraform, lab: &Lab) -> crate::Outcome {
        let platforms = self.platforms.join(",");
        let mut args = vec!["update".to_owned(), "./ours".into()];
        args.extend(["--platform".to_owned(), platforms]);
        if self.mirror {
            args.extend(["--fs-mirror".to_owned(), "mirror".into()]);
        }
        if self.is_exact() {
            args.extend(self.wanted.iter().map(|one| match one.exact {
                Some(version) => format!("{}@{version}", one.published.provider),
                None => one.published.provider.clone(),
            }));
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        lockctl(lab, terraform, &args)
    }
}

fn entry(published: &Published, constraints: &str) -> String {
    let (_, name) = published.provider.split_once('/').unwrap();
    format!(
        "    {name} = {{ source = {:?}, version = {constraints:?} }}\n",
        published.provider
    )
    .replace(", version = \"\"", "")
}

/// Gives both roots a lock file with random versions of random providers.
fn lock_before(terraform: &Terraform, lab: &Lab, published: &[Published], dice: &mut Dice) {
    let mut entries = String::new();
    for one in published {
        if one.packages.is_empty() || !dice.chance(60) {
            continue;
        }
        let (version, _) = one.packages[dice.below(one.packages.len())];
        entries += &entry(one, version);
    }
    let main = format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n");
    lab.write("before/main.tf", main);
    let outcome = lockctl(lab, terraform, &["lock", "before"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    if let Ok(lock) = std::fs::read(lab.path(&format!("before/{LOCK}"))) {
        lab.write(&format!("theirs/{LOCK}"), &lock);
        lab.write(&format!("ours/{LOCK}"), &lock);
    }
}

/// Whether both programs wrote the same, and whether a version was asked for by name.
enum Compared {
    Equal { exact: bool },
    BothFailed,
}

fn compare(
    terraform: &Terraform,
    registry: &Registry,
    published: &[Published],
    seed: u64,
) -> Result<Compared, String> {
    let mut lab = Lab::new();
    terraform.use_registry(&mut lab, registry, &[]);
    let mut dice = Dice::new(seed);
    let scenario = Scenario::make_up(&mut dice, published);
    scenario.write(&lab, "ours", false);
    scenario.write(&lab, "theirs", true);
    if dice.chance(75) {
        lock_before(terraform, &lab, published, &mut dice);
    }
    if scenario.mirror {
        scenario.fill_mirror(&lab, published, &mut dice);
        terraform.use_mirror(&lab);
    }
    let read = |root: &str| std::fs::read_to_string(lab.path(&format!("{root}/{LOCK}"))).ok();
    let before = read("ours");
    let (succeeded, said) = scenario.reference(terraform, &lab);
    let outcome = scenario.update(terraform, &lab);
    let (theirs, ours) = (read("theirs"), read("ours"));
    let is_equal = match (succeeded, outcome.code) {
        (true, 0) if scenario.is_exact() => {
            without_constraints(&theirs) == without_constraints(&ours)
        }
        (true, 0) => theirs == ours,
        (false, 2) => ours == before && lacks_version(&said) == lacks_version(&outcome.stderr),
        _ => false,
    };
    if is_equal && succeeded {
        let exact = scenario.is_exact();
        return Ok(Compared::Equal { exact });
    }
    if is_equal {
        return Ok(Compared::BothFailed);
    }
    let (main, module) = (lab.read("ours/main.tf"), lab.read("ours/m/main.tf"));
    Err(format!(
        "seed {seed}:\n{main}\n{module}\n{said}\n{before:?}\n{theirs:?}\n{outcome:#?}\n{ours:?}"
    ))
}

/// Returns whether a program said that no version fits; otherwise a package was missing.
fn lacks_version(said: &str) -> bool {
    let titles = [
        "Failed to query available provider packages",
        "no offered version",
        "is not offered",
        "does not meet the constraints",
    ];
    titles.iter().any(|title| said.contains(title))
}

/// The lines of a lock file but for the constraints, to which the reference adds a version.
fn without_constraints(lock: &Option<String>) -> Vec<String> {
    let lines = lock.iter().flat_map(|text| text.lines());
    let lines = lines.filter(|line| !line.trim_start().starts_with("constraints "));
    // Without constraints, nothing is aligned with them.
    lines
        .map(|line| line.replace("  ", "").replace(" =", "="))
        .collect()
}

#[test]
fn random_updates_give_the_locks_of_init_upgrade() {
    let Some(terraform) = Terraform::find_trusting() else {
        return;
    };
    let registry = Registry::start();
    let published = publish();
    for one in &published {
        let (_, type_name) = one.provider.split_once('/').unwrap();
        for (version, platform) in &one.packages {
            let program = format!("terraform-provider-{type_name}_v{version}");
            let text = content(&one.provider, version, platform);
            let zip = zip_of(&[(&program, &text)]);
            registry.add_zip(&one.provider, version, platform, &zip);
        }
    }
    let first = number_from("LOCKCTL_PARITY_SEED", SEED);
    let cases = number_from("LOCKCTL_PARITY_CASES", CASES);
    let seeds: Vec<u64> = (first..first + cases).collect();
    let compared = parallel::map(AT_ONCE, &seeds, |seed| {
        compare(&terraform, &registry, &published, *seed)
    });
    let faults: Vec<&String> = compared
        .iter()
        .filter_map(|one| one.as_ref().err())
        .collect();
    assert!(faults.is_empty(), "{} differ: {}", faults.len(), faults[0]);
    let count =
        |wanted: fn(&Compared) -> bool| compared.iter().flatten().filter(|one| wanted(one)).count();
    let newest = count(|one| matches!(one, Compared::Equal { exact: false }));
    let exact = count(|one| matches!(one, Compared::Equal { exact: true }));
    assert!(cases < CASES || newest > 10 && exact > 2, "too few succeed");
    println!(
        "parity: {cases} random updates from seed {first}: {newest} to the newest and {exact} to named \
         versions have equal bytes, the others fail in both programs"
    );
}
