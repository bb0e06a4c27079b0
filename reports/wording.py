"""The format of numbers in every output."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from scope.records import Estimate, Setting, Undefined


def number(value: float, *, signed: bool = False) -> str:
    """Three decimals; with a true minus sign, and a plus sign if ``signed``.

    >>> number(0.93149), number(0.25, signed=True), number(-0.25), number(-0.0001)
    ('0.931', '+0.250', '−0.250', '0.000')
    """
    return _with_true_minus(f"{value:+.3f}" if signed else f"{value:.3f}")


def _with_true_minus(text: str) -> str:
    """A written number; zero has no sign."""
    return text.replace("-", "−") if float(text) else text.lstrip("+-")


def two_digits(value: float) -> str:
    """Two decimals without the leading zero, for cells where many numbers stand close.

    >>> two_digits(0.4312), two_digits(-0.05), two_digits(1.0), two_digits(-0.001)
    ('.43', '−.05', '1.0', '.00')
    """
    text = f"{value:.2f}"
    if text in {"1.00", "-1.00"}:
        text = text[:-1]
    text = text.replace("0.", ".", 1) if abs(value) < 0.995 else text
    return ".00" if text == "-.00" else text.replace("-", "−")


def two_that_count(value: float) -> str:
    """Two digits from the first that is not 0 on, at most six decimals.

    >>> [two_that_count(value) for value in (0.000213, 0.0999, 12.34, 0.0)]
    ['0.00021', '0.10', '12', '0']
    """
    value = float(f"{value:.2g}")
    decimals = min(6, max(0, 1 - math.floor(math.log10(abs(value))))) if value else 0
    return _with_true_minus(f"{value:.{decimals}f}")


def short(estimate: Estimate | Undefined, *, narrow: bool = False) -> str:
    """An estimate in two decimals with its interval, or why there is none.

    >>> half = Estimate(value=-0.5, low=-0.751, high=0.25, n=8, method="bootstrap")
    >>> short(half), short(half, narrow=True), short(Undefined(reason="no pair"))
    ('−0.50 [−0.75, 0.25]', '−.50 [−.75, .25]', 'undefined (no pair)')
    """
    if isinstance(estimate, Undefined):
        return str(estimate)
    numbers = (estimate.value, estimate.low, estimate.high)
    write = two_digits if narrow else (lambda value: _with_true_minus(f"{value:.2f}"))
    value, low, high = map(write, numbers)
    return f"{value} [{low}, {high}]"


def percent(value: float) -> str:
    """A share in per cent with one decimal, without the sign; the digits are those of `number`.

    >>> percent(0.93149), percent(0.0015), number(0.0015)
    ('93.1', '0.2', '0.002')
    """
    return f"{100 * round(value, 3):.1f}"


def in_percent(*values: float) -> list[str]:
    """Per cent without the sign for a sentence: about two digits, the same for all values.

    >>> in_percent(0.4142, 0.3834, 0.4451), in_percent(0.0042, -0.011), in_percent(0.997)
    (['41', '38', '45'], ['0.4', '−1.1'], ['99.7'])
    """
    digits = 0 if 0.095 <= abs(values[0]) <= 0.95 else 1
    return [_with_true_minus(f"{100 * value:.{digits}f}") for value in values]


def rounded_percent(share: float) -> str:
    """A share in per cent for a sentence, in about two digits.

    >>> rounded_percent(0.4142), rounded_percent(0.997)
    ('41\xa0%', '99.7\xa0%')
    """
    return f"{in_percent(share)[0]}\u00a0%"


def short_share(estimate: Estimate | Undefined) -> str:
    """A share in per cent with its interval, in about two digits, or why there is none.

    >>> short_share(Estimate(value=0.284, low=0.25, high=0.31, n=9, method="Wilson"))
    '28\xa0% [25, 31]'
    """
    if isinstance(estimate, Undefined):
        return str(estimate)
    share, *ends = in_percent(estimate.value, estimate.low, estimate.high)
    return f"{share}\u00a0% [{', '.join(ends)}]"


def points(value: float) -> str:
    """A difference of shares in points of a hundred, with its sign.

    >>> points(0.0163), points(-0.25), points(-0.0001)
    ('+1.6', '−25.0', '0.0')
    """
    return _with_true_minus(f"{100 * round(value, 3):+.1f}")


def short_points(estimate: Estimate | Undefined) -> str:
    """A difference of shares with its interval in points, or why there is none.

    >>> short_points(Estimate(value=-0.117, low=-0.149, high=0.01, n=9, method="Tango"))
    '−11.7 [−14.9, +1.0]'
    """
    if isinstance(estimate, Undefined):
        return str(estimate)
    value, low, high = map(points, (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def whole(estimate: Estimate | Undefined) -> str:
    """An estimate in whole numbers with its interval, or why there is none.

    >>> whole(Estimate(value=74.2, low=66.0, high=79.8, n=9, method="bootstrap"))
    '74 [66, 80]'
    """
    if isinstance(estimate, Undefined):
        return str(estimate)
    return f"{estimate.value:.0f} [{estimate.low:.0f}, {estimate.high:.0f}]"


def p_value(value: float | None) -> str:
    """A p-value with three decimals, or a bound below that.

    >>> p_value(0.0123), p_value(0.0004), p_value(None)
    ('0.012', '< 0.001', 'none')
    """
    if value is None:
        return "none"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def setting(value: Setting) -> str:
    """A setting as a person would write it.

    >>> setting(True), setting(None), setting(0.1)
    ('yes', 'none', '0.1')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """An estimate as it is printed; a ``remark`` is below it in a table."""

    estimate: Estimate | Undefined
    value: str
    interval: str = ""
    remark: str = ""

    @property
    def reason(self) -> str | None:
        """The reason why it is undefined; None if it has a value."""
        return self.estimate.reason if isinstance(self.estimate, Undefined) else None

    @property
    def method(self) -> str:
        """The level of the interval and the method; empty if it is undefined."""
        if isinstance(self.estimate, Undefined):
            return ""
        return f"{100 * self.estimate.level:g}\u00a0%, {self.estimate.method}"

    @property
    def n(self) -> int:
        """The number of examples of the estimate."""
        return self.estimate.n

    @classmethod
    def of(cls, estimate: Estimate | Undefined, *, signed: bool = False) -> Cell:
        """An estimate with three decimals, or why there is none.

        >>> Cell.of(Estimate(value=0.5, low=0.25, high=0.75, n=8, method="bootstrap")).interval
        '[0.250, 0.750]'
        >>> Cell.of(Undefined(reason="no pair")).value
        'undefined'
        """
        return cls._written(estimate, lambda value: number(value, signed=signed), unit="")

    @classmethod
    def small(cls, estimate: Estimate | Undefined) -> Cell:
        """An estimate of any size, in two digits that count.

        >>> Cell.small(Estimate(value=0.0016, low=0.0, high=0.0125, n=8, method="t")).interval
        '[0, 0.013]'
        """
        return cls._written(estimate, two_that_count, unit="")

    @classmethod
    def share(cls, estimate: Estimate | Undefined) -> Cell:
        """An estimated share in per cent.

        >>> half = Estimate(value=0.5, low=0.25, high=0.75, n=8, method="bootstrap")
        >>> Cell.share(half).value, Cell.share(half).interval
        ('50.0\xa0%', '[25.0, 75.0]')
        """
        return cls._written(estimate, percent, unit="\u00a0%")

    @classmethod
    def points(cls, estimate: Estimate | Undefined) -> Cell:
        """An estimated difference of shares.

        >>> gain = Estimate(value=0.5, low=-0.25, high=0.75, n=8, method="bootstrap")
        >>> Cell.points(gain).value, Cell.points(gain).interval
        ('+50.0\xa0points', '[−25.0, +75.0]')
        """
        return cls._written(estimate, points, unit="\u00a0points")

    @classmethod
    def _written(
        cls, estimate: Estimate | Undefined, write: Callable[[float], str], *, unit: str
    ) -> Cell:
        if isinstance(estimate, Undefined):
            return cls(estimate=estimate, value="undefined")
        interval = f"[{write(estimate.low)}, {write(estimate.high)}]"
        return cls(estimate=estimate, value=f"{write(estimate.value)}{unit}", interval=interval)


