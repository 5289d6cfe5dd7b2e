# SPDX-License-Identifier: Apache-2.0
"""What is wrong with arguments of functions of `import payoff`, and how it is told (check.py)."""

import pickle

import payoff

PROBLEMS = []


def require(condition, what):
    if not condition:
        PROBLEMS.append(what)


def raised(kind, function, *words, **named):
    """The exception of that kind and no other that the call ends with; None where it does not."""
    try:
        function(*words, **named)
    except kind as error:
        return error
    except BaseException as error:
        require(False, f"{type(error).__name__} instead of {kind.__name__}: {error}")
        return None
    require(False, f"no {kind.__name__}")
    return None


def check_arguments():
    """Mistakes in arguments are told by the names that they have in Python."""
    job = payoff.Experiment("examples/01-resnet50-v100/experiment.yaml")
    error = raised(payoff.InputError, job.sweep, {"nodes": [1, 2]}, sample=0)
    found = error.diagnostics[0]
    require(str(found) == "argument sample: `sample` is too small (must be at least 1)", str(found))
    require((found.argument, found.text, found.file) == ("sample", "0", ""), repr(found))
    for given, wanted in (({"zip": True, "sample": 2}, "`zip`, `sample` and `latin` exclude"),
                          ({"seed": 2}, "`seed` needs `sample` or `latin`"),
                          ({"shard": "8/8"}, 'for example `shard="0/8"` to `shard="7/8"`')):
        error = raised(payoff.InputError, job.sweep, {"nodes": [1, 2]}, **given)
        require(wanted in str(error) and "--" not in str(error), str(error))
    error = raised(KeyError, lambda: payoff.Columns(nodes=[1], gpus=[4])["nodez"])
    require("did you mean 'nodes'?" in str(error), str(error))
    error = raised(payoff.InputError, job.sweep, {"nodez": [1, 2]})
    require(error.diagnostics[0].argument in ("over", "set"), str(error))
    require("did you mean `nodes`" in str(error) or "`nodez`" in str(error), str(error))
    error = raised(payoff.InputError, job.predict, {"layout.tpp": 2})
    require(str(error).startswith("argument set: unknown key `tpp`"), str(error))
    error = raised(payoff.InputError, payoff.command, "predict", job.source, "--set", "layout.tpp=2")
    require(str(error).startswith("argument --set layout.tpp=2: unknown key `tpp`"), str(error))
    found = error.diagnostics[0]
    require((found.line, found.column, found.length) == (1, len("--set layout.") + 1, 3), repr(found))
    error = raised(payoff.InputError, payoff.command, "sweep", "--foo")
    require(str(error).startswith("argument --foo: unknown option `--foo`"), str(error))
    error = raised(TypeError, job.sweep, "nodes=1,2")
    require("dictionary" in str(error) and "str" in str(error), str(error))
    check_types(job)
    require(job.sweep({"nodes": 2})["nodes"] == job.sweep({"nodes": [2]})["nodes"], "one value")
    names = {name for name in vars(payoff) if not name.startswith("_")}
    require(names == set(payoff.__all__), f"public, but not of the module: "
            f"{names ^ set(payoff.__all__)}")


def check_types(job):
    """What is of a wrong type, or says nothing, is told as every other mistake: by its name."""
    itself = {"cluster": {}}
    itself["cluster"]["profile"] = itself
    experiment = payoff.Experiment
    for argument, said, call in (
            ("source", "not of type int", lambda: experiment(5)),
            ("source", "not of type NoneType", lambda: experiment(None)),
            ("source", "not of type list", lambda: experiment([1])),
            ("source", "its `source` is", lambda: experiment(job)),
            ("source", "`cluster` is of type Experiment", lambda: experiment({"cluster": job})),
            ("source", "`cluster` is of type object", lambda: experiment({"cluster": object()})),
            ("source", "`compress[1]` is of type set", lambda: experiment({"compress": [1, {2}]})),
            ("source", "`cluster.profile` is within itself", lambda: experiment(itself)),
            ("source", "a key of type tuple", lambda: experiment({"layout": {(1, 2): 3}})),
            ("source", "no Unicode", lambda: experiment("cluster: \udc80\n")),
            ("over", "names no key", lambda: job.sweep({})),
            ("over", "`nodes` has no values", lambda: job.sweep({"nodes": []})),
            ("over", "`nodes[1]` is None", lambda: job.sweep({"nodes": [1, None]})),
            ("over", "`nodes[0]` is of type object", lambda: job.sweep({"nodes": [object()]})),
            ("over", "`nodes[0]` is a dict", lambda: job.sweep({"nodes": {"a": 1}})),
            ("over", "not of type NoneType", lambda: job.sweep(None)),
            ("over", "the key 5 is not a text", lambda: job.sweep({5: [1]})),
            ("set", "not of type str", lambda: job.predict("layout.tp=2")),
            ("set", "`layout.tp` is of type object", lambda: job.predict({"layout.tp": object()})),
            ("set", "not of type list", lambda: job.simulate(["layout.tp"])),
            ("engines", "not of type int", lambda: job.predict(engines=5)),
            ("law", "not of type int", lambda: payoff.fit(5)),
            ("data", "not of type int", lambda: payoff.fit("codecs", data=5)),
            ("samples", "names no file", lambda: payoff.fit_kernels([])),
            ("samples", "not of type int", lambda: payoff.fit_kernels(5)),
            ("name", "`--help` is not", lambda: payoff.profile("--help")),
            ("kind", "not of type int", lambda: payoff.profiles(5)),
            ("words", "not of type list", lambda: payoff.command(["predict"])),
            ("words", "not of type NoneType", lambda: payoff.command("predict", None))):
        error = raised(payoff.InputError, call)
        require(error is not None and error.diagnostics[0].argument == argument and
                said in str(error), f"{argument}: {said}: {error}")
    error = raised(payoff.InputError, experiment, {"cluster": object(), "model": {1, 2}})
    require(len(error.diagnostics) == 2, f"not all at once: {error}")
    dashed = raised(payoff.FailureError, experiment("--no-such.yaml").predict)
    require("--no-such.yaml" in str(dashed), str(dashed))
    text = str(job.sweep({"nodes": [1, 2, 4]}))
    require(text.startswith("payoff.Columns of 36 rows and ") and len(text.splitlines()) <= 15 and
            "speedup" in text and max(map(len, text.splitlines())) <= 100, text)
    for thrown in (error, raised(payoff.InputError, job.predict, {"layout.tpp": 2}), dashed):
        sent = pickle.loads(pickle.dumps(thrown))
        require((str(sent), sent.diagnostics) == (str(thrown), thrown.diagnostics), "pickled")
    require(str(payoff.Columns()) == "payoff.Columns of 0 rows and 0 columns", "no columns")
