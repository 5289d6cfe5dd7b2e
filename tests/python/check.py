#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `import payoff` against the program: same numbers, same mistakes, and what docs/python.md
says.

  PYTHONPATH=BUILD/python check.py PROGRAM
"""

import ast
import contextlib
import inspect
import io
import json
import math
import os
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import payoff
from arguments import PROBLEMS, check_arguments, raised, require

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ["01-resnet50-v100", "07-gpt3-175b-h100", "09-bert-large-activations"]


def asked(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True,
                          cwd=ROOT).stdout


def without_command_line(result):
    return {key: value for key, value in result.items() if key != "command_line"}


def check_numbers(program):
    for name in EXAMPLES:
        file = f"examples/{name}/experiment.yaml"
        ours = payoff.Experiment(file).predict()
        theirs = json.loads(asked(program, "predict", file, "--json"))
        require(without_command_line(ours) == without_command_line(theirs), f"predict {file}")
    file = f"examples/{EXAMPLES[0]}/experiment.yaml"
    job = payoff.Experiment(Path(file))
    theirs = json.loads(asked(program, "simulate", file, "--json"))
    require(without_command_line(job.simulate()) == without_command_line(theirs), "simulate")
    sweep = job.sweep({"nodes": "1..4:x2", "layout.micro_batch": [32, 64]}, {"training.bucket":
                                                                           "10 MiB"})
    lines = asked(program, "sweep", file, "--over", "nodes=1..4:x2", "--over",
                  "layout.micro_batch=32,64", "--set", "training.bucket=10 MiB").splitlines()
    rows = [row for row in map(json.loads, lines) if "job" in row]
    require(len(rows) == 72, f"a sweep of {len(rows)} rows")
    require(sweep.rows() == rows, "the rows of a sweep")
    text = (ROOT / file).read_text(encoding="utf-8")
    for same in (text, as_dictionary(text)):
        require(payoff.Experiment(same).predict()["plans"] == job.predict()["plans"],
                f"predict {type(same).__name__}")
    check_arrays(sweep)


def as_dictionary(text):
    import yaml
    return yaml.safe_load(text)


def check_arrays(sweep):
    for package, convert in (("numpy", sweep.to_numpy), ("pandas", sweep.to_pandas)):
        try:
            table = convert()
        except ImportError:
            print(f"{package} is not installed: skipped")
            continue
        require(list(table["step_seconds"]) == sweep["step_seconds"], package)


def check_samples(program):
    """Random and Latin designs are those of the program, row by row, and so are their mistakes."""
    file = f"examples/{EXAMPLES[0]}/experiment.yaml"
    job = payoff.Experiment(Path(file))
    axes = {"nodes": [1, 2, 4], "bandwidth": "10 Gb/s..80 Gb/s:x2"}  # 12 combinations
    over = ["--over", "nodes=1,2,4", "--over", "bandwidth=10 Gb/s..80 Gb/s:x2"]
    for way, seed in (("sample", 1), ("sample", 5), ("latin", 2)):
        lines = asked(program, "sweep", file, *over, f"--{way}", "6", "--seed", str(seed))
        rows = [row for row in map(json.loads, lines.splitlines()) if "job" in row]
        columns = job.sweep(axes, **{way: 6}, seed=seed)
        require(columns.rows() == rows, f"{way} of seed {seed}")
        require(sorted(set(columns["job"])) == list(range(6)), f"{way}: jobs {set(columns['job'])}")
    latin = job.sweep(axes, latin=6)
    strategies = len(set(latin["strategy"]))
    require(all(latin["nodes"].count(n) == 2 * strategies for n in (1, 2, 4)), "latin is uneven")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        require(job.sweep(axes, sample=100) is not None, "a sample larger than the grid")
    require(any("12 combinations" in str(each.message) for each in caught), "nothing warns of it")
    for wrong in ({"sample": 0}, {"sample": 2, "latin": 2}, {"seed": 2}, {"latin": 2, "zip": 1}):
        try:
            job.sweep(axes, **wrong)
            require(False, f"{wrong} is no error")
        except payoff.InputError:
            pass


def check_shards():
    """A process of MPI gets every row that it asks for, and a part only when it asks for one."""
    job = payoff.Experiment(f"examples/{EXAMPLES[0]}/experiment.yaml")
    alone = job.sweep({"nodes": [1, 2, 4]})
    os.environ.update(OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2")
    try:
        with_mpi = job.sweep({"nodes": [1, 2, 4]})
        part = job.sweep({"nodes": [1, 2, 4]}, shard="2/3")
    finally:
        del os.environ["OMPI_COMM_WORLD_RANK"], os.environ["OMPI_COMM_WORLD_SIZE"]
    require(with_mpi == alone and len(alone) > 0, "a sweep under MPI has a part of its rows")
    require(part.rows() == [row for row in alone.rows() if row["job"] == 2], "one of three shards")


def check_mistakes():
    try:
        payoff.Experiment({"cluster": {"profile": "p3-8xlarge"},
                           "model": {"profile": "gpt2"},
                           "layout": {"tpp": 2}, "softwar": "x"}).predict()
        require(False, "a misspelt key is no error")
    except payoff.InputError as error:
        first, second = sorted(error.diagnostics, key=lambda each: each.line)
        require((first.file, first.line, first.column) == ("<experiment>", 9, 3), str(first))
        require(first.label == "did you mean `tp`?", first.label)
        require("`softwar`" in second.message and isinstance(error, ValueError), str(second))
    try:
        payoff.Experiment(f"examples/{EXAMPLES[0]}/experiment.yaml").sweep({"compress": ["nosuch"]})
        require(False, "a sweep of an unknown method alone is no error")
    except payoff.InputError as error:
        require("`nosuch`" in error.diagnostics[0].message, str(error))
    try:
        payoff.Experiment("no-such-file.yaml").predict()
        require(False, "a missing file is no error")
    except payoff.FailureError as error:
        require("no-such-file.yaml" in str(error) and isinstance(error, OSError), str(error))


def check_interruption():
    """Ctrl-C within a sweep is what it is everywhere in Python."""
    code = ("import payoff, sys\n"
            f"job = payoff.Experiment({EXAMPLES[0]!r}.join(['examples/', '/experiment.yaml']))\n"
            "print('ready', flush=True)\n"
            "try:\n"
            "    job.sweep({'nodes': '1..64', 'micro-batch': '1..128'}, verdicts=True, threads=1)\n"
            "except payoff.PayoffError as error:\n"
            "    print('swallowed', error)\n"
            "except KeyboardInterrupt as stop:\n"
            "    print('stopped:', stop)\n")
    with subprocess.Popen([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        process.stdout.readline()
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        said = process.stdout.read()
    require(said.startswith("stopped: ") and "interrupted after" in said, f"Ctrl-C: {said!r}")


def check_fits(program):
    """What a fit returns is what the program writes, as data: numbers in SI."""
    codecs = payoff.fit("codecs")
    shipped = as_dictionary((ROOT / "profiles/fitted/codecs.yaml").read_text(encoding="utf-8"))
    for name, law in shipped["implementation"].items():
        ours = codecs["implementation"][name]
        written = law["dispatch"]["value"]
        require(written.endswith(" us") and math.isclose(ours["dispatch"]["value_seconds"],
                                                         float(written[:-3]) * 1e-6,
                                                         rel_tol=2e-3, abs_tol=1e-12),
                f"dispatch of {name}: {ours['dispatch']} and {written}")
        require(math.isclose(ours["memory_efficiency"]["value"], law["memory_efficiency"]["value"],
                             rel_tol=1e-2), f"memory_efficiency of {name}")
        require(ours["measured_on"] == law["measured_on"], f"measured_on of {name}")
    with tempfile.TemporaryDirectory() as folder:
        samples, profile = f"{folder}/samples.json", f"{folder}/mine.yaml"
        logs = [str(path) for path in sorted((ROOT / "examples/calibrate").glob("*.*"))
                if path.suffix != ".md"]
        asked(program, "calibrate", "import", *logs, "--implementation", "fused", "-o", samples)
        asked(program, "calibrate", "fit", samples, "--gpu", "h100-sxm", "-o", profile)
        expected = as_dictionary(Path(profile).read_text(encoding="utf-8"))
        for ours in (payoff.fit_kernels(samples, gpu="h100-sxm"),
                     payoff.fit_kernels([Path(samples)], gpu="h100-sxm")):
            require(list(plain_keys(ours)) == list(plain_keys(expected)), "keys of a fitted GPU")
    error = raised(payoff.InputError, payoff.fit, "codec")
    require("`codec`" in str(error), str(error))


def plain_keys(value):
    """All keys of dictionaries within dictionaries, without their units."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield re.sub("_(seconds|bytes|bytes_per_second|flops|flops_per_second)$", "", key)
        yield from plain_keys(inner)


