"""A document of settings: every value has its type, every key a meaning, every error a path.

A `Section` is a table of the document. Values are taken out of it one by one; what nobody took when
it is closed is a key that means nothing, which is told with the nearest one that does.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

from rollcall.errors import ConfigError

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class Section:
    """One table of the document, and the path that leads to it."""

    def __init__(self, values: Mapping[str, Any], path: str = "") -> None:
        self.path = path
        self._values = dict(values)
        self._known: set[str] = set()

    def where(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        self._known.add(key)
        return key in self._values

    def text(self, key: str, default: Any = None) -> Any:
        return self._take(key, str, default)

    def number(self, key: str, default: Any = None) -> Any:
        return self._take(key, int, default)

    def seconds(self, key: str, default: Any = None) -> Any:
        return self._take(key, float, default)

    def flag(self, key: str, default: bool) -> bool:
        return bool(self._take(key, bool, default))

    def text_or_nothing(self, key: str, default: str | None) -> str | None:
        """TOML has no null: `false` stands for it."""
        if self._values.get(key) is False:
            self.has(key)
            return None
        value: str | None = self._take(key, str, default, or_else=" or false for nothing")
        return value

    def choice(self, key: str, choices: type[E], default: E) -> E:
        value = self._take(key, str, default)
        try:
            return choices(value)
        except ValueError:
            raise self._wrong(key, value, f"one of {', '.join(choices)}") from None

    def secret(self, key: str) -> str | None:
        """A text that no error shows; a number whose quotes were forgotten is its digits."""
        if not self.has(key):
            return None
        value = self._values[key]
        if type(value) not in (str, int):
            raise ConfigError(f"{self.where(key)} is no text", hint="write it in quotes")
        return str(value)

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        return self._list(key, str, default, "a list of texts")

    def numbers(self, key: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        return self._list(key, int, default, "a list of whole numbers")

    def text_or_texts(self, key: str) -> str | tuple[str, ...]:
        """A list, or one text instead of it."""
        if isinstance(self._values.get(key), str):
            return str(self.text(key))
        return self._list(key, str, (), "text, or a list of texts")

    @contextmanager
    def section(self, key: str) -> Iterator["Section"]:
        """A table inside this one, an empty one if it is not there; closed at the end."""
        self._known.add(key)
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, value, f"a table, [{self.where(key)}]")
        inner = Section(value, self.where(key))
        yield inner
        inner.close()

    def sections(self) -> list[str]:
        """The keys of all tables inside this one, when their names are free to choose."""
        return list(self._values)

    def close(self) -> None:
        """Refuse the keys that nobody asked for."""
        for key in self._values.keys() - self._known:
            near = get_close_matches(key, self._known, n=1)
            known = ", ".join(sorted(self._known))
            raise ConfigError(
                f"there is no setting {self.where(key)}",
                hint=f"did you mean {self.where(near[0])}?" if near else f"known here are {known}",
            )

    def make(self, build: Callable[..., Any], **values: Any) -> Any:
        """Build a checked value; what it objects to is told with the path of this section."""
        try:
            return build(**values)
        except ConfigError as error:
            if not self.path:
                raise
            raise ConfigError(f"[{self.path}] {error.message}", hint=error.hint) from None

    def _take(self, key: str, kind: type, default: Any, or_else: str = "") -> Any:
        if not self.has(key):
            return default
        value = self._values[key]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise self._wrong(key, value, _NAMES[kind] + or_else)
        return value

    def _list(self, key: str, kind: type[T], default: tuple[T, ...], wanted: str) -> tuple[T, ...]:
        if not self.has(key):
            return default
        value = self._values[key]
        if not isinstance(value, list) or any(type(item) is not kind for item in value):
            raise self._wrong(key, value, wanted)
        return tuple(value)

    def _wrong(self, key: str, value: object, wanted: str) -> ConfigError:
        shown = repr(value) if isinstance(value, str | int | float) else f"a {_kind(value)}"
        return ConfigError(f"{self.where(key)} is {shown}", hint=f"it has to be {wanted}")


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "table"
    return type(value).__name__
