#include "entities.h"

#include "base/utf8.h"
#include "characters.h"

/* All names in one block of bytes, each as "name\0characters\0". */
#define ENTITY(name, text) char name##_[sizeof(#name "\0" text)];
struct entities {
#include "entities.inc"
};
#undef ENTITY
#define ENTITY(name, text) #name "\0" text,
static const struct entities entities = {
#include "entities.inc"
};
#undef ENTITY
#define ENTITY(name, text) offsetof(struct entities, name##_),
static const uint16_t offsets[] = {
#include "entities.inc"
};

static size_t read_name(ferry_view name, char *bytes)
{
    const char *names = (const char *)&entities;
    const size_t count = sizeof offsets / sizeof *offsets;
    size_t low = 0, high = count; /* before `low` are names before this one, from `high` on are others */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ferry_view_compare(ferry_text_view(names + offsets[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || !ferry_view_is(name, names + offsets[low])) return 0;
    const ferry_view text = ferry_text_view(names + offsets[low] + name.size + 1);
    memcpy(bytes, text.data, text.size);
    return text.size;
}

/* The number after "#", or "#x". */
static size_t read_number(ferry_view number, char *bytes)
{
    static const uint16_t windows[] = {0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,
                                       0x2030, 0x160,  0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018,
                                       0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC,  0x2122, 0x161,
                                       0x203A, 0x153,  0x9D,   0x17E,  0x178}; /* of 0x80 … 0x9F */
    const bool hex = number.size > 0 && (number.data[0] | 32) == 'x';
    uint32_t value = 0;
    for (size_t i = hex; i < number.size; i++) {
        const int digit = ferry_hex_digit(number.data[i]);
        if (digit < 0 || (!hex && digit > 9)) return 0;
        if (value <= 0x10FFFF) value = value * (hex ? 16 : 10) + (uint32_t)digit;
    }
    if (number.size == hex) return 0;
    if (value >= 0x80 && value < 0xA0) value = windows[value - 0x80];
    return ferry_utf8_put(value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) ? 0xFFFD : value,
                          bytes);
}

size_t ferry_entity_read(ferry_view text, char bytes[8], size_t *size)
{
    if (text.size < 3 || text.data[0] != '&') return 0;
    const bool is_number = text.data[1] == '#';
    size_t end = 1 + (size_t)is_number;
    while (is_letter(byte_at(text, end)) || is_digit(byte_at(text, end))) end++;
    if (byte_at(text, end) != ';') return 0;
    const ferry_view name = view_part(text, 1 + (size_t)is_number, end);
    *size = is_number ? read_number(name, bytes) : read_name(name, bytes);
    return *size > 0 ? end + 1 : 0;
}
