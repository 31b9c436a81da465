"""Fewer questions to Java while a plan is built.

PySpark looks a class and its member up anew for every function that a plan calls, and Java goes
through all its jars for some of them: two questions beside each that does something. The classes
do not change while Java runs, so what was found is kept.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass

ASKED_OFTEN = ("org.apache.spark.sql.functions", "functions", "PythonUtils")
"""As PySpark calls them."""


class KnownClass(JavaClass):  # type: ignore[misc]
    """A class of Java whose members are looked up once."""

    def __getattr__(self, name: str) -> Any:
        member = super().__getattr__(name)
        setattr(self, name, member)
        return member


def keep_classes(jvm: Any) -> None:
    for name in ASKED_OFTEN:
        found = getattr(jvm, name)
        setattr(jvm, name, KnownClass(found._fqn, found._gateway_client))
