"""Archives of Java's classes, from which a session starts in half the time.

Half of a small job's time is Java loading some 15,000 classes. The first session leaves an
archive of them behind when it ends (class-data sharing); later ones start from it. Java does
without an archive that does not fit its version and class path, so that each pair of Java and Spark
has one of its own. A session that failed leaves none: it may have seen too little. An archive gets
its name when it is whole, so that two sessions which make one at the same time do not spoil it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark
from pyspark.find_spark_home import _find_spark_home

UNUSED_SECONDS = 30 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Archive:
    path: Path

    @property
    def exists(self) -> bool:
        return self.path.exists()

    @property
    def unfinished(self) -> Path:
        return self.path.with_suffix(f".{os.getpid()}")

    @property
    def flags(self) -> str:
        """For Java: to use the archive, or to make it."""
        use, make = f"SharedArchiveFile={self.path}", f"ArchiveClassesAtExit={self.unfinished}"
        return f"-XX:{use if self.exists else make} -Xshare:auto -Xlog:disable"

    def keep(self) -> None:
        """What Java has left under its unfinished name is the archive now."""
        with suppress(OSError):  # no archive, then
            self.unfinished.replace(self.path)
            forget_unused(self.path.parent)

    def is_used(self) -> None:
        with suppress(OSError):  # someone else's
            self.path.touch()


def archive_in(cache: Path, java: str) -> Archive | None:
    """None in a folder with a blank in its name: Spark cuts Java's options there."""
    if " " in str(cache):
        return None
    return Archive(cache / f"spark-{pyspark.__version__}-{_classes_digest(java)}.jsa")


def _classes_digest(java: str) -> str:
    """Changes with Java, with the folder that Spark is in, and when Spark is installed anew."""
    jars = Path(_find_spark_home()) / "jars"
    installed = jars.stat().st_mtime_ns if jars.exists() else 0
    which = f"{Path(shutil.which(java) or java).resolve()} {jars.resolve()} {installed}"
    return hashlib.sha256(which.encode()).hexdigest()[:8]


def forget_unused(cache: Path) -> None:
    """Archives of a Java or Spark that is gone."""
    oldest = time.time() - UNUSED_SECONDS
    for archive in cache.glob("spark-*.jsa"):
        with suppress(OSError):  # another session was here first
            if archive.stat().st_mtime < oldest:
                archive.unlink()
