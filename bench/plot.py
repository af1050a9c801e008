#!/usr/bin/env python3
"""Draws the benchmarks' results as SVG.

usage: bench/plot.py FOLDER    reads engine.json and fairness.json there, as far as they exist, and writes into it

A plot of which no row was measured is left as it is.
"""
import json
import math
import os
import sys
from html import escape

# Told apart by colour-blind readers as well (Okabe and Ito).
ORANGE, SKY, GREEN, BLUE, RED, PINK, GREY = "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7", "#777777"
POLICY_COLOURS = {"random": BLUE, "roundrobin": GREEN, "leastactive": ORANGE, "consistenthash": PINK}
WIDTH, HEIGHT = 860, 500
LEFT, RIGHT, TOP, BOTTOM = 80, 210, 48, 92


class Results:
    def __init__(self, path):
        self.header, self.rows = {}, []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
            self.header, self.rows = result["header"], result["rows"]

    def find(self, name, n=None, threads=1, against=None):
        for row in self.rows:
            if row["name"] == name and n in (None, row["n"]) and row["threads"] == threads:
                if against in (None, row["against"]):
                    return row
        return None

    def value(self, *key, field="value", **more):
        row = self.find(*key, **more)
        return None if row is None else row[field]

    def curve(self, name, field="value", against=None):
        points = {row["n"]: row[field] for row in self.rows
                  if row["name"] == name and row["threads"] == 1 and against in (None, row["against"])}
        return sorted((n, value) for n, value in points.items() if value)

    def caption(self):
        h = self.header
        return (f"{h['cpu']}, {h['cores']} cores, {h['compiler']}, {h['build']}; "
                f"commit {h['commit']}, {h['date']}, {h['mode']} run")


class Svg:
    def __init__(self, title, caption):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
        self.text(LEFT, 26, title, size=16)
        self.text(LEFT, HEIGHT - 12, caption, size=10, colour="#555555")

    def text(self, x, y, text, anchor="start", size=12, colour="#222222", turn=0):
        rotated = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
                          f'fill="{colour}"{rotated}>{escape(text)}</text>')

    def line(self, points, colour, width=1.0, dash=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>')

    def box(self, x, y, width, height, colour, title=""):
        told = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0.5):.1f}" '
                          f'fill="{colour}">{told}</rect>')

    def dot(self, x, y, colour, title):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{escape(title)}</title></circle>')

    def legend(self, entries):
        x = WIDTH - RIGHT + 16
        for i, (text, colour, dash, is_box) in enumerate(entries):
            y = TOP + 10 + 19 * i
            if is_box:
                self.box(x, y - 9, 22, 10, colour)
            else:
                self.line([(x, y - 4), (x + 22, y - 4)], colour, 2, dash)
            self.text(x + 28, y, text, size=11)

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.parts + ["</svg>", ""]))


def number(value):
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    if value >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3g}"


def log_log(path, title, caption, x_label, y_label, lines, legend):
    """lines: (points, colour, dash, name)."""
    lines = [line for line in lines if line[0]]
    if not lines:
        return None
    xs = [x for line in lines for x, _ in line[0]]
    ys = [y for line in lines for _, y in line[0]]
    x_low, x_high = math.log10(min(xs)), math.log10(max(xs))
    y_low, y_high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    x_high, y_high = max(x_high, x_low + 1), max(y_high, y_low + 1)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def at(x, y):
        return (LEFT + (math.log10(x) - x_low) / (x_high - x_low) * (right - LEFT),
                bottom - (math.log10(y) - y_low) / (y_high - y_low) * (bottom - TOP))

    svg = Svg(title, caption)
    for power in range(y_low, y_high + 1):
        y = at(10 ** x_low, 10 ** power)[1]
        svg.line([(LEFT, y), (right, y)], "#dddddd")
        svg.text(LEFT - 8, y + 4, number(10 ** power), "end")
    for power in range(math.ceil(x_low - 1e-9), math.floor(x_high + 1e-9) + 1):
        x = at(10 ** power, 10 ** y_low)[0]
        svg.line([(x, TOP), (x, bottom)], "#eeeeee")
        svg.text(x, bottom + 18, number(10 ** power), "middle")
    svg.line([(LEFT, TOP), (LEFT, bottom), (right, bottom)], "#222222")
    svg.text((LEFT + right) / 2, bottom + 40, x_label, "middle")
    svg.text(22, (TOP + bottom) / 2, y_label, "middle", turn=-90)
    for points, colour, dash, name in lines:
        places = [at(x, y) for x, y in points]
        svg.line(places, colour, 2, dash)
        for (px, py), (x, y) in zip(places, points):
            svg.dot(px, py, colour, f"{name}, n = {x}: {y:g}")
    svg.legend([(text, colour, dash, False) for text, colour, dash in legend])
    svg.save(path)
    return path


