/* What is kept in the text of documents of all formats: what programs put values in place of, names for machines,
 * numbers, and what a model cannot read. Where a sentence could be meant ("and/or", "@", "100% cotton"), nothing is.
 *
 *     placeholders  %s %1$d %(name)s %name% %%   {name} {{ x }} {% if %} ${name} $(name) #{x} %{x}   $name $name$
 *                   <%= x %> <#if x>   [[x]] [b] [/b] [url=x]   `code`   &copy;   \n \name   :name :name: @name !name
 *     names         https://… www.… user@host.org <user@host.org> example.org/x   /usr/share ./file ~/file src/main.c
 *                   *.txt C:\Windows README.md   --option=x -h   x=y   name() ls(1) std::string snake_case
 *                   #123 #tag   abc1234   A320 v1.2.3 1990s 80kg 1.80m camelCase   dd/MM/yyyy "MMMM D, YYYY"
 *     numbers       1234 1,234.56 24/12/2023 18:30 1.2.3 030 1234567: of three digits, or in parts; others behind the
 *                   net (`marks`). "10 km" with a blank that does not break, "%d GB" {n}px, 230 °C, § 3, $27B
 *     signs         20 m²  H₂O  Ferry™  № 5  1½  ≤ 5: that the model does not read, with their word and number
 */
#ifndef FERRY_DOCUMENTS_PLACEHOLDERS_H
#define FERRY_DOCUMENTS_PLACEHOLDERS_H

#include "base/bytes.h"

typedef enum ferry_placeholder_kind {
    FERRY_PLACEHOLDER_TEMPLATE,
    FERRY_PLACEHOLDER_NAME,
    FERRY_PLACEHOLDER_NUMBER,
    FERRY_PLACEHOLDER_WORD,   /* one that a model cannot read: "Łódź", "m²" */
    FERRY_PLACEHOLDER_SYMBOL, /* emoji, arrows, controls */
    FERRY_PLACEHOLDER_SPACE   /* blanks that are no ' ' */
} ferry_placeholder_kind;

typedef struct ferry_placeholder {
    size_t begin, end;
    ferry_placeholder_kind kind;
} ferry_placeholder;

typedef struct ferry_placeholder_rules {
    bool formulas; /* $x$ $$x$$ \(x\) \[x\] */
    bool brackets; /* a word in brackets, "[name]", is a placeholder */
    bool marks; /* only what the net left: marks (net.h) that the model has no piece for, and small numbers; otherwise
                 * none of them */
    /* The bytes of the text, which is not empty, before the first character that the model has no piece for; text.size:
     * it has all. Time is linear in what it returns. NULL: there is none without. */
    size_t (*reads)(void *user, ferry_view text);
    void *user;
    const char *signs; /* NULL, or ASCII characters: they are kept, and nothing else */
} ferry_placeholder_rules;

/* What is syntax, wherever it is. */
#define FERRY_MARKS "{}[]<>|\\$#@_~^=&%*/:;+!"

/* In the text that a model sees, a character of Unicode's last plane, which is for private use, stands for what is
 * kept; in a document's text, such characters are kept themselves. */
enum { FERRY_FIRST_PLACEHOLDER = 0x100000, FERRY_PLACEHOLDERS = 0xFFFE, FERRY_PLACEHOLDER_BYTES = 4 };
static inline bool ferry_is_placeholder(uint32_t c)
{
    return c >= FERRY_FIRST_PLACEHOLDER;
}

/* A search through a text, from byte `at` on; what is before it is looked at. The rest is zeroed. */
typedef struct ferry_placeholder_search {
    ferry_view text;
    size_t at;
    ferry_placeholder_rules rules;
    size_t unread; /* up to here, `reads` was asked */
} ferry_placeholder_search;

/* The next piece that is kept, and moves the search behind it. Time for all of a text is linear in its size. */
bool ferry_placeholder_next(ferry_placeholder_search *search, ferry_placeholder *found);

/* ---- parts of the search: the byte after what begins at byte `at`, or 0 ---- */

/* So that time is linear, that many bytes are looked at: of a name, between brackets, of a number in parts. */
enum { FERRY_MOST_NAME = 256, FERRY_MOST_INSIDE = 256, FERRY_MOST_NUMBER = 64 };

/* scheme://… www.… mailto:… user@host.org */
size_t ferry_find_address(ferry_view text, size_t at);
/* A placeholder, which needs no blank before it. */
size_t ferry_find_placeholder(ferry_view text, size_t at, bool formulas);
/* Where the type of an argument of ICU begins, "{day, date, long}", whose "{" is at byte `at`. */
size_t ferry_find_argument_type(ferry_view text, size_t at);
/* Whether a group in braces is words of a remark, three or with a sign at their end: "{see the note below}". */
bool ferry_is_remark(ferry_view group);
/* The bytes at the end of a text that are a word without a small vowel, of three at most: "m", "H", "CO", "10". 0: it
 * is another word, at which what is raised is a note. */
size_t ferry_unit_size(ferry_view text);
/* What ends with the next `end` in the line. */
size_t ferry_find_after(ferry_view text, size_t at, const char *end);

#endif
