#!/usr/bin/env python3
"""Prints entities.inc: the names of characters of HTML 5 that end with a semicolon, sorted, with what they stand for."""
from html.entities import html5

print("/* Made by entities.py. */")
for name in sorted(name[:-1] for name in html5 if name.endswith(";")):
    print('ENTITY(%s, "%s")' % (name, "".join("\\%03o" % byte for byte in html5[name + ";"].encode())))