def check_other_threads_run():
    """With the lock held, the main thread would not get to count before the sweep is over."""
    job = payoff.Experiment(f"examples/{EXAMPLES[0]}/experiment.yaml")
    results = []
    worker = threading.Thread(target=lambda: results.append(
        payoff._payoff.run(["sweep", job.source, "--over", "nodes=1..24", "--over",
                            "layout.micro_batch=1..64", "--threads", "1"])))
    worker.start()
    counted = 0
    while worker.is_alive():
        counted += 1
    require(results and results[0][0] == 0, "a sweep in a thread")
    require(counted > 1000, f"only {counted} steps of the main thread beside a sweep")


def parameters(node):
    return [arg.arg for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]


def check_stubs():
    stubs = ast.parse((ROOT / "python/payoff/__init__.pyi").read_text(encoding="utf-8"))
    named = {node.name: node for node in stubs.body if hasattr(node, "name")}
    require(set(named) == set(payoff.__all__), f"stubs of {set(named) ^ set(payoff.__all__)}")
    for name, node in named.items():
        thing = getattr(payoff, name)
        require(thing.__doc__, f"{name} has no docstring")
        functions = [(thing, node)] if isinstance(node, ast.FunctionDef) else [
            (getattr(thing, each.name), each) for each in node.body
            if isinstance(each, ast.FunctionDef)]
        for function, stub in functions:
            signature = [p.name for p in inspect.signature(function).parameters.values()
                         if p.kind is not p.VAR_POSITIONAL]
            require(signature == parameters(stub), f"{name}: {stub.name}{signature}")


