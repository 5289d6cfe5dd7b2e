# SPDX-License-Identifier: Apache-2.0
"""What a sweep returns."""

import difflib
import textwrap

rows_shown, width_shown = 5, 100


def shown(columns):
    rows = min(len(columns), rows_shown)
    text, width, names = [""] * (rows + 1), 0, list(columns)
    shown = 0
    for name in names:
        cells = [name, *(f"{v:.6g}" if isinstance(v, float) else str(v)
                         for v in columns[name][:rows])]
        across = max(map(len, cells)) + 2
        if shown and width + across > width_shown:
            break
        text = [line + cell.rjust(across) for line, cell in zip(text, cells)]
        width += across
        shown += 1
    rest = ["  ..."] * (len(columns) > rows) if names else []
    more = (textwrap.wrap("and the columns " + ", ".join(names[shown:]), width_shown)
            if shown < len(names) else [])
    return "\n".join([f"payoff.Columns of {len(columns)} rows and {len(names)} columns",
                      *(text if names else []), *rest, *more])


class Columns(dict):
    """A sweep as columns: a dictionary of names and lists of equal length.

    A job and a strategy of it are one row. What a row has no value of is None.
    """

    __module__ = "payoff"

    def __missing__(self, name):
        near = difflib.get_close_matches(str(name), self, n=1)
        raise KeyError(f"no column {name!r}" + (f": did you mean {near[0]!r}?" if near else
                                                f"; there are {', '.join(self)}"))

    def __len__(self):
        return len(next(iter(self.values()), []))

    def __bool__(self):
        return len(self) > 0

    def __repr__(self):
        """Rows and columns, the first of both, and the names of all."""
        return shown(self)

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
