/* Languages by their English names. */
#ifndef FERRY_BASE_LANGUAGE_NAMES_H
#define FERRY_BASE_LANGUAGE_NAMES_H

#include "bytes.h"

/* Codes of ISO 639-3 and, where there is one, of ISO 639-1 (else ""), or a code with its script, and an English name.
 */
typedef struct ferry_language_name {
    const char *code, *short_code, *name;
} ferry_language_name;

/* Row `index` of the table, NULL past the end. A language's usual name comes before other names for it. */
const ferry_language_name *ferry_language_name_at(size_t index);
/* The usual name of the language with this code ("de", "deu", "zho_Hant"), in any case; NULL: none is known. */
const char *ferry_language_name_of(ferry_view code);

#endif
