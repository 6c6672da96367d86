/* What is kept in the text of documents: what programs put values in place of, addresses, names of files.
 *
 *     %s %1$d %(name)s %%    {name} ${name} {{ name }} {\an8}    $name $name$
 *     https://… www.… user@host.org <user@host.org>    /usr/share ./file ~/file    --option */
#ifndef FERRY_DOCUMENTS_KEPT_TEXT_H
#define FERRY_DOCUMENTS_KEPT_TEXT_H

#include "base/bytes.h"

typedef struct ferry_kept {
    size_t begin, end;
} ferry_kept;

/* Finds the first one that begins at byte `begin` of the text or later; nothing before byte `begin` belongs to the
 * text. Time is linear in the text's size, as long as each search begins where the last one ended. */
bool ferry_kept_find(ferry_view text, size_t begin, ferry_kept *found);

#endif
