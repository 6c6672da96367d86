/* What the tests of Hugging Face's families share. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_FAMILIES_H
#define FERRY_SUPPORT_FAMILIES_H

#include "import_support.h"

/* The directory of a small model of the large golden data; the test ends here if there is none. */
char *small_family(const char *name);
/* The index of the language with exactly these names, which must exist. */
int32_t find_language(const ferry_model_languages *languages, const char *names);
bool is_special(const ferry_model_text *text, int32_t id);

#endif
