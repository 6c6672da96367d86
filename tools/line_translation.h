/* How a batch of lines is translated: as text, as text whose translations are given in part, or as ids. */
#ifndef FERRY_TOOLS_LINE_TRANSLATION_H
#define FERRY_TOOLS_LINE_TRANSLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "documents/placeholders.h"
#include "engine/ferry.h"
#include "line_reader.h"
#include "translator_session.h"

/* Lines that are source ids already, decimal numbers with blanks between them, as ferry_inspect_generate takes them. */
typedef struct ferry_line_ids {
    int32_t *ids;     /* of all lines of a batch */
    int32_t *offsets; /* [count + 1] where those of each line begin; a blank line has none */
    bool *bad;        /* [count] the line is no sentence of the model; it has no ids */
    size_t ids_capacity, offsets_capacity, bad_capacity;
} ferry_line_ids;

typedef struct ferry_line_translation {
    const ferry_call *call;
    const ferry_session *session;
    ferry_lines prefix_lines; /* of --prefixes */
    ferry_text *prefixes;     /* [capacity] --prefix, once for each line of a batch */
    size_t prefixes_capacity;
    ferry_line_ids ids; /* of --ids */
    ferry_term *terms;  /* [term_count] what --keep keeps in a batch */
    size_t term_count, terms_capacity;
} ferry_line_translation;

/* The next placeholder or address of a line (ferry_placeholder_next): what --keep keeps. */
bool ferry_line_keeps_next(ferry_placeholder_search *search, ferry_placeholder *kept);

/* Prints a message and returns false if --prefixes cannot be opened. Close it in either case. */
bool ferry_line_translation_open(ferry_line_translation *translation, const ferry_call *call,
                                 const ferry_session *session);
void ferry_line_translation_close(ferry_line_translation *translation);

/* Reads what the batch of `lines` needs beside its text. Prints a message and returns false on failure, and if
 * --prefixes ends before the lines do. */
bool ferry_line_translation_prepare(ferry_line_translation *translation, const ferry_lines *lines);
/* The same for a batch that is not translated. */
bool ferry_line_translation_skip(ferry_line_translation *translation, const ferry_lines *lines);
/* Translates that batch: as ferry_translate. */
ferry_status ferry_line_translation_run(const ferry_line_translation *translation, const ferry_lines *lines,
                                        ferry_result **result, ferry_error *error);
/* Whether line `index` of the batch was refused, after a message, and has no translation in the result. */
bool ferry_line_translation_is_bad(const ferry_line_translation *translation, size_t index);
/* At the end of the lines: whether all of --prefixes was used. Prints a message if not. */
bool ferry_line_translation_finish(ferry_line_translation *translation);

#endif
