/* Untrusted zip archives (PKWARE's APPNOTE 6.3, with ZIP64) and gzip files (RFC 1952). Stored members are used in the
 * archive itself; what is compressed is inflated by zlib into temporary files without a name in the folder TMPDIR, or
 * /tmp. They are mapped, so that they cost no anonymous memory.
 *
 * The central directory of an archive is the authority. Refused: wrong CRC-32, members that overlap or leave the file,
 * encryption, other methods, a name that is absolute or has a part "..", two members of one name, more than
 * ZIP_MAX_MEMBERS members. */
#ifndef FERRY_CONTAINERS_ZIP_H
#define FERRY_CONTAINERS_ZIP_H

#include "base/memory.h"
#include "base/system.h"

typedef struct ferry_zip ferry_zip;

bool ferry_is_zip(ferry_view bytes);
/* `bytes` remain the caller's and must outlive the archive, as must `file`, which is for messages, and the account,
 * from which the list of members and what is inflated are taken (ferry_budget). Errors: FORMAT, UNSUPPORTED, MEMORY (or
 * the account refused). */
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

/* Inflates a gzip file (several streams may follow one another). `label` is for messages. The inflated bytes are taken
 * from the account. *file must be zeroed and stays so on failure. Errors: FORMAT, IO (the temporary file), MEMORY (or
 * the account refused). */
ferry_status ferry_gzip_inflate(ferry_view bytes, const char *label, ferry_account *account, ferry_mapped_file *file,
                                ferry_error *error);

#endif
