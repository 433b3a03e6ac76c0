"""This project beside what its users would pick instead, on one host, in one run: barriers, multicasts, allreduces.

    ./dev bench peers [--nodes 2,16] [--runs 5] [--ways fibocast,openmpi] [--loaded] [--output FOLDER]

Repetitions of all ways are interleaved, so that what else happens on the host happens to all. Prints ratio tables in
Markdown, and writes them and every figure to FOLDER (peers.md, peers.json). Ways whose package is missing are left out,
by name; so is what needs longer than 20 s. Programs in C and C++ are linked without PIE, libraries are as installed.
MPICH's processes never let each other have a processor (7 ms for a barrier of 4 on two, where it ends at all), so there
are at most as many of them as processors. As root everything runs in a network namespace of its own, if that is
allowed; nothing outlives the run.
"""

import argparse
import array
import contextlib
import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROGRAMS = ROOT / "build/release/tests/bench/peers"
FIBOCAST = ROOT / "build/release/bin/fibocast"
PATIENCE = 20  # seconds for one way, one n, one run
OURS, IN_MEMORY = "fibocast", "fibocast-memory"  # over UDP, and as processes of one host and user do by themselves
TITLES = {"barrier.0": "Barrier", "allreduce.8": "Allreduce of 8 bytes", "multicast.64": "Multicast of 64 bytes",
          "multicast.1024": "Multicast of 1 KiB", "multicast.65536": "Multicast of 64 KiB",
          "multicast.1048576": "Multicast of 1 MiB"}


class Failed(Exception):
    pass


class Ports:
    """Below the range from which the system itself gives ports away."""

    def __init__(self):
        self.next = 10000

    def take(self, count):
        if self.next + count > 30000:
            self.next = 10000
        self.next += count
        return [str(port) for port in range(self.next - count, self.next)]


PORTS = Ports()


