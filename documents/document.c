/* What readers call: blocks and their parts. */
#include "document.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "base/utf8.h"
#include "characters.h"
#include "html_tags.h"
#include "tokenizer/unicode.h"

enum { FEW_CAPITALS = 4 }; /* letters: less may be an abbreviation */

static ferry_document_block *open_block(ferry_document *document)
{
    if (document->in_attribute) return &document->attributes[document->attribute_count - 1];
    assert(document->block_count > 0);
    return &document->blocks[document->block_count - 1];
}

/* The source from the block's beginning up to here is covered by its items. */
static size_t covered(ferry_document *document)
{
    const ferry_document_block *block = open_block(document);
    return document->item_count == block->first_item ? block->begin : document->items[document->item_count - 1].end;
}

static ferry_status push_item(ferry_document *document, const ferry_document_item *item)
{
    return ferry_array_append(&document->items, &document->item_count, &document->item_capacity, item, sizeof *item,
                              document->error);
}

/* An item, and before it what nothing was said about. */
static ferry_status add_item(ferry_document *document, const ferry_document_item *item)
{
    const size_t at = covered(document);
    assert(at <= item->begin && item->begin <= item->end && item->end <= document->source.size);
    if (at < item->begin) {
        const ferry_document_item gap = {.kind = FERRY_DOCUMENT_POINT, .begin = at, .end = item->begin};
        FERRY_TRY(push_item(document, &gap));
    }
    return push_item(document, item);
}

static ferry_status begin_block(ferry_document *document, ferry_document_block **blocks, size_t *count,
                                size_t *capacity, size_t begin)
{
    assert(begin >= (*count > 0 ? (*blocks)[*count - 1].end : 0) && begin <= document->source.size);
    const ferry_document_block block = {.format = document->format,
                                        .begin = begin,
                                        .first_item = document->item_count,
                                        .is_attribute = blocks == &document->attributes};
    return ferry_array_append(blocks, count, capacity, &block, sizeof block, document->error);
}

ferry_status ferry_document_begin_block(ferry_document *document, size_t begin)
{
    return begin_block(document, &document->blocks, &document->block_count, &document->block_capacity, begin);
}

ferry_status ferry_document_begin_attribute(ferry_document *document, size_t begin)
{
    FERRY_TRY(
        begin_block(document, &document->attributes, &document->attribute_count, &document->attribute_capacity, begin));
    document->in_attribute = true;
    return FERRY_OK;
}

static ferry_status add_with_text(ferry_document *document, ferry_document_kind kind, size_t begin, size_t end,
                                  ferry_view text)
{
    if (text.data == NULL) text = (ferry_view){document->source.data + begin, end - begin};
    ferry_document_item item = {.kind = kind, .begin = begin, .end = end, .text_begin = document->text.size};
    FERRY_TRY(ferry_buffer_append(&document->text, text, document->error));
    item.text_end = document->text.size;
    return add_item(document, &item);
}

ferry_status ferry_document_text(ferry_document *document, size_t begin, size_t end, ferry_view decoded)
{
    return begin < end ? add_with_text(document, FERRY_DOCUMENT_TEXT, begin, end, decoded) : FERRY_OK;
}

/* Whether it is nothing but symbols that are no ASCII: no word can stand for them. */
static bool is_symbol(ferry_view text)
{
    for (size_t at = 0; at < text.size;) {
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c) || c < 0x80 || ferry_unicode_character(c) <= FERRY_CHARACTER_NUMBER)
            return false;
    }
    return text.size > 0;
}

ferry_status ferry_document_kept(ferry_document *document, size_t begin, size_t end, ferry_view shown)
{
    if (is_symbol(shown)) return ferry_document_point(document, begin, end);
    return add_with_text(document, FERRY_DOCUMENT_KEPT, begin, end, shown);
}

ferry_status ferry_document_open(ferry_document *document, size_t begin, size_t end)
{
    return add_item(document, &(ferry_document_item){.kind = FERRY_DOCUMENT_OPEN, .begin = begin, .end = end});
}

