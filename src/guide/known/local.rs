//! Faults of this machine: its disk, its paths, its permissions. Registry and lock file have no part in them.

use super::{GETTING, known};

known! {
    "disk-full", [], ["no space left on device", "There is not enough space on the disk", "disk quota exceeded"],
        "facts", [],
        ["? df -h ."] =>
        "The disk of this directory, of the plugin cache or of the temporary files is full. Free some space and run the program \
         again; `plugin_cache_dir` of the CLI configuration keeps one copy of each package for all directories.";
    "path-too-long", [],
        ["file name too long", "The filename or extension is too long", "The system cannot find the path specified"],
        "limits", [],
        [] =>
        "The path of a file is longer than this system allows; Windows then says that it cannot find the path. Work in a directory \
         with a shorter path, name one in `TF_DATA_DIR`, or let Windows allow long paths.";
    "file-lock-failed", [], ["unable to acquire file lock", "failed to acquire file lock", "text file busy", "being used by another process"],
        "matrix", [],
        ["{program} init"] =>
        "Another run uses the same plugin cache or the same packages, or the file system of the cache has no file locks, as some \
         network drives. Let the runs follow each other, or give each of them a cache of its own.";
    "lock-file-not-written", ["Failed to update dependency lock file"], [],
        "ci", [],
        ["? ls -ld . .terraform.lock.hcl"] =>
        "The program could not write `.terraform.lock.hcl`: the directory or the file is read-only for this user. Where it shall stay \
         so, lock beforehand with `lockctl lock` and use `init -lockfile=readonly`.";
    "package-not-written", GETTING, ["permission denied", "Access is denied", "read-only file system", "operation not permitted"],
        "matrix", [],
        ["? ls -ld .terraform"] =>
        "The program may not write or execute files where packages are installed: in `.terraform`, in the plugin cache or in the \
         directory of temporary files.";
    "plan-of-other-lock-file", ["Inconsistent dependency lock file"], ["plan file was created with a different set of external dependency"],
        "matrix", [],
        ["{program} plan -out=PLAN"] =>
        "The lock file was changed after the plan was made, and a plan holds for the lock file that it was made with alone. Make the \
         plan again; the lock file needs no change.";
    "provider-cache-server-busy", GETTING, ["423 Locked", ": 423"],
        "terragrunt", [],
        ["terragrunt init"] =>
        "The provider cache server of Terragrunt answers 423 while it fetches the package itself, and Terragrunt then runs `init` \
         again. Neither the registry nor the lock file has a part in it. Switch that server off if the error stays.";
}
