"""Writes moses_classes.inc and moses_prefixes.inc from the data of sacremoses 0.2.0 (MIT license):

    python3 tokenizer/moses/moses_data.py

Its sets of characters come from Perl's Unicode properties, its abbreviations from Moses (share/nonbreaking_prefixes).
"""
import os
import sacremoses
from sacremoses import MosesDetokenizer, MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = "/* {}\n * Written by moses_data.py from the data of sacremoses {} (moses_license.txt). */\n"
WIDTH = 120


def classes():
    """Of each class of moses_rules.h: its characters, in the order of its bits."""
    base = MosesTokenizer("en")
    added = [set(MosesTokenizer(language).IsAlnum) - set(base.IsAlnum) for language in ("zh", "ja", "ko")]
    return [set(base.IsAlnum), set(base.IsAlpha), set(MosesDetokenizer.IsAlpha), set(base.IsN), set(base.IsLower),
            set(base.IsSc) - {"\n"}] + added


def ranges(sets):
    """(first, last, bits) of every run of characters of the same classes."""
    bits = {}
    for at, characters in enumerate(sets):
        for character in characters:
            bits[ord(character)] = bits.get(ord(character), 0) | 1 << at
    runs = []
    for character in sorted(bits):
        if runs and runs[-1][1] == character - 1 and runs[-1][2] == bits[character]:
            runs[-1][1] = character
        else:
            runs.append([character, character, bits[character]])
    return runs


def lines(items, indent):
    """Items separated by blanks, in lines of at most WIDTH characters."""
    line = ""
    for item in items:
        if line and len(indent) + len(line) + 1 + len(item) > WIDTH:
            yield indent + line
            line = ""
        line += (" " if line else "") + item
    yield indent + line


def prefixes(language):
    """An abbreviation is preceded by '#' where it counts as one before a number only."""
    tokenizer = MosesTokenizer(language)
    numeric = set(tokenizer.NUMERIC_ONLY_PREFIXES)
    plain = set(tokenizer.NONBREAKING_PREFIXES) - numeric
    found = {word: word for word in plain} | {word: "#" + word for word in numeric}
    return [found[word] for word in sorted(found, key=lambda word: word.encode()) if not any(map(str.isspace, word))]


def literal(words):
    return [f'"{word}\\n"' for word in words]


def main():
    version = sacremoses.__version__
    with open(os.path.join(HERE, "moses_classes.inc"), "w") as out:
        out.write(HEAD.format("Characters and their classes, by ranges: rows of ferry_moses_ranges (moses_rules.h).",
                              version))
        table = [f"{{{first:#x}, {last:#x}, {bits:#x}}}," for first, last, bits in ranges(classes())]
        out.write("\n".join(lines(table, "    ")) + "\n")
    with open(os.path.join(HERE, "moses_prefixes.inc"), "w") as out:
        out.write(HEAD.format("Abbreviations by language: rows of ferry_moses_prefixes (moses_rules.h).", version))
        for language in sorted(set(NonbreakingPrefixes().available_langs.values())):
            words = "\n".join(lines(literal(prefixes(language)), "     "))
            out.write(f'    {{"{language}",\n{words}}},\n')


main()
