#include "inline_tags.h"

#include "characters.h"
#include "html_tags.h"

enum { MOST_OPEN = 64, MOST_SIZE = 4096, MOST_WORD = 48 }; /* so that time is linear */

/* "<%s>" "<number|name>": one word in brackets. */
static size_t read_word(ferry_view text, ferry_inline_tag *tag)
{
    size_t at = 1;
    while (at < text.size && at < MOST_WORD && (unsigned char)text.data[at] > ' ' && !is_one_of(text.data[at], "<>\""))
        at++;
    tag->kind = FERRY_TAG_WORD;
    return byte_at(text, at) == '>' ? at + 1 : 0;
}

static bool is_closed(ferry_view comment)
{
    const bool dashes = comment.size >= 4 && memcmp(comment.data, "<!--", 4) == 0;
    return dashes ? memcmp(comment.data + comment.size - 3, "-->", 3) == 0 : comment.data[comment.size - 1] == '>';
}

size_t ferry_inline_tag_read(ferry_view text, ferry_inline_tag *tag)
{
    if (text.size < 3 || text.data[0] != '<') return 0;
    ferry_html_tag_scanner scanner = {.attribute_count = 0};
    if (text.size > MOST_SIZE) text.size = MOST_SIZE;
    *tag = (ferry_inline_tag){.kind = FERRY_TAG_WORD};
    if (text.data[1] == '%') return read_word(text, tag);
    *tag = ferry_html_tag_read(&scanner, text, 0);
    if (tag->kind == FERRY_TAG_TEXT) return 0;
    if (tag->name.size == 0) return is_closed((ferry_view){text.data, tag->end}) ? tag->end : 0;
    if (skip_name(tag->name, 0, "-:", MOST_SIZE) < tag->name.size)
        return tag->kind == FERRY_TAG_END ? 0 : read_word(text, tag);
    if (tag->kind != FERRY_TAG_END) tag->kind = text.data[tag->content - 2] == '/' ? FERRY_TAG_ALONE : FERRY_TAG_START;
    return tag->content;
}

/* Elements of HTML that are seen within text are no words. */
static void set_alone(ferry_inline_tag *tag)
{
    const bool is_word = tag->kind == FERRY_TAG_START && tag->name.data[tag->name.size] == '>' &&
                         !ferry_name_is_listed(tag->name, " b big br em font hr i img input li p s small span strike "
                                                          "strong sub sup tt u wbr ");
    tag->kind = is_word ? FERRY_TAG_WORD : FERRY_TAG_ALONE;
}

/* Start tags from `open` out to `around` have no end tags. */
static void leave_open(ferry_inline_tag *tags, size_t open, size_t around)
{
    for (size_t outer; open != around; open = outer) {
        outer = tags[open].partner;
        set_alone(&tags[open]);
    }
}

void ferry_inline_tags_pair(ferry_inline_tag *tags, size_t count)
{
    const size_t none = SIZE_MAX;
    size_t open = none; /* the innermost start tag; its `partner` is the one around it */
    for (size_t i = 0; i < count; i++) {
        if (tags[i].kind == FERRY_TAG_START) {
            tags[i].partner = open;
            open = i;
        }
        if (tags[i].kind != FERRY_TAG_END) continue;
        size_t start = open, steps = 0;
        while (start != none && steps++ < MOST_OPEN && !ferry_html_tag_is_name(tags[start].name, tags[i].name))
            start = tags[start].partner;
        if (start == none || steps > MOST_OPEN) {
            set_alone(&tags[i]);
            continue;
        }
        leave_open(tags, open, start);
        open = tags[start].partner;
        tags[start].partner = i;
        tags[i].partner = start;
    }
    leave_open(tags, open, none);
}