def bars(path, title, caption, y_label, groups, series):
    """groups: (label, [value or None by series]); series: (name, colour)."""
    groups = [group for group in groups if any(value is not None for value in group[1])]
    if not groups:
        return None
    right, bottom = WIDTH - RIGHT, HEIGHT - 78
    top = max(value for _, values in groups for value in values if value is not None) or 1
    step = 10 ** math.floor(math.log10(top))
    step = next(step * f for f in (0.1, 0.2, 0.5, 1, 2) if top / (step * f) <= 8)
    highest = math.ceil(top * 1.02 / step) * step
    svg = Svg(title, caption)
    for i in range(round(highest / step) + 1):
        y = bottom - i * step / highest * (bottom - TOP)
        svg.line([(LEFT, y), (right, y)], "#dddddd")
        svg.text(LEFT - 8, y + 4, number(i * step) if i else "0", "end")
    svg.text(22, (TOP + bottom) / 2, y_label, "middle", turn=-90)
    room = (right - LEFT) / len(groups)
    for g, (label, values) in enumerate(groups):
        present = [(s, value) for s, value in enumerate(values) if value is not None]
        width = min(34.0, room * 0.8 / len(series))
        x = LEFT + room * (g + 0.5) - width * len(present) / 2
        for s, value in present:
            height = value / highest * (bottom - TOP)
            svg.box(x, bottom - height, width - 1, height, series[s][1], f"{label}, {series[s][0]}: {value:g}")
            svg.text(x + width / 2, bottom - height - 4, f"{value:.3g}", "middle", size=9)
            x += width
        for i, part in enumerate(label.split("\n")):
            svg.text(LEFT + room * (g + 0.5), bottom + 15 + 13 * i, part, "middle", size=10)
    svg.line([(LEFT, TOP), (LEFT, bottom), (right, bottom)], "#222222")
    svg.legend([(name, colour, "", True) for name, colour in series])
    svg.save(path)
    return path


