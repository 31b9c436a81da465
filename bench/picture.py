"""An SVG chart of the pipeline time per line by input size, for the documentation."""

from collections.abc import Sequence

from bench.rows import Row

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 300, 60, 50
COLOURS = {1: "#b35806", 2: "#2166ac"}


def draw(rows: Sequence[Row]) -> str:
    """An SVG bar chart: one group per size, one bar per number of cores."""
    points = [(row.growth, row.ours) for row in rows if row.growth is not None]
    sizes = sorted({growth.lines for growth, _ in points})
    top = max(microseconds for _, microseconds in points) * 1.15
    step = (WIDTH - LEFT) / len(sizes)
    parts = [_text(LEFT, 20, "microseconds per line by input size", "start")]
    for index, lines in enumerate(sizes):
        middle = LEFT + step * (index + 0.5)
        parts.append(_text(middle, HEIGHT - BOTTOM + 20, f"{lines:,} lines"))
        for growth, microseconds in points:
            if growth.lines == lines:
                x = middle + (growth.cores - 2) * 60
                height = (HEIGHT - BOTTOM - 40) * microseconds / top
                y = HEIGHT - BOTTOM - height
                parts.append(
                    f'<rect x="{x:.0f}" y="{y:.0f}" width="55" height="{height:.0f}" '
                    f'fill="{COLOURS[growth.cores]}"/>'
                )
                parts.append(_text(x + 27, y - 5, f"{microseconds:.1f}"))
    for cores, colour in COLOURS.items():
        x = WIDTH - 200 + (cores - 1) * 100
        parts.append(f'<rect x="{x}" y="10" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(x + 18, 20, "1 core" if cores == 1 else f"{cores} cores", "start"))
    inside = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="13">\n'
        f'  <rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n  {inside}\n</svg>\n'
    )


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'
