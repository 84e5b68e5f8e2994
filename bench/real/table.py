# SPDX-License-Identifier: Apache-2.0
"""The measurements as a Markdown table and as plots."""

import statistics

from targets import best


def _median(rounds, key):
    return statistics.median(r[key] for r in rounds)


def figure(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def columns(rounds, clients):
    """Returns the names of the arrangements in the columns direct, default, tuned, triton; None for a
    column without a measurement."""
    return (best(rounds, "direct/", clients), "default", best(rounds, "tuned/", clients),
            "triton" if "triton" in rounds else None)


def rows(results):
    """Yields (model, clients, names of the columns, their rounds by name)."""
    for model, by_clients in results["models"].items():
        for clients, rounds in by_clients.items():
            yield model, int(clients), columns(rounds, int(clients)), rounds


def markdown(results):
    lines = ["| model | clients | direct | Nereid | tuned | Triton | CPU ms/request: direct | Nereid "
             "| Triton | MiB: direct | Nereid | Triton |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for model, clients, names, rounds in rows(results):
        cells = []
        for name in names:
            if name is None:
                cells.append("-")
            elif clients == 1:
                cells.append(figure(_median(rounds[name], "p50_us") / 1000) + " ms")
            else:
                cells.append(figure(_median(rounds[name], "throughput")) + "/s")
        for name in (names[0], "default", names[3]):
            cells.append(figure(_median(rounds[name], "cpu_us") / 1000) if name else "-")
        memory = results["memory_mib"][model]
        direct = "/".join(names[0].split("/")[:2])
        cells += [figure(memory[n]) if n in memory else "-" for n in (direct, "default", "triton")]
        lines.append(f"| {model} | {clients} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


COLORS = {"Nereid": "#1f77b4", "tuned": "#9ecae1", "Triton": "#76b900"}
LEFT, WIDTH, BAR, GAP, TOP = 190, 480, 9, 12, 56


def _speed(rounds, name, direct, clients):
    """Returns the speed relative to the direct call: above 1 is faster."""
    if clients == 1:
        return _median(rounds[direct], "p50_us") / _median(rounds[name], "p50_us")
    return _median(rounds[name], "throughput") / _median(rounds[direct], "throughput")


def _bars(y, rounds, names, clients, scale):
    out = ""
    for title, name in zip(COLORS, names[1:]):
        if name is not None:
            value = _speed(rounds, name, names[0], clients)
            out += (f'<rect x="{LEFT}" y="{y}" width="{min(value, scale) / scale * WIDTH:.1f}" '
                    f'height="{BAR}" fill="{COLORS[title]}"><title>{title}: {value:.2f}</title>'
                    "</rect>\n")
        y += BAR
    return out


def svg(results, clients, scale=1.6):
    """Returns a plot of the speed of each model relative to its direct call, with `clients` clients."""
    chosen = [row for row in rows(results) if row[1] == clients]
    step = len(COLORS) * BAR + GAP
    height = TOP + step * len(chosen) + 30
    what = "latency of one client" if clients == 1 else f"throughput with {clients} clients"
    out = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 40} {height}" '
           'font-family="sans-serif" font-size="12">\n'
           f'<rect width="100%" height="100%" fill="#fff"/>\n'
           f'<text x="10" y="20" font-size="14">Speed beside the framework\'s own call: {what}</text>\n')
    x = LEFT
    for title, color in COLORS.items():
        out += (f'<rect x="{x}" y="32" width="10" height="10" fill="{color}"/>'
                f'<text x="{x + 15}" y="41">{title}</text>\n')
        x += 90
    bottom = TOP + step * len(chosen)
    for tick in [i / 5 for i in range(int(scale * 5) + 1)]:
        at = LEFT + tick / scale * WIDTH
        stroke = "#555" if tick == 1 else "#ddd"
        out += (f'<path d="M{at:.1f} {TOP - 6}V{bottom}" stroke="{stroke}"/>'
                f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">{tick:.1f}</text>\n')
    y = TOP
    for model, _, names, rounds in chosen:
        out += f'<text x="{LEFT - 8}" y="{y + 18}" text-anchor="end">{model}</text>\n'
        out += _bars(y, rounds, names, clients, scale)
        y += step
    return out + "</svg>\n"