class Server:
    """A program that the processes of a way talk to."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def pids(self):
        return [self.process.pid]

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Daemons:
    """`fibocast up`."""

    def __init__(self, n, folder):
        self.folder = folder / "cluster"
        self.n = n
        subprocess.run([FIBOCAST, "up", "-n", str(n), "--dir", self.folder, "--quiet",
                        "--settings", f"security.key_file={key_file(folder)}"], check=True, stdout=subprocess.DEVNULL)

    def sockets(self):
        return [str(self.folder / f"node-{rank}.sock") for rank in range(self.n)]

    def pids(self):
        found = subprocess.run(["pgrep", "-f", f"fibocastd .*{self.folder}/"], capture_output=True, text=True)
        return [int(word) for word in found.stdout.split()]

    def stop(self):
        subprocess.run([FIBOCAST, "down", "--dir", self.folder, "--quiet"], stdout=subprocess.DEVNULL)


def key_file(folder):
    path = folder / "key"
    if not path.exists():
        path.touch(0o600)  # as `fibocast key generate` does, which may not be built yet
        path.write_text(f"primary {secrets.token_hex(32)}\n")
    return path


def each(program, variant, n, folder, words):
    return [[program, variant, str(rank), str(n), folder, *words] for rank in range(n)]


class Way:
    """How the processes of one way are started: commands() and, for some, a server."""

    sizes = range(2, 65)
    missing = ""  # what to install, if the program could not be built

    def __init__(self, name, program, variant="-"):
        self.name, self.program, self.variant = name, program, variant  # choose() knows its folder

    def exists(self):
        return self.program.exists()

    def server(self, n, folder):
        return None

    def environment(self):
        return {}


class Embedded(Way):
    def __init__(self, name, sealed=True, local="off", program="fibocast_peer"):
        super().__init__(name, program, "embedded")
        self.sealed, self.local = sealed, local

    def commands(self, n, folder, server):
        nodes = [f"127.0.0.1:{port}" for port in PORTS.take(n)]
        key = key_file(folder) if self.sealed else "-"
        return each(self.program, self.variant, n, folder, [self.local, key, *nodes])


class ThroughDaemons(Way):
    """By way of the daemons; or as nodes of their own (cluster.local is `direct`), which the daemons let find each
    other."""

    def __init__(self, name, direct=None):
        super().__init__(name, "fibocast_peer", "direct" if direct else "daemon")
        self.words = [direct] if direct else []

    def server(self, n, folder):
        return Daemons(n, folder)

    def commands(self, n, folder, server):
        return each(self.program, self.variant, n, folder, [*self.words, *server.sockets()])


class Mpi(Way):
    def __init__(self, name, program, launcher, environment=None, variant="-"):
        super().__init__(name, program, variant)
        self.launcher, self.extra = launcher, environment or {}

    def environment(self):
        return self.extra

    def commands(self, n, folder, server):
        return [[*self.launcher, "-n", str(n), self.program, self.variant, "0", "0", folder]]


class Sockets(Way):
    def commands(self, n, folder, server):
        return each(self.program, self.variant, n, folder, PORTS.take(max(n, 2)))


class RoundTrip(Sockets):
    sizes = [2]


class Work(Sockets):
    def commands(self, n, folder, server):
        # One process does the work of all; the n that it is told is that of the barrier.
        return [[self.program, "work", "0", str(n), folder, *PORTS.take(1)]]


class Redis(Way):
    missing = "redis-server libhiredis-dev"

    def exists(self):
        return super().exists() and shutil.which("redis-server")

    def server(self, n, folder):
        self.port = PORTS.take(1)[0]
        server = Server("redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                        "--dir", folder, "--client-output-buffer-limit", "pubsub 0 0 0")
        listens(self.port)
        return server

    def commands(self, n, folder, server):
        return each(self.program, self.variant, n, folder, [self.port])


class Etcd(Way):
    missing = "etcd-server golang-go golang-etcd-server-dev"

    def exists(self):
        return super().exists() and shutil.which("etcd")

    def server(self, n, folder):
        self.port, peer = PORTS.take(2)
        url, peer_url = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{peer}"
        server = Server("etcd", "--data-dir", folder / "etcd", "--listen-client-urls", url, "--advertise-client-urls",
                        url, "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
                        "--initial-cluster", f"default={peer_url}")
        listens(self.port)
        return server

    def commands(self, n, folder, server):
        return each(self.program, self.variant, n, folder, [f"127.0.0.1:{self.port}"])


def listens(port):
    """Returns when somebody listens there."""
    end = time.monotonic() + 20
    while f":{int(port):04X} 00000000:0000 0A" not in Path("/proc/net/tcp").read_text():
        if time.monotonic() > end:
            raise Failed(f"nobody listens at port {port}")
        time.sleep(0.01)


def ways():
    openmpi = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--quiet"]
    tcp = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"]
    forced = ["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_barrier_algorithm"]
    mpich = {"UCX_TLS": "tcp,self", "MPIR_CVAR_NOLOCAL": "1"}
    every = [
        Embedded(OURS),
        Embedded(IN_MEMORY, local="auto"),
        Embedded("fibocast-memory-pie", local="auto", program="fibocast_peer_pie"),  # linked as is the default
        Embedded("fibocast-unsealed", sealed=False),
        ThroughDaemons("fibocast-daemon"),
        ThroughDaemons("fibocast-direct", direct="off"),
        ThroughDaemons("fibocast-direct-memory", direct="auto"),
        Mpi("openmpi", "openmpi_peer", openmpi + tcp),
        Mpi("openmpi-linear", "openmpi_peer", openmpi + tcp + forced + ["1"], variant="barrier"),
        Mpi("openmpi-tree", "openmpi_peer", openmpi + tcp + forced + ["6"], variant="barrier"),
        Mpi("openmpi-shared-memory", "openmpi_peer", openmpi),
        Mpi("mpich", "mpich_peer", ["mpiexec.mpich"], mpich),
        Sockets("zeromq-router", "zeromq_peer", "router"),
        Sockets("zeromq-pubsub", "zeromq_peer", "pubsub"),
        Redis("redis-pubsub", "redis_peer", "pubsub"),
        Redis("redis-blpop", "redis_peer", "blpop"),
        Etcd("etcd", "etcd_peer"),
        RoundTrip("raw-round-trip", "raw_peer", "roundtrip"),
        Work("raw-work", "raw_peer", "work"),
    ]
    for way in every:
        if way.name.endswith("-pie"):
            way.sizes = [16]  # there is no difference with few
        if "direct" in way.name:
            way.sizes = range(2, 33)  # of 64 it is the start of the daemons that takes the time
        if way.name == "mpich":
            way.sizes = range(2, os.cpu_count() + 1)
        if isinstance(way, Mpi):
            way.missing = "libopenmpi-dev openmpi-bin" if "openmpi" in way.name else "libmpich-dev mpich"
        if "zeromq" in way.name:
            way.missing = "libzmq3-dev"
    return every


# ---- one run of one way

def end_all(processes):
    for process in processes:
        if process.poll() is None:
            process.kill()
    for process in processes:
        process.wait()


def start_all(way, n, folder, server):
    environment = {**os.environ, **way.environment(), "OMP_NUM_THREADS": "1"}
    if server:
        environment["FIBOCAST_PEERS_SERVERS"] = " ".join(str(pid) for pid in server.pids())
    errors = (folder / "errors").open("w")
    return [subprocess.Popen([str(word) for word in command], env=environment, stdout=errors, stderr=errors)
            for command in way.commands(n, folder, server)]


def run_once(way, n):
    """Every operation's figures: {operation: {...}}."""
    with tempfile.TemporaryDirectory(prefix="fibocast-peers-", dir="/dev/shm") as name:
        folder = Path(name)
        server = way.server(n, folder)
        processes = []
        try:
            processes = start_all(way, n, folder, server)
            end = time.monotonic() + PATIENCE
            for process in processes:
                if process.wait(max(0.1, end - time.monotonic())) != 0:
                    raise Failed((folder / "errors").read_text().strip()[-300:] or "ended without a word")
            return figures_of(folder, n)
        except subprocess.TimeoutExpired:
            raise Failed(f"not done after {PATIENCE} s") from None
        finally:
            end_all(processes)
            if server:
                server.stop()


