/* Inflating what zip archives and gzip files hold (zlib) into temporary files without a name: mapped, they cost no
 * anonymous memory. */
#ifndef FERRY_CONTAINERS_INFLATE_H
#define FERRY_CONTAINERS_INFLATE_H

#include "base/bytes.h"
#include "base/status.h"

typedef enum ferry_deflate_form {
    FERRY_DEFLATE_RAW, /* RFC 1951, one stream */
    FERRY_DEFLATE_GZIP /* RFC 1952; several streams may follow one another */
} ferry_deflate_form;

typedef enum ferry_inflate_result {
    FERRY_INFLATE_DONE,
    FERRY_INFLATE_BROKEN,   /* damaged or cut off */
    FERRY_INFLATE_TOO_LONG, /* more than `most` bytes */
    FERRY_INFLATE_NO_MEMORY,
    FERRY_INFLATE_NO_FILE /* the temporary file cannot be written or mapped: errno */
} ferry_inflate_result;

/* Inflates `packed` to at most `most` bytes. The file lies in the folder that TMPDIR names, or in /tmp. *bytes is its
 * mapping, to be released by ferry_inflate_release, and is empty unless the result is DONE; *used is how much of
 * `packed` was read. */
ferry_inflate_result ferry_inflate(ferry_view packed, ferry_deflate_form form, uint64_t most, ferry_view *bytes,
                                   size_t *used);
/* An empty view is allowed. */
void ferry_inflate_release(ferry_view bytes);

#endif
