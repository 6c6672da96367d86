#include "markup_parse.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "markup_entities.h"
#include "markup_tags.h"
#include "tokenizer/unicode.h"

enum {
    LOOK_BACK = 64,  /* open elements among which an end tag looks for its start tag: well nested, it is the first */
    KEPT_BYTES = 64, /* the most of an untranslated element's content that the model sees */
    LONGEST_REFERENCE = 16 /* bytes of a name or number between "&" and ";" */
};

static const size_t none = SIZE_MAX;

/* An element whose end tag has not come. */
typedef struct open_element {
    ferry_view name;
    size_t item;          /* none: within content that is not translated */
    size_t content;       /* the byte after its start tag */
    bool pre, translated; /* white space stays within; content is text */
} open_element;

typedef struct parser {
    ferry_view source;
    ferry_markup *markup;
    ferry_markup_tag_scanner scanner;
    open_element *open; /* [depth] */
    size_t depth, capacity;
    size_t pre;          /* elements that are open and keep white space */
    size_t untranslated; /* depth of the untranslated element that is open, 0: none */
    bool has_tags;       /* within it */
    bool sentence_ends;  /* before the next character */
    bool word_ends;      /* as well */
    size_t points;       /* items up to the last one that is known to stand alone */
    ferry_error *error;
} parser;

/* ---- output ---- */

bool ferry_markup_is_letter(uint32_t c)
{
    enum { THAI = 0x0E00, HANGUL = 0xAC00, HANGUL_END = 0xD7A4 };
    switch (ferry_unicode_character(c)) {
    case FERRY_CHARACTER_UPPER:
    case FERRY_CHARACTER_LOWER:
    case FERRY_CHARACTER_MARK: return true;
    case FERRY_CHARACTER_LETTER: /* of those above, most write no blanks */
        return c < THAI || (c >= HANGUL && c < HANGUL_END);
    default: return false;
    }
}

static ferry_status add_piece(parser *p, ferry_view bytes, size_t begin, size_t end)
{
    ferry_markup *markup = p->markup;
    const size_t at = markup->text.size;
    FERRY_TRY(ferry_string_append(&markup->text, bytes, p->error));
    if (markup->piece_count > 0 && bytes.size == end - begin) {
        ferry_markup_piece *last = &markup->pieces[markup->piece_count - 1];
        if (last->end == begin && last->end - last->begin == at - last->text) {
            last->end = end;
            return FERRY_OK;
        }
    }
    ferry_markup_piece *grown =
        ferry_array_grow(markup->pieces, &markup->piece_capacity, markup->piece_count + 1, sizeof *grown);
    if (grown == NULL)
        return ferry_fail_memory(p->error, "the text of markup", (markup->piece_count + 1) * sizeof *grown);
    markup->pieces = grown;
    grown[markup->piece_count++] = (ferry_markup_piece){.text = at, .begin = begin, .end = end};
    return FERRY_OK;
}

static bool ends_with(const parser *p, char c)
{
    const ferry_string *text = &p->markup->text;
    return text->size > 0 && text->data[text->size - 1] == c;
}

static bool ends_in_word(const parser *p)
{
    const ferry_string *text = &p->markup->text;
    size_t at = text->size;
    uint32_t c;
    return at > 0 && ferry_utf8_previous((ferry_view){text->data, text->size}, &at, &c) &&
           (ferry_markup_is_letter(c) || ferry_unicode_character(c) == FERRY_CHARACTER_NUMBER);
}

/* Adds a character, from bytes begin … end - 1 of the markup. */
static ferry_status add_character(parser *p, ferry_view bytes, uint32_t c, size_t begin, size_t end)
{
    if (p->sentence_ends && p->markup->text.size > 0 && !ends_with(p, '\n'))
        FERRY_TRY(add_piece(p, (ferry_view){"\n", 1}, begin, begin));
    else if (p->word_ends && ends_in_word(p) &&
             (ferry_markup_is_letter(c) || ferry_unicode_character(c) == FERRY_CHARACTER_NUMBER))
        FERRY_TRY(add_piece(p, (ferry_view){" ", 1}, begin, begin));
    p->sentence_ends = p->word_ends = false;
    return add_piece(p, bytes, begin, end);
}

