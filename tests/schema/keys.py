#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds files against the schemas of their kinds, by a validator that is not ours.

  keys.py PROGRAM           every example and shipped profile is valid; every misspelt key is not
  keys.py PROGRAM --update  writes docs/schema/KIND.schema.json anew

Each schema in docs/schema has to be what `payoff schema KIND` prints.
"""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs" / "schema"
PROFILES = ["gpu", "fabric", "network", "cluster", "model", "software", "compression"]
KINDS = ["experiment", "topology", "gossip", *PROFILES, "survey"]
KEPT = ["result", "samples", "fitted"]  # by hand
TOPOLOGIES = sorted((ROOT / "examples" / "topologies").glob("*.yaml"))
MODELINE = "# yaml-language-server: $schema="


class Loader(yaml.SafeLoader):
    """YAML 1.2's own types, as editors have them: no dates, `1e3` a number, `on` a text."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
        ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
        ("int", r"[-+]?[0-9]+", "-+0123456789"),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+0123456789."),
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""])]:
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"),
                                 list(first))


def is_experiment(file):
    return "\nexperiment:" in file.read_text(encoding="utf-8")


def printed(program, kind):
    return subprocess.run([program, "schema", kind], capture_output=True, text=True,
                          check=True).stdout


def files_of(kind):
    files = list((ROOT / "profiles" / "keys").glob(f"{kind}.*.yaml"))
    if kind == "experiment":
        files += (ROOT / "examples").glob("*/experiment.yaml")
        files += (f for f in TOPOLOGIES if is_experiment(f))
        files += [ROOT / "examples/diff/colleague.yaml", ROOT / "examples/switch/sharded.yaml"]
    elif kind == "survey":
        files.append(ROOT / "examples" / "11-survey" / "grid.yaml")
    elif kind == "gossip":
        files += (ROOT / "examples" / "gossip").glob("*.yaml")
    elif kind == "topology":
        files += (f for f in TOPOLOGIES if not is_experiment(f))
    else:
        files += (f for f in (ROOT / "profiles" / kind).glob("*.yaml") if f.stem != "sources")
    if kind == "compression":
        files.append(ROOT / "examples" / "own-compressor" / "eighths.yaml")
    return sorted(files)


def misspelt(document, path=()):
    """The document with one key misspelt, for every key of a section of ours."""
    if isinstance(document, dict):
        for key in document:
            yield path + (key,)
            yield from misspelt(document[key], path + (key,))
    elif isinstance(document, list):
        for i, item in enumerate(document):
            yield from misspelt(item, path + (i,))


def with_other_key(document, path):
    changed = copy.deepcopy(document)
    place = changed
    for part in path[:-1]:
        place = place[part]
    place["qqq"] = place.pop(path[-1])
    return changed


def has_own_names(path):
    """Maps whose keys are names, and what nobody looks into."""
    above = path[:-1]
    free = {"citations", "parameters", "where", "environment", "samples", "measured", "codecs",
            "composes", "directions", "compress"}
    return bool(above) and any(part in free for part in above)


def check_kind(program, kind, jsonschema, problems):
    committed = (SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8")
    if committed != printed(program, kind):
        problems.append(f"docs/schema/{kind}.schema.json is not what `payoff schema {kind}` prints")
    schema = json.loads(committed)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    count = 0
    for file in files_of(kind):
        text = file.read_text(encoding="utf-8")
        document = yaml.load(text, Loader)
        name = file.relative_to(ROOT)
        count += 1
        for error in validator.iter_errors(document):
            problems.append(f"{name}: {'/'.join(map(str, error.absolute_path))}: "
                            f"{error.message[:200]}")
        if "keys" not in file.parts and "profiles" not in file.parts and MODELINE not in text:
            problems.append(f"{name} has no line `{MODELINE}...`")
        for line in text.splitlines():
            if line.startswith(MODELINE):
                meant = (file.parent / line[len(MODELINE):]).resolve()
                if meant != SCHEMAS / f"{kind}.schema.json":
                    problems.append(f"{name} names the schema {meant}")
        if "keys" in file.parts:
            for path in misspelt(document):
                if not has_own_names(path) and validator.is_valid(with_other_key(document, path)):
                    problems.append(f"{name}: valid without {'/'.join(map(str, path))}, "
                                    "and with `qqq` instead")
    return count


def check_fitted(jsonschema, problems):
    """Shipped laws are valid, and none with a misspelt key of a law or of a fact in it is."""
    schema = json.loads((SCHEMAS / "fitted.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    files = sorted((ROOT / "profiles" / "fitted").glob("*.yaml"))
    for file in files:
        text = file.read_text(encoding="utf-8")
        if f"{MODELINE}../../docs/schema/fitted.schema.json\n" not in text:
            problems.append(f"{file.name} has no line `{MODELINE}...` of its schema")
        document = yaml.load(text, Loader)
        for error in validator.iter_errors(document):
            problems.append(f"{file.name}: {'/'.join(map(str, error.absolute_path))}: "
                            f"{error.message[:200]}")
        for section in ("implementation", "gpu", "software", "fabric", "network", "host"):
            for name, law in list(document.get(section, {}).items())[:1]:
                for path in misspelt({section: {name: law}}):
                    free = len(path) < 3 or "gemm_efficiency" in path[:-1] and len(path) == 4
                    if free or "measured" in path[:-1]:  # names, or of no fixed form
                        continue
                    part = {"citations": {}, section: {name: law}}
                    if validator.is_valid(with_other_key(part, path)):
                        problems.append(f"{file.name}: valid with `qqq` for {'/'.join(path)}")
    return len(files)


def check_documents(program, problems):
    """The documents that show every key are good ones."""
    files = [str(file) for file in sorted((ROOT / "profiles" / "keys").glob("*.yaml"))]
    # From here, as one of them names a file from the working folder.
    done = subprocess.run([program, "check", *files], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        problems.append(done.stderr)


def main():
    program = str(Path(sys.argv[1]).resolve())
    if "--update" in sys.argv:
        for kind in KINDS:
            (SCHEMAS / f"{kind}.schema.json").write_text(printed(program, kind), encoding="utf-8")
        return 0
    try:
        import jsonschema
    except ImportError:
        print("SKIPPED: python3-jsonschema is not installed")
        return 0
    problems = []
    count = sum(check_kind(program, kind, jsonschema, problems) for kind in KINDS)
    check_documents(program, problems)
    for kind in KEPT:
        if printed(program, kind) != (SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8"):
            problems.append(f"`payoff schema {kind}` does not print docs/schema/{kind}.schema.json")
    count += check_fitted(jsonschema, problems)
    print("\n".join(problems))
    print(f"{count} files of {len(KINDS)} kinds, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
