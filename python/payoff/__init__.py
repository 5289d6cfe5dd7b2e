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

import json as _json
import os as _os
import re as _re
import tempfile as _tempfile
import warnings as _warnings
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from dataclasses import dataclass as _dataclass
from pathlib import Path as _Path

from . import _payoff

__all__ = ["Columns", "Diagnostic", "Experiment", "FailureError", "InputError", "PayoffError",
           "PayoffWarning", "command", "fit", "fit_kernels", "methods", "profile", "profiles"]


@_dataclass(frozen=True)
class Diagnostic:
    """One mistake in an input, where it stands, and what was meant."""

    message: str
    severity: str = "error"
    file: str = ""
    argument: str = ""  # of the function, where the mistake is in one: "sample"
    text: str = ""  # of that argument, in which line and column count
    line: int = 0  # from 1; 0: of no place
    column: int = 0
    length: int = 0
    label: str = ""  # beside the place: "did you mean `tp`?"
    help: str = ""

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.file and self.line else ""
        if self.argument:
            place = f"argument {self.argument}: "
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
    here = _Path(__file__).resolve().parent
    source = here / "_source_profiles.txt"
    places = [_Path(source.read_text(encoding="utf-8"))] if source.exists() else []
    places += [above / "share" / "payoff" / "profiles" for above in here.parents]
    return next((place for place in places if (place / "cluster").is_dir()), None)


if "PAYOFF_PROFILES" not in _os.environ:
    _profiles = _find_profiles()
    if _profiles is not None:
        _os.environ["PAYOFF_PROFILES"] = str(_profiles)


def _python_name(option):
    """`--micro-batch` is called micro_batch."""
    return option.lstrip("-").replace("-", "_")


def _asked_by(words, index):
    """The Python argument that made this word of the command line: that of its option."""
    option = next((word for word in words[min(index, len(words)) - 1::-1] if
                   word.startswith("--")), "")
    return _python_name(option.split("=")[0])


def _diagnostics(stderr, names, words=None):
    """What `--error-format json` wrote, and what stood around it. With the words of the command line
    that a function made, mistakes in them are of its arguments."""
    start = stderr.find("{")
    if start < 0:
        return [Diagnostic(stderr.strip())] if stderr.strip() else [], []
    found = _json.loads(stderr[start:])
    ours = {word for word in words or [] if word.startswith("--")}

    def said(text):
        return _re.sub(r"`(--[a-z-]+)`", lambda option: f"`{_python_name(option[1])}`"
                       if option[1] in ours else option[0], text)

    def read(entry):
        known = {key: entry[key] for key in ("severity", "line", "column", "length", "text")
                 if entry.get(key) is not None}
        known |= {key: said(entry[key]) for key in ("message", "label", "help") if entry.get(key)}
        file = entry.get("file", "")
        if words is not None and "argument" in entry:
            known["argument"] = _asked_by(words, entry["argument"])
        elif "argument" in entry:
            file = entry["text"]
        return Diagnostic(file=names.get(file, file), **known)

    return [read(e) for e in found.get("errors", [])], [read(e) for e in found.get("warnings", [])]


def _run(how, words, names, own_words=False):
    """What the program answers, or the exception that says why not."""
    words = [*map(str, words)]
    code, out, err = how([*words, "--error-format", "json"])
    errors, found = _diagnostics(err, names, None if own_words else words)
    for warning in found:
        _warnings.warn(str(warning), PayoffWarning, stacklevel=4)
    if code == 2:
        raise InputError(errors)
    if code in (1, 130) and any(e.message.startswith("interrupted") for e in errors):
        raise KeyboardInterrupt("\n".join(map(str, errors)))  # the program's own way to take Ctrl-C
    if code == 1:
        raise FailureError(errors)
    return out


def _command(words, names):
    return _run(_payoff.run, words, names)


def command(*words):
    """Runs `payoff WORDS` and returns what it prints; for everything without a function here.

    payoff.command("calibrate", "fit", "samples.json", "--gpu", "h100-sxm", "-o", "mine.yaml")
    """
    return _run(_payoff.run, words, {}, own_words=True)


def profiles(kind=None):
    """The shipped profiles: a list of dictionaries with `kind`, `name` and `description`."""
    words = ["profiles", "list", *([kind] if kind else []), "--json"]
    return _json.loads(_command(words, {}))["profiles"]


def profile(name):
    """One profile: every value with its provenance, as `payoff profiles show NAME --json`."""
    return _json.loads(_command(["profiles", "show", name, "--json"], {}))["profiles"][0]


