/* Blocks as markup, and the translation of that markup as blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "document_parts.h"

enum {
    PART_BYTES = 128 * 1024, /* of the source, that are translated together */
    SHOWN_BYTES = 60         /* of what is kept, that the model sees; ferry_translate_markup shows no more than 64 */
};

/* ---- to markup ---- */

typedef struct part {
    ferry_document *document;
    ferry_string markup, translation;
    ferry_document_pieces pieces; /* of a block */
} part;

static ferry_status put(ferry_string *out, const char *text, ferry_error *error)
{
    return ferry_string_append(out, ferry_text_view(text), error);
}

static ferry_status put_escaped(part *p, ferry_view text)
{
    ferry_error *error = p->document->error;
    for (size_t at = 0; at < text.size; at++) {
        const char *name = text.data[at] == '&' ? "&amp;" : text.data[at] == '<' ? "&lt;" : "&gt;";
        const bool special = text.data[at] == '&' || text.data[at] == '<' || text.data[at] == '>';
        const ferry_view c = special ? ferry_text_view(name) : (ferry_view){text.data + at, 1};
        FERRY_TRY(ferry_string_append(&p->markup, c, error));
    }
    return FERRY_OK;
}

static ferry_view item_text(const ferry_document *document, const ferry_document_item *item)
{
    return (ferry_view){document->text.data + item->text_begin, item->text_end - item->text_begin};
}

/* A tag: begin, "x" and the number, end. */
static ferry_status put_tag(part *p, const char *begin, size_t number, const char *end)
{
    char tag[64];
    snprintf(tag, sizeof tag, "%sx%zu%s", begin, number, end);
    return put(&p->markup, tag, p->document->error);
}

/* What the model sees of what is kept: its beginning, in one line, without characters that are special in markup. */
static ferry_status put_kept(part *p, const ferry_document_item *item, size_t number)
{
    const ferry_view text = item_text(p->document, item);
    char shown[SHOWN_BYTES];
    size_t size = 0, next = 0;
    for (size_t at = 0; at < text.size; at = next) {
        uint32_t c;
        if (!ferry_utf8_next(text, &next, &c)) continue;
        if (size + (next - at) > sizeof shown) break;
        if (c == '&' || c == '<' || c == '>' || (ferry_utf8_is_space(c) && (size == 0 || shown[size - 1] == ' ')))
            continue;
        if (ferry_utf8_is_space(c))
            shown[size++] = ' ';
        else
            for (size_t i = at; i < next; i++) shown[size++] = text.data[i];
    }
    while (size > 0 && shown[size - 1] == ' ') size--;
    if (size == 0) return put_tag(p, "<", number, "/>");
    FERRY_TRY(put_tag(p, "<", number, " translate=\"no\">"));
    FERRY_TRY(ferry_string_append(&p->markup, (ferry_view){shown, size}, p->document->error));
    return put_tag(p, "</", number, ">");
}

/* Whether the end of a wrapped line has no blank: between two ideographs. */
static bool joins(const ferry_document *document, const ferry_document_item *item, const ferry_document_block *block)
{
    const ferry_document_item *items = document->items;
    const size_t i = (size_t)(item - items);
    uint32_t before, after;
    if (!item->blank) return true;
    if (i == block->first_item || i + 1 >= block->after_item) return false;
    if (item[-1].kind != FERRY_DOCUMENT_TEXT || item[1].kind != FERRY_DOCUMENT_TEXT) return false;
    const ferry_view left = item_text(document, &item[-1]), right = item_text(document, &item[1]);
    size_t end = left.size, begin = 0;
    return ferry_utf8_previous(left, &end, &before) && ferry_utf8_next(right, &begin, &after) &&
           ferry_is_ideograph(before) && ferry_is_ideograph(after);
}

static ferry_status put_item(part *p, const ferry_document_block *block, ferry_document_item *item)
{
    const size_t first = block->first_item, number = (size_t)(item - p->document->items) - first;
    item->markup = p->markup.size;
    switch (item->kind) {
    case FERRY_DOCUMENT_TEXT: return put_escaped(p, item_text(p->document, item));
    case FERRY_DOCUMENT_OPEN: return put_tag(p, "<", number, ">");
    case FERRY_DOCUMENT_CLOSE: return put_tag(p, "</", item->partner - first, ">");
    case FERRY_DOCUMENT_POINT: return put_tag(p, "<", number, "/>");
    case FERRY_DOCUMENT_KEPT: return put_kept(p, item, number);
    case FERRY_DOCUMENT_BREAK: break;
    }
    return joins(p->document, item, block) ? FERRY_OK : put(&p->markup, " ", p->document->error);
}

