#!/usr/bin/env python3
"""Makes fixtures/config-cases anew from the folder of recorded cases that is given as argument.

The form of a fixture is described in fixtures/config-cases/README.md.
"""
import json
import os
import re
import shutil
import sys
import textwrap

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "config-cases")
# Symbolic links: a copy of the recordings may hold a file with the target instead.
LINKS = {
    "files-dangling-symlink/x.tf",
    "files-symlink-dir/x.tf",
    "files-symlink-file/main.tf",
    "module-symlink-dir/link",
    "tofu-ext-symlink-dir/main.tofu",
}
EXPECTED = re.compile(r"expected(\.[a-z0-9.-]+)?\.json")
COMPARED = ["by_module", "lock_constraints", "error", "at", "errors", "warnings"]
# Files at whose end white space says nothing: JSON, the name of a workspace, what is not read.
BARE = (".json", "/environment", "~")
WIDTH = 100


def compact(value, indent=""):
    """JSON with everything on one line that fits there."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, (dict, list)):
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        parts = [deeper + compact(one, deeper) for one in value]
        return "[\n%s\n%s]" % (",\n".join(parts), indent)
    parts = ["%s%s: %s" % (deeper, json.dumps(key), compact(one, deeper)) for key, one in value.items()]
    return "{\n%s\n%s}" % (",\n".join(parts), indent)


def one_per_line(value):
    """JSON with every key of the outermost object on a line of its own."""
    parts = ["  %s: %s" % (json.dumps(key), compact(one, "  ")) for key, one in value.items()]
    return "{\n%s\n}\n" % ",\n".join(parts) if parts else "{}\n"


def reduced(expected):
    kept = {key: expected[key] for key in COMPARED if expected[key]}
    if "by_module" in kept:
        kept["by_module"] = {path: here for path, here in kept["by_module"].items() if here}
    return kept


def tree_of(folder):
    """The paths of the input tree, sorted, each with its bytes, or a link's target as text."""
    for top, folders, files in os.walk(folder):
        assert folders or files, "an empty directory: " + top
        for name in files + [name for name in folders if os.path.islink(os.path.join(top, name))]:
            path = os.path.join(top, name)
            below = os.path.relpath(path, folder)
            if top == folder and (name == "case.json" or EXPECTED.fullmatch(name)):
                continue
            if os.path.islink(path):
                yield below, os.readlink(path)
                continue
            content = open(path, "rb").read()
            is_link = os.path.basename(folder) + "/" + below in LINKS
            yield below, content.decode() if is_link else content


def fits(path, content):
    """The text as a section can hold it; None if it must be a file of its own."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    if text and not text.endswith("\n"):
        if not path.endswith(BARE):
            return None
        text += "\n"
    return None if re.search(r"^-- .* --$", text, re.M) else text


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())


def convert(folder, name):
    case = json.load(open(os.path.join(folder, "case.json"), encoding="utf-8"))
    sections, loose = [], {}
    for path, content in sorted(tree_of(folder)):
        if isinstance(content, str):
            sections.append((path + " -> " + content, ""))
        elif (text := fits(path, content)) is None:
            loose[path] = content
        else:
            sections.append((path, text))
    about = textwrap.fill(case.pop("about"), WIDTH, break_long_words=False, break_on_hyphens=False)
    if case:
        sections.append(("case.json", one_per_line(case)))
    for file in sorted(filter(EXPECTED.fullmatch, os.listdir(folder))):
        expected = json.load(open(os.path.join(folder, file), encoding="utf-8"))
        sections.append((file, one_per_line(reduced(expected))))
    text = about + "\n" + "".join("-- %s --\n%s" % section for section in sections)
    base = os.path.join(FIXTURES, name)
    if not loose:
        return write(base + ".txtar", text)
    write(os.path.join(base, "case.txtar"), text)
    for path, content in loose.items():
        write(os.path.join(base, "tree", path), content)


def main(cases):
    for old in os.listdir(FIXTURES):
        path = os.path.join(FIXTURES, old)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif old.endswith(".txtar"):
            os.remove(path)
    names = [n for n in sorted(os.listdir(cases)) if os.path.exists(os.path.join(cases, n, "case.json"))]
    for name in names:
        convert(os.path.join(cases, name), name)
    print(len(names), "cases")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__ + "\nusage: make-config-fixtures.py CASES")
    main(sys.argv[1].rstrip("/"))