def draw_engine(results, folder):
    caption = results.caption()
    lines, legend = [], []
    for policy, colour in POLICY_COLOURS.items():
        lines.append((results.curve(f"pick/{policy}", against="floor"), colour, "", policy))
        lines.append((results.curve(f"pick/{policy}", "base", against="floor"), colour, "2 3", f"floor of {policy}"))
        lines.append((results.curve(f"baseline/dubbo_{policy}"), colour, "9 4", f"Dubbo-style {policy}"))
        legend.append((policy, colour, ""))
    for name, text, colour in (("prefix_sums", "prefix sums, binary search", GREY),
                               ("atomic_shared_ptr", "atomic<shared_ptr>", SKY), ("mutex_list", "mutex-guarded list", RED)):
        lines.append((results.curve(f"baseline/{name}"), colour, "", text))
        legend.append((text, colour, ""))
    legend += [("WithSelected, whole pick", "#222222", ""), ("floor: bare draw + section", "#222222", "2 3"),
               ("Dubbo-style scan", "#222222", "9 4")]
    yield log_log(os.path.join(folder, "pick_time.svg"), "One pick against the number of providers", caption,
                  "providers", "CPU time of a pick, ns", lines, legend)

    groups = []
    for n in (10, 1000, 10000):
        one, two = ([results.value("lease/random", n, threads, "floor", field=field) for threads in (1, 2)]
                    for field in ("value", "base"))
        groups += [(f"lease\nn = {number(n)}", one), (f"its floor\nn = {number(n)}", two)]
    for name, label in (("atomic_shared_ptr", "atomic\n<shared_ptr>"), ("mutex_list", "mutex\nlist"), ("prefix_sums", "prefix\nsums")):
        groups.append((label, [results.value(f"baseline/{name}", 1000, threads) for threads in (1, 2)]))
    yield bars(os.path.join(folder, "threads.svg"), "One and two threads, random: Select + End, its floor (draw and two atomics), and others at n = 1 000", caption,
               "CPU time of a pick and thread, ns", groups, [("1 thread", BLUE), ("2 threads", ORANGE)])

    def rules(name, n):
        return [results.value(f"rules/{name}/{a}_attachments", n, field="value") for a in (0, 4)]

    bare = results.value("rules/cached_1", 1000, field="base")
    groups = [("no\nrule", [bare, None])]
    groups += [(f"{c}\ncached", [results.value(f"rules/cached_{c}", 1000), None]) for c in (1, 10)]
    groups += [(f"{c} on an\n{kind}", rules(f"{kind}_{c}", 1000)) for kind in ("argument", "attachment") for c in (1, 10)]
    groups += [(f"10 + tag\nn = {number(n)}", rules("runtime_10_and_tag", n)) for n in (100, 10000)]
    yield bars(os.path.join(folder, "rules.svg"), "Condition rules (n = 1 000 unless given)", caption,
               "CPU time of a pick, ns", groups, [("no attachments", BLUE), ("4 attachments", ORANGE)])

    groups = [(f"{p} %\ndown", [results.value(f"down/{policy}_{p}%", 1000) for policy in POLICY_COLOURS])
              for p in (0, 50, 90, 99, 100)]
    yield bars(os.path.join(folder, "down.svg"), "Picks while a share of 1 000 providers is down", caption,
               "CPU time of a pick, ns", groups, list(POLICY_COLOURS.items()))

    kinds = (("all_new", "all providers new", RED), ("one_changed", "1 of n changed", ORANGE), ("identical", "identical list", BLUE))
    lines = [(results.curve(f"notify/{kind}"), colour, "", text) for kind, text, colour in kinds]
    lines.append((results.curve("notify/identical", "base"), GREY, "2 3", "bare pass"))
    yield log_log(os.path.join(folder, "notify.svg"), "One notification against the number of providers", caption,
                  "providers", "CPU time, microseconds", lines,
                  [(text, colour, "") for _, text, colour in kinds] + [("bare pass: hash and probe", GREY, "2 3")])


def draw_fairness(results, folder):
    groups = []
    for policy in ("random", "roundrobin", "leastactive"):
        for name, threads, text in (("share", 1, "1 thread"), ("share", 4, "4 threads"), ("share_changing", 1, "changes")):
            row = results.find(f"{name}/{policy}", 100, threads)
            groups.append((f"{policy}\n{text}", [row["value"], row["base"]] if row else [None, None]))
    yield bars(os.path.join(folder, "shares.svg"), "Largest deviation from the ideal share, 100 providers", results.caption(),
               "deviation, picks", groups, [("Fairlead", BLUE), ("perfect random draw", GREY)])


def main(arguments):
    if len(arguments) != 1 or not os.path.isdir(arguments[0]):
        sys.exit(__doc__.split("\n\n")[1])
    folder = arguments[0]
    for name, draw in (("engine.json", draw_engine), ("fairness.json", draw_fairness)):
        results = Results(os.path.join(folder, name))
        if results.rows:
            for path in draw(results, folder):
                if path:
                    print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
