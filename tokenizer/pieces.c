#include "pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/string_table.h"
#include "base/utf8.h"

/* ---- vocabulary ---- */

/* The slot that holds `piece`, or the free slot where it belongs. The search begins at the lower half of the piece's
 * hash; *mark becomes the bits of the upper half that the slot holds beside an id. */
static uint32_t *find_slot(const ferry_vocabulary *vocabulary, ferry_view piece, uint32_t *mark)
{
    const uint64_t hash = ferry_keyed_hash(vocabulary->key, piece.data, piece.size);
    const uint32_t id_mask = vocabulary->id_mask;
    size_t at = (size_t)((hash & UINT32_MAX) * vocabulary->capacity >> 32);
    *mark = (uint32_t)(hash >> 32) & ~id_mask;
    for (;; at = at + 1 < vocabulary->capacity ? at + 1 : 0) {
        uint32_t *slot = &vocabulary->slots[at];
        if (*slot == 0) return slot;
        if ((*slot & ~id_mask) == *mark &&
            ferry_view_equal(ferry_string_table_at(vocabulary->pieces, (*slot & id_mask) - 1), piece))
            return slot;
    }
}

ferry_status ferry_vocabulary_create(const ferry_string_table *pieces, int32_t count, ferry_vocabulary *vocabulary,
                                     ferry_error *error)
{
    const size_t capacity = (size_t)count + (size_t)count / 4 + 1; /* load factor 4/5 */
    uint32_t id_mask = 1, mark;
    while (id_mask < (uint32_t)count) id_mask = 2 * id_mask + 1;
    memset(vocabulary, 0, sizeof *vocabulary);
    uint32_t *slots = calloc(capacity, sizeof *slots);
    if (slots == NULL) return ferry_fail_memory(error, "the vocabulary", capacity, sizeof *slots);
    *vocabulary = (ferry_vocabulary){pieces, count, slots, capacity, id_mask, ferry_hash_key_create()};
    for (int32_t id = 0; id < count; id++) {
        uint32_t *slot = find_slot(vocabulary, ferry_string_table_at(pieces, (size_t)id), &mark);
        if (*slot == 0) *slot = mark | ((uint32_t)id + 1);
    }
    return FERRY_OK;
}

void ferry_vocabulary_destroy(ferry_vocabulary *vocabulary)
{
    free(vocabulary->slots);
    memset(vocabulary, 0, sizeof *vocabulary);
}

int32_t ferry_vocabulary_find(const ferry_vocabulary *vocabulary, ferry_view piece)
{
    uint32_t mark;
    return (int32_t)(*find_slot(vocabulary, piece, &mark) & vocabulary->id_mask) - 1;
}

/* ---- tree of bytes ---- */

/* The entries below a node, begin … end - 1, and the bytes that they share, the node's depth. */
typedef struct group {
    size_t begin, end, depth;
} group;

static int compare_entries(const void *a, const void *b)
{
    const ferry_byte_entry *x = a, *y = b;
    const int order = ferry_view_compare(x->text, y->text);
    return order != 0 ? order : (x->value > y->value) - (x->value < y->value);
}

static uint8_t byte_at(const ferry_byte_entry *entry, size_t at)
{
    return (uint8_t)entry->text.data[at];
}

/* The root, and a node for each different prefix of the sorted entries. */
static size_t count_nodes(const ferry_byte_entry *entries, size_t count)
{
    size_t nodes = 1;
    for (size_t i = 0; i < count; i++) {
        size_t shared = 0;
        while (i > 0 && shared < entries[i].text.size && shared < entries[i - 1].text.size &&
               byte_at(&entries[i], shared) == byte_at(&entries[i - 1], shared))
            shared++;
        nodes += entries[i].text.size - shared;
    }
    return nodes;
}

