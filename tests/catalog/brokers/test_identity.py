"""What a broker is, and where that came from."""

from rollcall.catalog.brokers.identify import identify_release
from rollcall.catalog.brokers.identity import identify_broker
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.releases.api_ranges import listed_ranges

GUESS = identify_release(listed_ranges("3.9"))


def test_885_4_what_a_broker_reports_is_kept_as_it_came() -> None:
    identity = identify_broker("Red\x1bpanda", "", inference=GUESS)
    assert (identity.provenance, identity.name, identity.version) == (
        Provenance.REPORTED,
        "Red\x1bpanda",
        "",
    )
    assert identity.inference is GUESS


def test_885_4_half_a_report_is_not_filled_up_by_a_guess() -> None:
    identity = identify_broker("Kafka", None, inference=GUESS)
    assert (identity.provenance, identity.version) == (Provenance.REPORTED, None)


def test_885_4_a_setting_comes_before_a_guess() -> None:
    identity = identify_broker(configured="2.8", inference=GUESS)
    assert (identity.provenance, identity.name, identity.version) == (
        Provenance.CONFIGURED,
        None,
        "2.8",
    )


def test_885_3_a_guess_is_never_put_in_the_fields_of_a_report() -> None:
    identity = identify_broker(inference=GUESS)
    assert (identity.provenance, identity.name, identity.version) == (
        Provenance.INFERRED,
        None,
        None,
    )
    assert identity.inference is not None
    assert identity.inference.line == "3.9"


def test_885_4_nothing_known_is_missing() -> None:
    assert identify_broker().provenance is Provenance.MISSING
    assert identify_broker(inference=identify_release({})).provenance is Provenance.MISSING
