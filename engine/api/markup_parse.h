/* Text with tags like HTML's: the text, and what is not text.
 *
 *     <p>Tea &amp; <b>milk</b></p>   →   text "Tea & milk";  items <p> at 0, <b> at 6, </b> at 10, </p> at 10
 *
 * What ends a sentence (tags of block elements, an empty line) is a line end in the text; other white space is one
 * blank, as browsers show it. Any bytes are markup; docs/markup.md tells what they mean. */
#ifndef FERRY_API_MARKUP_PARSE_H
#define FERRY_API_MARKUP_PARSE_H

#include "base/bytes.h"
#include "base/status.h"
#include "tokenizer/tokenizer.h"

typedef enum ferry_markup_kind {
    FERRY_MARKUP_POINT, /* stands alone: a void element, a comment, content that is not translated, a lone tag */
    FERRY_MARKUP_OPEN,  /* the start tag of an element that has an end tag */
    FERRY_MARKUP_CLOSE, /* its end tag */
} ferry_markup_kind;

typedef struct ferry_markup_item {
    ferry_markup_kind kind;
    bool kept;         /* the element's text is not translated, but the model sees it; OPEN has all of its bytes */
    size_t begin, end; /* its bytes in the markup */
    size_t at;         /* its place in the text: before this byte */
    size_t partner;    /* of OPEN and CLOSE: the item of the other tag */
} ferry_markup_item;

/* Bytes `text` … (to the next piece) of the text come from bytes begin … end - 1 of the markup: byte by byte if they
 * are as many. */
typedef struct ferry_markup_piece {
    size_t text, begin, end;
} ferry_markup_piece;

/* Elements are well nested: between the items of a pair are whole pairs. */
typedef struct ferry_markup {
    ferry_string text;          /* valid UTF-8 */
    ferry_markup_item *items;   /* [item_count], as they come */
    ferry_markup_piece *pieces; /* [piece_count], ascending */
    size_t item_count, item_capacity, piece_count, piece_capacity;
    bool repaired; /* ill-formed UTF-8 in the text is U+FFFD */
} ferry_markup;

/* Time and memory are linear in the size. Errors: MEMORY; *markup is then to be destroyed, too. */
ferry_status ferry_markup_parse(ferry_view source, ferry_markup *markup, ferry_error *error);
void ferry_markup_destroy(ferry_markup *markup);

/* The byte of the markup where the character at byte `at` of the text begins, at < text.size, and the one after it
 * where the character before byte `at` ends, at > 0. */
size_t ferry_markup_source_begin(const ferry_markup *markup, size_t at);
size_t ferry_markup_source_end(const ferry_markup *markup, size_t at);

/* A character of a script that separates words by blanks: two of them that meet belong to one word. */
bool ferry_markup_is_letter(uint32_t c);

#endif
