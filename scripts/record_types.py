#!/usr/bin/env python3
"""Records fixtures/expr/conversions.tsv anew: what terraform makes of a default and a type.

The first two columns of the fixture say what to ask; the answers behind them are replaced. Needs
terraform 1.11.4 on PATH. Rows of an argument file are added: a type, a tab, a default on each line.
"""
import json
import os
import subprocess
import sys
import tempfile

FIXTURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "expr", "conversions.tsv")


def type_text(ty):
    """A type of terraform's JSON output in the form in which it is written."""
    if isinstance(ty, str):
        return "any" if ty == "dynamic" else ty
    kind, inner = ty[0], ty[1]
    if kind == "tuple":
        return "tuple([%s])" % ",".join(map(type_text, inner))
    if kind == "object":
        return "object({%s})" % ",".join("%s=%s" % (key, type_text(inner[key])) for key in sorted(inner))
    return "%s(%s)" % (kind, type_text(inner))


def terraform(folder, *arguments):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TF_")}
    environment["CHECKPOINT_DISABLE"] = "1"
    return subprocess.run(
        ["terraform", "-chdir=" + folder, *arguments], env=environment, capture_output=True, text=True
    )


def answer(ty, default):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "main.tf"), "w") as out:
            out.write('variable "v" {\n  type = %s\n  default = %s\n}\n' % (ty, default))
            # A plan says nothing of the type of an output that is null as a whole.
            out.write('output "o" {\n  value = [var.v]\n}\n')
        planned = terraform(folder, "plan", "-input=false", "-out=plan")
        if planned.returncode != 0:
            assert "Invalid default value for" in planned.stderr, planned.stderr
            return "refused"
        shown = json.loads(terraform(folder, "show", "-json", "plan").stdout)
        output = shown["planned_values"]["outputs"]["o"]
        [value], [ty] = output["value"], output["type"][1]
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        return type_text(ty) + "\t" + text


def main(arguments):
    with open(FIXTURE) as rows:
        asked = [row.rstrip("\n").split("\t")[:2] for row in rows]
    for name in arguments:
        with open(name) as rows:
            asked += [row.rstrip("\n").split("\t") for row in rows]
    recorded = ["\t".join([ty, default, answer(ty, default)]) for ty, default in asked]
    with open(FIXTURE, "w") as out:
        out.write("".join(row + "\n" for row in recorded))


if __name__ == "__main__":
    main(sys.argv[1:])
