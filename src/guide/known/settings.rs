//! Options, the CLI configuration, and faults of configurations that concern providers.

use super::known;

known! {
    "plugin-cache-missing", ["The specified plugin cache dir"], [],
        "cli-configuration-invalid", ["cli-configuration-invalid"],
        ["mkdir -p \"$TF_PLUGIN_CACHE_DIR\""] =>
        "The directory of `plugin_cache_dir` or `TF_PLUGIN_CACHE_DIR` does not exist, and the programs do not create it.";
    "cli-configuration-missing", ["Unable to open CLI configuration file"], [],
        "cli-configuration-missing", ["cli-configuration-missing"],
        ["? lockctl verify --only packages"] =>
        "`TF_CLI_CONFIG_FILE` names a file that does not exist, so mirrors and credentials of another file do not count.";
    "cli-configuration-invalid",
        [
            "Error parsing ",
            "Invalid provider_installation method block",
            "Invalid provider_installation",
            "Invalid URL for provider installation source",
            "Invalid oci_mirror repository template",
            "Invalid provider source inclusion patterns",
            "Invalid provider source exclusion patterns",
            "No more than one credentials_helper block",
            "No more than one provider_installation block",
        ],
        [],
        "cli-configuration-invalid", ["cli-configuration-invalid", "cli-configuration-without-effect"],
        ["? lockctl verify --only packages"] =>
        "The CLI configuration has a block or a value that the program refuses, so nothing is installed.";
    "mirror-option-invalid", ["Invalid network mirror URL", "Invalid installation method options"], [],
        "network", [],
        [] =>
        "`providers lock` takes one mirror: a directory behind `-fs-mirror`, or a URL with `https` behind `-net-mirror`.";
    "platform-invalid", ["Invalid target platform"], [],
        "project-file", [],
        ["lockctl lock --platform linux_amd64,darwin_arm64"] =>
        "A platform is the system and the architecture with one underscore between them, as in `linux_amd64`.";
    "provider-not-required", ["Invalid provider argument"], [],
        "provider-not-locked", ["provider-not-required"],
        ["? lockctl tree"] =>
        "`providers lock` was given an address that the configuration does not require, or that is none.";
    "development-overrides", ["Provider development overrides are in effect"], [],
        "network", [],
        [] =>
        "`dev_overrides` of the CLI configuration replaces these providers by directories on this machine: they are neither \
         installed nor compared with the lock file.";
    "source-malformed",
        [
            "Invalid provider source string",
            "Invalid provider source hostname",
            "Invalid provider namespace",
            "Invalid provider type",
            "Invalid provider local name",
        ],
        [],
        "address-malformed", ["address-malformed"],
        ["? lockctl verify --only configuration"] =>
        "The `source` of a required provider is no address: one to three parts of letters, digits and dashes. A namespace with `_` \
         is known to Terraform from 1.16 on only.";
    "constraint-invalid", ["Invalid version constraint", "Invalid required_version constraint"], [],
        "constraint-invalid", ["constraint-invalid"],
        ["? lockctl verify --only configuration"] =>
        "A version constraint in the configuration cannot be read.";
    "core-version-unmet", ["Unsupported Terraform Core version", "Incompatible module"], [],
        "core-version-unmet", ["core-version-unmet"],
        ["? lockctl verify --only configuration"] =>
        "A module requires another version of the program with `required_version`. The lock file has no part in it.";
    "required-providers-invalid",
        [
            "Duplicate required providers configuration",
            "Duplicate required provider",
            "Duplicate provider address",
            "Invalid required_providers",
            "Invalid source",
            "Invalid provider name",
            "Invalid configuration_aliases value",
            "Version constraints are not allowed in test files",
            "Version constraints inside provider configuration blocks are deprecated",
        ],
        [],
        "configuration-invalid", ["configuration-invalid", "constraint-invalid", "address-malformed"],
        ["? lockctl verify --only configuration"] =>
        "A block `required_providers` is one that the program refuses or warns of.";
    "provider-configuration-invalid",
        [
            "Alias required when using",
            "Cannot override provider configuration",
            "Duplicate provider block",
            "Duplicate provider configuration",
            "Invalid import provider argument",
            "Invalid provider configuration alias",
            "Invalid provider configuration reference",
            "Invalid resource provider configuration",
            "Missing base provider configuration for override",
            "Missing name for provider",
            "Missing required provider configuration",
            "Provider function in static context",
            "Provider type mismatch",
            "Reserved argument name in provider block",
            "Reserved block type name in provider block",
            "Duplicate provider_meta block",
        ],
        [],
        "configuration-invalid", ["configuration-invalid"],
        ["? lockctl tree"] =>
        "A configuration of a provider, or the way in which a module gets one, is not valid. The lock file has no part in it.";
    "module-not-installed", ["Module not installed"], [],
        "module-not-visible", ["module-not-visible"],
        ["{program} init"] =>
        "`providers lock` reads the configuration with all modules, and one is not installed. `lockctl lock` fetches it.";
    "module-download-failed", ["Failed to download module"], [],
        "modules", ["module-unreadable", "module-not-visible"],
        ["{program} get"] =>
        "The source of a module could not be fetched: the address or the revision does not exist, git has no credentials for it, or \
         the host did not answer. Providers and the lock file have no part in it.";
    "provider-configuration-removed", ["Provider configuration not present"], [],
        "errors", [],
        ["? lockctl why", "{provider}"] =>
        "The state has an object of a provider whose configuration was removed, so the program cannot destroy it. Put the `provider` \
         block back, with its alias, destroy the object, and remove the block then.";
    "module-source-unknown", ["Unknown module source"], [],
        "modules", ["not-constant", "module-not-visible"],
        ["? lockctl tree"] =>
        "The source of a module depends on a value that is not known while modules are installed.";
}
