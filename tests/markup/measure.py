#!/usr/bin/env python3
"""How often a tag is at the words that it belongs to, where that is known without an aligner (docs/markup.md).

    FERRY_LIBRARY=build/libferry.so PYTHONPATH=examples/python tests/markup/measure.py MODEL LINES.en[.gz]

name    a word that is the same on both sides, once on each: <b>Tom</b>
noun    a common word, whose translation is found by its stem: <b>house</b> is at "Haus"
clause  what stands before or after the only comma of the line: <b>If it rains</b>, I stay.
kept    names again, with translate="no": the translation is the same text
"""
import gzip
import re
import sys

import ferry

WORDS = dict(pair.split(":") for pair in """
house:haus book:buch water:wasser dog:hund cat:katze school:schule car:auto money:geld time:zeit train:zug door:tür
window:fenster father:vater mother:mutter brother:bruder sister:schwester teacher:lehrer child:kind night:nacht
morning:morgen letter:brief friend:freund doctor:arzt city:stadt tree:baum bread:brot milk:milch coffee:kaffee tea:tee
bird:vogel fish:fisch table:tisch hand:hand head:kopf girl:mädchen boy:junge woman:frau man:mann red:rot old:alt new:neu
young:jung cold:kalt good:gut week:woche year:jahr today:heute yesterday:gestern never:nie always:immer room:zimmer
name:name game:spiel music:musik english:englisch german:deutsch french:französisch""".split())
WORD = re.compile(r"\w+")


def translate(translator, lines):
    return [translator.translate_text(line, markup=True).text for line in lines]


def mark(line, begin, end):
    return line[:begin] + "<b>" + line[begin:end] + "</b>" + line[end:]


def word_cases(line, translation):
    target = WORD.findall(translation)
    source = [(m.start(), m.end(), m.group()) for m in WORD.finditer(line)]
    for begin, end, word in source:
        if [w for _, _, w in source].count(word) != 1:
            continue
        if ((word[0].isupper() and len(word) > 1) or word.isdigit()) and target.count(word) == 1:
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


def main(model, path):
    translator = ferry.Translator(ferry.Model(model))
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        lines = [line for line in file.read().split("\n") if line and not re.search("[&<]", line)]
    cases = []
    for line, translation in zip(lines, translate(translator, lines)):
        for kind, marked, words in (*word_cases(line, translation), *clause_cases(line, translation)):
            cases.append((kind, marked, words, translation))
            if kind == "name":
                cases.append(("kept", marked.replace("<b>", '<b translate="no">'), words, translation))
    counts = {}
    for (kind, _, words, whole), found in zip(cases, translate(translator, [case[1] for case in cases])):
        inner = found[found.index(">") + 1:found.index("</b>")]
        plain = re.sub("<[^>]*>", "", found)
        assert kind == "kept" or plain == whole, (whole, found)
        count = counts.setdefault(kind, [0, 0, 0])
        count[0] += 1
        count[1] += plain == whole if kind == "kept" else inner == words
        count[2] += plain == whole if kind == "kept" else words in inner
    print("kind\tcases\texactly\tat least, %")
    for kind, (number, exact, within) in counts.items():
        print(f"{kind}\t{number}\t{100 * exact / number:.1f}\t{100 * within / number:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
