//! Titles under which anything may have gone wrong: the text is none that the other parts know.

use super::known;

known! {
    "provider-query-failed", ["Failed to query available provider packages", "Failed to resolve provider packages"], [],
        "network", ["version-outside-constraint", "version-gone", "mirror-lacks-version", "mirror-missing"],
        ["? lockctl why", "{provider}"] =>
        "No version of the provider could be selected: no offered version fits, the locked one conflicts or is gone, or the \
         registry gave no list.";
    "provider-install-failed", ["Failed to install provider", "Invalid provider package", "Provider release not available"], [],
        "network", ["package-mismatch", "platforms-incomplete", "hash-not-well-formed"],
        ["? lockctl verify --upstream"] =>
        "A version was selected, and its package could not be fetched, authenticated or unpacked.";
    "provider-lock-failed", ["Could not retrieve providers for locking"], [],
        "network", ["version-outside-constraint", "version-gone"],
        ["lockctl lock", "--platform {platform}", "--provider {provider}"] =>
        "`providers lock` could not fetch the package of one platform, and then writes nothing for any.";
    "provider-schema-unreadable",
        [
            "Failed to load plugin schemas",
            "Failed to obtain provider schema",
            "failed to read provider configuration schema",
            "failed to read schema for",
        ],
        [],
        "matrix", ["package-mismatch", "package-stray-file", "platforms-incomplete", "package-unverifiable"],
        ["{program} init"] =>
        "An installed provider could not be started. Its package is missing, is not the one of the lock file, or is for another \
         platform.";
    "lock-file-inconsistent", ["Inconsistent dependency lock file"], [],
        "provider-not-locked", ["provider-not-locked", "lock-missing", "version-outside-constraint"],
        ["? lockctl verify"] =>
        "The lock file does not fit the configuration, or the plan that was made with another one.";
    "installed-package-unusable", ["Required plugins are not installed", "missing or corrupted provider plugins"], [],
        "matrix", ["package-stray-file", "package-mismatch", "hash-not-well-formed", "platforms-incomplete", "package-unverifiable"],
        ["{program} init"] =>
        "`plan`, `apply` and `validate` need each locked package in `.terraform/providers`, with one of the recorded `h1:` hashes. It \
         is not installed, or it is another one.";
    "configuration-refused", ["Terraform encountered problems during init", "OpenTofu encountered problems during init"], [],
        "configuration-invalid", ["configuration-invalid", "syntax-error", "address-malformed", "constraint-invalid"],
        ["? lockctl verify --only configuration"] =>
        "The configuration has errors, which are printed beside this one. Nothing is installed before they are corrected.";
}
