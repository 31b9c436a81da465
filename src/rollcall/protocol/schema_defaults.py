"""Default values: what a schema writes for one, as a value of the field's type."""

import struct
from typing import Any
from uuid import UUID

from rollcall.protocol.primitives import FIXED, ZERO_UUID


def _integer(given: object) -> int:
    return int(str(given), 0) if given not in (None, "") else 0


def _boolean(given: object) -> bool:
    words = {"true": True, "false": False, "none": False, "": False}
    if str(given).lower() not in words:
        raise ValueError(given)
    return words[str(given).lower()]


def _bytes(given: object) -> bytes:
    if given not in (None, ""):
        raise ValueError(given)
    return b""


_DEFAULTS: dict[str, Any] = {
    "bool": _boolean,
    **dict.fromkeys(("int8", "int16", "uint16", "int32", "uint32", "int64"), _integer),
    "float64": lambda given: float(given or 0),
    "string": lambda given: str(given or ""),
    "uuid": lambda given: UUID(str(given)) if given else ZERO_UUID,
    "bytes": _bytes,
    # In Kafka a records field that nobody sets is null.
    "records": lambda _: None,
}


def default_value(type_: str, given: object) -> object:
    """The default of a primitive field; a ValueError or TypeError where it is none of its type."""
    value = _DEFAULTS[type_](given)
    if isinstance(value, int):
        try:
            struct.pack(f">{FIXED[type_]}", value)
        except struct.error as error:
            raise ValueError(given) from error
    return value
