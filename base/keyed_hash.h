/* SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): a hash that nobody can foresee who
 * does not know the key. So whoever chooses the names in a table cannot make them collide. */
#ifndef FERRY_BASE_KEYED_HASH_H
#define FERRY_BASE_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct ferry_hash_key {
    uint64_t low, high;
} ferry_hash_key;

/* A key that differs from table to table and from run to run. */
ferry_hash_key ferry_hash_key_create(void);
uint64_t ferry_keyed_hash(ferry_hash_key key, const void *data, size_t size);

#endif
