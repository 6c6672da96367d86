#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

bool ferry_view_equal(ferry_view a, ferry_view b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int ferry_view_compare(ferry_view a, ferry_view b)
{
    const size_t size = a.size < b.size ? a.size : b.size;
    const int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

ferry_view ferry_text_view(const char *text)
{
    return (ferry_view){text, strlen(text)};
}

bool ferry_view_is(ferry_view view, const char *text)
{
    return ferry_view_equal(view, ferry_text_view(text));
}

bool ferry_text_begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool ferry_text_ends(const char *text, const char *end)
{
    return ferry_view_ends(ferry_text_view(text), end);
}

bool ferry_view_begins(ferry_view view, const char *start)
{
    const size_t size = strlen(start);
    return view.size >= size && memcmp(view.data, start, size) == 0;
}

bool ferry_view_ends(ferry_view view, const char *end)
{
    const size_t size = strlen(end);
    return view.size >= size && memcmp(view.data + view.size - size, end, size) == 0;
}

static int lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : (unsigned char)letter;
}

int ferry_compare_letters(const char *a, const char *b, size_t size)
{
    for (; size > 0 && *a != '\0' && lower(*a) == lower(*b); size--) {
        a++;
        b++;
    }
    return size > 0 ? lower(*a) - lower(*b) : 0;
}

bool ferry_same_letters(ferry_view a, ferry_view b)
{
    return a.size == b.size && ferry_compare_letters(a.data, b.data, a.size) == 0;
}

char *ferry_text_copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

bool ferry_view_contains_view(ferry_view view, ferry_view part)
{
    for (size_t at = 0; at + part.size <= view.size; at++)
        if (memcmp(view.data + at, part.data, part.size) == 0) return true;
    return false;
}

bool ferry_view_contains(ferry_view view, const char *part)
{
    return ferry_view_contains_view(view, ferry_text_view(part));
}

int ferry_hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

void ferry_hex_digits(const uint8_t *bytes, size_t size, char *digits)
{
    for (size_t i = 0; i < 2 * size; i++) digits[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
}

ferry_short_text ferry_format(const char *format, ...)
{
    ferry_short_text name;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name.text, sizeof name.text, format, arguments);
    va_end(arguments);
    return name;
}

void *ferry_array_grow(void *data, size_t *capacity, size_t count, size_t size)
{
    size_t bytes;
    if (count <= *capacity && data != NULL) return data;
    const size_t doubled = *capacity > SIZE_MAX / 4 ? count : 2 * *capacity + 16;
    const size_t wanted = count > doubled ? count : doubled;
    if (!ferry_mul_size(wanted, size, &bytes)) return NULL;
    void *grown = realloc(data, bytes);
    if (grown != NULL) *capacity = wanted;
    return grown;
}

void *ferry_array_add(void *array, size_t *count, size_t *capacity, size_t size)
{
    char *elements;
    memcpy(&elements, array, sizeof elements);
    elements = ferry_array_grow(elements, capacity, *count + 1, size);
    if (elements == NULL) return NULL;
    memcpy(array, &elements, sizeof elements);
    return elements + (*count)++ * size;
}

void ferry_copy_struct(void *to, size_t size, const void *from, size_t from_size)
{
    memset(to, 0, size);
    memcpy(to, from, size < from_size ? size : from_size);
}

/* `size` ≤ 8 bytes as a little-endian number. */
static inline uint64_t word_of(const uint8_t *bytes, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++) word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

bool ferry_read_number(ferry_cursor *cursor, size_t size, uint64_t *value)
{
    if (ferry_cursor_left(cursor) < size) return false;
    *value = word_of(cursor->data + cursor->at, size);
    cursor->at += size;
    return true;
}

/* A number of `type` from the bits of `bits`, an unsigned type of the same size. */
#define DEFINE_READER(name, type, bits)                                                                                \
    bool ferry_read_##name(ferry_cursor *cursor, type *value)                                                          \
    {                                                                                                                  \
        uint64_t number;                                                                                               \
        if (!ferry_read_number(cursor, sizeof *value, &number)) return false;                                          \
        memcpy(value, &(bits){(bits)number}, sizeof *value);                                                           \
        return true;                                                                                                   \
    }
DEFINE_READER(u8, uint8_t, uint8_t)
DEFINE_READER(u16, uint16_t, uint16_t)
DEFINE_READER(u32, uint32_t, uint32_t)
DEFINE_READER(u64, uint64_t, uint64_t)
DEFINE_READER(f32, float, uint32_t)
DEFINE_READER(f64, double, uint64_t)

bool ferry_read_bytes(ferry_cursor *cursor, uint64_t size, ferry_view *view)
{
    if (ferry_cursor_left(cursor) < size) return false;
    view->data = (const char *)cursor->data + cursor->at;
    view->size = (size_t)size;
    cursor->at += (size_t)size;
    return true;
}

/* ---- SipHash-1-3 ---- */

ferry_hash_key ferry_hash_key_create(void)
{
    ferry_hash_key key;
    ferry_random_bytes(&key, sizeof key);
    return key;
}

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
