from collections.abc import Iterator

import pytest

from tests.broker.running import RunningCluster, running_cluster
from tests.broker.secured import Secured, write_secured


@pytest.fixture(scope="session")
def cluster() -> Iterator[RunningCluster]:
    """Three nodes with the default configuration, shared by tests that do not change it."""
    with running_cluster() as started:
        yield started


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Secured:
    return write_secured(tmp_path_factory.mktemp("secured"))


@pytest.fixture(scope="session")
def secured_cluster(secured: Secured) -> Iterator[RunningCluster]:
    """Two nodes with all kinds of listeners and an authorizer."""
    logs = secured.directory / "data"
    with running_cluster("--config", str(secured.config), "--data-dir", str(logs)) as started:
        yield started
