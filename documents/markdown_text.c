/* Text of Markdown: entities, what has to be escaped, and whether a translated block still has the structure that it
 * had. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "markdown_parts.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || (unsigned char)c >= 0x80;
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* ---- entities ---- */

/* The number of &#…; or &#x…;, 0 if it is none of a character. */
static uint32_t entity_number(ferry_view entity)
{
    uint32_t number = 0;
    const bool hex = entity.size > 3 && (entity.data[2] | 32) == 'x';
    for (size_t i = hex ? 3 : 2; i + 1 < entity.size; i++) {
        const int digit = hex ? ferry_hex_digit(entity.data[i]) : is_digit(entity.data[i]) ? entity.data[i] - '0' : -1;
        if (digit < 0 || number > 0x10FFFF) return 0;
        number = number * (hex ? 16 : 10) + (uint32_t)digit;
    }
    return number > 0x10FFFF || (number >= 0xD800 && number < 0xE000) ? 0 : number;
}

ferry_view ferry_md_entity(ferry_view entity, char *buffer)
{
    static const char *const names[][2] = {
        {"&amp;", "&"},
        {"&lt;", "<"},
        {"&gt;", ">"},
        {"&quot;", "\""},
        {"&apos;", "'"},
        {"&hellip;", "\xE2\x80\xA6"},
        {"&mdash;", "\xE2\x80\x94"},
        {"&ndash;", "\xE2\x80\x93"},
        {"&lsquo;", "\xE2\x80\x98"},
        {"&rsquo;", "\xE2\x80\x99"},
        {"&ldquo;", "\xE2\x80\x9C"},
        {"&rdquo;", "\xE2\x80\x9D"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ferry_view_is(entity, names[i][0])) return ferry_text_view(names[i][1]);
    const uint32_t number = entity.size > 3 && entity.data[1] == '#' ? entity_number(entity) : 0;
    if (number <= ' ' || number == 0x7F || ferry_utf8_is_space(number)) return (ferry_view){NULL, 0};
    return (ferry_view){buffer, ferry_utf8_put(number, buffer)};
}

/* ---- escapes ---- */

static size_t skip_digits(ferry_view text, size_t at)
{
    while (at < text.size && is_digit(text.data[at])) at++;
    return at;
}

/* Whether text consists of nothing but these characters. */
static bool is_all(ferry_view text, const char *set)
{
    size_t at = 0;
    while (at < text.size && is_one_of(text.data[at], set)) at++;
    return at == text.size && at > 0;
}

/* &name; or &#12; at byte `at` */
static bool is_entity(ferry_view text, size_t at)
{
    size_t end = at + 1;
    while (end < text.size && (is_word(text.data[end]) || text.data[end] == '#')) end++;
    return end > at + 1 && end < text.size && text.data[end] == ';';
}

/* Where the text, at the beginning of a line, needs a backslash so that it begins no block there; text.size: nowhere.
 */
static size_t escaped_at_begin(ferry_view text)
{
    const size_t number = skip_digits(text, 0);
    if (text.data[0] == '>' || is_all(text, "#") || is_all(text, "-") || is_all(text, "+") || is_all(text, "="))
        return 0;
    if (number > 0 && number + 1 == text.size && is_one_of(text.data[number], ".)")) return number;
    return text.size;
}

/* Whether the character could be markup by what is beside it. */
static bool is_markup(ferry_view text, size_t at)
{
    const char c = text.data[at], after = at + 1 < text.size ? text.data[at + 1] : '\0';
    switch (c) {
    case '*':
    case '`':
    case '[':
    case ']':
    case '~':
    case '|': return true;
    case '_': return at == 0 || !is_word(text.data[at - 1]) || !is_word(after);
    case '<': return is_letter(after) || is_one_of(after, "/!?");
    case '&': return is_entity(text, at);
    case '#': return is_all(text, "#");
    case '\\': return after == '\0' || (!is_word(after) && (unsigned char)after > ' ');
    default: return false;
    }
}

ferry_status ferry_md_write_text(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error)
{
    const size_t escaped = begins_line && text.size > 0 ? escaped_at_begin(text) : text.size;
    for (size_t at = 0; at < text.size; at++) {
        if (at == escaped || is_markup(text, at)) FERRY_TRY(ferry_string_append(out, (ferry_view){"\\", 1}, error));
        FERRY_TRY(ferry_string_append(out, (ferry_view){text.data + at, 1}, error));
    }
    return FERRY_OK;
}

/* Not what had to be escaped, and no marker of a span that would begin a block. */
bool ferry_md_may_begin_line(ferry_view text)
{
    if (text.size == 0 || is_one_of(text.data[0], "\\<|:#>+-=")) return false;
    const size_t number = skip_digits(text, 0);
    if (number > 0 && number < text.size && is_one_of(text.data[number], "\\.)")) return false;
    if (text.size >= 3 && (memcmp(text.data, "```", 3) == 0 || memcmp(text.data, "~~~", 3) == 0)) return false;
    return text.data[0] != '[' || !ferry_view_contains(text, "]:");
}

/* ---- structure ---- */

/* What a block consists of, whatever the order: the sum of a hash of each part. */
typedef struct structure {
    uint64_t sum, count;
} structure;

static int add_hash(structure *s, int kind, int type, const char *data, size_t size)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325) + ((uint64_t)kind << 8) + (uint64_t)type; /* FNV-1a */
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)data[i]) * UINT64_C(0x100000001B3);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    s->sum += hash ^ hash >> 29;
    s->count++;
    return 0;
}

