/* Codes and English names of languages. */
#ifndef FERRY_BASE_LANGUAGE_NAMES_H
#define FERRY_BASE_LANGUAGE_NAMES_H

#include "bytes.h"

typedef struct ferry_language_name {
    const char *code, *short_code, *name; /* ISO 639-3 or with a script; ISO 639-1, or "" */
} ferry_language_name;

/* NULL beyond the last one. A language with several names has a row for each, the usual name first. */
const ferry_language_name *ferry_language_name_at(size_t index);
/* The first row with this code or short code, in any case; NULL: none. */
const ferry_language_name *ferry_language_name_find(ferry_view code);

#endif