def as_sentence(text: str) -> str:
    """A text that begins with a capital letter; the other letters stay.

    >>> as_sentence("half of GPT-4's answers")
    "Half of GPT-4's answers"
    """
    return f"{text[:1].upper()}{text[1:]}"


def comma_list(parts: Sequence[str], last: str = " and ") -> str:
    """Several names in a sentence: commas, and ``last`` before the last one.

    >>> comma_list(["a", "b", "c"]), comma_list(["a"]), comma_list([])
    ('a, b and c', 'a', '')
    """
    return last.join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def rounded_up(rows: int) -> int:
    """The next number of two digits and zeros.

    Examples
    --------
    >>> rounded_up(1147), rounded_up(98)
    (1200, 98)
    """
    digits: int = 10 ** max(0, len(str(rows)) - 2)
    return -(-rows // digits) * digits


def short_names_of(names: Sequence[str]) -> dict[str, str]:
    """Names without folders and a common beginning, where they differ without, and read as names.

    >>> list(short_names_of(["meta/Meta-Llama-3-8B", "meta/Meta-Llama-3-8B-it"]).values())
    ['Llama-3-8B', 'Llama-3-8B-it']
    >>> list(short_names_of(["a/gpt-2", "b/gpt-2"]).values())
    ['a/gpt-2', 'b/gpt-2']
    """
    last = [name.rpartition("/")[2] if re.fullmatch(r"[\w./~-]+", name) else name for name in names]
    short = last if len(set(last)) == len(names) and all(last) else list(names)
    equal = takewhile(lambda letters: len(set(letters)) == 1, zip(*short, strict=False))
    common = "".join(letters[0] for letters in equal) if len(short) > 1 else ""
    # What remains begins with a letter, so that "3-8B" stays "Llama-3-8B".
    for end in sorted((match.end() for match in re.finditer("[-/ ]", common)), reverse=True):
        if all(name[end : end + 1].isalpha() for name in short):
            short = [name[end:] for name in short]
            break
    return dict(zip(names, short, strict=True))


def count_rivals(estimate: Estimate, others: Iterable[Estimate | Undefined]) -> int:
    """The number of other intervals that overlap with this one, by two decimals.

    Without any, the greatest, or the least, of several numbers is surely so.

    >>> one, other = (
    ...     Estimate(value=value, low=value - 0.1, high=value + 0.1, n=9, method="Wilson")
    ...     for value in (0.5, 0.6)
    ... )
    >>> count_rivals(one, [one, other]), count_rivals(one, [one])
    (1, 0)
    """
    return sum(
        round(estimate.low, 2) <= round(other.high, 2)
        and round(other.low, 2) <= round(estimate.high, 2)
        for other in others
        if isinstance(other, Estimate) and other is not estimate
    )
