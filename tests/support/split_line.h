/* A line that is split as a whole, by the functions that split it part by part. */
#ifndef FERRY_SUPPORT_SPLIT_LINE_H
#define FERRY_SUPPORT_SPLIT_LINE_H

#include "engine/api/translator.h"

/* The parts of a line, which the caller destroys. Errors: those of ferry_splitter_begin and _next. */
static inline ferry_status split_line(const ferry_translator *translator, ferry_view line, ferry_parts *parts,
                                      ferry_error *error)
{
    const ferry_stop stop = {0};
    ferry_splitter splitter;
    bool more = true;
    ferry_status status =
        ferry_splitter_begin(translator->model, &translator->rules, line, &stop, parts, &splitter, error);
    while (status == FERRY_OK && more) status = ferry_splitter_next(&splitter, &more, error);
    ferry_splitter_end(&splitter);
    return status;
}

#endif
