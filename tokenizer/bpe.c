#include "bpe.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { NO_SYMBOL = -1 };
#define NO_RANK UINT32_MAX

static const char mark[] = "</w>"; /* the end of a word, except for FERRY_TOKENIZER_BPE */

static const struct rules {
    bool together;            /* all occurrences of a pair are merged at once */
    bool first;               /* of equal merges, the first counts instead of the last */
    bool apart;               /* the end of a word is a symbol of its own */
    const char *inner, *last; /* what the vocabulary appends to a segment within a word, at its end */
} rules[] = {
    [FERRY_TOKENIZER_BPE] = {.together = false},
    [FERRY_TOKENIZER_SUBWORD_NMT_1] = {.together = true, .first = true, .apart = true, .inner = "@@", .last = ""},
    [FERRY_TOKENIZER_SUBWORD_NMT_2] = {.together = true, .first = true, .inner = "@@", .last = ""},
    [FERRY_TOKENIZER_FSMT] = {.together = true, .inner = "", .last = "</w>"},
};

/* A slot of the table of merges: the pair, its merged symbol and its rank. NO_RANK: the slot is free. */
typedef struct merge {
    int32_t left, right, merged;
    uint32_t rank;
} merge;

struct ferry_bpe {
    ferry_bpe_config config;
    const struct rules *rules;
    ferry_texts *parts; /* [3 · merge_count] left, right and merged text of each merge; NULL: released */
    char *joined;       /* the bytes of `parts` */
    /* Text → symbol. FERRY_TOKENIZER_BPE: the vocabulary. Otherwise `own`, where a symbol is the index of its first
     * occurrence in `parts`. */
    ferry_vocabulary own;
    const ferry_vocabulary *symbols;
    merge *merges; /* [mask + 1], open addressing */
    size_t mask;
    ferry_hash_key key;
    int32_t bytes[256]; /* the ids of <0xNN>; NO_SYMBOL: no fallback */
};

/* ---- creation ---- */

static ferry_status fail_merge(const ferry_bpe_config *config, const char *name, size_t index, const char *expected,
                               ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: merge %zu: %s, found '%s'", name, index + 1, expected,
                      ferry_printable_view(ferry_texts_at(config->merges, index)).text);
}

/* Sets bpe->parts. bpe->joined has room for their bytes. */
static ferry_status split_merges(ferry_bpe *bpe, const char *name, ferry_error *error)
{
    const ferry_bpe_config *config = &bpe->config;
    size_t end = 0;
    for (size_t i = 0; i < config->merge_count; i++) {
        const ferry_view text = ferry_texts_at(config->merges, i);
        const char *blank = text.size > 0 ? memchr(text.data, ' ', text.size) : NULL;
        const size_t left = blank != NULL ? (size_t)(blank - text.data) : 0, right = text.size - left - (left > 0);
        if (left == 0 || right == 0 || memchr(blank + 1, ' ', right) != NULL)
            return fail_merge(config, name, i, "expected two texts with one blank between them", error);
        char *out = bpe->joined + end;
        memcpy(out, text.data, left);
        memcpy(out + left, blank + 1, right);
        memcpy(out + left + right, out, left + right);
        ferry_texts_set_end(bpe->parts, 3 * i, end + left);
        ferry_texts_set_end(bpe->parts, 3 * i + 1, end + left + right);
        end += 2 * (left + right);
        ferry_texts_set_end(bpe->parts, 3 * i + 2, end);
    }
    return FERRY_OK;
}

static ferry_status read_merges(ferry_bpe *bpe, const char *name, ferry_error *error)
{
    const ferry_bpe_config *config = &bpe->config;
    const size_t count = config->merge_count;
    size_t bytes = 0;
    if (count > FERRY_BPE_MAX_MERGES)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: expected at most %d merges, found %zu", name,
                          (int)FERRY_BPE_MAX_MERGES, count);
    for (size_t i = 0; i < count; i++) bytes += ferry_texts_at(config->merges, i).size;
    if (bytes > UINT32_MAX / 2)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: expected merges of less than 2^31 bytes together, found %zu",
                          name, bytes);
    bpe->joined = malloc(2 * bytes + 1);
    bpe->parts = bpe->joined != NULL ? ferry_texts_create(bpe->joined, 0, 3 * count) : NULL;
    if (bpe->parts == NULL) return ferry_fail_memory(error, "merges", 2 * bytes, 1);
    FERRY_TRY(split_merges(bpe, name, error));
    bpe->symbols = config->vocabulary;
    if (config->kind == FERRY_TOKENIZER_BPE) return FERRY_OK;
    bpe->symbols = &bpe->own;
    return ferry_vocabulary_create(bpe->parts, (int32_t)(3 * count), &bpe->own, error);
}