def read_words(path):
    words = array.array("q")
    words.frombytes(path.read_bytes())
    return words


def figures_of(folder, n):
    figures = {}
    for first in sorted(folder.glob("*.*.0")):
        operation = first.name[:-2]
        paths = [folder / f"{operation}.{rank}" for rank in range(n)]
        figures[operation] = figures_of_ranks(operation, [read_words(path) for path in paths if path.exists()])
    return figures


def figures_of_ranks(operation, ranks):
    begins, ends = [r[3::2] for r in ranks], [r[4::2] for r in ranks]
    count = len(begins[0])
    last_end = [max(e[i] for e in ends) for i in range(count)]
    if operation.startswith("multicast"):  # from the root's call to the last receiver's return
        times = [last_end[i] - begins[0][i] for i in range(count)]
        time_ns = statistics.median(times)
    else:
        for i in range(count):
            if max(b[i] for b in begins) > min(e[i] for e in ends):
                raise Failed(f"{operation}: somebody went on before everybody had come")
        start = min(b[0] for b in begins)
        times = [end - begin for begin, end in zip([start, *last_end], last_end)]
        time_ns = (last_end[-1] - start) / count
    return {"us": time_ns / 1000, "p50_us": statistics.median(times) / 1000, "repetitions": count,
            "cpu_us": sum(r[0] for r in ranks) / count, "wakeups": sum(r[1] for r in ranks) / count,
            "messages": ranks[0][2] / count}


# ---- all runs

@contextlib.contextmanager
def computing(cores):
    """A process that computes beside us on each core."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
    try:
        yield
    finally:
        end_all(burners)


def measure(chosen, sizes, runs, progress):
    """{way: {n: {operation: [figures of each run]}}}, and what failed."""
    results, failures = {}, {}
    for run in range(runs):
        for n in sizes:
            for way in chosen:
                if n not in way.sizes or any(name == way.name and m <= n for name, m in failures):
                    continue
                progress(run, runs, n, way.name)
                try:
                    for operation, figures in run_once(way, n).items():
                        results.setdefault(way.name, {}).setdefault(n, {}).setdefault(operation, []).append(figures)
                except (Failed, subprocess.CalledProcessError) as error:
                    failures[way.name, n] = str(error)
    return results, failures


def middle(values):
    return statistics.median(values)


def summarised(results):
    """The median run of each, and how far the runs lie apart."""
    summary = {}
    for way, by_n in results.items():
        for n, by_operation in by_n.items():
            for operation, runs in by_operation.items():
                figures = {key: middle([run[key] for run in runs]) for key in runs[0]}
                times = [run["us"] for run in runs]
                figures["least_us"], figures["most_us"], figures["runs"] = min(times), max(times), len(runs)
                summary.setdefault(operation, {}).setdefault(way, {})[n] = figures
    return summary


def table(by_way, sizes, cell):
    ours = [by_way.get(way, {}) for way in (OURS, IN_MEMORY)]
    lines = ["| n = | " + " | ".join(str(n) for n in sizes) + " |", "|---" * (len(sizes) + 1) + "|"]
    for way, by_n in by_way.items():
        cells = [cell(by_n[n], [one[n] for one in ours if n in one]) if n in by_n else "" for n in sizes]
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def time_cell(key):
    def cell(figures, ours):
        ratio = f" ({', '.join(f'{figures[key] / one[key]:.2f}x' for one in ours)})" if ours else ""
        return f"{figures[key]:.3g}{ratio}" if figures[key] < 1000 else f"{figures[key]:.0f}{ratio}"
    return cell


def cost_cell(figures, _):
    return f"{figures['cpu_us']:.3g} / {figures['wakeups']:.1f} / {figures['messages']:.1f}"


def report(summary, loaded, failures, sizes):
    parts = ["Times in us: medians of runs; in brackets how often as long as fibocast (over UDP, "
             "sealed) and as fibocast-memory (as nodes of one host and user do by themselves) in the same run."]
    for operation, title in TITLES.items():
        if operation in summary:
            parts += [f"## {title}", table(summary[operation], sizes, time_cell("us"))]
    if "barrier.0" in summary:
        parts += ["## A barrier's CPU us / wake-ups / messages on the wire, all processes and servers together",
                  table(summary["barrier.0"], sizes, cost_cell)]
    if loaded:
        parts += ["## Barrier, one computing process per core beside (p50)",
                  table(loaded["barrier.0"], [n for n in sizes if n < 64], time_cell("p50_us"))]
    parts += [f"- {way}, n = {n}: failed: {why}" for (way, n), why in failures.items()]
    return "\n\n".join(parts) + "\n"


def show_progress(stream, begin):
    """On a terminal one line that changes; else a line for each number of processes."""
    shown = []

    def progress(run, runs, n, way):
        where = f"run {run + 1} of {runs}, n = {n}"
        seconds = f"({time.monotonic() - begin:.0f} s)"
        if stream.isatty():
            print(f"\r\033[K{where}: {way} {seconds}", end="", file=stream, flush=True)
        elif shown[-1:] != [where]:
            shown.append(where)
            print(where, seconds, file=stream, flush=True)
    return progress


def build_etcd_peer():
    """Debian has etcd's client as sources."""
    program, source = PROGRAMS / "etcd_peer", HERE / "etcd_peer.go"
    if not shutil.which("go") or not Path("/usr/share/gocode/src/go.etcd.io/etcd/clientv3").exists():
        return
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode",
                   "GOCACHE": str(ROOT / "build/go-cache")}
    subprocess.run(["go", "build", "-o", program, source], env=environment, check=True)


