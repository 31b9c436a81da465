"""The application behind a client id."""

import copy

import pytest

from rollcall.catalog.clients.applications import (
    FILE,
    application_of,
    application_rules,
    build_rules,
)
from rollcall.catalog.loader import TableError, read_table


@pytest.mark.parametrize(
    ("client_id", "application"),
    [
        ("billing", "billing"),
        ("consumer-billing-3", "consumer-billing-*"),
        ("kafka-python-2.0.2", "kafka-python-*.*.*"),
        ("app-3f2504e0-4f89-11d3-9a0c-0305e82c3301", "app-*"),
        ("app-3F2504E0-4F89-11D3-9A0C-0305E82C3301-7", "app-*-*"),
        ("reader-9f86d081884c7d659a2feaa0c55ad015", "reader-*"),
        ("loader-6d4cf56db6-x2xpq", "loader-*"),
        ("decade", "decade"),
        ("", ""),
    ],
)
def test_what_varies_is_taken_out(client_id: str, application: str) -> None:
    assert application_of(client_id) == application
    assert application_of(application) == application


def test_instances_of_one_application_become_one() -> None:
    assert len({application_of(f"orders-{n}-producer") for n in range(100)}) == 1


def test_rules_hold_nothing_that_only_python_understands() -> None:
    for rule in application_rules():
        assert "(?" not in rule.find
        assert "\\" not in rule.find + rule.put


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ({"find": "["}, "row uuid: '\\['"),
        ({"put": "-"}, "row uuid: .* becomes"),
        ({"x": 1}, "field x"),
    ],
)
def test_a_spoilt_rule_is_named_with_its_file(spoil: dict[str, object], message: str) -> None:
    rows = copy.deepcopy(read_table(FILE)["rules"])
    rows[0] = {**rows[0], **spoil}
    with pytest.raises(TableError, match=message) as caught:
        build_rules(rows)
    assert "applications.json" in caught.value.message
