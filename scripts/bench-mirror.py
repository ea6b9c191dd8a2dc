#!/usr/bin/env python3
"""Measures `lockctl mirror` and `terraform providers mirror` against a registry on this machine.

    scripts/bench-mirror.py LAB --root DIR [--lockctl PROGRAM] [--runs 3] [--profiles lat0,lat30] [--roots 50]

LAB is the directory of the test registry, with `bench.py` and `registry.py`; DIR is where it keeps its packages. The
work is that of scenario (b): six providers of middle size for four platforms, 89 MB of zips, in one root and in many.

Floors are measured in the same run. `transfer` downloads each zip once with curl, eight at a time, and has the disk
write it. `transfer and h1` hashes the zips in addition, which needs their content: without a fact about a package
nobody knows its `h1:`. A store that `lock` filled has these facts, so that `mirror` after `lock` is held against
`transfer`, and with an empty store against `transfer and h1`. Hashing what is there is held against `sha256sum` on all
cores. Wall time and peak memory are those of the process; every mirror is compared with the packages of the registry.
"""
import argparse
import hashlib
import json
import os
import shutil
import statistics
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_RATIO = 1.3
MAX_MEMORY_MB = 64
MAX_AGAIN_SECONDS = 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab")
    parser.add_argument("--root", required=True)
    parser.add_argument("--lockctl", default=os.path.join(TOP, "target/release/lockctl"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profiles", default="lat0,lat30")
    parser.add_argument("--roots", type=int, default=50)
    return parser.parse_args()


class Mirrors:
    def __init__(self, lab, bench, options):
        self.lab, self.bench, self.options = lab, bench, options
        self.program = os.path.realpath(options.lockctl)
        self.platforms = ",".join(lab.PF4)
        self.zips = {}
        for source in lab.MID:
            version, name = bench.latest[source], source.split("/")[1]
            for platform in lab.PF4:
                file = f"terraform-provider-{name}_{version}_{platform}.zip"
                document = bench_get(bench, f"/v1/providers/{source}/{version}/download/{platform.replace('_', '/')}")
                self.zips[f"registry.terraform.io/{source}/{file}"] = (document["download_url"], document["shasum"])

    def roots(self, store):
        """One locked root, and many below one directory."""
        top = self.bench.fresh("repo")
        first = os.path.join(top, "root00")
        os.makedirs(first)
        self.bench.project(self.lab.MID, first)
        self.bench.run([self.program, "lock", "-q", "--platform", self.platforms], first, store)
        for number in range(1, self.options.roots):
            shutil.copytree(first, os.path.join(top, f"root{number:02}"))
        return first, top

    def check(self, directory):
        for path, (_, digest) in self.zips.items():
            with open(os.path.join(directory, path), "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    raise SystemExit(f"{path} has other bytes")

    def mirror(self, where, store, directory, *more):
        command = [self.program, "mirror", directory, "--platform", self.platforms, *more]
        measured = self.bench.run(command, where, store)
        self.check(directory)
        return measured

    def transfer(self, then=""):
        directory = self.bench.fresh("floor")
        with open(os.path.join(directory, "urls"), "w") as file:
            for path, (url, _) in self.zips.items():
                file.write(f'url = "{url}"\noutput = "{os.path.basename(path)}"\n')
        script = f'curl -fsS --parallel --parallel-max 8 --cacert {self.bench.info["ca"]} -K urls && sync *.zip{then}'
        measured = self.bench.run(["sh", "-c", script], directory)
        shutil.rmtree(directory)
        return measured

    def once(self):
        """Every row once, by name; what a row is held against stands beside it."""
        rows = {"floor: transfer": (self.transfer(), None)}
        hashing = f" && LOCKCTL_CACHE_DIR=$PWD/none {self.program} hash *.zip >hashes"
        rows["floor: transfer and h1"] = (self.transfer(hashing), None)
        filled, empty = self.bench.store(), self.bench.store()
        root, many = self.roots(filled)
        for name, where, more in (("1 root", root, []), (f"{self.options.roots} roots", many, ["-r"])):
            directory = self.bench.fresh("mirror")
            row = self.mirror(where, filled, directory, *more)
            rows[f"lockctl, {name}, after lock"] = (row, "floor: transfer")
            zips = "printf '%s\\0' $(find . -name '*.zip') | xargs -0 -n 1 -P \"$(nproc)\" sha256sum >/dev/null"
            rows[f"floor: sha256sum, {name}"] = (self.bench.run(["sh", "-c", zips], directory), None)
            row = self.mirror(where, filled, directory, *more)
            rows[f"lockctl, {name}, again, hashing"] = (row, f"floor: sha256sum, {name}")
            row = self.mirror(where, filled, directory, "--trust-existing", *more)
            rows[f"lockctl, {name}, again, --trust-existing"] = (row, None)
            shutil.rmtree(directory)
        for layout in ("packed", "unpacked"):
            directory = self.bench.fresh("mirror")
            more = ["--unpacked=also"] if layout == "unpacked" else []
            row = self.mirror(root, self.bench.store() if more else empty, directory, *more)
            held = "floor: transfer and h1"
            rows[f"lockctl, 1 root, empty store{', both layouts' if more else ''}"] = (row, None if more else held)
            shutil.rmtree(directory)
        directory = self.bench.fresh("mirror")
        flags = [f"-platform={platform}" for platform in self.lab.PF4]
        command = ["terraform", "providers", "mirror", *flags, directory]
        for again in ("", ", again"):
            rows[f"terraform providers mirror, 1 root{again}"] = (self.bench.run(command, root), "floor: transfer")
            self.check(directory)
        shutil.rmtree(self.bench.work)
        os.makedirs(os.path.join(self.bench.work, "tmp"))
        return rows


def bench_get(bench, path):
    import urllib.request
    with urllib.request.urlopen(bench.info["url"] + path, context=bench.ctx) as answer:
        return json.load(answer)


def main():
    options = arguments()
    sys.path.insert(0, os.path.abspath(options.lab))
    import bench as lab
    bench = lab.Bench(options)
    missed = []
    try:
        for source in lab.MID:
            bench.expect(source)
        mirrors = Mirrors(lab, bench, options)
        mirrors.transfer()
        for profile in options.profiles.split(","):
            bench.api("knobs", lab.PROFILES[profile])
            runs = [mirrors.once() for _ in range(options.runs)]
            wall = {name: statistics.median(run[name][0]["wall"] for run in runs) for name in runs[0]}
            print(f"\n{profile}, {options.runs} runs, load {os.getloadavg()[0]:.1f}\n")
            print("| work | wall s (median, min) | to its floor | CPU s | peak MB | requests | MB |")
            print("|---|---|---|---|---|---|---|")
            for name in runs[0]:
                rows, floor = [run[name][0] for run in runs], runs[0][name][1]
                median = {key: statistics.median(row[key] for row in rows) for key in ("cpu", "rss", "requests", "bytes")}
                ratio = wall[name] / wall[floor] if floor else None
                print(f"| {name} | {wall[name]:.2f} ({min(row['wall'] for row in rows):.2f}) "
                      f"| {f'{ratio:.2f}' if ratio else '-'} | {median['cpu']:.2f} | {median['rss']:.0f} "
                      f"| {median['requests']:.0f} | {median['bytes'] / 1e6:.1f} |", flush=True)
                if name.startswith("lockctl"):
                    if ratio and ratio > MAX_RATIO:
                        missed.append(f"{profile}: {name}: {ratio:.2f} times its floor")
                    if median["rss"] > MAX_MEMORY_MB:
                        missed.append(f"{profile}: {name}: {median['rss']:.0f} MB")
                    if name.endswith("--trust-existing") and wall[name] > MAX_AGAIN_SECONDS:
                        missed.append(f"{profile}: {name}: {wall[name]:.2f} s")
    finally:
        bench.close()
    print("\n" + ("\n".join(f"missed: {text}" for text in missed) or "every target is met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
