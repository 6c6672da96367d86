/* Two translators of the open model in a row, and lines for them. */
#ifndef FERRY_SUPPORT_ROW_H
#define FERRY_SUPPORT_ROW_H

#include "shipped_model.h"

static const char *const samples[] = {
    "How are you?",
    "This movie is one of my all-time favorites.",
    "",
    " \t",
    "I like it\xFF very much.",
    "Tom is reading a book in the garden. Yes.\n  What do you want to do?",
    "No.",
    "\xF0\x9F\x98\x80",
};

enum { LINES = sizeof samples / sizeof *samples };

static inline ferry_options row_options(void)
{
    ferry_options options = default_options(model);
    options.from = options.to = ""; /* what it writes is not what it reads */
    options.threads = 2;
    return options;
}

static inline ferry_translator *new_row(const ferry_options *first, const ferry_options *second)
{
    ferry_translator *row;
    CHECK(ferry_translator_then(new_translator(model, first), new_translator(model, second), &row, &error));
    return row;
}

#endif