/* The slot of the pair, or the free slot where it belongs. */
static merge *find_merge(const ferry_bpe *bpe, int32_t left, int32_t right)
{
    const int32_t pair[] = {left, right};
    size_t at = (size_t)ferry_keyed_hash(bpe->key, pair, sizeof pair) & bpe->mask;
    for (;; at = (at + 1) & bpe->mask) {
        merge *slot = &bpe->merges[at];
        if (slot->rank == NO_RANK || (slot->left == left && slot->right == right)) return slot;
    }
}

static ferry_status rank_merges(ferry_bpe *bpe, const char *name, ferry_error *error)
{
    const size_t count = bpe->config.merge_count;
    size_t capacity = 16;
    while (capacity < 2 * count) capacity *= 2;
    bpe->merges = malloc(capacity * sizeof *bpe->merges);
    if (bpe->merges == NULL) return ferry_fail_memory(error, "merges", capacity, sizeof *bpe->merges);
    memset(bpe->merges, 0xFF, capacity * sizeof *bpe->merges);
    bpe->mask = capacity - 1;
    bpe->key = ferry_hash_key_create();
    for (size_t i = 0; i < count; i++) {
        int32_t found[3];
        for (size_t part = 0; part < 3; part++) {
            found[part] = ferry_vocabulary_find(bpe->symbols, ferry_texts_at(bpe->parts, 3 * i + part));
            if (found[part] < 0)
                return fail_merge(&bpe->config, name, i, "expected two pieces that together are a piece", error);
        }
        merge *slot = find_merge(bpe, found[0], found[1]);
        if (slot->rank != NO_RANK && bpe->rules->first) continue;
        *slot = (merge){found[0], found[1], found[2], (uint32_t)i};
    }
    return FERRY_OK;
}

static ferry_status find_bytes(ferry_bpe *bpe, const char *name, ferry_error *error)
{
    int found = 0;
    for (unsigned byte = 0; byte < 256; byte++) {
        const ferry_name piece = ferry_name_format("<0x%02X>", byte);
        bpe->bytes[byte] = bpe->config.byte_fallback
                               ? ferry_vocabulary_find(bpe->config.vocabulary, ferry_text_view(piece.text))
                               : NO_SYMBOL;
        found += bpe->bytes[byte] >= 0;
    }
    if (found > 0 && found < 256)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: byte fallback: expected the pieces of all 256 bytes or of none, found %d", name, found);
    if (found > 0 && bpe->config.word_end.size > 0)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: byte fallback together with an end of word '%s'", name,
                          ferry_printable_view(bpe->config.word_end).text);
    return FERRY_OK;
}

static void drop_parts(ferry_bpe *bpe)
{
    free(bpe->parts);
    free(bpe->joined);
    bpe->parts = NULL;
    bpe->joined = NULL;
}

ferry_status ferry_bpe_create(const ferry_bpe_config *config, const char *name, ferry_bpe **bpe, ferry_error *error)
{
    ferry_bpe *made = *bpe = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "merges", 1, sizeof *made);
    made->config = *config;
    made->rules = &rules[config->kind];
    ferry_status status = find_bytes(made, name, error);
    if (status == FERRY_OK) status = read_merges(made, name, error);
    if (status == FERRY_OK) status = rank_merges(made, name, error);
    if (status == FERRY_OK && made->symbols != &made->own) drop_parts(made);
    if (status == FERRY_OK) return FERRY_OK;
    ferry_bpe_destroy(made);
    *bpe = NULL;
    return status;
}

void ferry_bpe_destroy(ferry_bpe *bpe)
{
    if (bpe == NULL) return;
    ferry_vocabulary_destroy(&bpe->own);
    drop_parts(bpe);
    free(bpe->merges);
    free(bpe);
}

/* ---- the queue of merges: a heap of rank · 2³² + index of the left symbol, smallest first ---- */

static void push(ferry_bpe_scratch *scratch, uint64_t entry)
{
    uint64_t *queue = scratch->queue;
    size_t at = scratch->queue_count++;
    for (; at > 0 && queue[(at - 1) / 2] > entry; at = (at - 1) / 2) queue[at] = queue[(at - 1) / 2];
    queue[at] = entry;
}

