"""Mutation tests of crates whose tests need Redis and DynamoDB; docs/mutation.md explains them.

    run.py build CRATE…      makes the mutants, compiles them all at once, and notes which test reaches which
    run.py compile CRATE…    compiles them with tests that were written since
    run.py test CRATE…       runs tests against each mutant that has no result yet
    run.py report CRATE…     prints the score, and each survivor

`build` needs what `make test-ready` makes."""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from weave import blamed, weave

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "target/mutants"
# The copy that is changed and compiled.
COPY = HERE / "copy"
TOOL = Path(__file__).resolve().parent
MUTANTS, TESTS, RESULTS = HERE / "mutants.json", HERE / "tests.json", HERE / "results.jsonl"
DEPENDENCY = b'mutant = { path = "../mutant" }\n'
# Shuttle asks for this feature in the whole workspace; without it much would be compiled anew.
MANIFEST = b"""[package]
name = "mutant"
version = "0.0.0"
edition = "2024"

[dependencies]
getrandom = { version = "0.2", features = ["std"] }
"""
# Compiling again without the mutants that do not compile; each time reveals errors that others hid.
BUILDS = 30
# Tests at once in one process, and processes at once.
THREADS, WORKERS = 2, 2
# Tests that one process runs before the next looks at what they said.
BATCH = 6
# How long a batch may take: this, and so many times what its tests took without a mutant.
PATIENCE_S, PATIENCE = 20, 5
START_S = 180
# Runs on one kept system before a fresh one replaces it: tests leave their tables and queues behind.
RUNS_PER_SYSTEM = 150
# Every so many mutants, a run without any: tests that fail there fail for another reason.
CONTROL_EVERY = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["build", "compile", "test", "report"])
    parser.add_argument("crates", nargs="+", metavar="CRATE")
    parser.add_argument("--sample", type=int, metavar="N", help="test at most N mutants of each crate, chosen by chance")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--seconds", type=float, default=60, help="of tests against one mutant (60)")
    parser.add_argument("--minutes", type=float, default=600, help="after which `test` begins no further mutant")
    parser.add_argument("--again", action="store_true", help="test the survivors with tests that they have not met")
    parser.add_argument("--tests", nargs="+", metavar="PROGRAM/NAME", help="run these tests, whatever they reach")
    given = parser.parse_args()
    if missing := [crate for crate in given.crates if not (ROOT / "shared" / crate).is_dir()]:
        sys.exit(f"there is no crate shared/{missing[0]}")
    {"build": build, "compile": lambda given: make(given.crates, read(MUTANTS)), "test": test, "report": report}[given.command](given)


# Building.


def build(given):
    RESULTS.unlink(missing_ok=True)
    mutants = {}
    for crate in given.crates:
        # Programs for developers have no tests.
        listed = run_for_text(["cargo", "mutants", "--list", "--json", "--exclude", "**/src/bin/**", "--package", crate])
        for mutant in json.loads(listed):
            mutants[str(len(mutants) + 1)] = {**mutant, "crate": crate, "state": "compiled"}
    say(f"{len(mutants)} mutants")
    make(given.crates, mutants)
    write(MUTANTS, mutants)
    note_hits(given.crates)


def make(crates, mutants):
    """Copies and compiles the checkout with these mutants, without those that do not compile."""
    files = {mutant["file"] for mutant in mutants.values()}
    copy(crates, files)
    for attempt in range(1, BUILDS + 1):
        for file in files:
            write_mutants(file, mutants)
        errors = compile_tests(crates)
        if errors is None:
            return
        files = blame(errors, mutants)
        write(MUTANTS, mutants)
        say(f"build {attempt}: {dict(Counter(mutant['state'] for mutant in mutants.values()))}")
    sys.exit(f"it still does not compile after {BUILDS} builds")


