#include "numbers.h"

#include <stdlib.h>

#include "tokenizer/unicode.h"

/* Bytes of a number are its digits in ASCII and FIRST_MARK + an index of `marks`. */
static const uint16_t marks[] = {0x66B,  '.',    ',', '\'', 0x2019, 0x66C, ' ',    0xA0,
                                 0x2009, 0x202F, ':', '/',  0xB7,   '-',   0x2010, 0x2013};
enum {
    FIRST_MARK = 'A',
    POINT = FIRST_MARK + 1,
    LAST_DECIMAL = FIRST_MARK + 2, /* FIRST_MARK … LAST_DECIMAL are before decimals */
    FIRST_BLANK = FIRST_MARK + 6,
    LAST_GROUPING = FIRST_MARK + 9, /* POINT … LAST_GROUPING are between groups of digits */
    COLON = FIRST_MARK + 10,
    GROUP = 3,      /* digits */
    NOON = 12,      /* numbers up to this one can become words */
    LARGE = 1000,   /* a number from this one on can become no word */
    MAX_BYTES = 64, /* a longer number shares no form with others */
    MAX_KEYS = 8,
    MAX_NUMBERS = 1000 /* a text with more is not compared */
};

/* A number, or a run of its digits. */
typedef struct number {
    size_t begin, end;       /* of the whole number, in the text */
    uint64_t keys[MAX_KEYS]; /* [count]: of the bytes, and of each form */
    size_t count;
    int value; /* of the first run; from LARGE on, not exact */
    bool paired;
} number;

typedef struct numbers {
    ferry_view text;
    number *list; /* [count] */
    size_t count, capacity;
} numbers;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static ferry_view part_of(ferry_view view, size_t begin, size_t end)
{
    return (ferry_view){view.data + begin, end - begin};
}

/* ---- forms ---- */

/* FNV-1a, of 64 bits */
static uint64_t hash(uint64_t key, char byte)
{
    return (key ^ (unsigned char)byte) * 0x100000001B3;
}
static const uint64_t empty_hash = 0xCBF29CE484222325;

/* Digits from `at` on. */
static size_t run_at(ferry_view bytes, size_t at)
{
    const size_t begin = at;
    while (at < bytes.size && is_digit(bytes.data[at])) at++;
    return at - begin;
}

/* Adds the form of the digits of `whole`, without leading zeros, and `rest`; without a rest also without groups of
 * trailing zeros. */
static void add_key(number *n, ferry_view whole, ferry_view rest)
{
    char digits[MAX_BYTES];
    size_t count = 0, zeros = 0;
    for (size_t i = 0; i < whole.size; i++) {
        const char c = whole.data[i];
        if (!is_digit(c) || (c == '0' && count == 0)) continue;
        digits[count++] = c;
        zeros = c == '0' ? zeros + 1 : 0;
    }
    if (rest.size == 0) count -= zeros / GROUP * GROUP;
    uint64_t key = empty_hash;
    for (size_t i = 0; i < count; i++) key = hash(key, digits[i]);
    if (rest.size > 0) key = hash(key, '|');
    for (size_t i = 0; i < rest.size; i++) key = hash(key, is_digit(rest.data[i]) ? rest.data[i] : '|');
    n->keys[n->count++] = key;
}

/* Adds the form whose whole part is the first `whole` bytes, if decimals or nothing follow. */
static void add_decimal(number *n, ferry_view bytes, size_t whole)
{
    const size_t begin = whole + (whole < bytes.size);
    size_t end = bytes.size;
    if (whole < end && (bytes.data[whole] > LAST_DECIMAL || run_at(bytes, begin) != end - begin)) return;
    while (end > begin && bytes.data[end - 1] == '0') end--;
    add_key(n, part_of(bytes, 0, whole), part_of(bytes, begin, end));
}

static void add_hour(number *n, int hour, ferry_view minutes)
{
    add_key(n, (ferry_view){(char[]){(char)('0' + hour / 10), (char)('0' + hour % 10)}, 2}, minutes);
}

static void add_forms(number *n, ferry_view bytes)
{
    const size_t first = run_at(bytes, 0), behind = first + (first < bytes.size);
    const char mark = first < bytes.size ? bytes.data[first] : 0;
    const ferry_view rest = part_of(bytes, behind, bytes.size), none = {NULL, 0};
    size_t groups = first;
    add_decimal(n, bytes, first); /* 1.50 and 1,5 */
    if (mark == 0) {              /* 3 p.m. and 15 Uhr */
        if (n->value >= 1 && n->value <= NOON) add_hour(n, n->value + NOON, none);
        return;
    }
    add_key(n, part_of(bytes, 0, first), rest);
    if (first <= GROUP && mark >= POINT && mark <= LAST_GROUPING)
        while (groups < bytes.size && bytes.data[groups] == mark && run_at(bytes, groups + 1) == GROUP)
            groups += 1 + GROUP;
    if (groups > first) add_decimal(n, bytes, groups); /* 1,234.5 and 1.234,5 */
    if (first > 2 || rest.size != 2 || run_at(rest, 0) != 2 || (mark != POINT && mark != COLON)) return;
    for (int more = 0; more <= NOON; more += NOON) { /* 3:30 p.m. and 15.30 */
        const int hour = (n->value + more) % (2 * NOON);
        add_hour(n, hour, rest);
        if (rest.data[0] == '0' && rest.data[1] == '0') add_hour(n, hour, none);
    }
}

/* ---- reading ---- */

