#!/usr/bin/env python3
"""Lists the contents of an SVG file as lines of text: svg_facts.py FILE

    text TEXT                   a text
    line X,Y X,Y ...            a curve
    cell COLUMN ROW COLOR      a cell of a heat map
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
root = ElementTree.parse(sys.argv[1]).getroot()
assert root.tag == SVG + "svg", root.tag
width, height = float(root.get("width")), float(root.get("height"))

for element in root.iter():
    if element.tag == SVG + "text":
        assert 0 <= float(element.get("x")) <= width and 0 <= float(element.get("y")) <= height, element.text
        print("text", element.text)
    elif element.tag == SVG + "polyline":
        print("line", element.get("points"))
for group in root.iter(SVG + "g"):
    if "scale" not in group.get("transform", ""):
        continue
    for path in group.iter(SVG + "path"):
        for column, row, run in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path.get("d")):
            for i in range(int(run)):
                print("cell", int(column) + i, row, path.get("fill"))
