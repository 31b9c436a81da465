import os
import time
from pathlib import Path

import pytest

from rollcall.errors import RollcallError
from rollcall.server.rolling_file import RollingFile


def at_hour(hour: int, minute: int = 0) -> float:
    return time.mktime((2026, 3, 1, hour, minute, 0, 0, 0, -1))


def test_file_rolls_every_hour(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "kafka-request.log"
    file = RollingFile(path)
    file.write(time.time(), "now\n")
    file.close()
    path.unlink()
    file = RollingFile(path)
    file._open(at_hour(10))
    for hour, minute in ((10, 0), (10, 59), (11, 0), (11, 30), (13, 5)):
        file.write(at_hour(hour, minute), f"{hour}:{minute:02d}\n")
    file.close()
    rolled = {p.name: p.read_text() for p in path.parent.iterdir() if "2026" in p.name}
    assert rolled["kafka-request.log.2026-03-01-10"] == "10:00\n10:59\n"
    assert rolled["kafka-request.log.2026-03-01-11"] == "11:00\n11:30\n"
    assert path.read_text() == "13:05\n"


def test_file_of_an_earlier_hour_is_rolled_at_start_without_overwriting(
    tmp_path: Path,
) -> None:
    path = tmp_path / "kafka-request.log"
    for number in range(2):
        path.write_text(f"old {number}\n")
        os.utime(path, (at_hour(10), at_hour(10)))
        RollingFile(path).close()
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == [
        "kafka-request.log",
        "kafka-request.log.2026-03-01-10",
        "kafka-request.log.2026-03-01-10.1",
    ]
    assert path.read_text() == ""


def test_file_of_the_current_hour_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "kafka-request.log"
    for number in range(2):
        file = RollingFile(path)
        file.write(time.time(), f"{number}\n")
        file.close()
    assert "0\n" in "".join(p.read_text() for p in tmp_path.iterdir())


def test_directory_that_cannot_be_created_is_reported_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RollcallError) as raised:
        RollingFile(tmp_path / "file" / "kafka-request.log")
    assert raised.value.hint