static ferry_status add_code_point(parser *p, uint32_t c, size_t begin, size_t end)
{
    char bytes[4];
    const size_t size = ferry_utf8_put(c, bytes);
    return add_character(p, (ferry_view){bytes, size}, c, begin, end);
}

/* What stands alone, unless its partner comes. */
static ferry_status add_item(parser *p, size_t begin, size_t end)
{
    ferry_markup *markup = p->markup;
    ferry_markup_item *grown =
        ferry_array_grow(markup->items, &markup->item_capacity, markup->item_count + 1, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(p->error, "tags", (markup->item_count + 1) * sizeof *grown);
    markup->items = grown;
    grown[markup->item_count++] =
        (ferry_markup_item){.begin = begin, .end = end, .at = markup->text.size, .partner = none};
    return FERRY_OK;
}

static ferry_status add_point(parser *p, size_t begin, size_t end)
{
    FERRY_TRY(add_item(p, begin, end));
    p->points = p->markup->item_count;
    return FERRY_OK;
}

static void pair(ferry_markup *markup, size_t open, size_t close)
{
    markup->items[open].kind = FERRY_MARKUP_OPEN;
    markup->items[close].kind = FERRY_MARKUP_CLOSE;
    markup->items[open].partner = close;
    markup->items[close].partner = open;
}

/* ---- text ---- */

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* White space is one blank, or the end of a sentence where it contains an empty line. Of the blanks around what stands
 * alone, the second one goes with it. */
static ferry_status add_space(parser *p, size_t begin, size_t end)
{
    const char *data = p->source.data;
    size_t lines = 0;
    for (size_t i = begin; i < end; i++)
        lines += data[i] == '\n' || (data[i] == '\r' && !(i + 1 < end && data[i + 1] == '\n'));
    if (lines > 1) p->sentence_ends = true;
    if (p->sentence_ends || p->markup->text.size == 0 || ends_with(p, '\n')) return FERRY_OK;
    if (ends_with(p, ' ')) {
        ferry_markup_item *last = p->points > 0 ? &p->markup->items[p->points - 1] : NULL;
        if (last != NULL && p->points == p->markup->item_count && last->end == begin && data[begin] != '&')
            last->end = end;
        return FERRY_OK;
    }
    p->word_ends = false;
    return add_piece(p, (ferry_view){" ", 1}, begin, end);
}

/* Reads "#38", "#x26" or "amp". */
static bool read_reference(ferry_view name, uint32_t *c)
{
    if (name.size < 2 || name.data[0] != '#') return ferry_markup_entity(name, c);
    const uint32_t base = (name.data[1] | 32) == 'x' ? 16 : 10;
    const size_t first = base == 16 ? 2 : 1;
    uint32_t value = 0;
    for (size_t i = first; i < name.size; i++) {
        const int digit = ferry_hex_digit(name.data[i]);
        if (digit < 0 || (uint32_t)digit >= base) return false;
        value = value > 0x10FFFF ? value : value * base + (uint32_t)digit;
    }
    *c = value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) ? 0xFFFD : value;
    return name.size > first;
}

/* Reads what begins with "&" at *at: a character's name or number, a name that is not known and stays, or text. */
static ferry_status add_reference(parser *p, size_t *at, size_t end)
{
    const size_t begin = *at, most = end - begin - 1 < LONGEST_REFERENCE ? end - begin - 1 : LONGEST_REFERENCE + 1;
    const char *name = p->source.data + begin + 1;
    size_t size = 0;
    uint32_t c;
    while (size < most && (name[size] == '#' || is_alphanumeric(name[size]))) size++;
    if (size == 0 || size == most || name[size] != ';') {
        ++*at;
        return add_character(p, (ferry_view){"&", 1}, '&', begin, *at);
    }
    *at += size + 2;
    if (!read_reference((ferry_view){name, size}, &c)) return add_point(p, begin, *at);
    if (c < 128 && ferry_markup_is_space((char)c)) return add_space(p, begin, *at);
    return add_code_point(p, c, begin, *at);
}

