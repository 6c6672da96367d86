/* Text of Markdown: what has to be escaped, and whether a translated block still has the structure that it
 * had. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "characters.h"
#include "markdown_parts.h"

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
    static const char *const alone[] = {"#", "-", "+", "=", "!", "?"}; /* "!!!": see markdown_lines.c */
    const size_t number = skip_digits(text, 0);
    if (text.data[0] == '>' || (text.data[0] == ':' && (text.size == 1 || text.data[1] == ':'))) return 0;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (is_all(text, alone[i])) return 0;
    if (number > 0 && number + 1 == text.size && is_one_of(text.data[number], ".)")) return number;
    return text.size;
}

/* Whether the character could be markup, or make a link, by what is beside it. */
static bool is_markup(ferry_view text, size_t at)
{
    const char c = text.data[at], after = at + 1 < text.size ? text.data[at + 1] : '\0';
    switch (c) {
    case '*':
    case '`':
    case '[':
    case ']':
    case '~':
    case '{':
    case '|': return true;
    case '_': return at == 0 || !is_word(text.data[at - 1]) || !is_word(after);
    case '<': return is_letter(after) || is_one_of(after, "/!?");
    case '&': return is_entity(text, at);
    case '$': return !is_digit(after);
    case ':': return after == '/' && at + 2 < text.size && text.data[at + 2] == '/';
    case '.': return at >= 3 && after != '\0' && ferry_compare_letters(text.data + at - 3, "www", 3) == 0;
    case '\\': return !is_word(after) && (unsigned char)after > ' ';
    default: return false;
    }
}

ferry_status ferry_md_write_text(ferry_string *out, ferry_view text, bool begins_line, ferry_error *error)
{
    const size_t escaped = begins_line && text.size > 0 ? escaped_at_begin(text) : text.size;
    const bool ends_heading = is_all(text, "#");
    for (size_t at = 0; at < text.size; at++) {
        /* Before the end of a table's cell, "\\" would not do. */
        const bool is_last = text.data[at] == '\\' && at + 1 == text.size;
        if (!is_last && (at == escaped || ends_heading || is_markup(text, at)))
            FERRY_TRY(ferry_string_append(out, (ferry_view){"\\", 1}, error));
        FERRY_TRY(
            ferry_string_append(out, is_last ? ferry_text_view("&#92;") : (ferry_view){text.data + at, 1}, error));
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
    ferry_md_text text;
    ferry_status status = ferry_md_prepare((ferry_view){line, size}, &text, error);
    /* What is marked in it is part of the structure, too. */
    for (size_t at = 0, end; status == FERRY_OK && at < size; at = end) {
        for (end = at + 1; end < size && text.text.data[end] == text.text.data[at];) end++;
        if ((unsigned char)text.text.data[at] >= 0xFD) add_hash(s, 5, text.text.data[at], line + at, end - at);
    }
    if (status == FERRY_OK && md_parse(text.text.data, (MD_SIZE)size, &parser, s) != 0)
        status = ferry_fail_memory(error, "a block", size);
    free(text.text.data);
    free(text.inserts);
    free(line);
    return status;
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
    /* The first line by itself may be a definition: "[name]: target". */
    const char *newline = after.size > 0 && after.data[0] == '[' ? memchr(after.data, '\n', after.size) : NULL;
    if (newline == NULL) return FERRY_OK;
    after.size = (size_t)(newline - after.data);
    FERRY_TRY(find_structure(ferry_text_view(""), after, &b, error));
    *same = *same && b.count > 1; /* more than the document */
    return FERRY_OK;
}
