/* The binary file, little-endian: u64 magic, checksum, first, best, W, S | W offsets u64 | S ids u32. */
#include "lexicon.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define MAGIC 0xF11A48D5013417F5u

enum {
    CHECKED_FROM = 16,            /* the checksum covers all bytes after it */
    MICROSOFT_MAGIC = 1234567890, /* an unrelated format with the same ending */
    TEXT_FIRST = 100,
    TEXT_BEST = 100 /* the decoder's defaults */
};

bool ferry_is_binary_lexicon(ferry_view bytes)
{
    ferry_cursor cursor = ferry_cursor_begin(bytes);
    uint64_t magic;
    return ferry_read_u64(&cursor, &magic) && magic == MAGIC;
}

/* ---- binary ---- */

/* Covers all whole u64 words, but not a last odd u32. */
static uint64_t checksum(ferry_view bytes)
{
    ferry_cursor cursor = {(const uint8_t *)bytes.data, bytes.size, CHECKED_FROM};
    uint64_t sum = 0, word;
    while (ferry_read_u64(&cursor, &word)) sum ^= word + 0x9e3779b9u + (sum << 6) + (sum >> 2);
    return sum;
}

typedef struct header {
    uint64_t magic, checksum, first, best, offsets, listed;
} header;

static ferry_status check_header(const ferry_reader *in, const header *head, int32_t source_count, int32_t target_count)
{
    if (head->offsets != (uint64_t)source_count + 1) {
        return ferry_reader_fail(in, FERRY_ERROR_FORMAT,
                                 "expected lists for the %" PRId32 " source ids, found %" PRIu64 " offsets",
                                 source_count, head->offsets);
    }
    if (head->first > (uint64_t)target_count) {
        return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "the first %" PRIu64 " of %" PRId32 " target ids", head->first,
                                 target_count);
    }
    const size_t left = ferry_cursor_left(&in->cursor); /* first and offsets were checked, so nothing wraps */
    if (head->listed > left / 4 || head->listed > UINT32_MAX || left != 8 * head->offsets + 4 * head->listed) {
        return ferry_reader_fail(in, FERRY_ERROR_FORMAT,
                                 "%" PRIu64 " offsets and %" PRIu64 " ids do not make its %zu bytes", head->offsets,
                                 head->listed, in->cursor.size);
    }
    return FERRY_OK;
}

static ferry_status read_lists(ferry_reader *in, int32_t source_count, int32_t target_count, uint64_t listed,
                               uint32_t *offsets, int32_t *ids)
{
    uint64_t before = 0;
    for (int32_t i = 0; i <= source_count; i++) {
        uint64_t offset = 0;
        ferry_read_u64(&in->cursor, &offset);
        const bool ends = (i > 0 || offset == 0) && (i < source_count || offset == listed);
        if (!ends || offset < before || offset > listed) {
            return ferry_reader_fail(in, FERRY_ERROR_FORMAT, "impossible offset %" PRIu64 " of source id %" PRId32,
                                     offset, i);
        }
        offsets[i] = (uint32_t)(before = offset);
    }
    for (int32_t source = 0; source < source_count; source++) {
        for (uint32_t i = offsets[source]; i < offsets[source + 1]; i++) {
            uint32_t id = 0;
            ferry_read_u32(&in->cursor, &id);
            if (id >= (uint32_t)target_count || (i > offsets[source] && (int32_t)id <= ids[i - 1])) {
                return ferry_reader_fail(in, FERRY_ERROR_FORMAT,
                                         "source id %" PRId32 ": expected ascending target ids below %" PRId32
                                         ", found %" PRIu32,
                                         source, target_count, id);
            }
            ids[i] = (int32_t)id;
        }
    }
    return FERRY_OK;
}

ferry_status ferry_lexicon_read(ferry_view bytes, const char *file, int32_t source_count, int32_t target_count,
                                ferry_arena *arena, ferry_lexicon *lexicon, ferry_error *error)
{
    ferry_reader in = ferry_reader_begin(bytes, file, error);
    header head;
    *lexicon = (ferry_lexicon){.source_count = source_count};
    if (!ferry_is_binary_lexicon(bytes)) {
        uint32_t magic = 0;
        if (!ferry_read_u32(&in.cursor, &magic) || magic != MICROSOFT_MAGIC)
            return ferry_reader_fail(&in, FERRY_ERROR_FORMAT, "not a binary shortlist");
        return ferry_reader_fail(&in, FERRY_ERROR_UNSUPPORTED, "this kind of shortlist (magic %d) is not supported",
                                 MICROSOFT_MAGIC);
    }
    if (!ferry_read_fields(&in.cursor, "8 8 8 8 8 8", &head))
        return ferry_reader_fail(&in, FERRY_ERROR_FORMAT, "cut off in its header");
    FERRY_TRY(check_header(&in, &head, source_count, target_count));
    if (checksum(bytes) != head.checksum) {
        return ferry_reader_fail(&in, FERRY_ERROR_FORMAT, "checksum 0x%016" PRIx64 " expected, found 0x%016" PRIx64,
                                 head.checksum, checksum(bytes));
    }
    uint32_t *offsets = ferry_arena_alloc(arena, (size_t)head.offsets, sizeof *offsets);
    int32_t *ids = ferry_arena_alloc(arena, (size_t)head.listed + 1, sizeof *ids);
    if (offsets == NULL || ids == NULL) return ferry_fail_memory(error, "a shortlist", bytes.size, 1);
    FERRY_TRY(read_lists(&in, source_count, target_count, head.listed, offsets, ids));
    lexicon->first = (int32_t)head.first;
    lexicon->offsets = offsets;
    lexicon->ids = ids;
    return FERRY_OK;
}

