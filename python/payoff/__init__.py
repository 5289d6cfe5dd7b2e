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
import numbers as _numbers
import os as _os
import re as _re
import tempfile as _tempfile
import warnings as _warnings
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from pathlib import Path as _Path

from . import _arguments, _payoff
from ._columns import Columns
from ._diagnostics import Diagnostic, FailureError, InputError, PayoffError, PayoffWarning

__all__ = ["Columns", "Diagnostic", "Experiment", "FailureError", "InputError", "PayoffError",
           "PayoffWarning", "command", "fit", "fit_kernels", "methods", "profile", "profiles"]


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


_sweep_options = {"--over", "--set", "--zip", "--sample", "--latin", "--seed", "--engine",
                  "--verdicts", "--threads", "--shard"}


def _diagnostics(stderr, names, words=None):
    """What `--error-format json` wrote, and what stood around it. With the words of the command line
    that a function made, mistakes in them are of its arguments."""
    start = stderr.find("{")
    if start < 0:
        return [Diagnostic(stderr.strip())] if stderr.strip() else [], []
    found = _json.loads(stderr[start:])
    ours = {word for word in words or [] if word.startswith("--")}
    if words and words[0] == "sweep":  # also what was not given: "`seed` needs `sample`"
        ours |= _sweep_options

    def said(text):
        text = _re.sub(r"`(--[a-z-]+) ([^`]+)`", lambda given: f'`{_python_name(given[1])}="{given[2]}"`'
                       if given[1] in ours else given[0], text)
        return _re.sub(r"(?<![\w`-])(`?)(--[a-z-]+)\1(?![\w-])", lambda option:
                       f"`{_python_name(option[2])}`" if option[2] in ours else option[0], text)

    def read(entry):
        known = {key: entry[key] for key in ("severity", "line", "column", "length", "text")
                 if entry.get(key) is not None}
        known |= {key: said(entry[key]) for key in ("message", "label", "help") if entry.get(key)}
        file = entry.get("file", "")
        if "argument" in entry:
            known["argument"] = (entry["text"] if words is None else
                                 _asked_by(words, entry["argument"]))
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
    for word in words:
        if not isinstance(word, (str, _os.PathLike, _numbers.Real)) or isinstance(word, bool):
            _arguments.refuse("words", "a word of a command is a text, a path or a number, not of "
                              f"type {type(word).__name__}",
                              'for example command("predict", "experiment.yaml")')
        _arguments.checked(word, "words")
    return _run(_payoff.run, words, {}, own_words=True)


def profiles(kind=None):
    """The shipped profiles: a list of dictionaries with `kind`, `name` and `description`."""
    named = [] if kind is None else [_arguments.word(kind, "kind", "a kind of profiles")]
    words = ["profiles", "list", *named, "--json"]
    return _json.loads(_command(words, {}))["profiles"]


def profile(name):
    """One profile: every value with its provenance, as `payoff profiles show NAME --json`."""
    name = _arguments.word(name, "name", "the name of a profile")
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
    law = _arguments.word(law, "law", "the name of a law")
    measured = ["--data", _arguments.word(data, "data", "a folder")] if data is not None else []
    with _tempfile.TemporaryDirectory(prefix="payoff-") as folder:
        _command(["calibrate", "fit", law, "--out", folder, *measured], {})
        return _payoff.read_yaml(_os.path.join(folder, f"{law}.yaml"))


def fit_kernels(samples, *, gpu=None):
    """The profile of a GPU, fitted to what its kernels took.

    `samples` are files that payoff-kernels or `payoff calibrate import` wrote, one or a list; `gpu`
    has the data sheet that holds, where the device's name does not tell. What comes back has the
    form of profiles/gpu, as that of `fit`. Nothing is written.
    """
    if isinstance(samples, (str, _os.PathLike)):
        samples = [samples]
    if not isinstance(samples, _Iterable):
        _arguments.refuse("samples", f"`samples` is a file or a list of files, not of type "
                f"{type(samples).__name__}")
    files = [_arguments.word(file, "samples", "a file or a list of files") for file in samples]
    if not files:
        _arguments.refuse("samples", "`samples` names no file")
    with _tempfile.TemporaryDirectory(prefix="payoff-") as folder:
        file = _os.path.join(folder, "fitted.yaml")
        _command(["calibrate", "fit", *files, "-o", file,
                  *(["--gpu", gpu] if gpu is not None else [])], {file: "<fit>"})
        return _payoff.read_yaml(file)


_name = "<experiment>"  # of what was no file


_is_source = "a dictionary, a YAML text or the path of a file"


def _check_source(source):
    if not isinstance(source, (_Mapping, str, _os.PathLike)):
        _arguments.refuse("source", f"an experiment is {_is_source}, not of type "
                          f"{type(source).__name__}",
                          "its `source` is" if isinstance(source, Experiment) else "")
    return _arguments.checked(source, "source")


class Experiment:
    """A training job on a cluster, with the compressions to compare.

    `source` is what an experiment file says: a dictionary, a YAML text, or the path of a file
    (pathlib.Path, or a text that ends in .yaml). `payoff schema experiment` has the keys. Nothing
    is read before a question is asked. Files that a dictionary or a text names need absolute paths;
    a file's own are relative to it.
    """

    def __init__(self, source):
        _check_source(source)
        self.source = source

    def __repr__(self):
        return f"payoff.Experiment({self.source!r})"

    def _ask(self, command, words, settings, how=_payoff.run):
        settings = {} if settings is None else settings
        for key, value in _arguments.keys(settings, "set", '{"layout.tp": 4}'):
            words = [*words, "--set", _arguments.setting(key, value)]
        source = _check_source(self.source)
        if isinstance(self.source, _os.PathLike) or (
                isinstance(source, str) and "\n" not in source and
                source.endswith((".yaml", ".yml"))):
            file = _os.path.join(".", source) if source.startswith("-") else source  # no option
            return _run(how, [command, file, *words], {})
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
        if isinstance(engines, str):
            engines = [engines]
        if not isinstance(engines, _Iterable):
            _arguments.refuse("engines", "`engines` is a list of names, not of type "
                              f"{type(engines).__name__}")
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
        words = []
        for key, values in _arguments.keys(over, "over", '{"nodes": [1, 2]}'):
            words += ["--over", f"{key}={_arguments.series(key, values)}"]
        if not words:
            _arguments.refuse("over", "`over` names no key", 'for example {"nodes": [1, 2]}')
        words += ["--zip"] * bool(zip) + ["--verdicts"] * bool(verdicts)
        given = {"--sample": sample, "--latin": latin, "--seed": seed, "--engine": engine,
                 "--threads": threads, "--shard": "0/1" if shard is None else shard}
        for option, value in given.items():
            words += [option, value] if value is not None else []
        return Columns(self._ask("sweep", words, set, _payoff.sweep))
