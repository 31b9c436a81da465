"""The codecs of kio and kafka-python behind one interface, to compare with ours.

Messages are converted to their objects and back by field names and declared types, with a few
exceptions for fields that have other names there.
"""

import dataclasses
import importlib
import io
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from rollcall.protocol.dialects import dialect
from rollcall.protocol.messages import Message
from rollcall.protocol.schema import FieldSpec, MessageSpec, StructSpec, snake_case
from tests.protocol.strategies import Choices

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # from kafka-python
    import kafka.protocol.admin
    import kafka.protocol.consumer
    import kafka.protocol.metadata
    import kafka.protocol.producer
    import kafka.protocol.sasl
    from kafka.protocol.api_header import RequestHeader, ResponseHeader

RELEASED = dialect("released")
OURS = {"dialect", "start_time_ms", "broker_software_name", "broker_software_version"}
"""Tagged fields that only rollcall has."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZERO = UUID(int=0)
NOT_REQUESTED = -(2**31)


class Peer(Protocol):
    def knows(self, spec: MessageSpec, version: int) -> bool: ...
    def narrow(self, field: FieldSpec, choices: Choices) -> object: ...
    def write(self, spec: MessageSpec, version: int, message: Message) -> bytes: ...
    def read(self, spec: MessageSpec, version: int, data: bytes) -> Message: ...


def pairs(peer: Peer) -> Iterator[tuple[str, int]]:
    """The messages and versions that both have."""
    for spec in RELEASED.messages.values():
        for version in spec.versions:
            if peer.knows(spec, version):
                yield spec.name, version


def fields_of(spec: StructSpec, version: int) -> list[FieldSpec]:
    fields = (*spec.plain_fields(version), *spec.tagged_fields(version))
    return [f for f in fields if f.attribute not in OURS]


class Kio:
    """kio: times are timedeltas and datetimes, error codes an enum, a zero UUID is None."""

    def knows(self, spec: MessageSpec, version: int) -> bool:
        try:
            self._class(spec, version)
        except ModuleNotFoundError:
            return False
        return True

    def narrow(self, field: FieldSpec, choices: Choices) -> object:
        """Avoid error codes that kio does not have, and times after the year 9999."""
        if field.attribute in OURS:
            return field.default
        if field.name == "ErrorCode":
            return choices.pick([code.value for code in ErrorCode])
        if field.name.endswith("Ms") and field.type == "int64":
            return choices.pick((-1, 0, 1, 1_700_000_000_123, 86_400_000))
        return NotImplemented

    def write(self, spec: MessageSpec, version: int, message: Message) -> bytes:
        cls = self._class(spec, version)
        out = io.BytesIO()
        entity_writer(cls)(out, self._theirs(spec, cls, message, version))
        return out.getvalue()

    def read(self, spec: MessageSpec, version: int, data: bytes) -> Message:
        cls = self._class(spec, version)
        entity, end = entity_reader(cls)(data, 0)
        assert end == len(data)
        root = RELEASED.message_class(spec.name)
        return self._ours(spec, root, root, entity, version)

    def _class(self, spec: MessageSpec, version: int) -> Any:
        stem = spec.name if spec.kind == "header" else spec.api_name
        path = f"kio.schema.{snake_case(stem)}.v{version}.{spec.kind}"
        return getattr(importlib.import_module(path), spec.name)

    def _theirs(self, spec: StructSpec, cls: Any, message: Message, version: int) -> Any:
        declared = {f.name: f for f in dataclasses.fields(cls)}
        values = {}
        for field in fields_of(spec, version):
            theirs = declared[self._name(field, declared)]
            value = getattr(message, field.attribute)
            if field.struct is None:
                converted = _each(value, lambda v, t=theirs: self._encoded(v, t))
            else:
                inner = getattr(importlib.import_module(cls.__module__), field.element)
                converted = _each(
                    value, lambda v, f=field, c=inner: self._theirs(f.struct, c, v, version)
                )
            values[theirs.name] = converted
        assert values.keys() == declared.keys()
        return cls(**values)

    def _ours(
        self, spec: StructSpec, cls: type[Message], root: type[Message], entity: Any, version: int
    ) -> Message:
        declared = {f.name: f for f in dataclasses.fields(entity)}
        values = {}
        for field in fields_of(spec, version):
            theirs = declared[self._name(field, declared)]
            value = getattr(entity, theirs.name)
            if field.struct is None:
                values[field.attribute] = self._decoded_field(value, theirs, field)
            else:
                inner = getattr(root, field.element)
                values[field.attribute] = _each(
                    value, lambda v, f=field, c=inner: self._ours(f.struct, c, root, v, version)
                )
        return cls(**values)

    def _decoded_field(self, value: Any, theirs: Any, field: FieldSpec) -> Any:
        instead = {"uuid": ZERO, "datetime_i64": -1}.get(theirs.metadata["kafka_type"])
        if field.is_array:
            return _each(value, lambda v: instead if v is None else self._decoded(v, theirs))
        return instead if value is None else self._decoded(value, theirs)

    @staticmethod
    def _name(field: FieldSpec, declared: dict[str, Any]) -> str:
        name = field.attribute
        return name if name in declared else name.removesuffix("_ms")

    @staticmethod
    def _encoded(value: Any, field: Any) -> Any:
        match field.metadata["kafka_type"]:
            case "error_code":
                return ErrorCode(value)
            case "timedelta_i32" | "timedelta_i64":
                return timedelta(milliseconds=value)
            case "datetime_i64":
                return None if value == -1 else EPOCH + timedelta(milliseconds=value)
            case "uuid":
                return None if value == ZERO else value
        return value

    @staticmethod
    def _decoded(value: Any, field: Any) -> Any:
        match field.metadata["kafka_type"]:
            case "error_code":
                return value.value
            case "timedelta_i32" | "timedelta_i64":
                return round(value / timedelta(milliseconds=1))
            case "datetime_i64":
                return round((value - EPOCH) / timedelta(milliseconds=1))
        return value


class KafkaPython:
    """kafka-python: one class for all versions; `RENAMED` are sets of bits, a zero UUID is None."""

    RENAMED = {  # noqa: RUF012
        "cluster_authorized_operations": "authorized_operations",
        "topic_authorized_operations": "authorized_operations",
    }
    MODULES = (
        kafka.protocol.admin,
        kafka.protocol.consumer,
        kafka.protocol.metadata,
        kafka.protocol.producer,
        kafka.protocol.sasl,
    )

    def knows(self, spec: MessageSpec, version: int) -> bool:
        if spec.kind == "header":
            # Header versions are "flexible or not": 1 and 2 of requests, 0 and 1 of responses.
            return spec.name == "ResponseHeader" or version > 0
        return any(hasattr(module, spec.name) for module in self.MODULES)

    def narrow(self, field: FieldSpec, choices: Choices) -> object:
        return field.default if field.attribute in OURS else NotImplemented

    def write(self, spec: MessageSpec, version: int, message: Message) -> bytes:
        theirs = self._theirs(spec, self._class(spec), message, version)
        if spec.kind == "header":
            return bytes(theirs.encode(flexible=version in spec.flexible))
        return bytes(theirs.encode(version=version))

    def read(self, spec: MessageSpec, version: int, data: bytes) -> Message:
        cls, root = self._class(spec), RELEASED.message_class(spec.name)
        if spec.kind == "header":
            theirs = cls.decode(io.BytesIO(data), flexible=version in spec.flexible)
        elif spec.name == "ApiVersionsResponse":
            # It reads any error as version 0, Kafka only UNSUPPORTED_VERSION.
            theirs = super(cls, cls).decode(data, version=version)
        else:
            theirs = cls.decode(data, version=version)
        return self._ours(spec, root, root, theirs, version)

    def _class(self, spec: MessageSpec) -> Any:
        if spec.kind == "header":
            return RequestHeader if spec.name == "RequestHeader" else ResponseHeader
        return next(
            getattr(module, spec.name) for module in self.MODULES if hasattr(module, spec.name)
        )

    def _theirs(self, spec: StructSpec, cls: Any, message: Message, version: int) -> Any:
        values = {}
        for field in fields_of(spec, version):
            value = getattr(message, field.attribute)
            if version in field.tagged and value == message.defaults[field.attribute]:
                continue  # it also writes tags with default values
            name = self._name(field, cls)
            if field.struct is not None:
                inner = cls.fields[name].data_class
                value = _each(
                    value, lambda v, f=field, c=inner: self._theirs(f.struct, c, v, version)
                )
            elif name == "authorized_operations":
                value = None if value == NOT_REQUESTED else {b for b in range(32) if value >> b & 1}
            values[name] = list(value) if isinstance(value, tuple) else value
        return cls(version=version if isinstance(spec, MessageSpec) else None, **values)

    def _ours(
        self, spec: StructSpec, cls: type[Message], root: type[Message], theirs: Any, version: int
    ) -> Message:
        values = {}
        for field in fields_of(spec, version):
            value = getattr(theirs, self._name(field, type(theirs)))
            if isinstance(value, list):
                value = tuple(value)
            if field.struct is not None:
                inner = getattr(root, field.element)
                value = _each(
                    value, lambda v, f=field, c=inner: self._ours(f.struct, c, root, v, version)
                )
            elif field.type == "uuid":
                value = value or ZERO
            elif field.attribute in self.RENAMED:
                bits = sum(1 << b for b in value) if value is not None else 2**31
                value = bits - 2**32 if bits >= 2**31 else bits
            values[field.attribute] = value
        return cls(**values)

    def _name(self, field: FieldSpec, cls: Any) -> str:
        name = field.attribute
        return name if name in cls.fields else self.RENAMED[name]


def _each(value: Any, convert: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(convert(item) for item in value)
    return convert(value)
