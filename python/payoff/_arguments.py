# SPDX-License-Identifier: Apache-2.0
"""Arguments of functions as words of the command line, and what cannot be one."""

import json
import numbers
import os
from collections.abc import Iterable, Mapping

from ._diagnostics import ArgumentError, Diagnostic

is_written = "a text, a number, True, False, None, or lists and dictionaries of these"


def refuse(argument, message, help=""):
    raise ArgumentError([Diagnostic(message, argument=argument, help=help)])


def plain(value, path, wrong, inside=()):
    """The value in the types that JSON has, arrays and paths included; what has no place among them
    goes to `wrong`, as (path, what it is)."""
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        value = value.tolist()  # NumPy's numbers and arrays
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        if not is_unicode(value):
            wrong.append((path, "a text that is no Unicode"))
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    if not isinstance(value, (Mapping, list, tuple)):
        wrong.append((path, f"of type {type(value).__name__}"))
    elif id(value) in inside:
        wrong.append((path, "within itself"))
    elif isinstance(value, Mapping):
        return plain_mapping(value, path, wrong, (*inside, id(value)))
    else:
        return [plain(item, f"{path}[{i}]", wrong, (*inside, id(value)))
                for i, item in enumerate(value)]
    return None


def plain_mapping(mapping, path, wrong, inside):
    entries = {}
    for key, value in mapping.items():
        if isinstance(key, (str, int)):
            entries[str(key)] = plain(value, f"{path}.{key}".lstrip("."), wrong, inside)
        else:
            wrong.append((f"{path}.{key!r}".lstrip("."), f"a key of type {type(key).__name__}"))
    return entries


def is_unicode(text):
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def checked(value, argument, path=""):
    """As plain, or the exception that names everything that cannot be written."""
    wrong = []
    taken = plain(value, path, wrong)
    if wrong:
        raise ArgumentError([
            Diagnostic(f"`{place or argument}` is {what}", argument=argument,
                       help=f"what can be written is {is_written}") for place, what in wrong])
    return taken


def word(value, argument, expected):
    """A text or a path that is no option of the program."""
    if not isinstance(value, (str, os.PathLike)):
        refuse(argument, f"`{argument}` is {expected}, not of type {type(value).__name__}")
    text = checked(value, argument)
    if text.startswith("-"):
        refuse(argument, f"`{text}` is not {expected}")
    return text


def setting(key, value):
    value = checked(value, "set", key)
    if isinstance(value, (dict, list, bool)) or value is None:
        return f"{key}={json.dumps(value)}"
    return f"{key}={value}"


def series(key, values):
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        values = [values]
    values = checked(list(values), "over", key)
    if not values:
        refuse("over", f"`{key}` has no values")
    for i, value in enumerate(values):
        if value is None or isinstance(value, (dict, list)):
            what = "None" if value is None else f"a {type(value).__name__}"
            refuse("over", f"`{key}[{i}]` is {what}", "a value of an axis is a text or a number")
    return ",".join(json.dumps(value) if isinstance(value, bool) else str(value)
                    for value in values)


def keys(mapping, argument, example):
    """The items of a dictionary whose keys are those of an experiment."""
    if not isinstance(mapping, Mapping):
        refuse(argument, f"`{argument}` is a dictionary of keys and their values, not of type "
                f"{type(mapping).__name__}", f"for example {example}")
    for key in mapping:
        if not isinstance(key, str):
            refuse(argument, f"the key {key!r} is not a text but of type {type(key).__name__}",
                    f"for example {example}")
        checked(key, argument)
    return mapping.items()
