import pytest

from rollcall.server.refusals import RefusalCause, RefusalReason, Refusals


def test_refusals_are_logged_once_per_cause_and_interval(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refusals = Refusals()

    def lines() -> list[str]:
        found = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return found

    cause = RefusalCause("L", RefusalReason.MALFORMED, "10.0.0.1")
    for second in range(10):
        refusals.note(cause, float(second), "closed %s", "10.0.0.1:5")
    assert lines() == ["listener L: closed 10.0.0.1:5"]
    refusals.note(
        RefusalCause("L", RefusalReason.MALFORMED, "10.0.0.2"), 10.0, "closed %s", "10.0.0.2:5"
    )
    assert len(lines()) == 1, "another address is another cause"
    refusals.sweep(59.0)
    assert lines() == []
    refusals.sweep(60.0)
    assert lines() == ["listener L: 9 more refusals for 10.0.0.1 within 60 s (malformed)"]
    refusals.note(cause, 61.0, "closed %s", "10.0.0.1:5")
    assert len(lines()) == 1
    for number in range(1000):
        other = RefusalCause("L", RefusalReason.MALFORMED, f"10.0.1.{number}")
        refusals.note(other, 62.0, "closed %s", number)
    assert len(lines()) == 63
    refusals.flush()
    assert lines() == ["937 more refusals for other causes within 60 s"]
    assert refusals.counts["L", RefusalReason.MALFORMED] == 1012
