/* The content hash of a model file: XXH3 (128 bits) of all its bytes, the digits of the hash itself read as '0'. It
 * finds damage; it is no protection against intent. */
#ifndef FERRY_FILE_CONTENT_HASH_H
#define FERRY_FILE_CONTENT_HASH_H

#include "base/bytes.h"

enum { FERRY_HASH_DIGITS = 32 };
/* The key of the digits. */
#define FERRY_HASH_KEY "ferry.hash"
#define FERRY_HASH_ZEROS "00000000000000000000000000000000"

typedef struct ferry_content_hash ferry_content_hash;

/* NULL if out of memory. */
ferry_content_hash *ferry_content_hash_create(void);
/* NULL is allowed. */
void ferry_content_hash_destroy(ferry_content_hash *hash);
/* The next bytes. */
void ferry_content_hash_add(ferry_content_hash *hash, const void *data, size_t size);
/* Lower-case hexadecimal digits of the hash of all bytes so far, in its canonical order. */
void ferry_content_hash_digits(const ferry_content_hash *hash, char digits[FERRY_HASH_DIGITS]);

#endif
