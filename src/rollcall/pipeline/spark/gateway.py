"""Fewer questions to Java while a plan is built.

PySpark looks a class and its member up anew for every function that a plan calls, and Java goes
through all its jars for some of them: two questions beside each that does something. The classes
do not change while Java runs, so what was found is kept.

Nor do columns: what a function has made of the same texts, numbers and columns before is kept
too. The plan of one batch is that of the batch before, but for its files, and of some 2,500
questions less than a tenth is left.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaObject

ASKED_OFTEN = ("org.apache.spark.sql.functions", "functions", "PythonUtils")
"""As PySpark calls them."""
RANDOM = frozenset({"rand", "randn", "randstr", "shuffle", "uniform", "uuid"})
"""Every call of these is another column."""
MOST_ANSWERS = 20_000
LONGEST_TEXT = 10_000
"""A text that is longer does not come again."""

Answers = dict[Hashable, Any]


class KnownClass(JavaClass):  # type: ignore[misc]
    """A class of Java whose members are looked up once."""

    def __init__(self, found: JavaClass, answers: Answers) -> None:
        super().__init__(found._fqn, found._gateway_client)
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        member = super().__getattr__(name)
        if isinstance(member, JavaMember) and name not in RANDOM:
            member = AskedOnce(member, self._answers)
        setattr(self, name, member)
        return member


class KnownObject(JavaObject):  # type: ignore[misc]
    """A column, or a list of some. It never changes, nor does what its methods make of it."""

    _answers: Answers

    def __getattr__(self, name: str) -> Any:
        return AskedOnce(super().__getattr__(name), self._answers)


class AskedOnce:
    """A method that makes the same of the same."""

    def __init__(self, member: Any, answers: Answers) -> None:
        self._member, self._answers = member, answers

    def __call__(self, *args: object) -> Any:
        try:
            question = (self._member.command_header, *map(known, args))
        except UnknownError:
            return self._member(*args)
        answer = self._answers.get(question)
        if answer is None:
            answer = self._member(*args)
            if type(answer) is JavaObject:
                answer.__class__ = KnownObject
                answer._answers = self._answers
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
            self._answers[question] = answer
        return answer


class UnknownError(Exception):
    """Asked with what may change, or will not be asked with again."""


def known(arg: object) -> Hashable:
    """What tells an argument from all others; Java would be asked whether two objects are equal,
    and Python takes 1 for True."""
    if isinstance(arg, KnownObject):
        return KnownObject, arg._target_id
    if isinstance(arg, list | tuple):
        return type(arg), *map(known, arg)
    if isinstance(arg, bool | int | float | None) or (
        isinstance(arg, str) and len(arg) <= LONGEST_TEXT
    ):
        return type(arg), arg
    raise UnknownError


def keep_classes(jvm: Any) -> None:
    answers: Answers = {}
    for name in ASKED_OFTEN:
        setattr(jvm, name, KnownClass(getattr(jvm, name), answers))
