/* Arguments of ICU's MessageFormat that choose among texts: {n, plural, one {# file} other {# files}}. */
#ifndef FERRY_DOCUMENTS_FORMATS_ICU_ARGUMENTS_H
#define FERRY_DOCUMENTS_FORMATS_ICU_ARGUMENTS_H

#include "base/bytes.h"
#include "base/status.h"

/* Bytes begin … end - 1 of a message. */
typedef struct ferry_icu_text {
    size_t begin, end;
} ferry_icu_text;

typedef struct ferry_icu_texts {
    ferry_icu_text *items; /* [count], ascending; free() frees them */
    size_t count, capacity;
} ferry_icu_texts;

/* Reads the argument of type plural, select or selectordinal that begins with the "{" at byte `at`. *end: the byte
 * after it; `at`: there is none; SIZE_MAX: it is not well formed. Appends its texts; an argument of these types within
 * a text divides that text. Errors: MEMORY. */
ferry_status ferry_icu_argument_read(ferry_view message, size_t at, size_t *end, ferry_icu_texts *texts,
                                     ferry_error *error);

#endif
