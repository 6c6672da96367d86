/* Inflating what zip archives and gzip files hold (zlib) into temporary files without a name: mapped, they cost no
 * anonymous memory. */
#ifndef FERRY_CONTAINERS_INFLATE_H
#define FERRY_CONTAINERS_INFLATE_H

#include "base/bytes.h"
#include "base/memory.h"
#include "base/system.h"

typedef enum ferry_deflate_form {
    FERRY_DEFLATE_RAW, /* RFC 1951, one stream */
    FERRY_DEFLATE_GZIP /* RFC 1952; several streams may follow one another */
} ferry_deflate_form;

/* Inflates `packed` to at most `most` bytes, which are taken from the account (budget.h) as they come, and not given
 * back. The file lies in the folder that TMPDIR names, or in /tmp (base/system.h, ferry_spool). *file is its mapping,
 * and is empty on failure; *used is how much of `packed` was read. The message is about the bytes: what they are is for
 * the caller to add. Errors: FORMAT (damaged, cut off, too long), IO (the temporary file), MEMORY (or the account
 * refused). */
ferry_status ferry_inflate(ferry_view packed, ferry_deflate_form form, uint64_t most, ferry_account *account,
                           ferry_mapped_file *file, size_t *used, ferry_error *error);

#endif
