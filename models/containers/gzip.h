/* Gzip-compressed files (RFC 1952; several streams may follow one another). */
#ifndef FERRY_CONTAINERS_GZIP_H
#define FERRY_CONTAINERS_GZIP_H

#include "base/memory.h"
#include "base/system.h"

/* Inflates `bytes` into a temporary file without a name, mapped, so that it costs no anonymous memory. `label` is for
 * messages. The inflated bytes are taken from the account (budget.h). *file must be zeroed and stays so on failure.
 * Errors: FORMAT, IO (the temporary file), MEMORY (or the account refused). */
ferry_status ferry_gzip_inflate(ferry_view bytes, const char *label, ferry_account *account, ferry_mapped_file *file,
                                ferry_error *error);

#endif
