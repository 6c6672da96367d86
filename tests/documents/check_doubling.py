#!/usr/bin/env python3
"""Time is linear in a document: each construct of each format, repeated.

    check_doubling.py TRANSLATE_DOCUMENT [SMALL LARGE [FORMAT...]]

A document of LARGE MB of one construct (default: 0.4) takes at most LARGE / SMALL times as long as one of SMALL MB
(default: 0.1), and a third more; a stand-in for the library (translate_document.c) writes capitals. Time is that of
the processor, the least of three tries."""
import resource
import subprocess
import sys

INLINE = ["word ", "é ", "漢字", "漢 ", "a_b ", "x^2 ", "{name} ", "{a b c d} ", "{", "}", "[[a]] ", "[", "]", "[x] ",
    "[a](b) ", "[a][b] ", "<", "> ", "<b>a</b> ", "<b>a ", "</b>a ", "<i>a</i> <b>b</b> ", "<b><i>a</i></b> ",
    "&amp; ", "&", "&#38; ", "%s ", "%", "% ", "$", "$a$ ", "$$", "\\", "\\n ", "\\(", "`a` ", "`", "``", "` ", "*",
    "**", "*a* ", "**a** ", "*a ", "_", "__a__ ", "_a ", "~~a~~ ", "~", "^", "=", "==a== ", "|", "| a ", "#", "#1 ",
    "# ", "@", "@a ", "a@b.c ", "https://a.b/c ", "www.a.b ", "https://", "/", "/a/b ", "a/b ", "-", "--a ", "- ",
    "+", "+1 ", "1", "1 ", "1,234 ", "1.", "1:", "1:2 ", "12:30 ", ".", "...", "!", "?", "? ", ": ", ":a: ", ":",
    "; ", '"', '"a" ', "'", "(", "(a) ", ")", "()", "« a » ", "😀", "😀 ", "a😀 ", "→ ", "² ", "m² ", "™ ", "\xa0",
    "a\xa0", "\u200d", "a\xadb ", "\u202a", "a. ", "A b. ", "Dr. ", "ABCD ", "İ ", "é", "a=b ", "f(1) ", "0x1F ",
    "abc1234 ", "a-b-", "<a href=b>c</a> ", "<br>", "<br/>a", '<img alt="a b">', "<code>x</code> ", "<sub>2</sub>",
    "m<sup>2</sup> ", "<!-- a -->", "<!--", "<?a?>", "<![CDATA[a]]>", "<span translate=no>a</span> ",
    '<a title="b c">d</a> ', '<b title="', "&lt;b&gt;", "{{ a }} ", "{% a %}", "{{<a>}}", '""', "<<", "{#",
    "![a](b) ", "[^1] ", "[a]: b ", "{a, plural, one {b c} other {d}} ", "{a, plural, ", "%(a)s ", "${a} ", "$(a) ",
    "a|b ", "a\\|b ", "@:a ", "\\u00e9 ", "{\\an8}", "{\\i1}a ", "♪ a ", "[a b] ", "- a ", "<v A>b ", "<c.x>a</c> ",
    "<00:01.000>"]
LINES = ["a b\n", "a b\n\n", "# a\n", "## a b\n\n", "- a\n", "- a\n\n", "1. a\n", "> a\n", "> a\n\n", "> ", ">",
    "    a\n", "\ta\n", "```\n", "```a\nb\n```\n", "~~~\n", "|a|b|\n", "|a|b|\n|-|-|\n|c|d|\n\n", "a | b\n", "---\n",
    "===\n", "a\n---\n", "a\n===\n", "***\n", "<div>\n", "<div>\na\n</div>\n\n", "</div>\n", "<p>a</p>\n", "<p>a\n",
    "<li>a\n", "<ul><li>", "<table><tr><td>a", "<pre>a</pre>\n", "<pre>", "<script>", "<script>a</script>\n",
    "<style>a</style>", "<!-- a -->\n", '<div title="a b">\n', "[a]: b\n", "[^a]: b\n", "[^a]: b\n\n", "::: a\n",
    "!!! a\n", "!!! a\n    b\n", '=== "a"\n', "a\n: b\n", "{a}\n", "{% a %}\n", "{{< a >}}\n", "$$\n",
    "\\begin{a}\n", "\\begin{a}\n\\end{a}\n", "a  \nb\n", "a\\\nb\n", "\n", "\r\n", " \n", "a \n", "- ", "* - ",
    "  - a\n", "* a\n  b\n", "+ a\n", "1) a\n", "a: b\n", "A. b\n", "(a) b\n", "* * *\n", "...\n", "----\n",
    "a\n----\n", "-- \n", "> > a\n", "import a\n", "export a\n", "<A b={c}>\n", "*[a]: b\n", "//// a\n", "+++\n",
    "%%\n", ":a: b\n", "  \n", "_____\n", "a b. C d.\n", "//a\n", ": a\n"]
