#!/usr/bin/env python3
"""Lists the contents of an SVG file as lines of text: svg_facts.py FILE

    text TEXT                     a text
    line X,Y X,Y ...              a curve, in the numbers of its axes
    cell MAP COLUMN ROW CLASS     a cell of a heat map; maps are counted from 0

It fails if the picture breaks a rule of tools/lab/svg.h: text is legible and inside, nothing has an id, every rule of
the style sheet is for pictures of this kind only, and there are colors for dark pages.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def check_style(style):
    for rule in re.findall(r"([^{}]+)\{", style):
        assert rule.strip().startswith(("svg.ferry", "@media screen and (prefers-color-scheme:dark)")), rule
    light, dark = style.split("@media", 1)
    for selector in re.findall(r"svg\.ferry ([^{]+)\{(?:fill|stroke|color):", light):
        assert f"svg.ferry {selector}{{" in dark, f"{selector} has no color on dark pages"


def check_text(element, width, height):
    x, y = float(element.get("x")), float(element.get("y"))
    assert 0 <= x <= width and 0 <= y <= height, f"outside: {element.text}"
    assert float(element.get("font-size")) >= 11, f"too small: {element.text}"


def number_of(text):
    try:
        return float(text.replace("\u2212", "-"))
    except (TypeError, ValueError):
        return None


def scale_of(ticks):
    """The linear map from places to numbers through the first and the last of (place, number)."""
    (a, x), (b, y) = min(ticks), max(ticks)
    return lambda place: x + (place - a) * (y - x) / (b - a)


def read_line(plot, points, texts):
    """The numbers below an area, and those to its left, may belong to charts in the same column or row."""
    left, top, width, height = (float(plot.get(key)) for key in ("x", "y", "width", "height"))
    numbers = [(float(t.get("x")), float(t.get("y")), t, number_of(t.text)) for t in texts]
    numbers = [n for n in numbers if n[3] is not None]
    below = [(x, y, n) for x, y, t, n in numbers
             if t.get("text-anchor") == "middle" and left <= x <= left + width and y > top + height]
    row = min(y for _, y, _ in below)
    across = scale_of([(x, n) for x, y, n in below if y == row])
    beside = [(x, y, n) for x, y, t, n in numbers
              if t.get("text-anchor") == "end" and top <= y - 4 <= top + height and x < left]
    up = scale_of([(y - 4, n) for _, y, n in beside])
    pairs = [point.split(",") for point in points.split()]
    return [(across(float(x)), up(float(y))) for x, y in pairs]


def read_facts(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == SVG + "svg" and root.get("class") == "ferry", root.tag
    assert not [e for e in root.iter() if e.get("id")], "an element has an id"
    check_style(root.find(SVG + "style").text)
    texts = list(root.iter(SVG + "text"))
    for element in texts:
        check_text(element, float(root.get("width")), float(root.get("height")))
    lines = [read_line(plot, line.get("points"), texts)
             for plot in root.iter(SVG + "svg") if plot is not root
             and any(number_of(t.text) is not None and t.get("text-anchor") == "end" for t in texts)
             for line in plot.iter(SVG + "polyline")]
    maps = []
    for group in root.iter(SVG + "g"):
        if "scale" not in group.get("transform", ""):
            continue
        maps.append({(int(column) + i, int(row)): path.get("class")
                     for path in group.iter(SVG + "path")
                     for column, row, run in re.findall(r"M(\d+) (\d+)h(\d+)", path.get("d"))
                     for i in range(int(run))})
    return [t.text for t in texts], lines, maps


if __name__ == "__main__":
    found_texts, found_lines, found_maps = read_facts(sys.argv[1])
    for text in found_texts:
        print("text", text)
    for line in found_lines:
        print("line", *(f"{x:.6g},{y:.6g}" for x, y in line))
    for index, cells in enumerate(found_maps):
        for (column, row), color in cells.items():
            print("cell", index, column, row, color)
