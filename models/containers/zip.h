/* Reading untrusted zip archives (PKWARE's APPNOTE 6.3, with ZIP64). The central directory is the authority;
 * stored members are used where they lie, deflated ones are inflated by zlib into an unlinked temporary file that is
 * mapped, so that they cost no anonymous memory.
 *
 * Refused: wrong CRC-32, members that overlap or leave the file, encryption, other methods, a name that is absolute or
 * has a part "..", two members of one name, more than ZIP_MAX_MEMBERS members. */
#ifndef FERRY_CONTAINERS_ZIP_H
#define FERRY_CONTAINERS_ZIP_H

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"

typedef struct ferry_zip ferry_zip;

bool ferry_is_zip(ferry_view bytes);
/* `bytes` remain the caller's and must outlive the archive, as must `file`, which is for messages, and the account,
 * from which the list of members and what is inflated are taken (budget.h). Errors: FORMAT, UNSUPPORTED, MEMORY (or the
 * account refused). */
ferry_status ferry_zip_open(ferry_view bytes, const char *file, ferry_account *account, ferry_zip **zip,
                            ferry_error *error);
/* NULL is allowed. */
void ferry_zip_close(ferry_zip *zip);

/* Members that are files (directories are left out), in the order of their names. */
size_t ferry_zip_count(const ferry_zip *zip);
const char *ferry_zip_name(const ferry_zip *zip, size_t index);
/* Index of a name, or -1. */
ptrdiff_t ferry_zip_find(const ferry_zip *zip, const char *name);
/* A member's bytes, checked against its CRC the first time; they stay until ferry_zip_close. Errors: FORMAT, IO (the
 * temporary file), MEMORY (or the account refused). */
ferry_status ferry_zip_member(ferry_zip *zip, size_t index, ferry_view *bytes, ferry_error *error);

#endif