static ferry_status put_block(part *p, ferry_document_block *block)
{
    FERRY_TRY(put(&p->markup, "<p>", p->document->error));
    block->markup_begin = p->markup.size;
    for (size_t i = block->first_item; i < block->after_item; i++)
        FERRY_TRY(put_item(p, block, &p->document->items[i]));
    block->markup_end = p->markup.size;
    return put(&p->markup, "</p>\n", p->document->error);
}

/* ---- from markup ---- */

static const size_t none = SIZE_MAX, unseen = SIZE_MAX - 1;

/* A translated block that is read. */
typedef struct reading {
    part *p;
    const ferry_document_item *items; /* [count] of the block */
    size_t count;
    ferry_view rest;
    size_t blanks; /* where blanks began that belong to the next piece, in the text; none: there are none */
    size_t open;   /* the innermost element that is open; none */
    size_t *outer; /* [count] of an element: what was open when it began; unseen: an item that has not come */
} reading;

static bool take(reading *r, const char *text)
{
    const size_t size = strlen(text);
    if (r->rest.size < size || memcmp(r->rest.data, text, size) != 0) return false;
    r->rest = (ferry_view){r->rest.data + size, r->rest.size - size};
    return true;
}

static ferry_status push_piece(reading *r, const ferry_document_piece *piece)
{
    ferry_document_pieces *pieces = &r->p->pieces;
    const size_t count = pieces->count + 1;
    ferry_document_piece *grown = ferry_array_grow(pieces->pieces, &pieces->capacity, count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(r->p->document->error, "a translation", count * sizeof *grown);
    pieces->pieces = grown;
    grown[pieces->count] = *piece;
    if (r->blanks != none) {
        grown[pieces->count].blank_begin = r->blanks;
        grown[pieces->count].may_break = true;
    }
    r->blanks = none;
    pieces->count++;
    return FERRY_OK;
}

/* The next character of text, which becomes part of the pieces' text. */
static ferry_status take_character(reading *r, uint32_t *code)
{
    static const char *const references[] = {"&amp;", "&lt;", "&gt;"};
    static const char characters[] = "&<>";
    ferry_view c = {r->rest.data, 0};
    for (size_t i = 0; i < 3; i++) {
        if (!take(r, references[i])) continue;
        *code = (unsigned char)characters[i];
        return ferry_string_append(&r->p->pieces.text, (ferry_view){&characters[i], 1}, r->p->document->error);
    }
    if (!ferry_utf8_next(r->rest, &c.size, code)) *code = 0xFFFD;
    r->rest = (ferry_view){r->rest.data + c.size, r->rest.size - c.size};
    return ferry_string_append(&r->p->pieces.text, c, r->p->document->error);
}

/* Text up to the next "<". */
static ferry_status take_text(reading *r)
{
    ferry_document_pieces *pieces = &r->p->pieces;
    bool continues = false; /* the next character belongs to the last piece */
    for (uint32_t before = 0, c; r->rest.size > 0 && r->rest.data[0] != '<'; before = c) {
        const size_t at = pieces->text.size;
        FERRY_TRY(take_character(r, &c));
        const bool splits = ferry_is_ideograph(before) && ferry_is_ideograph(c);
        const ferry_document_piece piece = {.blank_begin = at, .text_begin = at, .may_break = splits};
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (r->blanks == none) r->blanks = at;
            continues = false;
            continue;
        }
        if (!continues || splits) FERRY_TRY(push_piece(r, &piece));
        pieces->pieces[pieces->count - 1].text_end = pieces->text.size;
        continues = true;
    }
    return FERRY_OK;
}

/* Takes "x12", the number of an item; none if it is something else. */
static size_t take_number(reading *r)
{
    size_t number = 0, digits = 0;
    if (!take(r, "x")) return none;
    for (; digits < r->rest.size && r->rest.data[digits] >= '0' && r->rest.data[digits] <= '9'; digits++)
        number = number > r->count ? number : 10 * number + (size_t)(r->rest.data[digits] - '0');
    r->rest = (ferry_view){r->rest.data + digits, r->rest.size - digits};
    return digits > 0 && number < r->count ? number : none;
}

/* The rest of the element of what is kept: ` translate="no">shown</x12>`. */
static bool take_kept(reading *r, size_t number)
{
    if (take(r, "/>")) return true;
    if (!take(r, " translate=\"no\">")) return false;
    while (r->rest.size > 0 && r->rest.data[0] != '<') r->rest = (ferry_view){r->rest.data + 1, r->rest.size - 1};
    return take(r, "</") && take_number(r) == number && take(r, ">");
}

