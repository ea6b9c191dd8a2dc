//! Faults in the text of a lock file (rules 2.1).

use super::known;

/// The texts of messages about the text of a lock file: `validate` and older programs fold the errors under
/// one title, the others name the file (rules 2.1).
const IN_LOCK_FILE: [&str; 4] = [
    "failed to read dependency lock file:",
    "Failed to read dependency lock file:",
    "on .terraform.lock.hcl line",
    ".terraform.lock.hcl:",
];

known! {
    "conflict-markers", ["Argument or block definition required", "Invalid block definition"], IN_LOCK_FILE,
        "conflict-markers", ["conflict-markers", "syntax-error"],
        ["lockctl resolve"] =>
        "The lock file holds something that is neither an argument nor a block, most often the markers of a merge conflict.";
    "address-not-canonical", ["Non-normalized provider source address"], [],
        "address-not-canonical", ["address-not-canonical"],
        ["? lockctl verify"] =>
        "The label of an entry must be the full address in canonical form: host, namespace and type in lower case.";
    "address-malformed", ["Invalid provider source address"], [],
        "address-malformed", ["address-malformed"],
        ["? lockctl verify"] =>
        "The label of an entry is no address that can be locked: it is malformed, built in, or of Terraform 0.12. A namespace with \
         `_` is known to Terraform from 1.16 on only.";
    "version-malformed", ["Invalid provider version number"], [],
        "version-malformed", ["version-malformed"],
        ["? lockctl verify"] =>
        "The version of an entry must be three numbers in canonical form, as in `3.2.1`. It was edited by hand or by another tool.";
    "constraints-malformed", ["Invalid provider version constraints"], [],
        "constraints-malformed", ["constraints-malformed"],
        ["? lockctl verify"] =>
        "The constraints of an entry are not in the form that the programs write. They were edited by hand or by another tool.";
    "hashes-empty", ["Invalid provider hash set"], [],
        "hashes-empty", ["hashes-empty"],
        ["? lockctl verify"] =>
        "An entry has an empty list of hashes. Remove the attribute, and lock again.";
    "hash-scheme-missing", ["Invalid provider hash string"], [],
        "hash-scheme-missing", ["hash-scheme-missing"],
        ["? lockctl verify"] =>
        "A hash of an entry has no scheme before a colon, as in `h1:…` or `zh:…`.";
    "duplicate-provider", ["Duplicate provider lock"], [],
        "duplicate-provider", ["duplicate-provider"],
        ["? lockctl verify"] =>
        "The lock file has two blocks for one provider, most often after a merge.";
    "duplicate-argument", ["Attribute redefined"], IN_LOCK_FILE,
        "syntax-error", ["syntax-error", "duplicate-key"],
        ["? lockctl verify"] =>
        "An entry states one argument twice, most often after a merge.";
    "version-missing", ["Missing required argument"], IN_LOCK_FILE,
        "version-missing", ["version-missing"],
        ["? lockctl verify"] =>
        "An entry has no version.";
    "unsupported-item", ["Unsupported argument", "Unsupported block type"], IN_LOCK_FILE,
        "unsupported-item", ["unsupported-item"],
        ["? lockctl verify"] =>
        "The lock file has an argument or a block that no lock file may have: only `version`, `constraints` and `hashes` in blocks \
         `provider`.";
    "module-lock", ["Dependency locks for modules are not yet supported"], [],
        "module-lock", ["module-lock"],
        ["lockctl verify --fix=all"] =>
        "The lock file has a block `module`, which the programs ignore and remove.";
    "label-wrong", ["Missing source_addr for provider", "Missing path for module", "Extraneous label for provider", "Extraneous label for module"], [],
        "label-wrong", ["label-wrong"],
        ["? lockctl verify"] =>
        "A block of the lock file must have exactly one label: the address of the provider.";
    "not-constant", ["Variables not allowed", "Function calls not allowed", "Invalid expression"], IN_LOCK_FILE,
        "not-constant", ["not-constant", "wrong-type"],
        ["? lockctl verify"] =>
        "The lock file has an expression where only a constant value is allowed; `hashes` must be a literal list.";
    "wrong-type", ["Unsuitable value type", "Incorrect value type"], IN_LOCK_FILE,
        "wrong-type", ["wrong-type", "not-constant"],
        ["? lockctl verify"] =>
        "An argument of the lock file has the wrong type: `version` and `constraints` are strings, `hashes` is a list of strings.";
    "lock-file-unreadable", ["Failed to read file"], [],
        "file-unreadable", ["file-unreadable"],
        ["? lockctl verify"] =>
        "The lock file is a directory, or may not be read. Restore it from version control.";
    "lock-file-broken", [], IN_LOCK_FILE,
        "syntax-error", ["syntax-error", "conflict-markers"],
        ["? lockctl verify"] =>
        "The lock file cannot be parsed. `init -upgrade` does not repair it; restore it from version control.";
}
