# SPDX-License-Identifier: Apache-2.0
"""What the program says of mistakes, as exceptions; the package payoff shows them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """One mistake in an input, where it stands, and what was meant."""

    __module__ = "payoff"

    message: str
    severity: str = "error"
    file: str = ""
    argument: str = ""  # of the function, where the mistake is in one: "sample"; of command(): the word
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

    __module__ = "payoff"

    def __init__(self, diagnostics):
        self.diagnostics = list(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self):
        return "\n".join(map(str, self.diagnostics))


class InputError(PayoffError, ValueError):
    """The input has mistakes: nothing was predicted (exit code 2 of the program)."""

    __module__ = "payoff"


class ArgumentError(InputError, TypeError):
    """An argument of a type that nothing can be made of: Python's own error of that kind too."""

    __module__, __qualname__ = "payoff", "InputError"

    def __reduce__(self):
        return InputError, (self.diagnostics,)  # to another process


class FailureError(PayoffError, OSError):
    """Something could not be read, written or run (exit code 1)."""

    __module__ = "payoff"


class PayoffWarning(UserWarning):
    """What the program would warn of on stderr."""

    __module__ = "payoff"
