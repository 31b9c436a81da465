"""Kafka's own schema files, from the jars of several releases, compared with ours.

Only the files are needed, no broker runs.
"""

from functools import cache
from typing import Any

import pytest

from rollcall.protocol.dialects import Dialect, dialect
from rollcall.protocol.schema import FieldSpec, StructSpec
from rollcall.protocol.versions import NO_VERSIONS
from tests.kafka.schema_files import kafkas_own
from tests.protocol.strategies import Chance, Maker, full_message

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

RELEASES = ("2.4.1", "2.8.2", "3.9.1", "4.3.0")
MESSAGES = {"2.4.1": 98, "2.8.2": 136, "3.9.1": 186, "4.3.0": 198}
OURS = {"Dialect", "StartTimeMs", "BrokerSoftwareName", "BrokerSoftwareVersion"}
"""Fields that released Kafka does not have."""
RELEASED = dialect("released")


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Any:
    @cache
    def of(version: str) -> Dialect:
        return kafkas_own(version, tmp_path_factory.mktemp(f"schemas-{version}"))

    return of


@pytest.mark.parametrize("release", RELEASES)
def test_kafka_schema_files_load_and_round_trip(schemas: Any, release: str) -> None:
    theirs = schemas(release)
    assert len(theirs.messages) == MESSAGES[release]
    for spec in theirs.messages.values():
        for version in spec.versions:
            codec = theirs.codec(spec.name, version)
            maker = Maker(Chance.seeded((spec.name, version)), theirs, version)
            for message in (full_message(theirs, spec.name, version), maker.message(spec.name)):
                assert codec.decode(codec.encode(message)) == message


Line = tuple[object, ...]


def layout(spec: StructSpec, version: int, flexible: bool) -> list[Line]:
    """The parts of a version that decide its bytes; struct names do not."""
    fields = [*spec.plain_fields(version), *spec.tagged_fields(version)]
    return [_line(f, version, flexible) for f in fields if f.name not in OURS]


def _line(field: FieldSpec, version: int, flexible: bool) -> Line:
    compact = flexible and (field.flexible is None or version in field.flexible)
    inner = field.struct and layout(field.struct, version, flexible)
    kind = ("array" if field.is_array else "one", "struct" if inner else field.element)
    default = None if isinstance(field.default, StructSpec) else field.default
    tag = field.tag if version in field.tagged else None
    return (field.name, kind, version in field.nullable, tag, compact, default, inner)


def bare(lines: Any) -> Any:
    """The shape alone: names, defaults and nulls were mended since, and tags can be added any time.

    Records were plain bytes in 2.4.
    """
    return [
        (arity, element.replace("records", "bytes"), compact, inner and bare(inner))
        for _, (arity, element), _, tag, compact, _, inner in lines
        if tag is None
    ]


def compared(theirs: Dialect) -> list[tuple[str, int]]:
    return [
        (name, version)
        for name, spec in theirs.messages.items()
        if name in RELEASED.messages
        for version in spec.versions
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_layouts_equal_those_of_kafka(schemas: Any, release: str) -> None:
    theirs = schemas(release)
    strict = release in ("3.9.1", "4.3.0")
    differing = []
    for name, version in compared(theirs):
        spec, own = theirs.spec(name), RELEASED.spec(name)
        assert version in own.versions
        lines = [layout(s, version, version in s.flexible) for s in (spec, own)]
        if not strict:
            lines = [bare(each) for each in lines]
        if lines[0] != lines[1] or (version in spec.flexible) != (version in own.flexible):
            differing.append((name, version))
    assert differing == []


def test_every_version_is_compared(schemas: Any) -> None:
    seen = {pair for release in RELEASES for pair in compared(schemas(release))}
    own = {(name, v) for name, spec in RELEASED.messages.items() for v in spec.versions}
    assert own - seen == set()


def test_deprecated_versions_equal_those_of_kafka(schemas: Any) -> None:
    theirs = schemas("3.9.1")
    for key, api in RELEASED.apis.items():
        if api.name == "JoinGroup":
            continue  # 3.9.2 and 4.0.1 removed the marks of 0 and 1
        expected = theirs.apis[key].request.deprecated if key in theirs.apis else NO_VERSIONS
        assert api.request.deprecated == expected, api.name
