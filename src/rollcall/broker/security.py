"""Security protocols by the number that requests know them by."""

from typing import Final

from rollcall.server import SecurityProtocol

IN_ORDER: Final = (
    SecurityProtocol.PLAINTEXT,
    SecurityProtocol.SSL,
    SecurityProtocol.SASL_PLAINTEXT,
    SecurityProtocol.SASL_SSL,
)


def number_of(protocol: SecurityProtocol) -> int:
    return IN_ORDER.index(protocol)


def name_of(number: int) -> str:
    """A number that nobody knows stands for itself."""
    return IN_ORDER[number].value if number in range(len(IN_ORDER)) else str(number)