ferry_status ferry_document_close(ferry_document *document, size_t begin, size_t end)
{
    return add_item(document, &(ferry_document_item){.kind = FERRY_DOCUMENT_CLOSE, .begin = begin, .end = end});
}

ferry_status ferry_document_point(ferry_document *document, size_t begin, size_t end)
{
    return add_item(document, &(ferry_document_item){.kind = FERRY_DOCUMENT_POINT, .begin = begin, .end = end});
}

ferry_status ferry_document_break(ferry_document *document, size_t begin, size_t end, bool blank)
{
    const ferry_document_item item = {.kind = FERRY_DOCUMENT_BREAK, .blank = blank, .begin = begin, .end = end};
    return add_item(document, &item);
}

ferry_status ferry_document_wrap(ferry_document *document, size_t width, ferry_view line_end)
{
    ferry_document_block *block = open_block(document);
    block->width = width;
    block->line_end_begin = document->line_ends.size;
    FERRY_TRY(ferry_buffer_append(&document->line_ends, line_end, document->error));
    block->line_end_end = document->line_ends.size;
    return FERRY_OK;
}

/* ---- the end of a block ---- */

/* Where byte `at` of the document's text is in the source: of text that was decoded, where its first byte is, or where
 * its last byte ends. */
static size_t source_of(const ferry_document_item *from, size_t *at, bool is_end)
{
    while (from->text_end < *at || (!is_end && from->text_end == *at)) from++;
    if (from->end - from->begin == from->text_end - from->text_begin) return from->begin + (*at - from->text_begin);
    *at = is_end ? from->text_end : from->text_begin;
    return is_end ? from->end : from->begin;
}

/* The item becomes bytes begin … end - 1 of the document's text, and of text that was decoded all. */
static void set_range(ferry_document_item *item, const ferry_document_item *from, size_t begin, size_t end)
{
    item->text_begin = begin;
    item->text_end = end;
    item->begin = source_of(from, &item->text_begin, false);
    item->end = source_of(from, &item->text_end, true);
}

/* Appends what the items from … (all of them text) have of bytes begin … end - 1 of the document's text. */
static ferry_status push_text(ferry_document *document, const ferry_document_item *from, size_t begin, size_t end)
{
    for (; begin < end; from++) {
        if (from->text_end <= begin) continue;
        ferry_document_item part = *from;
        set_range(&part, from, begin, from->text_end < end ? from->text_end : end);
        begin = part.text_end;
        FERRY_TRY(push_item(document, &part));
    }
    return FERRY_OK;
}

