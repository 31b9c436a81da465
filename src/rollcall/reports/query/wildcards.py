"""Names with `*` for any text and `?` for any character; all else stands for itself.

In the globs of DuckDB and Python brackets and backslashes have a meaning, too: but a principal may
be `User:CN=Doe\\, John`, and a client id `loader[eu]`.
"""

from __future__ import annotations

import re
from functools import cache

from rollcall.tables.views import text

ANY = {"*": "%", "?": "_"}
ESCAPE = "~"


def like(column: str, pattern: str) -> str:
    """The condition in SQL."""
    parts = (ANY.get(c) or (f"{ESCAPE}{c}" if c in f"%_{ESCAPE}" else c) for c in pattern)
    return f"{column} LIKE {text(''.join(parts))} ESCAPE {text(ESCAPE)}"


def fits(name: str, pattern: str) -> bool:
    return _compiled(pattern).fullmatch(name) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = ({"*": ".*", "?": "."}.get(c) or re.escape(c) for c in pattern)
    return re.compile("".join(parts), re.DOTALL)