/* ---- text ---- */

typedef struct word {
    ferry_view piece;
    int32_t id;
} word;

/* A line of the file. */
typedef struct pair {
    int32_t source, target;
    double probability;
    size_t line;
} pair;

static int compare_words(const void *a, const void *b)
{
    return ferry_view_compare(((const word *)a)->piece, ((const word *)b)->piece);
}

/* [words->count] by piece; NULL if out of memory. */
static word *sort_words(ferry_arena *arena, const ferry_lexicon_words *words)
{
    word *sorted = ferry_arena_alloc(arena, (size_t)words->count + 1, sizeof *sorted);
    if (sorted == NULL) return NULL;
    for (int32_t i = 0; i < words->count; i++) sorted[i] = (word){ferry_string_table_at(words->pieces, (size_t)i), i};
    qsort(sorted, (size_t)words->count, sizeof *sorted, compare_words);
    return sorted;
}

static int32_t find_id(const ferry_lexicon_words *words, const word *sorted, ferry_view piece)
{
    const word wanted = {piece, 0};
    const word *found = bsearch(&wanted, sorted, (size_t)words->count, sizeof *sorted, compare_words);
    return found != NULL ? found->id : words->unk;
}

/* By source, then target; of equal pairs the last line first. */
static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    return (x->line < y->line) - (x->line > y->line);
}

/* The more probable first, then the higher target id. */
static int compare_probabilities(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->probability != y->probability) return x->probability > y->probability ? -1 : 1;
    return (x->target < y->target) - (x->target > y->target);
}

/* The next word of the line, between blanks; empty at the line's end. */
static ferry_view next_word(ferry_view *line)
{
    size_t start = 0;
    while (start < line->size && (line->data[start] == ' ' || line->data[start] == '\t')) start++;
    size_t end = start;
    while (end < line->size && line->data[end] != ' ' && line->data[end] != '\t') end++;
    const ferry_view next = {line->data + start, end - start};
    *line = (ferry_view){line->data + end, line->size - end};
    return next;
}

static ferry_status read_text(ferry_view bytes, const char *file, const ferry_lexicon_words *source,
                              const ferry_lexicon_words *target, ferry_arena *arena, ferry_lexicon *lexicon,
                              ferry_error *error)
{
    ferry_cursor text = ferry_cursor_begin(bytes);
    ferry_view line;
    const size_t lines = ferry_count_lines(bytes);
    size_t count = 0, at = 0;
    *lexicon = (ferry_lexicon){.first = target->count < TEXT_FIRST ? target->count : TEXT_FIRST,
                               .source_count = source->count};
    if (lines > UINT32_MAX) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %zu lines are too many", file, lines);
    pair *pairs = ferry_arena_alloc(arena, lines, sizeof *pairs);
    uint32_t *offsets = ferry_arena_alloc(arena, (size_t)source->count + 1, sizeof *offsets);
    int32_t *ids = ferry_arena_alloc(arena, lines, sizeof *ids);
    const word *sources = sort_words(arena, source), *targets = sort_words(arena, target);
    if (pairs == NULL || offsets == NULL || ids == NULL || sources == NULL || targets == NULL)
        return ferry_fail_memory(error, "a shortlist", lines, sizeof *pairs);
    for (size_t number = 1; ferry_next_line(&text, &line); number++) {
        const ferry_view to = next_word(&line), from = next_word(&line), probability = next_word(&line);
        double value;
        if (to.size == 0) continue;
        if (!ferry_parse_decimal(probability, &value) || next_word(&line).size > 0) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: line %zu: expected 'target source probability'", file,
                              number);
        }
        if (ferry_view_is(to, "NULL") || ferry_view_is(from, "NULL") || !(value > 0)) continue;
        pairs[count] = (pair){find_id(source, sources, from), find_id(target, targets, to), value, number};
        count += pairs[count].source >= 0 && pairs[count].target >= 0;
    }
    if (count > 0) qsort(pairs, count, sizeof *pairs, compare_pairs);
    offsets[0] = 0;
    for (int32_t id = 0; id < source->count; id++) {
        size_t n = 0;
        while (at + n < count && pairs[at + n].source == id) n++;
        pair *own = pairs + at; /* [n], by target; the most probable ones move to the front */
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if (kept == 0 || own[kept - 1].target != own[i].target) own[kept++] = own[i];
        if (kept > TEXT_BEST) {
            qsort(own, kept, sizeof *own, compare_probabilities);
            kept = TEXT_BEST;
            qsort(own, kept, sizeof *own, compare_pairs);
        }
        for (size_t i = 0; i < kept; i++) ids[offsets[id] + i] = own[i].target;
        offsets[id + 1] = offsets[id] + (uint32_t)kept;
        at += n;
    }
    lexicon->offsets = offsets;
    lexicon->ids = ids;
    return FERRY_OK;
}

ferry_status ferry_lexicon_read_text(ferry_view bytes, const char *file, const ferry_lexicon_words *source,
                                     const ferry_lexicon_words *target, ferry_arena *arena, ferry_lexicon *lexicon,
                                     ferry_error *error)
{
    /* qsort may sort in a copy. */
    const size_t copied = ferry_count_lines(bytes) + (size_t)source->count + (size_t)target->count;
    if (!ferry_account_take(arena->account, copied * sizeof(pair)))
        return ferry_fail_memory(error, "a shortlist", copied, sizeof(pair));
    const ferry_status status = read_text(bytes, file, source, target, arena, lexicon, error);
    ferry_account_give(arena->account, copied * sizeof(pair));
    return status;
}