def alone_in_a_namespace():
    """Starts this program again where no other traffic is, if that is allowed."""
    if os.geteuid() != 0 or os.environ.get("FIBOCAST_PEERS_ALONE"):
        return
    if subprocess.run(["unshare", "--net", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return
    os.environ["FIBOCAST_PEERS_ALONE"] = "1"
    os.execvp("unshare", ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, "-B",
                          *sys.argv])


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="2,4,8,16,32,64", help="numbers of processes (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="interleaved runs of everything (%(default)s)")
    parser.add_argument("--ways", default="", help="only these, and ours; a name stands for all that begin with it")
    parser.add_argument("--loaded", action="store_true", help="also with one computing process per core beside")
    parser.add_argument("--programs", type=Path, default=PROGRAMS, help="folder of the programs (%(default)s)")
    parser.add_argument("--output", type=Path, default=ROOT / "build/peers", help="folder of the report (%(default)s)")
    return parser.parse_args()


def choose(names, programs):
    wanted = tuple(name for name in names.split(",") if name)
    if not wanted or "etcd".startswith(wanted):
        build_etcd_peer()
    chosen = [way for way in ways() if not wanted or way.name in (OURS, IN_MEMORY) or way.name.startswith(wanted)]
    for way in chosen:
        way.program = programs / way.program
        if not way.exists():
            print(f"{way.name} is left out: apt-get install {way.missing}, then cmake --preset release", file=sys.stderr)
    return [way for way in chosen if way.exists()]


def main():
    arguments = read_arguments()
    alone_in_a_namespace()
    sizes = [int(n) for n in arguments.nodes.split(",")]
    chosen = choose(arguments.ways, arguments.programs.resolve())
    progress = show_progress(sys.stderr, time.monotonic())
    results, failures = measure(chosen, sizes, arguments.runs, progress)
    loaded = {}
    if arguments.loaded:
        with computing(os.cpu_count()):
            beside, more = measure([way for way in chosen if way.name in (OURS, IN_MEMORY, "openmpi")],
                                   [n for n in sizes if n < 64], arguments.runs, progress)
        loaded = summarised(beside)
        failures.update({(f"{way} on the loaded host", n): why for (way, n), why in more.items()})
    summary = summarised(results)
    text = report(summary, loaded, failures, sizes)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "peers.md").write_text(text)
    (arguments.output / "peers.json").write_text(json.dumps({"operations": summary, "loaded": loaded}, indent=1))
    print("\n" + text + f"\nWritten to {arguments.output}/peers.md and peers.json.")
    return 1 if any(way.startswith(OURS) for way, _ in failures) else 0


if __name__ == "__main__":
    sys.exit(main())
