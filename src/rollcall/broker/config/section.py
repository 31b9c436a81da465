"""Typed access to a TOML table: unknown keys are errors, errors show the path of the key."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

from rollcall.errors import ConfigError

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

_TYPE_NAMES = {str: "a string", int: "an integer", float: "a number", bool: "true or false"}


class ConfigSection:
    """One table of the document; `close` rejects the keys that were not read."""

    def __init__(self, values: Mapping[str, Any], path: str = "") -> None:
        self.path = path
        self._values = dict(values)
        self._known: set[str] = set()

    def where(self, key: str) -> str:
        """Dotted path of a key, for error messages."""
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

    def text_or_null(self, key: str, default: str | None) -> str | None:
        """A string, or None for `false`, as TOML has no null."""
        if self._values.get(key) is False:
            self.has(key)
            return None
        value: str | None = self._take(key, str, default, suffix=", or false for null")
        return value

    def choice(self, key: str, choices: type[E], default: E) -> E:
        value = self._take(key, str, default)
        try:
            return choices(value)
        except ValueError:
            raise self._wrong(key, value, f"one of {', '.join(choices)}") from None

    def secret(self, key: str) -> str | None:
        """A string that errors do not show. An integer is accepted: quotes are often forgotten."""
        if not self.has(key):
            return None
        value = self._values[key]
        if type(value) not in (str, int):
            raise ConfigError(f"{self.where(key)} is not a string", hint="write it in quotes")
        return str(value)

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        return self._list(key, str, default, "a list of strings")

    def numbers(self, key: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        return self._list(key, int, default, "a list of integers")

    def text_or_texts(self, key: str) -> str | tuple[str, ...]:
        if isinstance(self._values.get(key), str):
            return str(self.text(key))
        return self._list(key, str, (), "a string, or a list of strings")

    @contextmanager
    def section(self, key: str) -> Iterator["ConfigSection"]:
        """The table inside this one, empty if it is missing; closed at the end of the block."""
        self._known.add(key)
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, value, f"a table, [{self.where(key)}]")
        inner = ConfigSection(value, self.where(key))
        yield inner
        inner.close()

    def names(self) -> list[str]:
        """All keys, for tables whose keys are names that the user chooses."""
        return list(self._values)

    def close(self) -> None:
        for key in self._values.keys() - self._known:
            similar = get_close_matches(key, self._known, n=1)
            known = ", ".join(sorted(self._known))
            raise ConfigError(
                f"the setting {self.where(key)} is unknown",
                hint=f"did you mean {self.where(similar[0])}?"
                if similar
                else f"use one of {known}",
            )

    def make(self, build: Callable[..., Any], **values: Any) -> Any:
        """Construct a validated value; errors get the path of this section."""
        try:
            return build(**values)
        except ConfigError as error:
            if not self.path:
                raise
            raise ConfigError(f"[{self.path}] {error.message}", hint=error.hint) from None

    def _take(self, key: str, kind: type, default: Any, suffix: str = "") -> Any:
        if not self.has(key):
            return default
        value = self._values[key]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise self._wrong(key, value, _TYPE_NAMES[kind] + suffix)
        return value

    def _list(self, key: str, kind: type[T], default: tuple[T, ...], wanted: str) -> tuple[T, ...]:
        if not self.has(key):
            return default
        value = self._values[key]
        if not isinstance(value, list) or any(type(item) is not kind for item in value):
            raise self._wrong(key, value, wanted)
        return tuple(value)

    def _wrong(self, key: str, value: object, wanted: str) -> ConfigError:
        kind = "table" if isinstance(value, dict) else type(value).__name__
        shown = repr(value) if isinstance(value, str | int | float) else f"a {kind}"
        return ConfigError(f"{self.where(key)} is {shown}", hint=f"it must be {wanted}")
