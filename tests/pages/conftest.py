import pytest


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove variables that change colours and widths."""
    for name in ("COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
