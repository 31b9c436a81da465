import pytest


@pytest.fixture(autouse=True)
def _a_plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer has set for colours or widths does not reach the tests."""
    for name in ("COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