/* Breadth first, so that the children of a node are adjacent. groups [node_count] is scratch. */
static void fill_trie(ferry_byte_trie *trie, const ferry_byte_entry *entries, group *groups)
{
    size_t used = 1;
    for (size_t n = 0; n < trie->node_count; n++) {
        ferry_byte_node *node = &trie->nodes[n];
        const size_t depth = groups[n].depth;
        size_t i = groups[n].begin;
        for (; i < groups[n].end && entries[i].text.size == depth; i++)
            if (depth > 0) node->value = entries[i].value;
        node->first = (uint32_t)used;
        while (i < groups[n].end) {
            const size_t begin = i;
            const uint8_t byte = byte_at(&entries[begin], depth);
            while (i < groups[n].end && byte_at(&entries[i], depth) == byte) i++;
            groups[used] = (group){begin, i, depth + 1};
            trie->nodes[used++] = (ferry_byte_node){.value = -1, .byte = byte};
            node->count++;
        }
    }
}

ferry_status ferry_byte_trie_create(ferry_byte_entry *entries, size_t count, ferry_byte_trie *trie, ferry_error *error)
{
    *trie = (ferry_byte_trie){0};
    if (count > 1) qsort(entries, count, sizeof *entries, compare_entries);
    const size_t nodes = count_nodes(entries, count);
    if (nodes > UINT32_MAX) return ferry_fail(error, FERRY_ERROR_LIMIT, "pieces of more than 2^32 bytes");
    group *groups = calloc(nodes, sizeof *groups);
    trie->nodes = calloc(nodes, sizeof *trie->nodes);
    if (groups == NULL || trie->nodes == NULL) {
        free(groups);
        ferry_byte_trie_destroy(trie);
        return ferry_fail_memory(error, "a tree of pieces", nodes, sizeof *trie->nodes);
    }
    trie->node_count = nodes;
    trie->nodes[0].value = -1;
    groups[0] = (group){0, count, 0};
    fill_trie(trie, entries, groups);
    free(groups);
    return FERRY_OK;
}

void ferry_byte_trie_destroy(ferry_byte_trie *trie)
{
    free(trie->nodes);
    *trie = (ferry_byte_trie){0};
}

uint32_t ferry_byte_trie_child(const ferry_byte_trie *trie, uint32_t node, uint8_t byte)
{
    uint32_t low = trie->nodes[node].first, high = low + trie->nodes[node].count;
    const uint32_t end = high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (trie->nodes[middle].byte < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && trie->nodes[low].byte == byte ? low : 0;
}

/* ---- Unigram ---- */

#define UNKNOWN_PENALTY 10.0

/* The value of the entry `text`; -1: none. */
static int32_t find_text(const ferry_byte_trie *trie, ferry_view text)
{
    uint32_t node = 0;
    for (size_t i = 0; i < text.size; i++) {
        node = ferry_byte_trie_child(trie, node, (uint8_t)text.data[i]);
        if (node == 0) return -1;
    }
    return trie->nodes[node].value;
}

static ferry_status list_pieces(const ferry_unigram_config *config, ferry_byte_entry *entries, size_t *count,
                                ferry_error *error)
{
    for (int32_t id = 0; id < config->count; id++) {
        if (isnan(config->scores[id])) continue;
        const ferry_view piece = ferry_string_table_at(config->pieces, (size_t)id);
        if (piece.size > FERRY_UNIGRAM_MAX_PIECE)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "piece %d: expected at most %d bytes, found %zu", (int)id,
                              (int)FERRY_UNIGRAM_MAX_PIECE, piece.size);
        if (piece.size > 0) entries[(*count)++] = (ferry_byte_entry){piece, id};
    }
    return FERRY_OK;
}

ferry_status ferry_unigram_create(const ferry_unigram_config *config, ferry_unigram *unigram, ferry_error *error)
{
    double min = INFINITY;
    size_t count = 0;
    *unigram = (ferry_unigram){.config = *config};
    ferry_byte_entry *entries = calloc((size_t)config->count + 1, sizeof *entries);
    if (entries == NULL) return ferry_fail_memory(error, "a list of pieces", (size_t)config->count, sizeof *entries);
    ferry_status status = list_pieces(config, entries, &count, error);
    if (status == FERRY_OK) status = ferry_byte_trie_create(entries, count, &unigram->trie, error);
    free(entries);
    FERRY_TRY(status);
    for (int32_t id = 0; id < config->count; id++)
        if (config->scores[id] < min) min = config->scores[id];
    unigram->unknown_score = min - UNKNOWN_PENALTY;
    for (unsigned byte = 0; byte < 256; byte++) {
        const ferry_short_text name = ferry_format("<0x%02X>", byte);
        unigram->bytes[byte] = config->byte_fallback ? find_text(&unigram->trie, ferry_text_view(name.text)) : -1;
    }
    return FERRY_OK;
}