/* Takes a tag, and finds its item: false if it is none of the block's, in another place, or had come before. */
static bool take_tag(reading *r, const ferry_document_item **item)
{
    const bool closes = take(r, "</");
    if (!closes && !take(r, "<")) return false;
    const size_t number = take_number(r);
    if (number == none) return false;
    *item = &r->items[number];
    if (closes) {
        if (number != r->open) return false;
        r->open = r->outer[number];
        *item = &r->p->document->items[(*item)->partner];
        return take(r, ">");
    }
    if (r->outer[number] != unseen) return false;
    r->outer[number] = r->open;
    switch ((*item)->kind) {
    case FERRY_DOCUMENT_OPEN: r->open = number; return take(r, ">");
    case FERRY_DOCUMENT_POINT: return take(r, "/>");
    case FERRY_DOCUMENT_KEPT: return take_kept(r, number);
    case FERRY_DOCUMENT_CLOSE:
    case FERRY_DOCUMENT_TEXT:
    case FERRY_DOCUMENT_BREAK: break;
    }
    return false;
}

/* Whether all items came. */
static bool is_complete(const reading *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const ferry_document_kind kind = r->items[i].kind;
        const bool comes = kind == FERRY_DOCUMENT_OPEN || kind == FERRY_DOCUMENT_POINT || kind == FERRY_DOCUMENT_KEPT;
        if (comes && r->outer[i] == unseen) return false;
    }
    return r->open == none;
}

/* Reads the block's translation into p->pieces; *fits: its elements are those of the block. */
static ferry_status read_pieces(reading *r, bool *fits)
{
    r->p->pieces.count = r->p->pieces.text.size = 0;
    for (size_t i = 0; i < r->count; i++) r->outer[i] = unseen;
    *fits = false;
    while (r->rest.size > 0) {
        ferry_document_piece piece = {.item = NULL};
        FERRY_TRY(take_text(r));
        if (r->rest.size == 0) break;
        if (!take_tag(r, &piece.item)) return FERRY_OK;
        piece.blank_begin = piece.text_begin = piece.text_end = r->p->pieces.text.size;
        FERRY_TRY(push_piece(r, &piece));
    }
    *fits = is_complete(r);
    return FERRY_OK;
}

/* The markup of a block's translation, which begins at *at of all; data NULL: there is none. */
static ferry_view find_block(ferry_view all, size_t *at)
{
    static const char begin[] = "<p>", end[] = "</p>\n";
    const size_t first = *at + strlen(begin);
    if (all.size < first || memcmp(all.data + *at, begin, strlen(begin)) != 0) return (ferry_view){NULL, 0};
    for (size_t i = first; all.size - i >= strlen(end); i++) {
        if (memcmp(all.data + i, end, strlen(end)) != 0) continue;
        *at = i + strlen(end);
        return (ferry_view){all.data + first, i - first};
    }
    return (ferry_view){NULL, 0};
}

/* A translation that is not read as the block was is given up. */
static ferry_status check_structure(ferry_document *document, ferry_document_block *block)
{
    const ferry_view before = {document->source.data + block->begin, block->end - block->begin};
    const ferry_view after = {document->written.data + block->written_begin,
                              document->written.size - block->written_begin};
    FERRY_TRY(document->format->check(before, after, &block->translated, document->error));
    if (!block->translated) document->written.size = block->written_begin;
    return FERRY_OK;
}

static bool has_text(const ferry_document_pieces *pieces)
{
    size_t i = 0;
    while (i < pieces->count && pieces->pieces[i].item != NULL) i++;
    return i < pieces->count;
}

static ferry_status read_block(part *p, const ferry_document_translator *translator, ferry_document_block *block,
                               ferry_view translation)
{
    ferry_document *document = p->document;
    const ferry_view markup = {p->markup.data + block->markup_begin, block->markup_end - block->markup_begin};
    if (block->failed || ferry_view_equal(markup, translation)) return FERRY_OK;
    const size_t count = block->after_item - block->first_item;
    size_t *outer = malloc((count + 1) * sizeof *outer);
    if (outer == NULL) return ferry_fail_memory(document->error, "a translation", count * sizeof *outer);
    reading r = {.p = p, .items = document->items + block->first_item, .count = count, .rest = translation};
    r.outer = outer;
    r.open = r.blanks = none;
    bool fits;
    ferry_status status = read_pieces(&r, &fits);
    free(outer);
    if (status != FERRY_OK) return status;
    const bool empty = !has_text(&p->pieces);
    block->translated = fits && !empty;
    if (block->translated && document->format->fills) ferry_document_fill(document, &p->pieces);
    if (block->translated) FERRY_TRY(ferry_document_lay_out(document, block, &p->pieces));
    if (block->translated && document->format->check != NULL) FERRY_TRY(check_structure(document, block));
    block->failed = !block->translated;
    if (block->translated) return FERRY_OK;
    translator->warn(translator->user, document, block->begin,
                     empty  ? "not translated: the translation is empty"
                     : fits ? "not translated: its markup would have changed"
                            : "not translated: it would have lost tags");
    return FERRY_OK;
}

