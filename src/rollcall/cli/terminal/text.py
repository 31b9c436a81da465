"""How long something took, or is off, in words."""


def duration(seconds: float) -> str:
    """The two largest units: `3d 4h`, `12m 5s`."""
    left, parts = int(abs(seconds)), list[str]()
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if left >= size or (unit == "s" and not parts):
            parts.append(f"{left // size}{unit}")
            left %= size
    return " ".join(parts[:2])