void ferry_unigram_destroy(ferry_unigram *unigram)
{
    ferry_byte_trie_destroy(&unigram->trie);
}

static void offer(ferry_unigram_node *to, double score, size_t length, int32_t id)
{
    if (to->length > 0 && !(score > to->score)) return;
    to->score = score;
    to->length = length;
    to->id = id;
}

/* Extends the path to `begin` by every piece there, and by an unknown one if no piece is exactly the character at
 * `begin`, which has `size` bytes. */
static void extend(const ferry_unigram *unigram, ferry_view word, size_t begin, size_t size, ferry_unigram_node *nodes)
{
    const double score = nodes[begin].score;
    bool single = false;
    uint32_t node = 0;
    for (size_t end = begin; end < word.size;) {
        node = ferry_byte_trie_child(&unigram->trie, node, (uint8_t)word.data[end++]);
        if (node == 0) break;
        const int32_t id = unigram->trie.nodes[node].value;
        if (id < 0) continue;
        offer(&nodes[end], unigram->config.scores[id] + score, end - begin, id);
        single = single || end - begin == size;
    }
    if (!single) offer(&nodes[begin + size], unigram->unknown_score + score, size, unigram->config.unknown);
}

static void find_path(const ferry_unigram *unigram, ferry_view word, ferry_unigram_node *nodes)
{
    uint32_t character;
    memset(nodes, 0, (word.size + 1) * sizeof *nodes);
    for (size_t at = 0; at < word.size;) {
        const size_t begin = at;
        ferry_utf8_next(word, &at, &character);
        extend(unigram, word, begin, at - begin, nodes);
    }
    for (size_t end = word.size; end > 0; end -= nodes[end].length) nodes[end - nodes[end].length].next = end;
}

/* Emits unknown text: as one piece if there is one, else as its bytes if all have pieces, else as the unknown id. */
static ferry_status emit_unknown(const ferry_unigram *unigram, ferry_view word, size_t begin, size_t end,
                                 ferry_piece_sink sink, void *user)
{
    const int32_t known = find_text(&unigram->trie, (ferry_view){word.data + begin, end - begin});
    bool bytes = known < 0;
    for (size_t i = begin; bytes && i < end; i++) bytes = unigram->bytes[(uint8_t)word.data[i]] >= 0;
    if (!bytes) return sink(user, begin, end, known >= 0 ? known : unigram->config.unknown);
    for (size_t i = begin; i < end; i++) FERRY_TRY(sink(user, i, i + 1, unigram->bytes[(uint8_t)word.data[i]]));
    return FERRY_OK;
}

ferry_status ferry_unigram_segment(const ferry_unigram *unigram, ferry_view word, ferry_unigram_scratch *scratch,
                                   ferry_piece_sink sink, void *user, ferry_error *error)
{
    const int32_t unknown = unigram->config.unknown;
    ferry_unigram_node *nodes =
        ferry_array_grow(scratch->nodes, &scratch->capacity, word.size + 1, sizeof *scratch->nodes);
    if (nodes == NULL) return ferry_fail_memory(error, "tokenizing", word.size + 1, sizeof *nodes);
    scratch->nodes = nodes;
    find_path(unigram, word, nodes);
    for (size_t begin = 0, end; begin < word.size; begin = end) {
        end = nodes[begin].next;
        const int32_t id = nodes[end].id;
        while (id == unknown && end < word.size && nodes[nodes[end].next].id == unknown) end = nodes[end].next;
        if (id == unknown)
            FERRY_TRY(emit_unknown(unigram, word, begin, end, sink, user));
        else
            FERRY_TRY(sink(user, begin, end, id));
    }
    return FERRY_OK;
}
