/* Text of Markdown: what has to be escaped. */
#include "documents/characters.h"
#include "markdown.h"

/* Whether text consists of one of these characters, once or often. */
static bool repeats(ferry_view text, const char *set)
{
    return text.size > 0 && is_one_of(text.data[0], set) && skip_same(text, 0) == text.size;
}

/* Where the text, at the beginning of a line, needs a backslash so that it begins no block there; text.size: nowhere.
 */
static size_t escaped_at_begin(ferry_view text)
{
    const size_t number = skip(text, 0, is_digit, SIZE_MAX);
    if (text.data[0] == '>' || (text.data[0] == ':' && (text.size == 1 || text.data[1] == ':'))) return 0;
    if (repeats(text, "#-+=!?")) return 0; /* "!!!": see markdown_lines.c */
    if (number > 0 && number + 1 == text.size && is_one_of(text.data[number], ".)")) return number;
    return text.size;
}

/* Whether the character could be markup, or make a link, by what is beside it. */
static bool is_markup(ferry_view text, size_t at)
{
    const char after = byte_at(text, at + 1);
    if (is_one_of(text.data[at], "*`[]~{|")) return true;
    switch (text.data[at]) {
    case '_': return at == 0 || !is_word(text.data[at - 1]) || !is_word(after);
    case '<': return is_letter(after) || is_one_of(after, "/!?");
    case '&': return after != ';' && byte_at(text, skip_name(text, at + 1, "#", SIZE_MAX)) == ';';
    case '$': return !is_digit(after);
    case ':': return begins_exactly(text, at, "://");
    case '.': return at >= 3 && after != '\0' && begins(text, at - 3, "www");
    case '\\': return !is_word(after) && (unsigned char)after > ' ';
    default: return false;
    }
}

ferry_status ferry_md_write_text(ferry_buffer *out, ferry_view text, bool begins_line, ferry_error *error)
{
    const size_t escaped = begins_line && text.size > 0 ? escaped_at_begin(text) : text.size;
    const bool ends_heading = repeats(text, "#");
    for (size_t at = 0; at < text.size; at++) {
        /* Before the end of a table's cell, "\\" would not do. */
        const bool is_last = text.data[at] == '\\' && at + 1 == text.size;
        if (!is_last && (at == escaped || ends_heading || is_markup(text, at)))
            FERRY_TRY(ferry_buffer_append(out, (ferry_view){"\\", 1}, error));
        FERRY_TRY(
            ferry_buffer_append(out, is_last ? ferry_text_view("&#92;") : (ferry_view){text.data + at, 1}, error));
    }
    return FERRY_OK;
}

/* Not what had to be escaped, and no marker of a span that would begin a block. */
bool ferry_md_may_begin_line(ferry_view text)
{
    if (text.size == 0 || is_one_of(text.data[0], "\\<|:#>+-=")) return false;
    const size_t number = skip(text, 0, is_digit, SIZE_MAX);
    if (number > 0 && number < text.size && is_one_of(text.data[number], "\\.)")) return false;
    if (begins(text, 0, "```") || begins(text, 0, "~~~")) return false;
    return text.data[0] != '[' || !ferry_view_contains(text, "]:");
}