/* No word can stand for what tells a template what to do: {% if a %}. */
static bool is_directive(ferry_view piece)
{
    static const char *const starts[] = {"{%", "{{<", "{{%", "<#", "[b]", "[/"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (piece.size > strlen(starts[i]) && begins_exactly(piece, 0, starts[i])) return true;
    return piece.size > 3 && begins_exactly(piece, 0, "<%") && piece.data[2] != '=';
}

/* Blanks that are no ' ', between words, are blanks for the model. */
static bool is_between_words(ferry_view text, const ferry_kept *blank)
{
    return blank->begin > 0 && blank->end < text.size && (unsigned char)text.data[blank->begin - 1] > ' ' &&
           (unsigned char)text.data[blank->end] > ' ';
}

/* A symbol before a sign takes the blank before it along: "good 😀." */
static bool takes_blank(ferry_view text, const ferry_kept *symbol)
{
    uint32_t c;
    size_t at = symbol->end;
    return symbol->begin > 0 && symbol->end < text.size && text.data[symbol->begin - 1] == ' ' &&
           ferry_utf8_next(text, &at, &c) && c > ' ' && ferry_unicode_character(c) > FERRY_CHARACTER_NUMBER;
}

/* Appends `count` items of text that follow each other, with what has to be kept in them. */
static ferry_status push_run(ferry_document *document, const ferry_document_item *run, size_t count)
{
    const size_t begin = run->text_begin, end = run[count - 1].text_end;
    const ferry_view text = {document->text.data + begin, end - begin};
    size_t at = begin;
    ferry_kept_search search = {.text = text, .rules = document->kept};
    for (ferry_kept found; ferry_kept_next(&search, &found);) {
        found.begin -= found.kind == FERRY_KEPT_SYMBOL && takes_blank(text, &found);
        ferry_document_item kept = {.kind = FERRY_DOCUMENT_KEPT};
        kept.blank = found.kind == FERRY_KEPT_SPACE && is_between_words(text, &found);
        set_range(&kept, run, begin + found.begin, begin + found.end);
        if (found.kind == FERRY_KEPT_SPACE || found.kind == FERRY_KEPT_SYMBOL ||
            is_directive(view_part(text, found.begin, found.end)))
            kept.kind = FERRY_DOCUMENT_POINT;
        if (kept.text_begin > at) FERRY_TRY(push_text(document, run, at, kept.text_begin));
        FERRY_TRY(push_item(document, &kept));
        at = kept.text_end;
        search.at = at - begin;
        while (at < end && run->text_end <= at) run++; /* so that time is linear */
    }
    return push_text(document, run, at, end);
}

/* Finds what has to be kept in the block's text. */
static ferry_status split_text(ferry_document *document, size_t first)
{
    const size_t count = document->item_count - first;
    ferry_document_item *items = malloc((count + 1) * sizeof *items);
    if (items == NULL) return ferry_fail_memory(document->error, "a document", count, sizeof *items);
    if (count > 0) memcpy(items, document->items + first, count * sizeof *items);
    document->item_count = first;
    ferry_status status = FERRY_OK;
    for (size_t i = 0, next; i < count && status == FERRY_OK; i = next) {
        for (next = i; next < count && items[next].kind == FERRY_DOCUMENT_TEXT; next++) continue;
        if (next > i)
            status = push_run(document, items + i, next - i);
        else
            status = push_item(document, &items[next++]);
    }
    free(items);
    return status;
}

/* An element around a symbol stands alone: a "¶" that is a link to its heading. */
static void merge_symbols(ferry_document *document, size_t first)
{
    size_t count = first;
    for (size_t i = first; i < document->item_count; i++) {
        ferry_document_item *item = &document->items[count++];
        *item = document->items[i];
        if (i + 2 >= document->item_count || item->kind != FERRY_DOCUMENT_OPEN) continue;
        const ferry_document_item *text = &document->items[i + 1], *close = &document->items[i + 2];
        if (text->kind != FERRY_DOCUMENT_TEXT || close->kind != FERRY_DOCUMENT_CLOSE) continue;
        const ferry_view symbol = ferry_item_text(document, text);
        if (!is_symbol(symbol) && !ferry_view_is(symbol, "#")) continue;
        *item = (ferry_document_item){.kind = FERRY_DOCUMENT_POINT, .begin = item->begin, .end = close->end};
        i += 2;
    }
    document->item_count = count;
}

/* The bytes at the end of a text that are a word without a small vowel, of three at most: "m", "H", "CO", "10". 0: it
 * is another word, at which what is raised is a note. */
static size_t unit_size(ferry_view text)
{
    bool vowel = false;
    size_t size = 0;
    for (; size < text.size && is_word(text.data[text.size - 1 - size]); size++)
        vowel = vowel || is_one_of(text.data[text.size - 1 - size], "aeiouy");
    return vowel || size > 3 ? 0 : size;
}

/* Whether items i … i + 2 raise or lower a short text. */
static bool raises(const ferry_document *document, size_t i)
{
    const ferry_document_item *items = &document->items[i];
    if (i + 2 >= document->item_count || items[0].kind != FERRY_DOCUMENT_OPEN || items[1].kind != FERRY_DOCUMENT_TEXT ||
        items[2].kind != FERRY_DOCUMENT_CLOSE)
        return false;
    const ferry_view text = ferry_item_text(document, items + 1);
    ferry_inline_tag tag;
    return ferry_inline_tag_read(ferry_item_source(document, items), &tag) > 0 &&
           ferry_name_is_listed(tag.name, " sub sup ") && text.size <= 8 && memchr(text.data, ' ', text.size) == NULL;
}

static bool is_of_digits(ferry_view text)
{
    return text.size > 0 && skip(text, 0, is_digit, text.size) == text.size;
}

static bool is_decoded(const ferry_document_item *item)
{
    return item->end - item->begin != item->text_end - item->text_begin;
}

/* Bytes at the end of an item that what is raised or lowered in the next items, `tag` on, belongs to; 0: it is a note.
 */
static size_t raised_size(const ferry_document *document, const ferry_document_item *item,
                          const ferry_document_item *tag)
{
    if (item->end != tag->begin || item->text_end != tag[1].text_begin) return 0;
    if (item->kind == FERRY_DOCUMENT_KEPT) return item->text_end - item->text_begin;
    if (item->kind != FERRY_DOCUMENT_TEXT || is_decoded(item)) return 0;
    return unit_size(ferry_item_text(document, item));
}

/* Adds the short word that begins `next` to the item that is kept before it. */
static void keep_word(const ferry_document *document, ferry_document_item *kept, ferry_document_item *next)
{
    const ferry_view text = ferry_item_text(document, next);
    size_t size = 0;
    if (next->kind != FERRY_DOCUMENT_TEXT || is_decoded(next) || next->begin != kept->end) return;
    while (size < text.size && is_word(text.data[size])) size++;
    if (size > 3 || next->text_begin != kept->text_end) return;
    kept->end = next->begin += size;
    kept->text_end = next->text_begin += size;
}

/* What is raised or lowered within a word stays with it: "m<sup>2</sup>", "H<sub>2</sub>O". Another number is that of
 * a note, and stands alone. */
static void merge_raised(ferry_document *document, size_t first)
{
    ferry_document_item *items = document->items;
    size_t count = first;
    for (size_t i = first; i < document->item_count; i++) {
        ferry_document_item *last = count > first ? &items[count - 1] : NULL;
        const bool raised = raises(document, i);
        const size_t size = last != NULL && raised ? raised_size(document, last, &items[i]) : 0;
        if (size == 0) {
            items[count++] = items[i];
            if (!raised || !is_of_digits(ferry_item_text(document, &items[i + 1]))) continue;
            items[count - 1].kind = FERRY_DOCUMENT_POINT;
            items[count - 1].end = items[i + 2].end;
            i += 2;
            continue;
        }
        ferry_document_item kept = {.kind = FERRY_DOCUMENT_KEPT, .end = items[i + 2].end};
        kept.begin = last->kind == FERRY_DOCUMENT_KEPT ? last->begin : last->end - size;
        kept.text_begin = last->text_end - size;
        kept.text_end = items[i + 1].text_end;
        last->end = kept.begin;
        last->text_end = kept.text_begin;
        i += 2;
        if (i + 1 < document->item_count) keep_word(document, &kept, &items[i + 1]);
        if (i + 1 < document->item_count && items[i + 1].begin == items[i + 1].end) i++;
        if (last->begin == last->end) count--;
        items[count++] = kept;
    }
    document->item_count = count;
}

/* Each CLOSE belongs to the last OPEN that has none; what has no partner stands alone. */
static void pair(ferry_document *document, size_t first)
{
    const size_t none = SIZE_MAX;
    size_t open = none;
    for (size_t i = first; i < document->item_count; i++) {
        ferry_document_item *item = &document->items[i];
        if (item->kind == FERRY_DOCUMENT_OPEN) {
            item->partner = open;
            open = i;
        } else if (item->kind == FERRY_DOCUMENT_CLOSE && open == none) {
            item->kind = FERRY_DOCUMENT_POINT;
        } else if (item->kind == FERRY_DOCUMENT_CLOSE) {
            const size_t outer = document->items[open].partner;
            document->items[open].partner = i;
            item->partner = open;
            open = outer;
        }
    }
    while (open != none) {
        document->items[open].kind = FERRY_DOCUMENT_POINT;
        open = document->items[open].partner;
    }
}

/* Finds whether there is prose for a model, a letter (or what is no UTF-8), and whether all of it is in capitals. */
static void find_letters(const ferry_document *document, ferry_document_block *block)
{
    size_t capitals = 0;
    bool others = false;
    for (size_t i = block->first_item; i < block->after_item; i++) {
        const ferry_document_item *item = &document->items[i];
        if (item->kind != FERRY_DOCUMENT_TEXT) continue;
        const ferry_view text = ferry_item_text(document, item);
        for (size_t at = 0; at < text.size;) {
            uint32_t c;
            const bool read = ferry_utf8_next(text, &at, &c);
            const ferry_character kind = read ? ferry_unicode_character(c) : FERRY_CHARACTER_OTHER;
            block->has_letters = block->has_letters || !read || kind <= FERRY_CHARACTER_LETTER;
            others = others || kind == FERRY_CHARACTER_LOWER || kind == FERRY_CHARACTER_LETTER;
            capitals += kind == FERRY_CHARACTER_UPPER;
        }
    }
    block->in_capitals = !others && capitals >= FEW_CAPITALS;
}

ferry_status ferry_document_end_block(ferry_document *document, size_t end)
{
    const size_t first = open_block(document)->first_item;
    FERRY_TRY(add_item(document, &(ferry_document_item){.kind = FERRY_DOCUMENT_POINT, .begin = end, .end = end}));
    document->item_count--; /* which only covers what was before it */
    FERRY_TRY(split_text(document, first));
    merge_symbols(document, first);
    merge_raised(document, first);
    pair(document, first);
    ferry_document_block *block = open_block(document);
    block->end = end;
    block->after_item = block->after_read = document->item_count;
    block->first_read = first;
    find_letters(document, block);
    document->in_attribute = false;
    return FERRY_OK;
}

/* ---- edits ---- */

size_t ferry_document_find(const ferry_document_block *blocks, size_t count, size_t at)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (blocks[middle].begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ferry_status ferry_document_add_edit(ferry_document *document, const ferry_document_edit *edit)
{
    FERRY_TRY(ferry_array_append(&document->edits, &document->edit_count, &document->edit_capacity, edit, sizeof *edit,
                                 document->error));
    size_t block = ferry_document_find(document->blocks, document->block_count, edit->copy_begin);
    for (; block < document->block_count && document->blocks[block].end <= edit->copy_end; block++)
        document->blocks[block].elsewhere = true;
    return FERRY_OK;
}

/* ---- the document ---- */

static size_t reads(void *user, ferry_view text)
{
    return ferry_model_reads(user, (ferry_text){text.data, text.size});
}

ferry_status ferry_document_read(ferry_document *document, const ferry_document_format *format,
                                 const ferry_document_context *context, ferry_view source, ferry_error *error)
{
    *document = (ferry_document){.format = format, .source = source, .error = error};
    if (context != NULL) {
        document->context = *context;
        document->kept = (ferry_kept_rules){.reads = reads, .user = (void *)(uintptr_t)context->model};
    }
    FERRY_TRY(ferry_buffer_reserve(&document->text, 1, error)); /* pointers to nothing are allowed, too */
    FERRY_TRY(ferry_buffer_reserve(&document->written, 1, error));
    if (source.size > 2 && memcmp(source.data, "\xEF\xBB\xBF", 3) == 0) {
        document->mark = (ferry_view){source.data, 3};
        document->source = (ferry_view){source.data + 3, source.size - 3};
    }
    return format->read != NULL ? format->read(document) : FERRY_OK;
}

void ferry_document_destroy(ferry_document *document)
{
    free(document->items);
    free(document->blocks);
    free(document->attributes);
    free(document->edits);
    free(document->text.data);
    free(document->line_ends.data);
    free(document->written.data);
    ferry_document_notes_destroy(document->notes, document->note_count);
    *document = (ferry_document){.format = NULL};
}

void ferry_document_notes_destroy(ferry_document_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++) free((char *)(uintptr_t)notes[i].message);
    free(notes);
}