static int on_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    (void)detail;
    return add_hash(user, 1, (int)type, NULL, 0);
}

static int on_leave_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    (void)type, (void)detail, (void)user;
    return 0;
}

static int on_span(MD_SPANTYPE type, void *detail, void *user)
{
    const MD_SPAN_A_DETAIL *link = type == MD_SPAN_A ? detail : NULL;
    const MD_SPAN_IMG_DETAIL *image = type == MD_SPAN_IMG ? detail : NULL;
    if (link != NULL) add_hash(user, 3, 0, link->href.text, link->href.size);
    if (image != NULL) add_hash(user, 3, 1, image->src.text, image->src.size);
    return add_hash(user, 2, (int)type, NULL, 0);
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *user)
{
    (void)type, (void)detail, (void)user;
    return 0;
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *user)
{
    const bool stays = type == MD_TEXT_CODE || type == MD_TEXT_HTML || type == MD_TEXT_BR;
    return stays ? add_hash(user, 4, (int)type, text, size) : 0;
}

/* Of a block by itself, with a blank in place of the end of a line and what the next one begins with. */
static ferry_status find_structure(ferry_view before, ferry_view block, structure *s, ferry_error *error)
{
    const MD_PARSER parser = {.flags = FERRY_MD_FLAGS,
                              .enter_block = on_block,
                              .leave_block = on_leave_block,
                              .enter_span = on_span,
                              .leave_span = on_leave_span,
                              .text = on_text};
    char *line = malloc(before.size + block.size + 1);
    if (line == NULL) return ferry_fail_memory(error, "a block", before.size + block.size + 1);
    size_t size = before.size;
    memcpy(line, before.data, before.size);
    bool begins = false; /* a line */
    for (size_t at = 0; at < block.size; at++) {
        const char c = block.data[at];
        if (c == '\n') line[size++] = ' ';
        begins = c == '\n' || (begins && is_one_of(c, " \t>"));
        if (!begins && c != '\r') line[size++] = c;
    }
    *s = (structure){0, 0};
    const int failed = md_parse(line, (MD_SIZE)size, &parser, s);
    free(line);
    return failed == 0 ? FERRY_OK : ferry_fail_memory(error, "a block", size);
}

ferry_status ferry_md_check(ferry_view before, ferry_view after, bool *same, ferry_error *error)
{
    structure a, b;
    *same = false;
    if (before.size > UINT32_MAX / 2 || after.size > UINT32_MAX / 2) return FERRY_OK;
    /* What would begin another block by itself may not do so where it is: in a heading, in a cell. */
    FERRY_TRY(find_structure(ferry_text_view("x "), before, &a, error));
    FERRY_TRY(find_structure(ferry_text_view(""), after, &b, error));
    *same = a.sum == b.sum && a.count == b.count;
    return FERRY_OK;
}