PO = ['msgid "a b"\nmsgstr ""\n\n', 'msgid ""\n"a b"\nmsgstr ""\n\n', '"a b "\n', "# a\n", "#, fuzzy\n", "#. a\n",
    "#: a\n", '#~ msgid "a"\n', '#| msgid "a"\n', 'msgctxt "a"\nmsgid "b"\nmsgstr ""\n\n',
    'msgid "a b"\nmsgid_plural "c d"\nmsgstr[0] ""\nmsgstr[1] ""\n\n', 'msgid "a\\n"\n"b\\n"\nmsgstr ""\n\n',
    'msgstr ""\n', 'msgid "a"\n', 'domain "a"\n', 'msgid "a b"\nmsgstr "c"\n\n',
    '#, c-format\nmsgid "a %s"\nmsgstr ""\n\n', 'msgstr[0] ""\n', 'msgid "_a &b"\nmsgstr ""\n\n', 'msgid "a" "b" ']
JSON = ['"a b",', '["a b"],', "[", '{"a":', '{"a":"b c"},', '{"a":{"b":"c d"}},', '"{a}",', '"a\\nb",',
    '"\\u00e9 ",', "1,", "null,", '"<b>a</b>",', '"a | b | c",', '"{n, plural, one {a b} other {c d}}",', '"",']
CUES = ["1\n00:00:01,000 --> 00:00:02,000\na b\n\n", "1\n00:00:01,000 --> 00:00:02,000\na\nb\n\n",
    "00:01.000 --> 00:02.000\na b\n\n", "NOTE a\n\n", "STYLE\na\n\n", "REGION\na\n\n", "a\n", "\n", "1\n",
    "00:00:01,000 --> 00:00:02,000\n", "1\n00:00:01,000 --> 00:00:02,000\n- a\n- b\n\n",
    "1\n00:00:01,000 --> 00:00:02,000\n<i>a\nb</i>\n\n", "1\n00:00:01,000 --> 00:00:02,000\n<i>a\n\n",
    "1\n00:00:01,000 --> 00:00:02,000\na,\n\n", "1\n00:00:01,000 --> 00:00:02,000\na...\n\n", "--> ", "00:",
    "NOTE\n", "- a\n"]
HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
CUE = "1\n00:00:00,000 --> 00:00:01,000\na "


def documents():
    """Of each: the format, what is before the construct, the construct, what is behind it."""
    for kind, before in ("text", "a "), ("html", "<p>a "), ("markdown", "a "):
        yield from ((kind, before, part, "\n") for part in INLINE)
        yield from ((kind, "", part, "\n") for part in LINES)
    for part in INLINE:
        quoted = part.replace("\\", "\\\\").replace('"', '\\"')
        yield "po", 'msgid "a ', quoted, '"\nmsgstr ""\n'
        yield "json", '["a ', quoted, '"]'
        yield "srt", CUE, part, "\n"
    yield from (("po", HEADER, part, "\n") for part in PO)
    yield from (("json", "[", part, '"x"]') for part in JSON)
    yield from (("srt", "", part, "\n") for part in CUES)
    yield from (("vtt", "WEBVTT\n\n", part, "\n") for part in CUES)


def seconds(program, document, size):
    kind, before, part, after = document
    source = (before + part * int(size * 1e6 / len(part.encode())) + after).encode()
    begun = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    # Some are refused, which takes time, too.
    subprocess.run([program, kind, "upper"], input=source, capture_output=True, check=False)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begun


def main():
    program, *rest = sys.argv[1:]
    small, large = [float(size) for size in rest[:2]] or (0.1, 0.4)
    wrong = count = 0
    for document in documents():
        if rest[2:] and document[0] not in rest[2:]:
            continue
        times, limit = [], 0.0
        while not times or (len(times) < 3 and times[-1][1] > limit):
            times.append((seconds(program, document, small), seconds(program, document, large)))
            limit = 1.33 * large / small * max(0.03, min(t[0] for t in times))
        least = [min(t[i] for t in times) for i in range(2)]
        count += 1
        if least[1] > limit:
            wrong += 1
            print(*map(repr, document), f"{small} MB: {least[0]:.3f} s, {large} MB: {least[1]:.3f} s", flush=True)
    print(f"{count} constructs: {wrong} take longer than linear time")
    sys.exit(wrong > 0)


main()