static uint64_t pop(ferry_bpe_scratch *scratch)
{
    uint64_t *queue = scratch->queue;
    const uint64_t top = queue[0], entry = queue[--scratch->queue_count];
    const size_t count = scratch->queue_count;
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && queue[child + 1] < queue[child]) child++;
        if (queue[child] >= entry) break;
        queue[at] = queue[child];
        at = child;
    }
    queue[at] = entry;
    return top;
}

/* ---- segmentation ---- */

/* A symbol of the word, from byte `begin` to the next symbol's `begin`. A symbol that was merged into the one before it
 * has rank NO_RANK. */
struct ferry_bpe_symbol {
    int32_t symbol;
    int32_t merged; /* the symbol of its merge with the next one */
    uint32_t rank;  /* of that merge; NO_RANK: none */
    uint32_t begin;
    uint32_t previous, next; /* indexes; before the first and after the last symbol: symbol_count */
};

/* Queues the merge of symbol number `at` with the next one, if one exists. */
static void look_up(const ferry_bpe *bpe, ferry_bpe_scratch *scratch, uint32_t at)
{
    ferry_bpe_symbol *left = &scratch->symbols[at], *right = &scratch->symbols[left->next];
    left->rank = NO_RANK;
    if (left->symbol < 0 || right->symbol < 0) return;
    const merge *found = find_merge(bpe, left->symbol, right->symbol);
    if (found->rank == NO_RANK) return;
    left->rank = found->rank;
    left->merged = found->merged;
    push(scratch, (uint64_t)found->rank << 32 | at);
}

/* Applies the best merge of the queue; with rules->together, all merges of its rank that still apply. */
static void merge_best(const ferry_bpe *bpe, ferry_bpe_scratch *scratch)
{
    const uint32_t rank = (uint32_t)(scratch->queue[0] >> 32), end = (uint32_t)scratch->symbol_count;
    size_t count = 0;
    do {
        scratch->batch[count++] = (uint32_t)pop(scratch);
    } while (bpe->rules->together && scratch->queue_count > 0 && scratch->queue[0] >> 32 == rank);
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = scratch->batch[i];
        ferry_bpe_symbol *left = &scratch->symbols[at], *right = &scratch->symbols[left->next];
        if (left->rank != rank) continue;
        left->symbol = left->merged;
        left->next = right->next;
        right->rank = NO_RANK;
        scratch->symbols[left->next].previous = at;
        look_up(bpe, scratch, at);
        if (left->previous != end) look_up(bpe, scratch, left->previous);
    }
}

static void add(ferry_bpe_scratch *scratch, int32_t symbol, size_t begin)
{
    scratch->symbols[scratch->symbol_count++] = (ferry_bpe_symbol){.symbol = symbol, .begin = (uint32_t)begin};
}

/* Sets *found to the symbol or id of `text` + `end`; -1: none. */
static ferry_status find_joined(const ferry_vocabulary *vocabulary, ferry_view text, ferry_view end,
                                ferry_bpe_scratch *scratch, int32_t *found, ferry_error *error)
{
    ferry_string *piece = &scratch->piece;
    if (end.size > 0) {
        piece->size = 0;
        FERRY_TRY(ferry_string_append(piece, text, error));
        FERRY_TRY(ferry_string_append(piece, end, error));
        text = (ferry_view){piece->data, piece->size};
    }
    *found = ferry_vocabulary_find(vocabulary, text);
    return FERRY_OK;
}

static ferry_status add_characters(const ferry_bpe *bpe, ferry_view word, ferry_bpe_scratch *scratch,
                                   ferry_error *error)
{
    const bool pieces = bpe->config.kind == FERRY_TOKENIZER_BPE;
    const ferry_view word_end = pieces ? bpe->config.word_end : ferry_text_view(bpe->rules->apart ? "" : mark);
    uint32_t code_point;
    bool unknown = false; /* the last character was unknown */
    for (size_t at = 0; at < word.size;) {
        const size_t begin = at;
        int32_t symbol;
        (void)ferry_utf8_next(word, &at, &code_point);
        const ferry_view end = at == word.size ? word_end : (ferry_view){"", 0};
        FERRY_TRY(find_joined(bpe->symbols, (ferry_view){word.data + begin, at - begin}, end, scratch, &symbol, error));
        if (symbol >= 0 || !pieces)
            add(scratch, symbol, begin);
        else if (bpe->bytes[0] >= 0)
            for (size_t i = begin; i < at; i++) add(scratch, bpe->bytes[(unsigned char)word.data[i]], i);
        else if (!unknown || !bpe->config.fuse_unknown)
            add(scratch, bpe->config.unknown, begin);
        unknown = symbol < 0;
    }
    if (bpe->rules->apart) add(scratch, ferry_vocabulary_find(bpe->symbols, ferry_text_view(mark)), word.size);
    return FERRY_OK;
}

