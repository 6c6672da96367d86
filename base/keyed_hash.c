#include "keyed_hash.h"

#include "system.h"

ferry_hash_key ferry_hash_key_create(void)
{
    ferry_hash_key key;
    ferry_random_bytes(&key, sizeof key);
    return key;
}

/* ---- SipHash ---- */

typedef struct state {
    uint64_t v0, v1, v2, v3;
} state;

static inline uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline state sip_round(state s)
{
    s.v0 += s.v1;
    s.v2 += s.v3;
    s.v1 = rotate(s.v1, 13) ^ s.v0;
    s.v3 = rotate(s.v3, 16) ^ s.v2;
    s.v0 = rotate(s.v0, 32);
    s.v2 += s.v1;
    s.v0 += s.v3;
    s.v1 = rotate(s.v1, 17) ^ s.v2;
    s.v3 = rotate(s.v3, 21) ^ s.v0;
    s.v2 = rotate(s.v2, 32);
    return s;
}

static inline state add_word(state s, uint64_t word)
{
    s.v3 ^= word;
    s = sip_round(s);
    s.v0 ^= word;
    return s;
}

/* `size` ≤ 8 bytes as a little-endian number. */
static inline uint64_t word_of(const uint8_t *bytes, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++) word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

uint64_t ferry_keyed_hash(ferry_hash_key key, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    const size_t whole = size / 8 * 8;
    state s = {key.low ^ 0x736F6D6570736575u, key.high ^ 0x646F72616E646F6Du, key.low ^ 0x6C7967656E657261u,
               key.high ^ 0x7465646279746573u};
    for (size_t i = 0; i < whole; i += 8) s = add_word(s, word_of(bytes + i, 8));
    s = add_word(s, word_of(bytes + whole, size - whole) | (uint64_t)size << 56);
    s.v2 ^= 0xFF;
    s = sip_round(sip_round(sip_round(s)));
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
