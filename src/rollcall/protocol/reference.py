"""The protocol reference, generated from the schemas: layouts as values and as Markdown pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from rollcall.protocol.dialects import ApiSpec, Dialect
from rollcall.protocol.headers import request_header_version, response_header_version
from rollcall.protocol.schema import FieldSpec, MessageSpec, StructSpec

COMPACT = {"string", "bytes", "records"}


@dataclass(frozen=True)
class LayoutRow:
    """A field in one version of a message; `depth` is the number of structs around it."""

    depth: int
    name: str
    type: str
    nullable: bool
    tag: int | None
    default: object
    deprecated: bool
    about: str


@dataclass(frozen=True)
class MessageLayout:
    """Header version and fields, in wire order, of one version of a message."""

    name: str
    version: int
    dialect: str
    header: int | None
    flexible: bool
    deprecated: bool
    change: str
    rows: tuple[LayoutRow, ...]


def message_layout(dialect: Dialect, name: str, version: int) -> MessageLayout:
    dialect.codec(name, version)  # raises with the known messages or versions
    spec = dialect.spec(name)
    return MessageLayout(
        name=name,
        version=version,
        dialect=dialect.name,
        header=_header(dialect, spec, version),
        flexible=version in spec.flexible,
        deprecated=is_deprecated(dialect, spec, version),
        change=change_in(spec, version),
        rows=tuple(_rows(spec, version, version in spec.flexible, 0)),
    )


def is_deprecated(dialect: Dialect, spec: MessageSpec, version: int) -> bool:
    """Whether the version of the request is deprecated; Kafka does not mark responses."""
    api = dialect.apis.get(spec.api_key) if spec.api_key is not None else None
    return version in (api.request if api else spec).deprecated


def change_in(spec: MessageSpec, version: int) -> str:
    """The change of a version: from the schema, or else derived from the fields."""
    if version in spec.changes:
        return spec.changes[version]
    if version == spec.versions.lowest:
        return "first version"
    before, after = (_paths(spec, v) for v in (version - 1, version))
    words = [f"adds {path}" for path in after if path not in before]
    words += [f"removes {path}" for path in before if path not in after]
    if version in spec.flexible and version - 1 not in spec.flexible:
        words.append("flexible")
    return ", ".join(words) or f"same as {version - 1}"


def _paths(spec: StructSpec, version: int, prefix: str = "") -> list[str]:
    paths = []
    for field in spec.fields:
        if version in field.versions:
            paths.append(f"{prefix}{field.name}")
            if field.struct is not None:
                paths += _paths(field.struct, version, f"{prefix}{field.name}.")
    return paths


def _header(dialect: Dialect, spec: MessageSpec, version: int) -> int | None:
    api = dialect.apis.get(spec.api_key) if spec.api_key is not None else None
    if api is None:
        return None
    of = request_header_version if spec.kind == "request" else response_header_version
    return of(api, version)


def _rows(spec: StructSpec, version: int, flexible: bool, depth: int) -> Iterator[LayoutRow]:
    for field in (*spec.plain_fields(version), *spec.tagged_fields(version)):
        yield LayoutRow(
            depth=depth,
            name=field.name,
            type=_wire_type(field, version, flexible),
            nullable=version in field.nullable,
            tag=field.tag if version in field.tagged else None,
            default=_shown_default(field),
            deprecated=version in field.deprecated,
            about=field.about,
        )
        if field.struct is not None:
            yield from _rows(field.struct, version, flexible, depth + 1)


def _wire_type(field: FieldSpec, version: int, flexible: bool) -> str:
    compact = flexible and (field.flexible is None or version in field.flexible)
    element = f"compact {field.element}" if compact and field.element in COMPACT else field.element
    if not field.is_array:
        return element
    return f"compact array of {element}" if compact else f"array of {element}"


def _shown_default(field: FieldSpec) -> object:
    if field.default is None:
        return "null"
    if isinstance(field.default, bool | UUID):
        return str(field.default).lower()
    if isinstance(field.default, StructSpec) or field.default in ((), b"", ""):
        return None
    return field.default


# Markdown pages


def pages(dialects: Sequence[Dialect]) -> dict[str, str]:
    """The whole reference as Markdown by file name: an index and a page per API."""
    keys = sorted({key for dialect in dialects for key in dialect.apis})
    found = {"index.md": _index(dialects, keys)}
    for key in keys:
        matching = [dialect for dialect in dialects if key in dialect.apis]
        found[f"{matching[0].apis[key].name}.md"] = "\n".join(_api_page(matching, key)) + "\n"
    return found


def _index(dialects: Sequence[Dialect], keys: Sequence[int]) -> str:
    names = [dialect.name for dialect in dialects]
    lines = [
        "# Protocol reference",
        "",
        "API keys and versions of each dialect. Versions in parentheses are deprecated.",
        "",
        _line("key", "API", *names),
        _line("---", "---", *("---" for _ in names)),
    ]
    for key in keys:
        apis = [dialect.apis.get(key) for dialect in dialects]
        name = next(api.name for api in apis if api is not None)
        lines.append(_line(key, f"[{name}]({name}.md)", *map(_range, apis)))
    return "\n".join(lines) + "\n"


def _range(api: ApiSpec | None) -> str:
    if api is None:
        return "none"
    deprecated = api.request.deprecated
    return f"{api.versions}" + (f" ({deprecated})" if deprecated else "")


def _api_page(dialects: Sequence[Dialect], key: int) -> Iterator[str]:
    yield f"# {dialects[0].apis[key].name} (key {key})"
    for kind in ("request", "response"):
        for dialect in dialects:
            spec = _spec_of(dialect, key, kind)
            if dialect is not dialects[0] and spec is _spec_of(dialects[0], key, kind):
                continue  # the overlay does not change this message
            yield from ("", f"## {spec.name}, dialect {dialect.name}", "")
            yield from _version_table(dialect, spec)
            for version in spec.versions:
                yield from _version_section(message_layout(dialect, spec.name, version))


def _spec_of(dialect: Dialect, key: int, kind: str) -> MessageSpec:
    api = dialect.apis[key]
    return api.request if kind == "request" else api.response


def _version_table(dialect: Dialect, spec: MessageSpec) -> Iterator[str]:
    yield _line("version", "change", "status")
    yield _line("---", "---", "---")
    for version in spec.versions:
        mark = "deprecated" if is_deprecated(dialect, spec, version) else ""
        yield _line(version, _escaped(change_in(spec, version)), mark)


def _version_section(page: MessageLayout) -> Iterator[str]:
    mark = ", deprecated" if page.deprecated else ""
    yield from ("", f"### {page.name} {page.version} ({page.dialect}{mark})", "")
    yield f"Header version {page.header}. {'Flexible.' if page.flexible else 'Not flexible.'}"
    if not page.rows:
        yield "The body is empty."
        return
    yield ""
    yield _line("field", "type", "nullable", "tag", "default", "about")
    yield _line(*["---"] * 6)
    for row in page.rows:
        about = f"**Deprecated.** {row.about}" if row.deprecated else row.about
        yield _line(
            "&nbsp;" * 4 * row.depth + row.name,
            row.type,
            "yes" if row.nullable else "",
            "" if row.tag is None else row.tag,
            "" if row.default is None else f"`{row.default}`",
            _escaped(about),
        )


def _line(*cells: object) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
