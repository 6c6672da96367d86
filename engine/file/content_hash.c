#include "content_hash.h"

#include <string.h>

#define XXH_INLINE_ALL /* the header alone, without its library */
#include <xxhash.h>

#include "base/system.h"

struct ferry_content_hash {
    XXH3_state_t state;
};

_Static_assert(sizeof FERRY_HASH_ZEROS - 1 == FERRY_HASH_DIGITS && 2 * sizeof(XXH128_canonical_t) == FERRY_HASH_DIGITS,
               "two digits for each byte");

ferry_content_hash *ferry_content_hash_create(void)
{
    ferry_content_hash *hash = ferry_aligned_alloc(_Alignof(ferry_content_hash), sizeof *hash);
    if (hash != NULL) XXH3_128bits_reset(&hash->state);
    return hash;
}

void ferry_content_hash_destroy(ferry_content_hash *hash)
{
    ferry_aligned_free(hash);
}

void ferry_content_hash_add(ferry_content_hash *hash, const void *data, size_t size)
{
    if (size > 0) XXH3_128bits_update(&hash->state, data, size);
}

void ferry_content_hash_digits(const ferry_content_hash *hash, char digits[FERRY_HASH_DIGITS])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&hash->state));
    ferry_hex_digits(canonical.digest, sizeof canonical.digest, digits);
}
