"""Validates the documents of `lockctl sbom`; called by `validate-sbom`."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation import make_schemabased_validator
from packageurl import PackageURL
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

ENV = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "GITHUB_SHA": "0" * 39 + "1",
       "GITHUB_REF": "refs/heads/main", "SOURCE_DATE_EPOCH": "1700000000"}
for name in ("LOCKCTL_CACHE_DIR", "XDG_CACHE_HOME"):
    if name in os.environ:
        ENV[name] = os.environ[name]


def printed(program, form, directory):
    """Returns what a run printed, or nothing if it could not read a lock file."""
    runs = [subprocess.run([program, "sbom", "-r", "--format", form], cwd=directory, env=ENV, capture_output=True)
            for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout, f"{directory}: two runs differ"
    return runs[0].stdout if runs[0].returncode == 0 else None


def faults(program, directory):
    """Lists what is wrong with the documents of a directory; nothing if its lock file is broken."""
    found = []
    text = printed(program, "cyclonedx", directory)
    if text is None:
        return None
    error = make_schemabased_validator(OutputFormat.JSON, SchemaVersion.V1_6).validate_str(text.decode())
    if error is not None:
        found.append(f"CycloneDX: {error}")
    for component in json.loads(text)["components"]:
        if "purl" in component:
            purl = component["purl"]
            if PackageURL.from_string(purl).to_string() != purl:
                found.append(f"purl: {purl} is {PackageURL.from_string(purl).to_string()}")
    path = pathlib.Path(directory) / "bom.spdx.json"
    path.write_bytes(printed(program, "spdx", directory))
    messages = validate_full_spdx_document(parse_file(str(path)))
    found += [f"SPDX: {message.validation_message}" for message in messages]
    manifests = json.loads(printed(program, "github", directory))["manifests"]
    for manifest in manifests.values():
        for name, package in manifest["resolved"].items():
            if name != package["package_url"] or not all(to in manifest["resolved"] for to in package["dependencies"]):
                found.append(f"snapshot: {name}")
    return found


def main(program, locks, number):
    program = str(pathlib.Path(program).resolve())
    files = sorted(pathlib.Path(locks).rglob("*.hcl"))
    files += [] if files else sorted(path for path in pathlib.Path(locks).rglob(".terraform.lock.hcl"))
    valid = broken = bad = 0
    with tempfile.TemporaryDirectory() as together:
        for at, file in enumerate(files):
            if valid >= int(number):
                break
            with tempfile.TemporaryDirectory() as alone:
                (pathlib.Path(alone) / ".terraform.lock.hcl").write_bytes(file.read_bytes())
                found = faults(program, alone)
            if found is None:
                broken += 1
                continue
            valid += 1
            bad += bool(found)
            for fault in found:
                print(f"{file}: {fault}")
            root = pathlib.Path(together) / str(at)
            root.mkdir()
            (root / ".terraform.lock.hcl").write_bytes(file.read_bytes())
        found = faults(program, together)
        bad += bool(found)
        for fault in found or []:
            print(f"all together: {fault}")
    print(f"{valid} lock files have documents, {broken} are broken; documents with faults: {bad}")
    return 1 if bad or valid == 0 else 0


sys.exit(main(*sys.argv[1:]))
