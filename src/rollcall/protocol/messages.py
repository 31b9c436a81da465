"""Messages: one class for all versions and both dialects of a message, made from its schema.

A message is a frozen value with slots; its arrays are tuples. `MetadataResponse(brokers=[...])`
takes keywords, every field has its default, and the structs inside are attributes of the class:
`MetadataResponse.MetadataResponseBroker(node_id=1)`.

Each class is a pair. A *draft* has the slots and can be assigned to; the message class adds
nothing to its layout but refuses assignment. A reader fills drafts and turns each into a message by
setting its `__class__`: that costs a third of what writing through `object.__setattr__` would.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rollcall.protocol.schema import FieldSpec, MessageSpec, StructSpec

UnknownTags = tuple[tuple[int, bytes], ...]


if TYPE_CHECKING:

    class _MessageType(type):
        """The structs of a message are attributes of its class; which ones, the schema knows."""

        def __getattr__(cls, name: str) -> Any: ...

else:
    _MessageType = type


class Message(metaclass=_MessageType):
    """A value of the protocol: compared by its fields, never changed after it was made."""

    __slots__ = ()
    draft: ClassVar[type[Message]]
    defaults: ClassVar[Mapping[str, object]]
    _values: ClassVar[Any]

    if TYPE_CHECKING:
        unknown_tags: UnknownTags

        def __init__(self, **fields: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    def replace(self, **changes: object) -> Self:
        """The same message with some fields changed."""
        fields = {name: getattr(self, name) for name in self.defaults}
        return type(self)(**{**fields, **changes})

    def __copy__(self) -> Self:
        return self  # nothing can change it

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._values(self) == self._values(other))

    def __hash__(self) -> int:
        return hash((type(self), self._values(self)))

    def __repr__(self) -> str:
        shown = [
            f"{name}={_shown(getattr(self, name))}"
            for name, default in self.defaults.items()
            if getattr(self, name) != default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _shown(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview) and len(value) > 32:
        return f"<{len(value)} bytes>"
    if isinstance(value, memoryview):
        return repr(bytes(value))
    return repr(value)


def _refuse_assignment(self: Message, name: str, *_: object) -> None:
    raise AttributeError(
        f"{type(self).__name__} is frozen: use replace({name}=...) to get a changed copy"
    )


def build_message_class(spec: MessageSpec) -> type[Message]:
    """The class of a message, with the classes of its structs as attributes."""
    return _Builder().build(spec)


class _Builder:
    def __init__(self) -> None:
        self.structs: dict[str, type[Message]] = {}

    def build(self, spec: MessageSpec) -> type[Message]:
        cls = self.struct_class(spec)
        for name, struct in self.structs.items():
            if struct is not cls:
                setattr(cls, name, struct)
        return cls

    def struct_class(self, spec: StructSpec) -> type[Message]:
        if spec.name not in self.structs:
            inner = {
                f.struct.name: self.struct_class(f.struct)
                for f in spec.fields
                if f.struct is not None
            }
            self.structs[spec.name] = _make_class(spec, inner)
        return self.structs[spec.name]


def _make_class(spec: StructSpec, inner: Mapping[str, type[Message]]) -> type[Message]:
    defaults = {f.attribute: _default_of(f, inner) for f in spec.fields}
    defaults["unknown_tags"] = ()
    draft = type(f"{spec.name}Draft", (Message,), {"__slots__": tuple(defaults)})
    namespace = {
        "__slots__": (),
        "__doc__": f"{spec.name} of the Kafka protocol.",
        "__module__": __name__,
        "__new__": _constructor(defaults, draft, [f.attribute for f in spec.fields if f.is_array]),
        "__setattr__": _refuse_assignment,
        "__delattr__": _refuse_assignment,
        "__annotations__": {f.attribute: annotation(f) for f in spec.fields},
        "draft": draft,
        "defaults": defaults,
        "_values": staticmethod(_values_of(defaults)),
    }
    return type(spec.name, (draft,), namespace)


def _default_of(field: FieldSpec, inner: Mapping[str, type[Message]]) -> object:
    if isinstance(field.default, StructSpec):
        return inner[field.default.name]()
    return field.default


def _values_of(names: Iterable[str]) -> Any:
    first, *others = names
    return attrgetter(first, *others)


def _constructor(defaults: Mapping[str, object], draft: type[Message], arrays: list[str]) -> Any:
    parameters = ", ".join(f"{name}=_d[{name!r}]" for name in defaults)
    lines = [f"def __new__(cls, *, {parameters}):", "    self = _draft()"]
    for name in defaults:
        value = f"_tuple({name}) if _is({name}, _list) else {name}" if name in arrays else name
        lines.append(f"    self.{name} = {value}")
    lines += ["    self.__class__ = cls", "    return self"]
    # Underscores keep these apart from parameters: a field may be called `type`.
    namespace: dict[str, Any] = {
        "_d": defaults,
        "_draft": draft,
        "_tuple": tuple,
        "_list": list,
        "_is": isinstance,
    }
    exec("\n".join(lines), namespace)  # noqa: S102  names come from a checked schema
    return namespace["__new__"]


_PYTHON_TYPES = {
    "bool": "bool",
    "float64": "float",
    "string": "str",
    "uuid": "UUID",
    "bytes": "bytes",
    "records": "memoryview",
}


def annotation(field: FieldSpec) -> str:
    """The Python type of a field, as text."""
    element = field.element if field.struct else _PYTHON_TYPES.get(field.element, "int")
    text = f"tuple[{element}, ...]" if field.is_array else element
    return f"{text} | None" if field.nullable or field.default is None else text