/* The character at *at as a byte of a number; 0 for others. */
static char next_byte(ferry_view text, size_t *at)
{
    const uint32_t c = ferry_unicode_next(text, at);
    if ((c | 32) >= 'a' && (c | 32) <= 'z') return 0;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (c == marks[i]) return (char)(FIRST_MARK + i);
    const int digit = ferry_unicode_digit(c);
    return (char)(digit < 0 ? 0 : '0' + digit);
}

/* Whether the digits from `at` on continue a number behind a mark. */
static bool goes_on(ferry_view text, size_t at, char mark)
{
    size_t digits = 0;
    while (digits <= GROUP && at < text.size && is_digit(next_byte(text, &at))) digits++;
    return mark >= FIRST_BLANK && mark <= LAST_GROUPING ? digits == GROUP : digits > 0;
}

/* Adds the numbers in bytes begin … end - 1 of the text; with `runs` the runs of this one number, without leading
 * zeros. */
static bool read_numbers(numbers *n, size_t begin, size_t end, bool runs)
{
    const ferry_view text = {n->text.data, end};
    for (size_t at = begin, next = begin; at < end && n->count <= MAX_NUMBERS; at = next) {
        char bytes[MAX_BYTES], c = next_byte(text, &next);
        if (!is_digit(c)) continue;
        number *found = ferry_array_add(&n->list, &n->count, &n->capacity, sizeof *found);
        if (found == NULL) return false;
        *found = (number){.begin = runs ? begin : at, .keys = {empty_hash}, .count = 1};
        size_t size = 0;
        bool is_first = true;
        do {
            if (size < MAX_BYTES) bytes[size] = c;
            size++;
            is_first = is_first && is_digit(c);
            if (is_first && found->value < LARGE) found->value = 10 * found->value + c - '0';
            if (!runs || found->value > 0) found->keys[0] = hash(found->keys[0], c);
            at = next;
            c = at < end ? next_byte(text, &next) : 0;
        } while (is_digit(c) || (!runs && c != 0 && goes_on(text, next, c)));
        found->end = runs ? end : at;
        next = at;
        if (!runs && size <= MAX_BYTES) add_forms(found, (ferry_view){bytes, size});
    }
    return true;
}

/* ---- pairing ---- */

static bool share_form(const number *a, const number *b)
{
    for (size_t i = 1; i < a->count; i++)
        for (size_t k = 1; k < b->count; k++)
            if (a->keys[i] == b->keys[k]) return true;
    return false;
}

/* Pairs each number of the source with the first equal one of the target, else with the first that shares a form. */
static void pair(numbers *source, numbers *target)
{
    for (size_t i = 0; i < source->count; i++) {
        number *a = &source->list[i], *partner = NULL;
        for (size_t k = 0; k < target->count; k++) {
            number *b = &target->list[k];
            const bool equal = a->keys[0] == b->keys[0];
            if (!b->paired && (equal || (partner == NULL && share_form(a, b)))) partner = b;
            if (!b->paired && equal) break;
        }
        if (partner != NULL) a->paired = partner->paired = true;
    }
}

/* Replaces the numbers by the runs of digits of the unpaired ones. */
static bool divide(numbers *n)
{
    numbers runs = {.text = n->text};
    bool enough = true;
    for (size_t i = 0; enough && i < n->count; i++) {
        const number *whole = &n->list[i];
        if (!whole->paired) enough = read_numbers(&runs, whole->begin, whole->end, true);
    }
    free(n->list);
    *n = runs;
    return enough;
}

/* ---- the sign ---- */

/* The size of the largest unpaired run: 3: from LARGE on, 2: above NOON, 1: at most NOON, 0: there is none. *where: the
 * number of the first such run. */
static int largest(const numbers *n, ferry_view *where)
{
    int found = 0;
    for (size_t i = 0; i < n->count; i++) {
        const number *run = &n->list[i];
        const int size = run->paired ? 0 : 1 + (run->value > NOON) + (run->value >= LARGE);
        if (size <= found) continue;
        found = size;
        *where = part_of(n->text, run->begin, run->end);
    }
    return found;
}

ferry_status ferry_numbers_compare(ferry_view source, ferry_view translation, ferry_number_sign *sign,
                                   ferry_error *error)
{
    numbers a = {.text = source}, b = {.text = translation};
    ferry_number_sign found = {0};
    bool enough = read_numbers(&a, 0, source.size, false) && read_numbers(&b, 0, translation.size, false);
    const bool few = a.count <= MAX_NUMBERS && b.count <= MAX_NUMBERS;
    if (few) pair(&a, &b);
    enough = enough && divide(&a) && divide(&b);
    if (few) pair(&a, &b);
    const int lost = largest(&a, &found.source), made = largest(&b, &found.translation);
    /* 1 + 1: both may be words; 2 + 0: one may be. */
    *sign = enough && few && lost + made > 2 ? found : (ferry_number_sign){0};
    free(a.list);
    free(b.list);
    return enough ? FERRY_OK : ferry_fail_memory(error, "the numbers of a text", MAX_NUMBERS, sizeof(number));
}

ferry_status ferry_numbers_find(ferry_view text, ferry_view **found, size_t *count, ferry_error *error)
{
    numbers n = {.text = text};
    *count = 0;
    *found = NULL;
    if (read_numbers(&n, 0, text.size, false)) *found = calloc(n.count + 1, sizeof **found);
    for (; *found != NULL && *count < n.count && *count < MAX_NUMBERS; ++*count)
        (*found)[*count] = part_of(text, n.list[*count].begin, n.list[*count].end);
    free(n.list);
    return *found != NULL ? FERRY_OK : ferry_fail_memory(error, "numbers", text.size, 1);
}
