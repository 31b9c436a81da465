import pytest

from rollcall.protocol.dialects import DIALECT_NAMES, RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from tests.broker.handlers.asking import ask

FIND_COORDINATOR = 10


@pytest.mark.parametrize("name", DIALECT_NAMES)
@pytest.mark.parametrize("version", dialect(RELEASED).apis[FIND_COORDINATOR].versions)
def test_nobody_coordinates_anything(name: str, version: int) -> None:
    many = version >= 4
    asked = {"coordinator_keys": ["a", "b"]} if many else {"key": "a"}
    answer = ask(FIND_COORDINATOR, version, name, asked)
    found = answer.coordinators if many else [answer]
    assert [c.key for c in answer.coordinators] == (["a", "b"] if many else [])
    assert {(c.error_code, c.node_id, c.host, c.port) for c in found} == {
        (Errors.COORDINATOR_NOT_AVAILABLE, -1, "", -1)
    }


def test_a_key_that_is_named_twice_is_told_once() -> None:
    answer = ask(FIND_COORDINATOR, 4, RELEASED, {"coordinator_keys": ["a", "b", "a"]})
    assert [c.key for c in answer.coordinators] == ["a", "b"]