/* ---- parts ---- */

static ferry_status read_translation(part *p, const ferry_document_translator *translator)
{
    ferry_document *document = p->document;
    const ferry_view all = {p->translation.data, p->translation.size};
    size_t at = 0;
    for (size_t i = document->first_block; i < document->after_block; i++) {
        ferry_document_block *block = &document->blocks[i];
        if (!block->in_markup) continue;
        const ferry_view translation = find_block(all, &at);
        if (translation.data == NULL)
            return ferry_fail(document->error, FERRY_ERROR_FORMAT,
                              "the translation has other paragraphs than the text");
        FERRY_TRY(read_block(p, translator, block, translation));
    }
    return FERRY_OK;
}

/* Translates a part, as many blocks as belong together from document->first_block, and moves on. */
static ferry_status translate_part(part *p, const ferry_document_translator *translator)
{
    ferry_document *document = p->document;
    const size_t begin = document->blocks[document->first_block].begin;
    p->markup.size = p->translation.size = 0;
    size_t i = document->first_block;
    for (; i < document->block_count && document->blocks[i].begin - begin < PART_BYTES; i++) {
        ferry_document_block *block = &document->blocks[i];
        block->in_markup = block->has_letters && !block->failed;
        block->markup_begin = p->markup.size;
        if (block->in_markup) FERRY_TRY(put_block(p, block));
    }
    document->after_block = i;
    if (p->markup.size > 0) {
        const ferry_view markup = {p->markup.data, p->markup.size};
        FERRY_TRY(translator->translate(translator->user, document, markup, &p->translation, document->error));
        FERRY_TRY(read_translation(p, translator));
    }
    document->first_block = i;
    return FERRY_OK;
}

/* Text that is not UTF-8 cannot be translated and keep its bytes. */
static void find_ill_formed(ferry_document *document, const ferry_document_translator *translator)
{
    for (size_t i = 0; i < document->block_count; i++) {
        ferry_document_block *block = &document->blocks[i];
        const ferry_view bytes = {document->source.data + block->begin, block->end - block->begin};
        if (!block->has_letters || ferry_utf8_is_valid(bytes)) continue;
        block->failed = true;
        translator->warn(translator->user, document, block->begin, "not translated: it is not UTF-8");
    }
}

ferry_status ferry_document_translate(ferry_document *document, const ferry_document_translator *translator)
{
    if (document->format->is_markup)
        return translator->translate(translator->user, document, document->source, &document->written, document->error);
    part p = {.document = document};
    ferry_status status = ferry_string_reserve(&p.pieces.text, 1, document->error);
    find_ill_formed(document, translator);
    document->first_block = 0;
    while (document->first_block < document->block_count && status == FERRY_OK) status = translate_part(&p, translator);
    free(p.markup.data);
    free(p.translation.data);
    free(p.pieces.pieces);
    free(p.pieces.text.data);
    return status;
}

/* ---- places ---- */

/* The last block of the part that begins in the markup at byte `at` or before; NULL: there is none. */
static ferry_document_block *block_at(const ferry_document *document, size_t at)
{
    size_t low = document->first_block, high = document->after_block;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (document->blocks[middle].markup_begin <= at)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > document->first_block && !document->blocks[low - 1].in_markup) low--;
    return low > document->first_block ? &document->blocks[low - 1] : NULL;
}

size_t ferry_document_source_place(const ferry_document *document, size_t at)
{
    if (document->format->is_markup) return at;
    const ferry_document_block *block = block_at(document, at);
    if (block == NULL) return 0;
    size_t i = block->first_item;
    while (i + 1 < block->after_item && document->items[i + 1].markup <= at) i++;
    return document->items[i].begin;
}

void ferry_document_fail(ferry_document *document, size_t at)
{
    ferry_document_block *block = document->format->is_markup ? NULL : block_at(document, at);
    if (block != NULL) block->failed = true;
}
