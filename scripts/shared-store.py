#!/usr/bin/env python3
"""Runs `lockctl` with shared stores of facts, over a registry on this machine.

    scripts/shared-store.py servers LAB --root DIR [--lockctl PROGRAM]
    scripts/shared-store.py jobs    LAB --root DIR [--jobs 200] [--roots 20] [--latency 30]
    scripts/shared-store.py writers LAB --root DIR [--jobs 500] [--server directory] [--at-once 500]

LAB is the directory of the test registry, with `bench.py` and `registry.py`; DIR is where it keeps its packages.

`servers` runs the same suite against a directory, a web server, S3 (`minio` and `s3s-fs`, which check signatures),
Azure (`azurite-blob`) and Google Cloud Storage (`fake-gcs-server`), as far as these programs are on PATH.
`jobs` runs one process after another, each with an empty store of its own, with and without a shared store behind a
latency, and counts requests and bytes. `writers` runs many processes at once on overlapping releases, kills some at
random moments, and looks for facts that were lost or torn.
"""
import argparse
import base64
import collections
import contextlib
import hashlib
import hmac
import http.client
import http.server
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from email.utils import formatdate

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLATFORMS = ["linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=["servers", "jobs", "writers"])
    parser.add_argument("lab")
    parser.add_argument("--root", required=True)
    parser.add_argument("--lockctl", default=os.path.join(TOP, "target/release/lockctl"))
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--roots", type=int, default=20)
    parser.add_argument("--latency", type=int, default=30)
    parser.add_argument("--server", choices=["directory", "minio", "azure", "s3s-fs", "google"], default="directory")
    parser.add_argument("--at-once", type=int, default=500)
    parser.add_argument("--kill-within", type=float, default=30.0, help="seconds")
    return parser.parse_args()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Machines:
    """Runs the program, each time as another machine."""

    def __init__(self, bench, program, sources):
        self.bench, self.program, self.sources = bench, os.path.realpath(program), sources
        self.dir = tempfile.mkdtemp()
        done = subprocess.run([self.program, "cache", "keygen", "ci.example", "--format", "json"], capture_output=True,
                              check=True, env=self.env({}))
        key = json.loads(done.stdout)["store"]["key"]
        self.private, self.public = key["private"], key["public"]

    def env(self, more):
        env = dict(self.bench.env)
        for name in list(env):
            if name.startswith(("LOCKCTL_", "AWS_", "AZURE_", "GOOGLE_")):
                del env[name]
        return {**env, "LOCKCTL_CACHE_DIR": tempfile.mkdtemp(dir=self.dir), **more}

    def project(self, url, roots=1, platforms=PLATFORMS):
        top = tempfile.mkdtemp(dir=self.dir)
        store = f'store {{ url = "{url}" }}\ntrust {{ fact_keys = ["{self.public}"] }}\n' if url else ""
        with open(os.path.join(top, ".lockctl.hcl"), "w") as file:
            file.write(f"flavor = \"terraform@1.11\"\nplatforms = {json.dumps(platforms)}\n{store}")
        for number in range(roots):
            root = os.path.join(top, f"root{number:02}")
            os.mkdir(root)
            self.bench.project(self.sources, root, header=True)
        return top

    def run(self, top, *args, key=True, **more):
        if key:
            more["LOCKCTL_FACT_KEY"] = self.private
        start = time.monotonic()
        done = subprocess.run([self.program, *args], cwd=top, env=self.env(more), capture_output=True, text=True)
        return done, time.monotonic() - start

    def start(self, top, gate, *args, **more):
        """Starts a process that runs the program when `gate` is closed."""
        more["LOCKCTL_FACT_KEY"] = self.private
        command = ["sh", "-c", 'read _; exec "$0" "$@"', self.program, *args]
        return subprocess.Popen(command, cwd=top, env=self.env(more), stdin=gate, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)


# Servers


@contextlib.contextmanager
def process(command, port):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield
    finally:
        child.terminate()
        child.wait()


@contextlib.contextmanager
def directory():
    with tempfile.TemporaryDirectory() as dir:
        yield f"file://{dir}", {}


def s3_env(port, key, secret):
    return {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ALLOW_HTTP": "true"}


@contextlib.contextmanager
def s3s_fs():
    port = free_port()
    with tempfile.TemporaryDirectory() as dir:
        os.mkdir(os.path.join(dir, "bucket"))
        command = ["s3s-fs", "--access-key", "AKEXAMPLE", "--secret-key", "SECRET", "--port", str(port), dir]
        with process(command, port):
            yield "s3://bucket/lockctl", s3_env(port, "AKEXAMPLE", "SECRET")


@contextlib.contextmanager
def minio():
    port, key, secret = free_port(), "minioadmin", "minioadmin"
    with tempfile.TemporaryDirectory() as dir:
        os.mkdir(os.path.join(dir, "bucket"))
        with process(["minio", "server", "--quiet", "--address", f"127.0.0.1:{port}", dir], port):
            yield "s3://bucket/lockctl", s3_env(port, key, secret)


@contextlib.contextmanager
def azure():
    port, account = free_port(), "devstoreaccount1"
    secret = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    with tempfile.TemporaryDirectory() as dir:
        command = ["azurite-blob", "--location", dir, "--blobPort", str(port), "--silent", "--skipApiVersionCheck"]
        with process(command, port):
            date, path = formatdate(usegmt=True), f"/{account}/box"
            signed = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:2021-08-06\n/{account}{path}\nrestype:container"
            mac = hmac.new(base64.b64decode(secret), signed.encode(), hashlib.sha256).digest()
            headers = {"x-ms-date": date, "x-ms-version": "2021-08-06", "Content-Length": "0",
                       "Authorization": f"SharedKey {account}:{base64.b64encode(mac).decode()}"}
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("PUT", path + "?restype=container", headers=headers)
            answer = connection.getresponse()
            assert answer.status == 201, answer.read()
            yield "az://box/lockctl", {
                "AZURE_STORAGE_ACCOUNT_NAME": account, "AZURE_STORAGE_ACCOUNT_KEY": secret, "AZURE_ALLOW_HTTP": "true",
                "AZURE_STORAGE_ENDPOINT": f"http://127.0.0.1:{port}/{account}"}


class ManyConnections(http.server.ThreadingHTTPServer):
    request_queue_size = 1024

    def handle_error(self, *_):
        """A client that was killed is no reason for a message."""


class GoogleXml(http.server.BaseHTTPRequestHandler):
    """Puts and deletes objects by the XML API, which `object_store` uses, where a server knows the JSON API alone."""

    protocol_version = "HTTP/1.1"
    target = None

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        method, path = self.command, self.path
        _, bucket, key = (urllib.parse.unquote(path) + "/").split("/", 2)
        query = {"uploadType": "media", "name": key.rstrip("/")}
        if method == "PUT":
            generation = self.headers.get("x-goog-if-generation-match")
            query |= {"ifGenerationMatch": generation} if generation else {}
            method, path = "POST", f"/upload/storage/v1/b/{bucket}/o?{urllib.parse.urlencode(query)}"
        elif method == "DELETE":
            path = f"/storage/v1/b/{bucket}/o/{urllib.parse.quote(query['name'], safe='')}"
        connection = http.client.HTTPConnection(*self.target)
        connection.request(method, path, body, {"Content-Type": "text/plain"})
        answer = connection.getresponse()
        content = answer.read()
        headers = {name: answer.getheader(name) for name in ("ETag", "Last-Modified", "x-goog-generation")}
        if self.command == "PUT" and answer.status == 200:
            stated = json.loads(content)
            headers, content = {"ETag": stated["etag"], "x-goog-generation": stated["generation"]}, b""
        self.send_response(answer.status)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_DELETE = handle_one

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def google():
    port = free_port()
    command = ["fake-gcs-server", "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory",
               "-public-host", f"127.0.0.1:{port}"]
    with process(command, port):
        body = json.dumps({"name": "bucket"}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/storage/v1/b", body,
                                         {"Content-Type": "application/json"})
        urllib.request.urlopen(request)
        GoogleXml.target = ("127.0.0.1", port)
        xml = ManyConnections(("127.0.0.1", 0), GoogleXml)
        threading.Thread(target=xml.serve_forever, daemon=True).start()
        account = {"private_key": "-", "private_key_id": "-", "client_email": "-", "disable_oauth": True,
                   "gcs_base_url": f"http://127.0.0.1:{xml.server_address[1]}"}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(account, file)
            file.flush()
            yield "gs://bucket/lockctl", {"GOOGLE_SERVICE_ACCOUNT": file.name}
        xml.shutdown()


SERVERS = {"directory": (directory, None), "minio": (minio, "minio"), "s3s-fs": (s3s_fs, "s3s-fs"), "azure": (azure, "azurite-blob"),
           "google": (google, "fake-gcs-server")}


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a directory; a client that went away is no reason for a message."""

    def log_message(self, *_):
        pass


def downloads(bench):
    """Number of packages that were downloaded so far, and their bytes."""
    package = bench.api("stats")["by_kind"].get("package", {"requests": 0, "bytes": 0})
    return package["requests"], package["bytes"]


def check(what, is_true, done=None):
    print(f"  {'ok  ' if is_true else 'FAIL'} {what}")
    if not is_true:
        if done is not None:
            print(done.stdout[-2000:], done.stderr[-2000:])
        check.failed = True


check.failed = False


def suite(machines, url, env, web=None):
    bench = machines.bench
    first, second = machines.project(url), machines.project(web or url)
    done, _ = machines.run(first, "lock", "-r", "-q", **env)
    check("a first job adds facts", done.returncode == 0 and not done.stderr, done)
    before = downloads(bench)
    done, _ = machines.run(second, "lock", "-r", key=False, **env)
    check("a second machine downloads nothing", done.returncode == 0 and downloads(bench) == before, done)
    check("it says on whose key hashes rest", "attested by ci.example+" in done.stderr, done)
    lock = os.path.join("root00", ".terraform.lock.hcl")
    same = open(os.path.join(first, lock)).read() == open(os.path.join(second, lock)).read()
    check("both lock files are equal", same)
    done, wall = machines.run(second, "verify", "-r", key=False, **env)
    check(f"verify on an empty machine is ok ({wall:.2f} s)", done.returncode == 0 and ": ok; " in done.stdout, done)
    if web:
        return
    third = machines.project(url, platforms=["freebsd_amd64"])
    done, _ = machines.run(third, "lock", "-r", "-q", **env)
    check("a job with another platform adds to the objects", done.returncode == 0 and not done.stderr, done)
    before = downloads(bench)
    both = machines.project(url, platforms=[*PLATFORMS, "freebsd_amd64"])
    done, _ = machines.run(both, "lock", "-r", "-q", key=False, **env)
    check("the union is there", done.returncode == 0 and downloads(bench) == before, done)
    gone = dict(env, AWS_SECRET_ACCESS_KEY="x", AZURE_STORAGE_ACCOUNT_KEY="eHh4", GOOGLE_SERVICE_ACCOUNT="/nowhere")
    if not url.startswith("file:"):
        done, _ = machines.run(machines.project(url), "lock", "-r", "-q", key=False, **gone)
        said = done.stderr.count("the run went on without it")
        check("without access the run goes on, and says so once", done.returncode == 0 and said == 1, done)
    done, _ = machines.run(first, "cache", "gc", "--store", url, "--older-than", "1d", "--dry-run", **env)
    check("gc keeps what is young", f"would remove 0 objects; {len(machines.sources)} " in done.stdout, done)
    done, _ = machines.run(first, "cache", "gc", "--store", url, "--older-than", "0d", **env)
    time.sleep(1.1)
    done, _ = machines.run(first, "cache", "gc", "--store", url, "--older-than", "0d", **env)
    done, _ = machines.run(first, "cache", "gc", "--store", url, "--older-than", "0d", **env)
    check("gc removes what is old", "removed 0 objects; 0 are left" in done.stdout, done)


def servers(machines):
    for name, (server, program) in SERVERS.items():
        if program and not shutil.which(program):
            print(f"{name}: skipped, there is no {program}")
            continue
        print(f"{name}:")
        with server() as (url, env):
            suite(machines, url, env)
    print("web server:")
    with tempfile.TemporaryDirectory() as dir:
        def handler(*args):
            return Files(*args, directory=dir)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
            threading.Thread(target=served.serve_forever, daemon=True).start()
            suite(machines, f"file://{dir}", {}, web=f"http://127.0.0.1:{served.server_address[1]}")
            served.shutdown()
    return 1 if check.failed else 0


# Many jobs


class Delayed(http.server.BaseHTTPRequestHandler):
    """Passes requests on to a store after a latency, and counts them."""

    protocol_version = "HTTP/1.1"
    target, latency, counts = None, 0.0, {}

    def handle_one(self):
        time.sleep(self.latency)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection(*self.target)
        connection.request(self.command, self.path, body, dict(self.headers))
        answer = connection.getresponse()
        content = answer.read()
        counts = self.counts.setdefault(f"{self.command} {answer.status}", [0, 0])
        counts[0] += 1
        counts[1] += len(content) + len(body)
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = handle_one

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def counted(env, latency):
    """Puts a latency, in ms, before the service of an environment, and counts its requests."""
    Delayed.counts.clear()
    Delayed.latency = latency / 1000
    name = next((name for name in ("AWS_ENDPOINT_URL", "AZURE_STORAGE_ENDPOINT") if name in env), None)
    if not name:
        yield env
        return
    host, _, path = env[name].removeprefix("http://").partition("/")
    Delayed.target = ("127.0.0.1", int(host.rsplit(":", 1)[1]))
    with ManyConnections(("127.0.0.1", 0), Delayed) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        # The signature covers the host, which is passed on.
        yield dict(env, **{name: f"http://127.0.0.1:{proxy.server_address[1]}/{path}".rstrip("/")})
        proxy.shutdown()


def jobs(machines, options):
    if not shutil.which("minio"):
        print("skipped, there is no minio")
        return 0
    count, bench = options.jobs or 200, machines.bench
    bench.api("knobs", {"latency_ms": options.latency})
    with minio() as (url, env), counted(env, options.latency) as env:
        for name, store, number in [("with the store", url, count), ("without", None, min(count, 20))]:
            bench.api("reset", {})
            Delayed.counts.clear()
            walls = []
            for _ in range(number):
                top = machines.project(store, roots=options.roots)
                done, wall = machines.run(top, "lock", "-r", "-q", **(env if store else {}))
                if done.returncode != 0 or done.stderr:
                    print(done.stdout, done.stderr)
                    return 1
                walls.append(wall)
                shutil.rmtree(top)
            zips, size = downloads(bench)
            walls = sorted(walls[1:])
            print(f"{name}: {number} jobs of {options.roots} roots at {options.latency} ms: {zips} packages, "
                  f"{size / 1e6:.1f} MB; wall per job after the first {walls[len(walls) // 2]:.3f} s (median), "
                  f"{walls[0]:.3f} to {walls[-1]:.3f}; registry requests {bench.api('stats')['requests']}")
            for kind, (requests, size) in sorted(Delayed.counts.items()):
                print(f"  store {kind}: {requests} requests, {requests / number:.2f} per job, {size / 1e3:.0f} KB")
        # The floor of a job: a machine that has all facts asks the registry alone, and the reads come side by side.
        own = {"LOCKCTL_CACHE_DIR": tempfile.mkdtemp(dir=machines.dir)}
        walls = []
        for _ in range(21):
            top = machines.project(None, roots=options.roots)
            walls.append(machines.run(top, "lock", "-r", "-q", **own)[1])
            shutil.rmtree(top)
        print(f"requests to the registry alone: {sorted(walls[1:])[10]:.3f} s (median of 20)")
        top = machines.project(url, roots=50)
        machines.run(top, "lock", "-r", "-q", **env)
        Delayed.counts.clear()
        runs = [machines.run(top, "verify", "-r", key=False, **env) for _ in range(21)]
        reads = sum(requests for requests, _ in Delayed.counts.values())
        walls = sorted(wall for _, wall in runs)
        print(f"verify of 50 roots on an empty machine: {walls[10]:.3f} s (median of 21), {walls[0]:.3f} to "
              f"{walls[-1]:.3f}; {reads / 21:.1f} requests, exit {max(done.returncode for done, _ in runs)}")
    return 0


def writers(machines, options):
    count, sources = options.jobs or 500, machines.sources
    platforms = [*PLATFORMS, "darwin_amd64", "freebsd_amd64", "freebsd_386", "linux_arm", "linux_386", "windows_386"]
    # `s3s-fs` compares the version of an object and writes it in two steps, so that it loses facts itself.
    server, _ = SERVERS[options.server]
    with server() as (url, env), counted(env, 0) as env:
        tops = {}
        for platform in platforms:
            for number in range(1, len(sources) + 1):
                # Each release is in several of the roots, and with several platforms.
                chosen = machines.sources = random.sample(sources, number)
                tops[platform, number] = machines.project(url, platforms=[platform]), chosen
            machines.sources = sources
            machines.run(machines.project(None, platforms=[platform]), "lock", "-r", "-q", key=False)
        ended, killed, outrun, without, running = {}, 0, 0, collections.Counter(), []
        for start in range(0, count, options.at_once):
            # All of them wait for the end of this pipe.
            gate, opened = os.pipe()
            batch = []
            for number in range(start, min(start + options.at_once, count)):
                top, chosen = tops[choice := random.choice(list(tops))]
                copy = tempfile.mkdtemp(dir=machines.dir)
                shutil.copytree(top, copy, dirs_exist_ok=True)
                batch.append((choice[0], chosen, machines.start(copy, gate, "lock", "-r", "-q", **env)))
            os.close(gate)
            os.close(opened)
            for _, _, child in batch[::3]:
                threading.Timer(random.uniform(0.0, options.kill_within), child.send_signal, [signal.SIGKILL]).start()
            running += [(*choice, child, *child.communicate()) for *choice, child in batch]
        for platform, chosen, child, _, stderr in running:
            killed += child.returncode == -signal.SIGKILL
            outrun += "other machines changed it all the time" in stderr
            without.update(line.split("went on without it: ")[1] for line in stderr.splitlines() if "went on" in line)
            if child.returncode == 0 and "not added" not in stderr and "went on without" not in stderr:
                ended.setdefault(platform, []).append(chosen)
        counts, lost, before = dict(Delayed.counts), 0, downloads(machines.bench)
        for platform, all_chosen in ended.items():
            for machines.sources in [[source] for source in sources if any(source in chosen for chosen in all_chosen)]:
                done, _ = machines.run(machines.project(url, platforms=[platform]), "lock", "-r", "-q", key=False, **env)
                if downloads(machines.bench) != before or done.returncode or "ignored" in done.stderr:
                    lost += 1
                    before = downloads(machines.bench)
                    print(f"lost: {machines.sources} {platform}: {done.stderr}")
        print(f"{count} writers of {len(sources)} releases and {len(platforms)} platforms, {options.at_once} at once: "
              f"{killed} killed, {sum(map(len, ended.values()))} ended well, {outrun} outrun, {sum(without.values())} "
              f"without the store, {lost} facts lost or torn")
        for kind, (requests, _) in sorted(counts.items()):
            print(f"  store {kind}: {requests} requests, {requests / count:.2f} per writer")
        for reason, number in without.most_common(5):
            print(f"  without the store: {number}: {reason}")
    return 1 if lost else 0


def main():
    options = arguments()
    sys.path.insert(0, os.path.abspath(options.lab))
    import bench as lab
    bench = lab.Bench(options)
    machines = Machines(bench, options.lockctl, lab.MID)
    try:
        if options.work == "servers":
            machines.sources = lab.MID[-2:]
            return servers(machines)
        if options.work == "jobs":
            return jobs(machines, options)
        machines.sources = lab.MID[-3:]
        return writers(machines, options)
    finally:
        bench.close()
        shutil.rmtree(machines.dir, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
