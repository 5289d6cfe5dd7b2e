# SPDX-License-Identifier: Apache-2.0
"""Predicts when compressing communication makes distributed training faster.

    import payoff

    job = payoff.Experiment({"cluster": {"profile": "p3-8xlarge", "nodes": 8},
                             "model": {"profile": "resnet-50"},
                             "layout": {"micro_batch": 64},
                             "compress": ["powersgd:rank=4"]})
    for strategy in job.predict()["plans"]:
        print(strategy["label"], strategy["step_seconds"])

The answers are those of the program `payoff`, digit for digit: its commands run in this process,
and what they print as JSON becomes dictionaries (docs/schema/result.schema.json has the keys; names
end in their units). A mistake in the input raises InputError with everything that is wrong. Other
Python threads run while a command does.
"""

import json
import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

from . import _payoff

__all__ = ["Columns", "Diagnostic", "Experiment", "FailureError", "InputError", "PayoffError",
           "PayoffWarning", "command", "methods", "profile", "profiles"]


@dataclass(frozen=True)
class Diagnostic:
    """One mistake in an input, where it stands, and what was meant."""

    message: str
    severity: str = "error"
    file: str = ""  # the argument's text where the mistake is in an argument
    line: int = 0  # from 1; 0: of no place
    column: int = 0
    length: int = 0
    label: str = ""  # beside the place: "did you mean `tp`?"
    help: str = ""

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        more = "".join(f" ({text})" for text in (self.label, self.help) if text)
        return f"{place}{self.message}{more}"


class PayoffError(Exception):
    """Something went wrong; `diagnostics` has every mistake that was found."""

    def __init__(self, diagnostics):
        self.diagnostics = list(diagnostics)
        super().__init__("\n".join(map(str, self.diagnostics)))

    def __str__(self):
        return "\n".join(map(str, self.diagnostics))


class InputError(PayoffError, ValueError):
    """The input has mistakes: nothing was predicted (exit code 2 of the program)."""


class FailureError(PayoffError, OSError):
    """Something could not be read, written or run (exit code 1)."""


class PayoffWarning(UserWarning):
    """What the program would warn of on stderr."""


def _find_profiles():
    here = Path(__file__).resolve().parent
    source = here / "_source_profiles.txt"
    places = [Path(source.read_text(encoding="utf-8"))] if source.exists() else []
    places += [above / "share" / "payoff" / "profiles" for above in here.parents]
    return next((place for place in places if (place / "cluster").is_dir()), None)


if "PAYOFF_PROFILES" not in os.environ:
    _profiles = _find_profiles()
    if _profiles is not None:
        os.environ["PAYOFF_PROFILES"] = str(_profiles)


def _diagnostics(stderr, names):
    """What `--error-format json` wrote, and what stood around it."""
    start = stderr.find("{")
    if start < 0:
        return [Diagnostic(stderr.strip())] if stderr.strip() else [], []
    found = json.loads(stderr[start:])

    def read(entry):
        file = entry.get("file", entry.get("text", ""))
        known = {key: entry[key] for key in ("message", "severity", "line", "column", "length",
                                             "label", "help") if entry.get(key) is not None}
        return Diagnostic(file=names.get(file, file), **known)

    return [read(e) for e in found.get("errors", [])], [read(e) for e in found.get("warnings", [])]


def _command(words, names):
    code, out, err = _payoff.run([*map(str, words), "--error-format", "json"])
    errors, found = _diagnostics(err, names)
    for warning in found:
        warnings.warn(str(warning), PayoffWarning, stacklevel=4)
    if code == 2:
        raise InputError(errors)
    if code == 1:
        raise FailureError(errors)
    return out


def command(*words):
    """Runs `payoff WORDS` and returns what it prints; for everything without a function here.

    payoff.command("calibrate", "fit", "samples.json", "--gpu", "h100-sxm", "-o", "mine.yaml")
    """
    return _command(words, {})


def profiles(kind=None):
    """The shipped profiles: a list of dictionaries with `kind`, `name` and `description`."""
    words = ["profiles", "list", *([kind] if kind else []), "--json"]
    return json.loads(_command(words, {}))["profiles"]


def profile(name):
    """One profile: every value with its provenance, as `payoff profiles show NAME --json`."""
    return json.loads(_command(["profiles", "show", name, "--json"], {}))["profiles"][0]


def methods():
    """The compression methods, as `payoff methods list --json`."""
    return json.loads(_command(["methods", "list", "--json"], {}))["methods"]