/* Bytes begin … end - 1 of the markup, without tags. */
static ferry_status add_text(parser *p, size_t begin, size_t end)
{
    static const ferry_view replacement = {"\xEF\xBF\xBD", 3};
    const ferry_view source = {p->source.data, end};
    for (size_t at = begin; at < end;) {
        const size_t first = at;
        uint32_t c;
        if (p->pre == 0 && ferry_markup_is_space(source.data[at])) {
            while (at < end && ferry_markup_is_space(source.data[at])) at++;
            FERRY_TRY(add_space(p, first, at));
        } else if (source.data[at] == '&') {
            FERRY_TRY(add_reference(p, &at, end));
        } else if (ferry_utf8_next(source, &at, &c)) {
            FERRY_TRY(add_character(p, (ferry_view){source.data + first, at - first}, c, first, at));
        } else {
            p->markup->repaired = true;
            FERRY_TRY(add_character(p, replacement, 0xFFFD, first, at));
        }
    }
    return FERRY_OK;
}

static ferry_status take_text(parser *p, size_t begin, size_t end)
{
    return p->untranslated > 0 ? FERRY_OK : add_text(p, begin, end);
}

/* ---- elements ---- */

static ferry_status push(parser *p, const ferry_markup_tag *tag, size_t item)
{
    open_element *grown = ferry_array_grow(p->open, &p->capacity, p->depth + 1, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(p->error, "elements", (p->depth + 1) * sizeof *grown);
    p->open = grown;
    grown[p->depth++] = (open_element){.name = tag->name,
                                       .item = item,
                                       .content = tag->end,
                                       .pre = (tag->element & FERRY_ELEMENT_PRE) != 0,
                                       .translated = (tag->element & FERRY_ELEMENT_UNTRANSLATED) == 0};
    p->pre += grown[p->depth - 1].pre;
    return FERRY_OK;
}

/* Whether the model can see a content that is not translated: a word or a few, as a name in its sentence. */
static bool can_keep(const parser *p, size_t begin, size_t end)
{
    const ferry_view content = {p->source.data + begin, end - begin};
    if (p->has_tags || content.size > KEPT_BYTES || ferry_utf8_is_blank(content)) return false;
    for (size_t i = 0; i < content.size; i++)
        if (content.data[i] == '&' || content.data[i] == '\n' || content.data[i] == '\r') return false;
    return true;
}

/* The innermost element ends at byte `begin`, by an end tag before `end` or without one (begin == end). */
static ferry_status pop(parser *p, size_t begin, size_t end)
{
    const open_element element = p->open[--p->depth];
    p->pre -= element.pre;
    if (p->untranslated != p->depth + 1) return FERRY_OK;
    p->untranslated = 0;
    p->word_ends = true;
    p->markup->items[element.item].end = end;
    p->points = p->markup->item_count;
    if (begin == end || !can_keep(p, element.content, begin)) return FERRY_OK;
    const size_t item = element.item;
    FERRY_TRY(add_text(p, element.content, begin));
    FERRY_TRY(add_item(p, begin, end));
    pair(p->markup, item, item + 1);
    p->markup->items[item].kept = p->markup->items[item + 1].kept = true;
    p->word_ends = true;
    return FERRY_OK;
}

/* How many elements end with the end tag; 0: none, as its start tag is not among those that are open. */
static size_t count_ended(const parser *p, ferry_view name)
{
    for (size_t i = 1; i <= p->depth && i <= LOOK_BACK; i++)
        if (ferry_markup_tag_is_name(p->open[p->depth - i].name, name)) return i;
    return 0;
}

static ferry_status take_end(parser *p, const ferry_markup_tag *tag, size_t begin)
{
    const size_t ended = count_ended(p, tag->name);
    const bool hidden = p->untranslated > 0 && ended <= p->depth - p->untranslated; /* within such content */
    if (hidden) {
        p->has_tags = true;
        for (size_t i = 0; i < ended; i++) FERRY_TRY(pop(p, begin, begin));
        return FERRY_OK;
    }
    for (size_t i = 1; i < ended; i++) FERRY_TRY(pop(p, begin, begin));
    const bool own = ended > 0 && p->untranslated == p->depth; /* the end tag of such content is part of its item */
    if (ended > 0) {
        const size_t item = p->open[p->depth - 1].item;
        FERRY_TRY(pop(p, begin, tag->end));
        if (own) return FERRY_OK;
        FERRY_TRY(add_item(p, begin, tag->end));
        pair(p->markup, item, p->markup->item_count - 1);
        return FERRY_OK;
    }
    return add_item(p, begin, tag->end);
}

static ferry_status take_start(parser *p, const ferry_markup_tag *tag, size_t begin)
{
    const bool hidden = p->untranslated > 0;
    FERRY_TRY(hidden ? FERRY_OK : add_item(p, begin, tag->end));
    FERRY_TRY(push(p, tag, hidden ? none : p->markup->item_count - 1));
    if (!hidden && !p->open[p->depth - 1].translated) p->untranslated = p->depth;
    p->has_tags = hidden;
    return FERRY_OK;
}

/* What stands alone. */
static ferry_status take_point(parser *p, const ferry_markup_tag *tag, size_t begin)
{
    p->has_tags = true;
    if (p->untranslated > 0) return FERRY_OK;
    if (tag->kind != FERRY_MARKUP_TAG_COMMENT && (tag->element & FERRY_ELEMENT_IN_WORD) == 0) p->word_ends = true;
    return add_point(p, begin, tag->end);
}

static ferry_status take_tag(parser *p, const ferry_markup_tag *tag, size_t begin)
{
    const bool block = (tag->element & FERRY_ELEMENT_BLOCK) != 0, raw = (tag->element & FERRY_ELEMENT_RAW) != 0;
    if (block && p->untranslated == 0) p->sentence_ends = true;
    if (tag->kind == FERRY_MARKUP_TAG_END)
        FERRY_TRY(take_end(p, tag, begin));
    else
        FERRY_TRY(tag->kind == FERRY_MARKUP_TAG_START && !raw ? take_start(p, tag, begin) : take_point(p, tag, begin));
    if (block && p->untranslated == 0) p->sentence_ends = true;
    return FERRY_OK;
}

static ferry_status parse(parser *p)
{
    const ferry_view source = p->source;
    for (size_t at = 0; at < source.size;) {
        const char *next = memchr(source.data + at, '<', source.size - at);
        const size_t begin = next != NULL ? (size_t)(next - source.data) : source.size;
        FERRY_TRY(take_text(p, at, begin));
        at = begin;
        if (begin == source.size) break;
        const ferry_markup_tag tag = ferry_markup_tag_read(&p->scanner, source, begin);
        at = tag.end;
        FERRY_TRY(tag.kind == FERRY_MARKUP_TAG_NONE ? take_text(p, begin, at) : take_tag(p, &tag, begin));
    }
    while (p->depth > 0) FERRY_TRY(pop(p, source.size, source.size));
    return FERRY_OK;
}

ferry_status ferry_markup_parse(ferry_view source, ferry_markup *markup, ferry_error *error)
{
    parser p = {.source = source, .markup = markup, .error = error};
    *markup = (ferry_markup){0};
    const ferry_status status = parse(&p);
    free(p.open);
    return status;
}

void ferry_markup_destroy(ferry_markup *markup)
{
    free(markup->text.data);
    free(markup->items);
    free(markup->pieces);
    *markup = (ferry_markup){0};
}

/* ---- places ---- */

/* The piece that byte `at` < text.size of the text belongs to. */
static const ferry_markup_piece *find_piece(const ferry_markup *markup, size_t at)
{
    size_t low = 0, high = markup->piece_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (markup->pieces[middle].text <= at)
            low = middle;
        else
            high = middle;
    }
    return &markup->pieces[low];
}

static bool is_copy(const ferry_markup *markup, const ferry_markup_piece *piece)
{
    const bool last = piece + 1 == markup->pieces + markup->piece_count;
    return (last ? markup->text.size : piece[1].text) - piece->text == piece->end - piece->begin;
}

size_t ferry_markup_source_begin(const ferry_markup *markup, size_t at)
{
    const ferry_markup_piece *piece = find_piece(markup, at);
    return is_copy(markup, piece) ? piece->begin + (at - piece->text) : piece->begin;
}

size_t ferry_markup_source_end(const ferry_markup *markup, size_t at)
{
    const ferry_markup_piece *piece = find_piece(markup, at - 1);
    return is_copy(markup, piece) ? piece->begin + (at - piece->text) : piece->end;
}