def methods():
    """The compression methods, as `payoff methods list --json`."""
    return _json.loads(_command(["methods", "list", "--json"], {}))["methods"]


def fit(law, data=None):
    """The laws of "network", "compute" or "codecs", fitted anew to measurements.

    `data` is a folder of published measurements in the form of tests/validation; by default those
    that came with the program. What comes back has the form of profiles/fitted: every parameter
    with `value`, `sd` (of its logarithm) and what it rests on in `from`, errors and covariances.
    Numbers are in SI, and their keys end in their units: `value_seconds`. Nothing is written.
    Networks and compute take some 20 seconds.
    """
    with _tempfile.TemporaryDirectory(prefix="payoff-") as folder:
        _command(["calibrate", "fit", law, "--out", folder,
                  *(["--data", _os.fspath(data)] if data is not None else [])], {})
        return _payoff.read_yaml(_os.path.join(folder, f"{law}.yaml"))


def fit_kernels(samples, *, gpu=None):
    """The profile of a GPU, fitted to what its kernels took.

    `samples` are files that payoff-kernels or `payoff calibrate import` wrote, one or a list; `gpu`
    has the data sheet that holds, where the device's name does not tell. What comes back has the
    form of profiles/gpu, as that of `fit`. Nothing is written.
    """
    if isinstance(samples, (str, _os.PathLike)):
        samples = [samples]
    with _tempfile.TemporaryDirectory(prefix="payoff-") as folder:
        file = _os.path.join(folder, "fitted.yaml")
        _command(["calibrate", "fit", *map(_os.fspath, samples), "-o", file,
                  *(["--gpu", gpu] if gpu is not None else [])], {file: "<fit>"})
        return _payoff.read_yaml(file)


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
        return f"{key}={_json.dumps(value)}"
    return f"{key}={value}"


def _series(values):
    if isinstance(values, str) or not isinstance(values, _Iterable):
        values = [values]
    return ",".join(_json.dumps(value) if isinstance(value, bool) else str(value)
                    for value in values)


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

    def _ask(self, command, words, settings, how=_payoff.run):
        for key, value in (settings or {}).items():
            words = [*words, "--set", _setting(key, value)]
        source = self.source
        if isinstance(source, _os.PathLike) or (isinstance(source, str) and "\n" not in source and
                                                source.endswith((".yaml", ".yml"))):
            return _run(how, [command, _os.fspath(source), *words], {})
        text = source if isinstance(source, str) else _json.dumps(source, indent=1)
        with _tempfile.TemporaryDirectory(prefix="payoff-") as folder:
            file = _os.path.join(folder, "experiment.yaml")
            _Path(file).write_text(text, encoding="utf-8")
            out = _run(how, [command, file, *words], {file: _name})
            # Results carry their command line.
            return out.replace(file, _name) if isinstance(out, str) else out

    def predict(self, set=None, *, observed=None, engines=()):
        """The step with each strategy, and whether it pays: the dictionary of `predict --json`.

        `set` has keys to put over the experiment: {"layout.tp": 4}. `observed` is a measured step,
        "step=300ms,exposed=60ms"; `engines` are published models to put beside ours.
        """
        words = ["--json", *(["--observed", observed] if observed else [])]
        for engine in engines:
            words += ["--engine", engine]
        return _json.loads(self._ask("predict", words, set))

    def simulate(self, set=None, *, plan=None, level=None):
        """The step run by events: the dictionary of `simulate --json`."""
        words = ["--json", *(["--plan", plan] if plan else []),
                 *(["--level", level] if level else [])]
        return _json.loads(self._ask("simulate", words, set))

    def explain(self, set=None):
        """Every term of the step with its numbers: the dictionary of `explain --json`."""
        return _json.loads(self._ask("explain", ["--json"], set))

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
        if not isinstance(over, _Mapping):
            raise TypeError("`over` is a dictionary of keys and their values, as "
                            f"{{\"nodes\": [1, 2]}}, not {type(over).__name__}")
        words = []
        for key, values in over.items():
            words += ["--over", f"{key}={_series(values)}"]
        words += ["--zip"] * bool(zip) + ["--verdicts"] * bool(verdicts)
        given = {"--sample": sample, "--latin": latin, "--seed": seed, "--engine": engine,
                 "--threads": threads, "--shard": "0/1" if shard is None else shard}
        for option, value in given.items():
            words += [option, value] if value is not None else []
        return Columns(self._ask("sweep", words, set, _payoff.sweep))