class Columns(dict):
    """A sweep as columns: a dictionary of names and lists of equal length.

    A job and a strategy of it are one row. What a row has no value of is None.
    """

    def __len__(self):
        return len(next(iter(self.values()), []))

    def __bool__(self):
        return len(self) > 0

    def rows(self):
        """The same as dictionaries, one a row."""
        return [dict(zip(self, row)) for row in zip(*self.values())]

    def to_numpy(self):
        """A dictionary of NumPy arrays; None becomes nan among numbers. Needs NumPy."""
        import numpy

        def array(values):
            if any(isinstance(value, str) for value in values):
                return numpy.array(values, dtype=object)
            if any(value is None or isinstance(value, float) for value in values):
                return numpy.array([float("nan") if v is None else v for v in values], dtype=float)
            return numpy.array(values)

        return {name: array(values) for name, values in self.items()}

    def to_pandas(self):
        """A pandas.DataFrame. Needs pandas."""
        import pandas

        return pandas.DataFrame(dict(self))


_name = "<experiment>"  # of what was no file


def _setting(key, value):
    if isinstance(value, (dict, list, tuple, bool)) or value is None:
        return f"{key}={json.dumps(value)}"
    return f"{key}={value}"


class Experiment:
    """A training job on a cluster, with the compressions to compare.

    `source` is what an experiment file says: a dictionary, a YAML text, or the path of a file
    (pathlib.Path, or a text that ends in .yaml). `payoff schema experiment` has the keys. Nothing
    is read before a question is asked. Files that a dictionary or a text names need absolute paths;
    a file's own are relative to it.
    """

    def __init__(self, source):
        self.source = source

    def __repr__(self):
        return f"payoff.Experiment({self.source!r})"

    def _ask(self, command, words, settings):
        for key, value in (settings or {}).items():
            words = [*words, "--set", _setting(key, value)]
        source = self.source
        if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source and
                                               source.endswith((".yaml", ".yml"))):
            return _command([command, os.fspath(source), *words], {})
        text = source if isinstance(source, str) else json.dumps(source, indent=1)
        with tempfile.TemporaryDirectory(prefix="payoff-") as folder:
            file = os.path.join(folder, "experiment.yaml")
            Path(file).write_text(text, encoding="utf-8")
            out = _command([command, file, *words], {file: _name})
            return out.replace(file, _name)  # in the command line that results carry

    def predict(self, set=None, *, observed=None, engines=()):
        """The step with each strategy, and whether it pays: the dictionary of `predict --json`.

        `set` has keys to put over the experiment: {"layout.tp": 4}. `observed` is a measured step,
        "step=300ms,exposed=60ms"; `engines` are published models to put beside ours.
        """
        words = ["--json", *(["--observed", observed] if observed else [])]
        for engine in engines:
            words += ["--engine", engine]
        return json.loads(self._ask("predict", words, set))

    def simulate(self, set=None, *, plan=None, level=None):
        """The step run by events: the dictionary of `simulate --json`."""
        words = ["--json", *(["--plan", plan] if plan else []),
                 *(["--level", level] if level else [])]
        return json.loads(self._ask("simulate", words, set))

    def explain(self, set=None):
        """Every term of the step with its numbers: the dictionary of `explain --json`."""
        return json.loads(self._ask("explain", ["--json"], set))

    def sweep(self, over, set=None, *, zip=False, sample=None, latin=None, seed=None, engine=None,
              verdicts=False, threads=None, shard=None):
        """The experiment with many values of some keys, as Columns.

        `over` has keys, or options without their dashes, and their values: a list, or a series as
        on the command line ("8..4096:x2"). All combinations are predicted; with `zip` the series go
        together, `sample=N` takes N random combinations, `latin=N` N jobs with every value equally
        often, both decided by `seed` (default 1). `engine="sim"` simulates; `verdicts` adds
        intervals and probabilities. All jobs run in this process, whatever Slurm or MPI started it;
        `shard="1/8"` runs every 8th of them, from job 1 on.
        """
        words = []
        for key, values in over.items():
            text = values if isinstance(values, str) else ",".join(map(str, values))
            words += ["--over", f"{key}={text}"]
        words += ["--zip"] * bool(zip) + ["--verdicts"] * bool(verdicts)
        given = {"--sample": sample, "--latin": latin, "--seed": seed, "--engine": engine,
                 "--threads": threads, "--shard": "0/1" if shard is None else shard}
        for option, value in given.items():
            words += [option, value] if value is not None else []
        lines = map(json.loads, self._ask("sweep", words, set).splitlines())
        rows = [line for line in lines if "job" in line]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return Columns({name: [row.get(name) for row in rows] for name in names})
