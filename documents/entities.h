/* Character references of HTML 5. */
#ifndef FERRY_DOCUMENTS_ENTITIES_H
#define FERRY_DOCUMENTS_ENTITIES_H

#include "base/bytes.h"

/* If the text begins with &name;, &#38; or &#x26;, returns the bytes of that, and sets bytes [*size] to the character,
 * or the two characters, that it stands for, in UTF-8; otherwise returns 0. Names need their semicolon. Numbers are
 * read as browsers do: those that are no character are U+FFFD, those of C1 controls Windows-1252. */
size_t ferry_entity_read(ferry_view text, char bytes[8], size_t *size);

#endif
