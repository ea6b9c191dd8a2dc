//! Versions that cannot be chosen, and lock files that do not fit the configuration.

use super::known;

known! {
    "locked-version-conflicts", [],
        ["locked provider … does not match configured version constraint", "doesn't match the updated version constraints"],
        "version-outside-constraint", ["version-outside-constraint"],
        ["lockctl update", "{provider}"] =>
        "The lock file has a version that the constraints of the configuration exclude, and a plain `init` never moves a locked \
         version.";
    "entry-missing", [],
        ["required by this configuration but no version is selected", "Missing required provider", "Provider not found in lockfile"],
        "provider-not-locked", ["provider-not-locked", "lock-missing", "version-outside-constraint"],
        ["lockctl lock"] =>
        "The configuration or the state requires a provider that the lock file has no entry for.";
    "locked-version-gone", [], ["the previously-selected version … is no longer available"],
        "version-gone", ["version-gone", "mirror-lacks-version"],
        ["lockctl update", "{provider}"] =>
        "The registry or the mirror does not offer the locked version any more. Select another one, or add that version to the mirror.";
    "no-version-matches", [], ["no available releases match the given constraints"],
        "version-outside-constraint", ["mirror-lacks-version", "version-gone"],
        ["? lockctl why", "{provider}"] =>
        "No offered version meets the constraints of all modules together: two modules exclude each other, the version was never \
         published, or the mirror lacks it. Pre-releases count only if a constraint names them exactly.";
    "version-zero", [], ["0.0.0 is not a valid provider version"],
        "network", [],
        ["? lockctl why", "{provider}"] =>
        "The version 0.0.0 stands for a provider that is not published. Use `dev_overrides` of the CLI configuration for it.";
    "provider-unknown", [], ["does not have a provider named"],
        "look-alike-provider", ["look-alike-provider", "provider-not-locked"],
        ["? lockctl why", "{provider}"] =>
        "The registry has no such provider: its namespace or type is misspelled, or a module without `required_providers` means \
         the namespace `hashicorp` by default.";
    "provider-inferred", ["Automatically-inferred provider dependency"], [],
        "look-alike-provider", ["provider-not-locked"],
        ["? lockctl why", "{provider}"] =>
        "A module uses a provider that its `required_providers` does not declare, so the program guessed its address from the name \
         of a resource. Declare it with its source.";
    "provider-in-no-mirror", [], ["was not found in any of the search locations"],
        "mirror-lacks-version", ["mirror-lacks-version", "mirror-missing"],
        ["? lockctl why", "{provider}"] =>
        "None of the registries and mirrors that the CLI configuration allows for this provider has it. Add it to the mirror, or \
         let `direct` include it.";
    "platform-not-released", [],
        ["does not have a package available for your current platform", "is not available for"],
        "platforms-incomplete", ["mirror-lacks-version", "mirror-missing"],
        ["? lockctl lock --dry-run", "--platform {platform}", "--provider {provider}"] =>
        "The registry or the mirror from which this provider is installed has no package of this version for the platform, and \
         the programs never fall back to another version. A mirror may lack what the release has; if the release itself has none, \
         state the platforms of this provider in `.lockctl.hcl`, or move to a version that has it.";
    "protocol-incompatible", ["Incompatible provider version"], [],
        "flavors", [],
        ["? lockctl why", "{provider}"] =>
        "This version of the provider speaks no protocol that the program knows, or has no package for the platform. Constrain the \
         provider to a version that fits, or upgrade the program.";
    "platforms-disagree", ["Inconsistent provider versions"], [],
        "platforms-incomplete", ["provider-not-locked"],
        ["lockctl lock"] =>
        "`providers lock` selected different versions for two platforms, because the registry changed meanwhile or lists versions \
         that differ in build metadata only.";
    "listed-version-invalid", [], ["registry response includes invalid version string"],
        "differences", [],
        ["lockctl lock"] =>
        "The registry lists something that is no version, and Terraform 1.11 and OpenTofu then refuse the whole list. lockctl and \
         newer Terraform skip it. Report it to the operator of the registry.";
    "lock-file-would-change", ["Provider dependency changes detected"], [],
        "lock-missing",
        ["lock-missing", "provider-not-locked", "provider-not-required", "entries-carried-over", "version-outside-constraint"],
        ["lockctl lock"] =>
        "With `-lockfile=readonly` the lock file must have an entry for each required provider and no other one.";
    "hashes-would-change", ["Provider lock file not updated"], [],
        "platforms-incomplete", ["platforms-incomplete", "init-rewrites", "file-not-canonical", "zh-missing"],
        ["lockctl lock", "--platform {platform}"] =>
        "With `-lockfile=readonly` the lock file lacks hashes that `init` would add, most often the `h1:` of this platform. The next \
         command then refuses the installed package.";
    "readonly-upgrade", ["The -upgrade flag conflicts with -lockfile=readonly"], [],
        "ci", [],
        ["lockctl update", "{provider}"] =>
        "`-upgrade` moves versions, and `-lockfile=readonly` forbids to record them. Update the lock file where it may be written.";
    "hashes-incomplete", ["Incomplete lock file information for providers"], [],
        "platforms-incomplete", ["platforms-incomplete", "zh-missing"],
        ["lockctl lock"] =>
        "The packages came from a mirror or a cache, which has no signed list, so only the hash of this platform was recorded. `init` \
         on any other platform will fail.";
    "entries-carried-over", ["Dependency lock file entries automatically updated"], [],
        "entries-carried-over", ["entries-carried-over", "hosts-mixed"],
        ["lockctl convert --to opentofu"] =>
        "The lock file was written by Terraform. OpenTofu keeps the versions of its `hashicorp` entries, and drops their hashes.";
    "hosts-mixed", ["Potential provider misconfiguration"], [],
        "hosts-mixed", ["hosts-mixed"],
        ["? lockctl why", "{provider}"] =>
        "Modules require one provider from two hosts, so it is locked, downloaded and configured twice.";
    "package-not-installed", [], ["there is no package for … cached in"],
        "matrix", [],
        ["{program} init"] =>
        "The lock file has the provider, and no package of it is installed in `.terraform/providers`.";
    "builtin-provider-misused", ["Invalid dependency on built-in provider"], [],
        "configuration-invalid", ["configuration-invalid"],
        ["? lockctl why terraform.io/builtin/terraform"] =>
        "Providers below `terraform.io/builtin` are part of the program: they have no versions, and only `terraform` exists. Remove \
         the version constraint, or correct the source.";
    "legacy-address", [], ["Invalid legacy provider address", "The legacy provider namespace"],
        "address-malformed", ["address-malformed", "state-unreadable"],
        ["? {program} providers"] =>
        "The state or a module names a provider as Terraform 0.12 did, without a namespace. The list shows where. Replace the address \
         in the state with `state replace-provider -- -/TYPE NAMESPACE/TYPE`.";
    "registry-warning", ["Additional provider information from registry"], [],
        "registry-warning", ["registry-warning"],
        ["? lockctl why", "{provider}"] =>
        "The registry sends a text about the provider, most often that it moved to another namespace or is not maintained.";
}
