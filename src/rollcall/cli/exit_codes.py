"""Exit codes of all commands.

0 means success, 1 failure, 2 wrong usage or settings. Each other code belongs to the commands named
next to it, and their help lists it.
"""

OK = 0
FAILED = 1
USAGE = 2

PARTIAL = 3
"""brokers, connections: at least one broker or node did not respond."""
DIFFERENT = 3
"""api-versions --compare: the API versions differ."""
NO_MATCH = 3
"""identify: the response matches no known release or product."""
TIMED_OUT = 3
"""wait-restart: the timeout expired."""
NO_START_TIME = 4
"""wait-restart: a broker does not report its start time."""

IMPACT_BREAKS = 1
"""report impact: at least one client breaks (`Impact.exit_code`)."""
IMPACT_UNDECIDED = 3
"""report impact: no client breaks, but one is at risk or unknown, or coverage is too small."""

INTERRUPTED = 130
"""SIGINT (Ctrl-C)."""
TERMINATED = 143
"""SIGTERM."""
