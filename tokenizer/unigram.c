#include "unigram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define UNKNOWN_PENALTY 10.0

/* Empty: the segmenter has no piece with this id. */
static ferry_view piece_of(const ferry_unigram_config *config, int32_t id)
{
    return !isnan(config->scores[id]) ? ferry_texts_at(config->pieces, (size_t)id) : (ferry_view){0};
}

static ferry_status check_pieces(const ferry_unigram_config *config, ferry_error *error)
{
    for (int32_t id = 0; id < config->count; id++) {
        const size_t size = piece_of(config, id).size;
        if (size > FERRY_UNIGRAM_MAX_PIECE)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "piece %d: expected at most %d bytes, found %zu", (int)id,
                              (int)FERRY_UNIGRAM_MAX_PIECE, size);
    }
    return FERRY_OK;
}

static ferry_status create_trie(ferry_unigram *unigram, ferry_error *error)
{
    const ferry_unigram_config *config = &unigram->config;
    size_t count = 0;
    ferry_byte_entry *entries = calloc((size_t)config->count + 1, sizeof *entries);
    if (entries == NULL) return ferry_fail_memory(error, "a list of pieces", (size_t)config->count * sizeof *entries);
    for (int32_t id = 0; id < config->count; id++) {
        const ferry_view piece = piece_of(config, id);
        if (piece.size > 0) entries[count++] = (ferry_byte_entry){piece, id};
    }
    const ferry_status status = ferry_byte_trie_create(entries, count, &unigram->trie, error);
    free(entries);
    return status;
}

ferry_status ferry_unigram_create(const ferry_unigram_config *config, ferry_unigram *unigram, ferry_error *error)
{
    double least = INFINITY;
    *unigram = (ferry_unigram){.config = *config};
    FERRY_TRY(check_pieces(config, error));
    FERRY_TRY(create_trie(unigram, error));
    for (int32_t id = 0; id < config->count; id++)
        if (config->scores[id] < least) least = config->scores[id];
    unigram->unknown_score = least - UNKNOWN_PENALTY;
    for (unsigned byte = 0; byte < 256; byte++) {
        const ferry_name name = ferry_name_format("<0x%02X>", byte);
        unigram->bytes[byte] =
            config->byte_fallback ? ferry_byte_trie_find(&unigram->trie, ferry_text_view(name.text)) : -1;
    }
    return FERRY_OK;
}

void ferry_unigram_destroy(ferry_unigram *unigram)
{
    ferry_byte_trie_destroy(&unigram->trie);
}

/* ---- the best way ---- */

static void offer(ferry_unigram_node *to, double score, size_t length, int32_t id)
{
    if (to->length > 0 && !(score > to->score)) return;
    to->score = score;
    to->length = length;
    to->id = id;
}

/* All pieces that begin at `begin`, whose character has `size` bytes. */
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

static void find_way(const ferry_unigram *unigram, ferry_view word, ferry_unigram_node *nodes)
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

/* ---- its pieces ---- */

/* The bytes of unknown text, if all have pieces. */
static ferry_status emit_unknown(const ferry_unigram *unigram, ferry_view word, size_t begin, size_t end,
                                 ferry_unigram_sink sink, void *user)
{
    const int32_t known = ferry_byte_trie_find(&unigram->trie, (ferry_view){word.data + begin, end - begin});
    bool bytes = known < 0;
    for (size_t i = begin; bytes && i < end; i++) bytes = unigram->bytes[(uint8_t)word.data[i]] >= 0;
    if (!bytes) return sink(user, begin, end, known >= 0 ? known : unigram->config.unknown);
    for (size_t i = begin; i < end; i++) FERRY_TRY(sink(user, i, i + 1, unigram->bytes[(uint8_t)word.data[i]]));
    return FERRY_OK;
}

ferry_status ferry_unigram_segment(const ferry_unigram *unigram, ferry_view word, ferry_unigram_scratch *scratch,
                                   ferry_unigram_sink sink, void *user, ferry_error *error)
{
    const int32_t unknown = unigram->config.unknown;
    ferry_unigram_node *nodes =
        ferry_array_grow(scratch->nodes, &scratch->capacity, word.size + 1, sizeof *scratch->nodes);
    if (nodes == NULL) return ferry_fail_memory(error, "tokenizing", (word.size + 1) * sizeof *nodes);
    scratch->nodes = nodes;
    find_way(unigram, word, nodes);
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