def copy(crates, mutated):
    """Brings the copy up to date. A file that has not changed keeps its time, so that it is not compiled again."""
    listed = run_for_text(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    for name in filter(None, listed.split("\0")):
        source, to = ROOT / name, COPY / name
        if source.is_file() and name not in mutated:
            write_if_new(to, changed(name, source.read_bytes(), crates))
            to.chmod(source.stat().st_mode)
    write_if_new(COPY / "shared/mutant/src/lib.rs", (TOOL / "mutant.rs").read_bytes())
    write_if_new(COPY / "shared/mutant/Cargo.toml", MANIFEST)
    for name in ["tools/.venv", "node_modules", "web/dist", "target/lambda"]:
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists() and not (COPY / name).exists():
            (COPY / name).symlink_to(ROOT / name)
    subprocess.run(["node", "infra/cdk/openapi/main.js"], cwd=COPY, check=True)
    # What is compiled already: all that comes from a registry. No links: cargo and rustc write into some of these files.
    if not (COPY / "target/debug").exists():
        (COPY / "target/debug").mkdir(parents=True)
        compiled = [ROOT / "target/debug" / part for part in [".fingerprint", "build", "deps"]]
        subprocess.run(["cp", "-a", "--reflink=auto", *compiled, COPY / "target/debug"], check=True)


def changed(name, data, crates):
    """What the copy has in place of this file."""
    if name in [f"shared/{crate}/Cargo.toml" for crate in crates]:
        data = data.replace(b"[dependencies]\n", b"[dependencies]\n" + DEPENDENCY)
        # The build script may share a file with the crate.
        if (ROOT / name).with_name("build.rs").exists():
            data += b"\n[build-dependencies]\n" + DEPENDENCY
    return data


def write_mutants(file, mutants):
    those = {int(n): m for n, m in mutants.items() if m["file"] == file and m["state"] == "compiled"}
    text, left_out = weave((ROOT / file).read_bytes(), those)
    for number in left_out:
        mutants[str(number)]["state"] = "no switch"
    write_if_new(COPY / file, text)


def compile_tests(crates):
    """Compiles all tests, and notes where they are. Returns the compiler's errors if there are any."""
    packages = [word for name in ["tests", *crates] for word in ("--package", name)]
    command = ["cargo", "test", "--offline", "--no-run", "--message-format=json", *packages]
    own = [file.stem for crate in crates for file in sorted((COPY / f"shared/{crate}/tests").glob("*.rs"))]
    command += ["--lib", *(word for name in [*own, "scripts", "system"] for word in ("--test", name))]
    done = subprocess.run(command, cwd=COPY, capture_output=True, text=True)
    programs, errors = {}, []
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            name, folder = message["target"]["name"], str(Path(message["manifest_path"]).parent)
            if name in programs:
                sys.exit(f"two programs of tests are called {name}")
            programs[name] = {"path": message["executable"], "folder": folder}
        if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
            errors.append(message["message"])
    if done.returncode and not errors:
        sys.exit(f"cargo failed: {done.stderr.strip().splitlines()[-1]}")
    if not errors:
        programs = {name: programs[name] for name in [*crates, *own, "scripts", "system"]}
        write(TESTS, {**(read(TESTS) if TESTS.exists() else {}), "programs": programs})
    return errors or None


def blame(errors, mutants):
    """Leaves out the mutants that these errors are about, and returns the files that had them."""
    files, unexplained = set(), []
    for error in errors:
        spans = error["spans"] + [span for child in error["children"] for span in child["spans"]]
        numbers = set()
        for file in {span["file_name"] for span in spans}:
            if (COPY / file).is_file():
                source = (COPY / file).read_bytes()
                numbers |= blamed(source, [span for span in spans if span["file_name"] == file])
        constant = (error["code"] or {}).get("code") == "E0015"
        for number in map(str, numbers):
            mutants[number]["state"] = "constant" if constant else "does not compile"
            files.add(mutants[number]["file"])
        if not numbers and error["spans"]:
            unexplained.append(error["rendered"])
    if not files:
        sys.exit("no mutant is to blame for:\n" + "".join(unexplained))
    return files


# Which test reaches which mutant.


def note_hits(crates):
    tests = read(TESTS)
    tests |= {"crates": crates, "seconds": {}, "reach": defaultdict(list), "failed": []}
    with System() as system:
        system.use()
        for program, built in tests["programs"].items():
            hits = HERE / f"{program}.hits"
            hits.unlink(missing_ok=True)
            say(f"running {program} without a mutant")
            events = run_tests(built, [], None, 1800, system.file, {"MUTANT_HITS": str(hits)}, threads=6)
            for name, (ok, seconds) in events.items():
                if ok:
                    tests["seconds"][f"{program} {name}"] = seconds
                else:
                    tests["failed"].append(f"{program} {name}")
            for line in hits.read_text().splitlines() if hits.exists() else []:
                number, thread = line.split(" ", 1)
                # Other threads serve several tests.
                if f"{program} {thread}" in tests["seconds"]:
                    tests["reach"][number].append(f"{program} {thread}")
                else:
                    tests["reach"].setdefault(number, [])
    write(TESTS, tests)
    say(f"{len(tests['seconds'])} tests; {len(tests['failed'])} fail without a mutant and are left out")


# Testing.


def test(given):
    mutants, tests = read(MUTANTS), read(TESTS)
    results, passed, unreliable = read_results()
    for name in unreliable & tests["seconds"].keys():
        del tests["seconds"][name]
    chosen = []
    for crate in given.crates:
        own = [n for n, m in mutants.items() if m["crate"] == crate and m["state"] == "compiled"]
        if given.sample and given.sample < len(own):
            own = sorted(random.Random(given.seed).sample(own, given.sample), key=int)
        chosen += [n for n in own if n not in results or (given.again and not caught(results[n]))]
    # A stop leaves a fair sample of each crate.
    random.Random(given.seed).shuffle(chosen)
    end = time.monotonic() + given.minutes * 60
    lock, done = threading.Lock(), Counter()
    # For each file, how many of its mutants each test has caught.
    killers = defaultdict(Counter)
    for number, result in results.items():
        killers[mutants[number]["file"]][result.get("by")] += 1
    runs = []
    for count, number in enumerate(chosen, 1):
        runs.append((number, False))
        if count % CONTROL_EVERY == 0:
            runs.append((number, True))
    left = iter(runs)

    def work():
        with System() as system:
            while time.monotonic() < end:
                with lock:
                    number, control = next(left, (None, False))
                    if number is None:
                        return
                    of_file = killers[mutants[number]["file"]]
                    caught_by = of_file.copy()
                ran = set() if control else passed[number]
                reaching = tests_of(mutants[number], tests, number, given.tests, ran, caught_by)
                began = time.monotonic()
                result = verdict(None if control else number, reaching, tests, given.seconds, system)
                result |= {"mutant": number, "control": control, "took": round(time.monotonic() - began, 1)}
                with lock, open(RESULTS, "a") as file:
                    file.write(json.dumps(result) + "\n")
                    done[result["state"]] += 1
                    of_file[result.get("by")] += 1
                    if done.total() % 25 == 0:
                        say(f"{done.total()} of {len(chosen)}: {dict(done)}")

    with ThreadPoolExecutor(WORKERS) as pool:
        workers = [pool.submit(work) for _ in range(WORKERS)]
    say(f"{done.total()} of {len(chosen)}: {dict(done)}")
    for worker in workers:
        worker.result()


def tests_of(mutant, tests, number, named, passed, caught_by):
    """The tests that may notice a mutant, in the order in which to run them, in batches of one program. Those that have
    passed with it before are left out, unless they are named. `caught_by` counts what each has caught in the same file.
    """
    if named:
        named = [name.split("/", 1) for name in named]
        by = [(program, [name for where, name in named if where == program]) for program in tests["programs"]]
        return [(program, names) for program, names in by if names]
    by_program = defaultdict(list)
    for name in tests["reach"].get(number, []):
        if name in tests["seconds"] and name not in passed:
            program, name = name.split(" ", 1)
            by_program[program].append(name)
    batches = []
    # First its own crate's tests, then the quick ones.
    own = str(COPY / "shared" / mutant["crate"])
    for program in sorted(by_program, key=lambda p: (tests["programs"][p]["folder"] != own, p != "scripts")):
        # First those that notice mistakes in this file, then the quickest of each module, then the second quickest of each:
        # different modules check different things.
        ranks = Counter()
        ranked = []
        for seconds, name in sorted((tests["seconds"][f"{program} {name}"], name) for name in by_program[program]):
            module = name.rpartition("::")[0]
            ranked.append((-caught_by[f"{program} {name}"], ranks[module], seconds, name))
            ranks[module] += 1
        names = [name for *_, name in sorted(ranked)]
        size = BATCH if program in ("scripts", "system") else len(names)
        batches += [(program, names[i : i + size]) for i in range(0, len(names), size)]
    return batches


def verdict(number, batches, tests, budget, system):
    """What became of a mutant, or of a run without one, and which tests passed."""
    spent, passed = 0.0, []
    for program, names in batches:
        if spent > budget:
            break
        took = sum(tests["seconds"].get(f"{program} {name}", 1) for name in names)
        limit = PATIENCE_S + PATIENCE * took
        if program == "system":
            system.use()
        try:
            events = run_tests(tests["programs"][program], names, number, limit, system.file, {}, stop=True)
        except TimeoutError:
            return {"state": "timeout", "by": f"{program} {names[0]}…"}
        except ChildProcessError as error:
            return {"state": "died", "by": f"{program}: {error}"}
        spent += took
        for name, (ok, _) in events.items():
            if not ok:
                return {"state": "caught", "by": f"{program} {name}"}
            passed.append(f"{program} {name}")
    return {"state": "survived", "passed": passed}


def caught(result):
    return result["state"] in ("caught", "timeout", "died")


def run_tests(program, names, number, limit, system_file, variables, threads=THREADS, stop=False):
    """Runs tests in a process of their own. Returns for each whether it passed, and how long it took."""
    env = {**os.environ, **variables, "LENT_SYSTEM": str(system_file), "RUSTC_BOOTSTRAP": "1"}
    if number is not None:
        env["MUTANT"] = number
    options = ["-Zunstable-options", "--format=json", "--report-time", f"--test-threads={threads}", "--exact"]
    command = ["prlimit", "--as=16000000000", program["path"], *options, *names]
    none, pipe = subprocess.DEVNULL, subprocess.PIPE
    process = subprocess.Popen(command, cwd=program["folder"], env=env, stdin=none, stdout=pipe, stderr=none, text=True, start_new_session=True)
    late = threading.Event()

    def end():
        late.set()
        process.kill()

    timer = threading.Timer(limit, end)
    timer.start()
    events, over = {}, False
    try:
        for line in process.stdout:
            # What a test prints itself may come between.
            try:
                event = json.loads(line)
            except ValueError:
                continue
            over = over or (event.get("type") == "suite" and event["event"] != "started")
            if over:
                break
            if event.get("type") != "test" or event["event"] not in ("ok", "failed"):
                continue
            events[event["name"]] = (event["event"] == "ok", event["exec_time"])
            if stop and event["event"] == "failed":
                return events
        if late.is_set():
            raise TimeoutError
        if not over:
            raise ChildProcessError("it ended without a verdict")
        return events
    finally:
        timer.cancel()
        process.kill()
        process.stdout.close()
        process.wait()


class System:
    """A system that test processes share, in a process of its own; without it each would deploy one."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="system-", dir=HERE))
        self.file, self.process, self.runs = self.folder / "lent/system.json", None, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def use(self):
        self.runs += 1
        if self.process is None or self.runs > RUNS_PER_SYSTEM:
            self.stop()
            self.start()

    def start(self):
        self.runs = 1
        shutil.rmtree(self.file.parent, ignore_errors=True)
        with open(self.folder / "log", "w") as log:
            command = [ROOT / "target/debug/local", "serve", "--runner", str(os.getpid()), "--folder", self.file.parent]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + START_S
        while not self.file.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"the system does not start: {self.folder / 'log'}")
            time.sleep(0.05)

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


# Reporting.


def report(given):
    mutants, reach = read(MUTANTS), read(TESTS)["reach"]
    results, passed, unreliable = read_results()
    print("| crate | mutants | cannot be switched | do not compile | tested | caught | survivors | score |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    survivors = []
    for crate in given.crates:
        own = {n: m for n, m in mutants.items() if m["crate"] == crate}
        states = Counter(mutant["state"] for mutant in own.values())
        tested = [n for n in own if n in results]
        killed = [n for n in tested if caught(results[n])]
        survivors += [n for n in tested if n not in set(killed)]
        score = f"{100 * len(killed) / len(tested):.1f} %" if tested else ""
        switchless = states["constant"] + states["no switch"]
        print(
            f"| {crate} | {len(own)} | {switchless} | {states['does not compile']} | {len(tested)} | {len(killed)} "
            f"| {len(tested) - len(killed)} | {score} |"
        )
    print("".join(f"\nfails without a mutant too, and is not counted: {name}" for name in unreliable) + "\n")
    for number in survivors:
        reaching = len(reach.get(number, []))
        seen = f"{len(passed[number])} of {reaching} tests" if reaching else "no test reaches it"
        print(f"{number} {mutants[number]['name']} ({seen})")


def read_results():
    """What became of each mutant, which tests have passed with it, and the tests that failed without one. What only such
    a test caught does not count."""
    results = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    unreliable = {result["by"] for result in results if result["control"] and caught(result)}
    of_mutants = [result for result in results if not result["control"] and result.get("by") not in unreliable]
    passed = defaultdict(set)
    for result in of_mutants:
        passed[result["mutant"]].update(result.get("passed", []))
    return {result["mutant"]: result for result in of_mutants}, passed, unreliable


def read(path):
    if not path.exists():
        sys.exit(f"there is no {path.relative_to(ROOT)}: run `build` first")
    return json.loads(path.read_text())


def write(path, value):
    path.write_text(json.dumps(value, indent=1))


def write_if_new(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def run_for_text(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
    return done.stdout


def say(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
