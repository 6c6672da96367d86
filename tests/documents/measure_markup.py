#!/usr/bin/env python3
"""How often a tag is at the words that it belongs to, where that is known without an aligner (docs/documents-design.md).

    tests/documents/measure_markup.py build/ferry MODEL LINES.en[.gz]

Lines of English, one sentence each, become paragraphs of one page of HTML, which a model into German translates twice:
without tags, to see which words of a translation belong to which of its source; then with a tag around one thing each.

name    a word that is the same on both sides, once on each: <b>Tom</b>
noun    a common word, whose translation is found by its stem: <b>house</b> is at "Haus"
clause  what stands before or after the only comma of the line: <b>If it rains</b>, I stay.
kept    names again, with translate="no": the translation is the same text

A paragraph that stays in the source language, or that is translated otherwise with the tag than without it, counts as
one whose tag is not at its words; the last column says how many these are.
"""
import gzip
import html
import os
import re
import subprocess
import sys

WORDS = dict(pair.split(":") for pair in """
house:haus book:buch water:wasser dog:hund cat:katze school:schule car:auto money:geld time:zeit train:zug door:tür
window:fenster father:vater mother:mutter brother:bruder sister:schwester teacher:lehrer child:kind night:nacht
morning:morgen letter:brief friend:freund doctor:arzt city:stadt tree:baum bread:brot milk:milch coffee:kaffee tea:tee
bird:vogel fish:fisch table:tisch hand:hand head:kopf girl:mädchen boy:junge woman:frau man:mann red:rot old:alt new:neu
young:jung cold:kalt good:gut week:woche year:jahr today:heute yesterday:gestern never:nie always:immer room:zimmer
name:name game:spiel music:musik english:englisch german:deutsch french:französisch""".split())
WORD = re.compile(r"\d+(?:[.,:]\d+)+|\w+")  # a time, or a number with its points, is one word


def translate(ferry, model, paragraphs):
    """All paragraphs by one call, which is 1 if some stay as they are."""
    page = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    command = [ferry, "translate", "--quiet", "--format", "html", "--model", model]
    done = subprocess.run(command, input=page.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    found = re.findall("<p>(.*)</p>\n", done.stdout.decode())
    if done.returncode > 1 or len(found) != len(paragraphs):
        sys.exit(f"{len(paragraphs)} paragraphs became {len(found)}: {done.stderr.decode()}")
    return found


def mark(line, begin, end):
    return line[:begin] + "<b>" + line[begin:end] + "</b>" + line[end:]


def word_cases(line, translation):
    target = WORD.findall(translation)
    source = [(m.start(), m.end(), m.group()) for m in WORD.finditer(line)]
    for begin, end, word in source:
        if [w for _, _, w in source].count(word) != 1:
            continue
        if ((word[0].isupper() and len(word) > 1) or word[0].isdigit()) and target.count(word) == 1:
            yield "name", mark(line, begin, end), word
        stem = WORDS.get(word.lower())
        found = [w for w in target if stem and w.lower().startswith(stem) and len(w) <= len(stem) + 2]
        if len(found) == 1:
            yield "noun", mark(line, begin, end), found[0]


def clause_cases(line, translation):
    if '"' in line or line.count(",") != 1 or translation.count(",") != 1:
        return
    if line[-1] not in ".!?" or translation[-1] not in ".!?":
        return
    comma = line.index(",")
    before, after = translation[:-1].split(",")
    yield "clause", mark(line, 0, comma), before
    yield "clause", mark(line, comma + 2, len(line) - 1), after.strip()


def plain(paragraph):
    return html.unescape(re.sub("<[^>]*>", "", paragraph))


def find_cases(lines, translations):
    """Of each: what kind it is, the marked line, the words that the tag belongs to, the whole translation."""
    for line, translation in zip(lines, translations):
        for kind, marked, words in (*word_cases(line, translation), *clause_cases(line, translation)):
            yield kind, marked, words, translation
            if kind == "name":
                yield "kept", marked.replace("<b>", '<b translate="no">'), words, translation


def judge(case, found):
    """Whether the tag is exactly at its words, at least at them, and whether the text is another than without it."""
    kind, _, words, whole = case
    same = plain(found) == whole
    if kind == "kept" or not same:
        return same, same, not same
    inner = plain(re.search("<b>(.*)</b>", found).group(1))
    return inner == words, words in inner, False


def main(ferry, model, path):
    if not os.path.exists(path):
        print(f"measure_markup: not run, {path} is absent", file=sys.stderr)
        return 77
    with (gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")) as file:
        lines = [line for line in file.read().split("\n") if line and not re.search("[&<]", line)]
    cases = list(find_cases(lines, map(plain, translate(ferry, model, lines))))
    counts = {}
    for case, found in zip(cases, translate(ferry, model, [case[1] for case in cases])):
        old = counts.get(case[0], (0, 0, 0, 0))
        counts[case[0]] = [a + b for a, b in zip(old, (1, *judge(case, found)))]
    print("kind\tcases\texactly, %\tat least, %\tother text, %")
    for kind, (number, *rest) in counts.items():
        print(kind, number, *(f"{100 * each / number:.1f}" for each in rest), sep="\t")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
