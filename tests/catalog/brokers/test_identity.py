"""What a broker is, and where that came from."""

from rollcall.catalog.brokers.identify import identify_release
from rollcall.catalog.brokers.identity import identify_broker
from rollcall.catalog.provenance import Source
from rollcall.catalog.releases.api_ranges import ranges_of

GUESS = identify_release(ranges_of("3.9"))


def test_885_4_what_a_broker_reports_is_kept_as_it_came() -> None:
    identity = identify_broker("Red\x1bpanda", "", guess=GUESS)
    assert (identity.source, identity.name, identity.version) == (
        Source.REPORTED,
        "Red\x1bpanda",
        "",
    )
    assert identity.guess is GUESS


def test_885_4_half_a_report_is_not_filled_up_by_a_guess() -> None:
    identity = identify_broker("Kafka", None, guess=GUESS)
    assert (identity.source, identity.version) == (Source.REPORTED, None)


def test_885_4_a_setting_comes_before_a_guess() -> None:
    identity = identify_broker(configured="2.8", guess=GUESS)
    assert (identity.source, identity.name, identity.version) == (Source.CONFIGURED, None, "2.8")


def test_885_3_a_guess_is_never_put_in_the_fields_of_a_report() -> None:
    identity = identify_broker(guess=GUESS)
    assert (identity.source, identity.name, identity.version) == (Source.INFERRED, None, None)
    assert identity.guess is not None
    assert identity.guess.line == "3.9"


def test_885_4_nothing_known_is_missing() -> None:
    assert identify_broker().source is Source.MISSING
    assert identify_broker(guess=identify_release({})).source is Source.MISSING
