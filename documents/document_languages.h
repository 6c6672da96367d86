/* Languages of a model, as documents and callers name them. */
#ifndef FERRY_DOCUMENTS_DOCUMENT_LANGUAGES_H
#define FERRY_DOCUMENTS_DOCUMENT_LANGUAGES_H

#include "base/bytes.h"
#include "engine/ferry.h"

/* Whether one of the language's names is `name`, in any case: "deu_Latn", "deu", "de", "German". */
bool ferry_language_has_name(const ferry_language *language, ferry_view name);
/* The model's language of that name; of NULL: the one that has `role`. NULL: there is none, or there are several. */
const ferry_language *ferry_language_find(const ferry_model *model, const char *name, ferry_language_role role);

#endif
