"""Text from the wire or from a log, made safe to display."""


def safe_text(value: object) -> str:
    """One line of printable characters; control and bidi characters as `\\x1b` or `\\u202e`."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
