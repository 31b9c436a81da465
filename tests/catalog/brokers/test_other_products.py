"""Products other than Apache Kafka are identified by their fingerprints."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from rollcall.catalog.apis import known_apis
from rollcall.catalog.brokers.identify import identify_release
from rollcall.catalog.brokers.other_products import FILE, OtherProduct, build_products
from rollcall.catalog.brokers.result import BrokerKind, EvidenceKind
from rollcall.catalog.loader import TableError, read_table
from rollcall.catalog.releases.api_ranges import listed_ranges
from rollcall.catalog.releases.release_lines import known_release_lines

REAL = {
    row["product"]: {int(key): tuple(pair) for key, pair in row["ranges"].items()}
    for row in json.loads((Path(__file__).parent / "data" / "other_products.json").read_text())
}


def test_redpanda_is_identified_with_a_minimum_version() -> None:
    inference = identify_release(REAL["Redpanda"])
    assert inference.kind is BrokerKind.OTHER
    assert inference.other_products == (OtherProduct("Redpanda", since="24.3"),)
    assert inference.candidates == ()
    assert inference.evidence[0].kind is EvidenceKind.PRODUCT_FINGERPRINT


def test_an_older_redpanda_is_identified_with_a_maximum_version() -> None:
    inference = identify_release({**REAL["Redpanda"], 3: (0, 7), 18: (0, 2)})
    assert inference.other_products == (OtherProduct("Redpanda", until="22.1"),)


def test_redpanda_is_identified_without_transactions_and_from_an_error_response() -> None:
    fewer = {key: r for key, r in REAL["Redpanda"].items() if key not in (22, 24, 25, 26, 28)}
    assert identify_release(fewer, error_code=35).other_products[0].name == "Redpanda"


def test_event_hubs_is_identified() -> None:
    assert identify_release(REAL["Azure Event Hubs"]).other_products == (
        OtherProduct("Azure Event Hubs"),
    )


def test_automq_is_identified_by_its_api_keys_or_its_feature() -> None:
    ranges = dict(listed_ranges("3.9"))
    by_keys = identify_release({**ranges, 501: (0, 0), 600: (0, 0)})
    by_feature = identify_release(ranges, supported_features={"automq.version": (1, 6)})
    for inference in (by_keys, by_feature):
        assert inference.kind is BrokerKind.OTHER
        assert inference.other_products == (OtherProduct("AutoMQ"),)
        assert inference.closest is not None
        assert inference.closest.line == "3.9"


def test_products_with_a_documented_set_of_api_keys_are_identified() -> None:
    for row in read_table(FILE)["products"]:
        for fingerprint in row["fingerprints"]:
            if "keys" in fingerprint:
                inference = identify_release(dict.fromkeys(fingerprint["keys"], (0, 1)))
                assert inference.other_products == (OtherProduct(row["name"]),)


def test_no_release_of_apache_kafka_matches_a_product_fingerprint() -> None:
    for line in known_release_lines():
        for mode, ranges in line.ranges.items():
            assert identify_release(ranges).other_products == (), (line.name, mode)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Redpanda"}, "row Redpanda: duplicate name"),
        ({"fingerprints": []}, "an empty fingerprint matches any broker"),
        ({"fingerprints": [{}]}, "an empty fingerprint matches any broker"),
        ({"fingerprints": [{"lists": {"Fecth": [0, 1]}}]}, "there is no API Fecth"),
        ({"fingerprints": [{"lacks": ["Fecth"]}]}, "there is no API Fecth"),
        ({"fingerprints": [{"list": {}}]}, "has the unknown field list"),
        ({"fingerprints": [{"lists": {"Fetch": [3]}}]}, "Fetch has the range"),
    ],
)
def test_build_products_names_the_file_and_row_of_an_invalid_row(
    change: dict[str, Any], message: str
) -> None:
    rows = copy.deepcopy(read_table(FILE)["products"])
    rows[2] = {**rows[2], **change}
    with pytest.raises(TableError, match=message) as caught:
        build_products(rows, known_apis())
    assert "other_products.json" in caught.value.message