def documented_output(example):
    """What the README beside it says that it prints: before and behind a line of dots."""
    text = (example.parent / "README.md").read_text(encoding="utf-8")
    return re.search(r"^```text\n(.*?)^\.\.\.\n(.*?)^```$", text, re.M | re.S).groups()


def check_documentation():
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", text, re.M | re.S)
    namespace = {}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/python.md", "exec"), namespace)
        require(printed.getvalue() == expected, f"docs/python.md prints\n{printed.getvalue()}")
    require(len(blocks) >= 4, f"{len(blocks)} blocks in docs/python.md")
    for example in sorted((ROOT / "examples/python").glob("*.py")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(example), run_name="__main__")
        require("did you mean" in printed.getvalue(), str(example))
        begin, end = documented_output(example)
        require(begin and end and printed.getvalue().startswith(begin) and
                printed.getvalue().endswith(end), f"{example} prints\n{printed.getvalue()}")
    require(sorted(path.name for path in (ROOT / "examples/python").glob("*.py")) ==
            ["what_pays.py"], "scripts that the README of examples/python does not show")


def main():
    program = str(Path(sys.argv[1]).resolve())
    os.chdir(ROOT)
    check_numbers(program)
    check_samples(program)
    check_shards()
    check_mistakes()
    check_arguments()
    check_interruption()
    check_fits(program)
    check_other_threads_run()
    check_stubs()
    check_documentation()
    print("\n".join(PROBLEMS))
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