static ferry_status reserve(ferry_bpe_scratch *scratch, size_t size, ferry_error *error)
{
    const size_t count = size + 2; /* with `mark` and the end */
    ferry_bpe_symbol *symbols =
        ferry_array_grow(scratch->symbols, &scratch->symbol_capacity, count, sizeof *scratch->symbols);
    if (symbols != NULL) scratch->symbols = symbols;
    uint64_t *queue = ferry_array_grow(scratch->queue, &scratch->queue_capacity, 2 * count, sizeof *scratch->queue);
    if (queue != NULL) scratch->queue = queue;
    uint32_t *batch = ferry_array_grow(scratch->batch, &scratch->batch_capacity, 2 * count, sizeof *scratch->batch);
    if (batch != NULL) scratch->batch = batch;
    if (symbols == NULL || queue == NULL || batch == NULL)
        return ferry_fail_memory(error, "tokenizing", count, sizeof *symbols);
    scratch->symbol_count = scratch->queue_count = 0;
    return FERRY_OK;
}

static ferry_status emit(const ferry_bpe *bpe, ferry_view word, ferry_bpe_scratch *scratch, ferry_piece_sink sink,
                         void *user, ferry_error *error)
{
    const ferry_bpe_config *config = &bpe->config;
    for (size_t i = 0; i < scratch->symbol_count; i = scratch->symbols[i].next) {
        const size_t begin = scratch->symbols[i].begin, end = scratch->symbols[scratch->symbols[i].next].begin;
        int32_t id = scratch->symbols[i].symbol;
        if (begin == end) break; /* `mark` alone */
        if (config->kind != FERRY_TOKENIZER_BPE) {
            const char *ending = end == word.size ? bpe->rules->last : bpe->rules->inner;
            FERRY_TRY(find_joined(config->vocabulary, (ferry_view){word.data + begin, end - begin},
                                  ferry_text_view(ending), scratch, &id, error));
        }
        FERRY_TRY(sink(user, begin, end, id >= 0 ? id : config->unknown));
    }
    return FERRY_OK;
}

ferry_status ferry_bpe_segment(const ferry_bpe *bpe, ferry_view word, ferry_bpe_scratch *scratch, ferry_piece_sink sink,
                               void *user, ferry_error *error)
{
    const int32_t whole = bpe->config.whole_words ? ferry_vocabulary_find(bpe->config.vocabulary, word) : NO_SYMBOL;
    if (word.size == 0) return FERRY_OK;
    if (whole >= 0) return sink(user, 0, word.size, whole);
    if (word.size >= (size_t)INT32_MAX)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "a word: expected fewer than %d bytes, found %zu", INT32_MAX,
                          word.size);
    FERRY_TRY(reserve(scratch, word.size, error));
    FERRY_TRY(add_characters(bpe, word, scratch, error));
    /* Symbol number symbol_count is the end: before the first symbol and after the last one. */
    const uint32_t count = (uint32_t)scratch->symbol_count;
    for (uint32_t i = 0; i < count; i++) {
        scratch->symbols[i].previous = i > 0 ? i - 1 : count;
        scratch->symbols[i].next = i + 1;
    }
    scratch->symbols[count] = (ferry_bpe_symbol){.symbol = NO_SYMBOL, .begin = (uint32_t)word.size};
    for (uint32_t i = 0; i < count; i++) look_up(bpe, scratch, i);
    while (scratch->queue_count > 0) merge_best(bpe, scratch);
    return emit(bpe, word, scratch, sink, user, error);
}

void ferry_bpe_scratch_destroy(ferry_bpe_scratch *scratch)
{
    free(scratch->symbols);
    free(scratch->queue);
    free(scratch->batch);
    free(scratch->piece.data);
    memset(scratch, 0, sizeof *scratch);
}
