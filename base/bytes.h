/* Bytes and short texts: views, bounded reading of little-endian numbers (every number from a file is read by it),
 * overflow-checked arithmetic on sizes, and a keyed hash. */
#ifndef FERRY_BASE_BYTES_H
#define FERRY_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Model files are mapped, and their arrays are read in place. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Ferry needs a little-endian machine: the arrays of model files are read in place"
#endif

/* Bytes that the view does not own. They may contain NUL, and no NUL follows them. */
typedef struct ferry_view {
    const char *data;
    size_t size;
} ferry_view;

bool ferry_view_equal(ferry_view a, ferry_view b);
/* Negative, 0 or positive, as memcmp; a proper prefix comes first. */
int ferry_view_compare(ferry_view a, ferry_view b);

/* `text` is NUL-terminated: its view; whether a view equals it; whether it begins with `start`, ends with `end`. */
ferry_view ferry_text_view(const char *text);
bool ferry_view_is(ferry_view view, const char *text);
bool ferry_text_begins(const char *text, const char *start);
bool ferry_text_ends(const char *text, const char *end);
bool ferry_view_begins(ferry_view view, const char *start);
bool ferry_view_ends(ferry_view view, const char *end);
/* strncmp() that ignores the case of ASCII letters, in every locale. */
int ferry_compare_letters(const char *a, const char *b, size_t size);
/* Whether the views are equal but for the case of ASCII letters. */
bool ferry_same_letters(ferry_view a, ferry_view b);
/* A copy that the caller frees; NULL if out of memory. */
char *ferry_text_copy(const char *text);
/* Whether `part` occurs in the view. */
bool ferry_view_contains(ferry_view view, const char *part);
bool ferry_view_contains_view(ferry_view view, ferry_view part);
/* The value of a hexadecimal digit of either case, or -1. */
int ferry_hex_digit(char digit);
/* Two digits for each byte, in lower case, without a NUL: digits [2 × size]. */
void ferry_hex_digits(const uint8_t *bytes, size_t size, char *digits);

/* A short formatted text: the name of a key, a tensor or a file. Truncated to 255 bytes. */
typedef struct ferry_short_text {
    char text[256]; /* NUL-terminated */
} ferry_short_text;
ferry_short_text ferry_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Grows the array `data` [*capacity], NULL or an earlier result, to at least `count` elements of `size` bytes. A
 * capacity below `count` at least doubles. Returns the array, which may have moved. NULL: out of memory; `data` is
 * unchanged. Release it with free(). */
void *ferry_array_grow(void *data, size_t *capacity, size_t count, size_t size);

/* Makes room for one more element of `size` bytes in an array [*count] with capacity *capacity. `array` points to the
 * pointer to its elements, which may be NULL. Returns the new last element, uninitialized, and counts it; NULL if out
 * of memory. */
void *ferry_array_add(void *array, size_t *count, size_t *capacity, size_t size);

/* Copies a struct of one release, `from_size` bytes, to that of another, `size` bytes. Fields that `to` lacks are
 * dropped; fields that `from` lacks become 0. */
void ferry_copy_struct(void *to, size_t size, const void *from, size_t from_size);

/* A position in a view. Every read checks the bytes left; a failed read does not move the cursor and returns false. */
typedef struct ferry_cursor {
    const uint8_t *data;
    size_t size;
    size_t at;
} ferry_cursor;

static inline size_t ferry_cursor_left(const ferry_cursor *cursor)
{
    return cursor->size - cursor->at;
}
/* The next `size` ≤ 8 bytes as an unsigned number. */
bool ferry_read_number(ferry_cursor *cursor, size_t size, uint64_t *value);
bool ferry_read_u8(ferry_cursor *cursor, uint8_t *value);
bool ferry_read_u16(ferry_cursor *cursor, uint16_t *value);
bool ferry_read_u32(ferry_cursor *cursor, uint32_t *value);
bool ferry_read_u64(ferry_cursor *cursor, uint64_t *value);
bool ferry_read_f32(ferry_cursor *cursor, float *value);
bool ferry_read_f64(ferry_cursor *cursor, double *value);
/* A view of the next `size` bytes. */
bool ferry_read_bytes(ferry_cursor *cursor, uint64_t size, ferry_view *view);

/* False if the exact result exceeds SIZE_MAX. */
static inline bool ferry_add_size(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}
static inline bool ferry_mul_size(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}
static inline size_t ferry_round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012). Without the key, the hash is
 * unpredictable: untrusted names cannot be chosen so that they collide in a table. */
typedef struct ferry_hash_key {
    uint64_t low, high;
} ferry_hash_key;

/* A key that differs from table to table and from run to run. */
ferry_hash_key ferry_hash_key_create(void);
uint64_t ferry_keyed_hash(ferry_hash_key key, const void *data, size_t size);

#endif
