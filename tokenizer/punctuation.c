#include "punctuation.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

typedef struct substitution {
    uint32_t from;
    char to[4]; /* NUL-terminated */
} substitution;

/* The table of Moses' replace-unicode-punctuation, ascending. The full-width digit one becomes a quotation mark: a bug
 * of the original that the models were trained with. The original also removes blanks after "。" and "．"; here they
 * are squeezed anyway. */
static const substitution substitutions[] = {
    {0x2019, "'"},   /* ’ */
    {0x201C, "\""},  /* “ */
    {0x201D, "\""},  /* ” */
    {0x2026, "..."}, /* … */
    {0x2236, ":"},   /* ∶ */
    {0x2501, "-"},   /* ━ */
    {0x3001, ","},   /* 、 */
    {0x3002, ". "},  /* 。 */
    {0x3008, "<"},   /* 〈 */
    {0x3009, ">"},   /* 〉 */
    {0x300A, "\""},  /* 《 */
    {0x300B, "\""},  /* 》 */
    {0x300C, "\""},  /* 「 */
    {0x300D, "\""},  /* 」 */
    {0x3010, "["},   /* 【 */
    {0x3011, "]"},   /* 】 */
    {0xFF01, "!"},   /* ！ */
    {0xFF05, "%"},   /* ％ */
    {0xFF08, "("},   /* （ */
    {0xFF09, ")"},   /* ） */
    {0xFF0C, ","},   /* ， */
    {0xFF0E, ". "},  /* ． */
    {0xFF10, "0"},   /* ０ */
    {0xFF11, "\""},  /* １ */
    {0xFF12, "2"},   /* ２ */
    {0xFF13, "3"},   /* ３ */
    {0xFF14, "4"},   /* ４ */
    {0xFF15, "5"},   /* ５ */
    {0xFF16, "6"},   /* ６ */
    {0xFF17, "7"},   /* ７ */
    {0xFF18, "8"},   /* ８ */
    {0xFF19, "9"},   /* ９ */
    {0xFF1A, ":"},   /* ： */
    {0xFF1B, ";"},   /* ； */
    {0xFF1F, "?"},   /* ？ */
    {0xFF5E, "~"},   /* ～ */
};

typedef struct range {
    uint32_t first, last;
} range;

/* Unicode's categories Cc, Cf and Co, and the noncharacters of Cn, ascending (those of planes 1 to 14 are recognized by
 * their low bits). The other code points of Cn are unassigned: their set shrinks with every version of Unicode, so they
 * are kept. */
static const range blanks[] = {
    {0x0000, 0x001F},    {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x0600, 0x0605},   {0x061C, 0x061C},
    {0x06DD, 0x06DD},    {0x070F, 0x070F},   {0x0890, 0x0891},   {0x08E2, 0x08E2},   {0x180E, 0x180E},
    {0x200B, 0x200F},    {0x202A, 0x202E},   {0x2060, 0x2064},   {0x2066, 0x206F},   {0xE000, 0xF8FF},
    {0xFDD0, 0xFDEF},    {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F},  {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE0001}, {0xE0020, 0xE007F},
    {0xF0000, 0x10FFFF},
};

static int compare_substitution(const void *key, const void *element)
{
    const uint32_t from = ((const substitution *)element)->from, code_point = *(const uint32_t *)key;
    return (code_point > from) - (code_point < from);
}

const char *ferry_punctuation_ascii(uint32_t code_point)
{
    const substitution *found = bsearch(&code_point, substitutions, sizeof substitutions / sizeof *substitutions,
                                        sizeof *substitutions, compare_substitution);
    return found != NULL ? found->to : NULL;
}

static int compare_range(const void *key, const void *element)
{
    const range *r = element;
    const uint32_t code_point = *(const uint32_t *)key;
    return (code_point > r->last) - (code_point < r->first);
}

static bool becomes_blank(uint32_t code_point)
{
    if (code_point == '\n') return false;
    if ((code_point & 0xFFFE) == 0xFFFE) return true;
    return bsearch(&code_point, blanks, sizeof blanks / sizeof *blanks, sizeof *blanks, compare_range) != NULL;
}

/* `output` has the capacity, and `places`, unless it is NULL, one more. */
typedef struct cleaning {
    ferry_string *output;
    size_t *places;
} cleaning;

static void put_place(const cleaning *into, size_t place)
{
    if (into->places != NULL) into->places[into->output->size] = place;
}

/* A byte of the character that begins at `place`. Drops blanks at the beginning and after another blank. */
static void put_byte(const cleaning *into, char byte, size_t place)
{
    ferry_string *output = into->output;
    if (byte == ' ' && (output->size == 0 || output->data[output->size - 1] == ' ')) return;
    put_place(into, place);
    output->data[output->size++] = byte;
}

/* The character of `text` from `begin` to `end`; ill-formed bytes are a character each. */
static void put_character(const cleaning *into, ferry_view text, size_t begin, size_t end, bool valid,
                          uint32_t code_point)
{
    const char *to = valid ? ferry_punctuation_ascii(code_point) : NULL;
    if (to != NULL)
        for (; *to != '\0'; to++) put_byte(into, *to, *to == ' ' ? end : begin);
    else if (valid && becomes_blank(code_point))
        put_byte(into, ' ', begin);
    else
        for (size_t at = begin; at < end; at++) put_byte(into, text.data[at], at);
}

ferry_status ferry_punctuation_clean(ferry_view text, ferry_string *clean, size_t **places, ferry_error *error)
{
    size_t capacity = 0;
    if (places != NULL) *places = NULL;
    clean->size = 0;
    /* No substitute is longer than the three bytes of what it replaces. */
    FERRY_TRY(ferry_string_reserve(clean, text.size, error));
    if (places != NULL) *places = ferry_array_grow(NULL, &capacity, text.size + 1, sizeof **places);
    if (places != NULL && *places == NULL) return ferry_fail_memory(error, "tokenizing", text.size + 1);
    const cleaning into = {clean, places != NULL ? *places : NULL};
    for (size_t at = 0; at < text.size;) {
        const size_t begin = at;
        uint32_t code_point;
        const bool valid = ferry_utf8_next(text, &at, &code_point);
        put_character(&into, text, begin, at, valid, code_point);
    }
    put_place(&into, text.size);
    if (clean->size > 0 && clean->data[clean->size - 1] == ' ') clean->size--;
    return FERRY_OK;
}
