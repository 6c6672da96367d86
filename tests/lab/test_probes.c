/* The probes of whole models, whose answers are known: what an encoding must tell, and what its absence cannot. */
#include "tests/support/random.h"
#include "tests/support/small_model.h"

#include "tools/lab/probe_changes.h"
#include "tools/lab/probe_output.h"

enum { END = 0, TRAINED = 12, BUCKETS = 3, V = 21, MOST_IDS = 20000, MOST_PAIRS = 400 };

static const ferry_inspect_shape shape = {
    .d_model = 32, .heads = 2, .ffn_width = 48, .encoder_layers = 2, .decoder_layers = 3, .vocab = V};

/* Of the current test. */
static ferry_model *model;
static ferry_probes probes;
static ferry_arena arena;
static ferry_probe_batch before, after;

static int clean(void **state)
{
    (void)state;
    ferry_probes_destroy(&probes);
    ferry_probe_batch_destroy(&before);
    ferry_probe_batch_destroy(&after);
    ferry_arena_destroy(&arena);
    ferry_model_close(model);
    model = NULL;
    return 0;
}

static void open_untrained(const char *encoding)
{
    CHECK(ferry_inspect_untrained(encoding, &shape, NULL, &model, &error));
}

/* ---- made-up sentences ---- */

typedef struct corpus {
    int32_t ids[2][MOST_IDS], offsets[2][MOST_PAIRS + 1];
    int8_t buckets[MOST_PAIRS];
    uint32_t random;
    ferry_probe_text text;
} corpus;

static corpus *new_corpus(void)
{
    corpus *c = kept_memory(sizeof *c);
    c->random = 1;
    c->text = (ferry_probe_text){
        .source_ids = c->ids[0],
        .source_offsets = c->offsets[0],
        .target_ids = c->ids[1],
        .target_offsets = c->offsets[1],
        .buckets = c->buckets,
        .bucket_count = BUCKETS,
        .trained_length = TRAINED,
    };
    return c;
}

static void add_ids(corpus *c, int side, int32_t pieces, bool end)
{
    int32_t *at = &c->offsets[side][c->text.count + 1];
    *at = c->offsets[side][c->text.count];
    for (int32_t i = 0; i < pieces; i++) c->ids[side][(*at)++] = 2 + (int32_t)(next_random(&c->random) % (V - 2));
    if (end) c->ids[side][(*at)++] = END;
}

static void add_pair(corpus *c, int32_t source, int32_t target, bool end, int8_t bucket)
{
    add_ids(c, 0, source, end);
    add_ids(c, 1, target, true);
    c->buckets[c->text.count++] = bucket;
}

/* Lengths from 2 on, evenly; the buckets: up to half the trained length, up to all of it, up to 3 times it. No source
 * ends in the end of sentence, which would tell of a late position. */
static corpus *usual_corpus(void)
{
    static const int32_t ends[BUCKETS] = {TRAINED / 2, TRAINED, 3 * TRAINED};
    corpus *c = new_corpus();
    for (int8_t b = 0; b < BUCKETS; b++)
        for (int32_t i = 0; i < 120; i++) {
            const int32_t least = b > 0 ? ends[b - 1] + 1 : 2;
            const int32_t length = least + i % (ends[b] - least + 1);
            add_pair(c, length, length, false, b);
        }
    return c;
}

static void probe(const corpus *c)
{
    CHECK(ferry_probe_model(model, &c->text, &probes, &error));
}

/* ---- what an encoding tells ---- */

TEST_WITH(without_an_encoding_an_encoder_knows_no_order, NULL, clean)
{
    open_untrained("none");
    probe(usual_corpus());
    const ferry_probe_stack *encoder = &probes.stacks[FERRY_INSPECT_ENCODER];
    assert_int_equal(encoder->layers, 2);
    for (int32_t n = 0; n <= encoder->layers; n++) {
        assert_true(fabs(encoder->positions[n].seen) < 0.05);
        assert_true(fabs(encoder->positions[n].beyond_refit) < 0.05);
    }
    /* The causal mask tells a decoder, but not its embeddings. */
    const ferry_probe_stack *decoder = &probes.stacks[FERRY_INSPECT_DECODER];
    assert_int_equal(decoder->layers, 3);
    assert_true(decoder->positions[0].seen < 0.4 && decoder->positions[3].seen > decoder->positions[0].seen + 0.2);
    for (int stack = 0; stack < 2; stack++)
        for (int32_t shift = 0; shift < FERRY_PROBE_SHIFTS; shift++)
            assert_true(fabs(probes.stacks[stack].similarity[shift] - 1) < 1e-9);
    for (int32_t b = 0; b < BUCKETS; b++) {
        assert_int_equal(probes.shuffled[b].sentences, 120);
        assert_true(fabs(probes.shuffled[b].nll - probes.shuffled[b].changed_nll) < 1e-5);
        assert_true(fabs(probes.shuffled[b].divergence) < 1e-5);
    }
}

TEST_WITH(positions_that_are_added_are_read_from_the_embedding, NULL, clean)
{
    open_untrained("sinusoidal");
    probe(usual_corpus());
    for (int stack = 0; stack < 2; stack++) {
        const ferry_probe_stack *found = &probes.stacks[stack];
        assert_true(found->positions[0].seen > 0.9 && found->positions[0].beyond_refit > 0.9);
        assert_true(found->positions[0].seen_error < 1);
        for (int32_t shift = 0; shift < FERRY_PROBE_SHIFTS; shift++) assert_true(found->similarity[shift] < 0.95);
    }
    for (int32_t b = 0; b < BUCKETS; b++) assert_true(probes.shuffled[b].divergence > 1e-4);
}

/* Weights of an untrained model are near those of equal weights; its decoder's first query has one key. */
TEST_WITH(heads_of_an_untrained_model_look_everywhere, NULL, clean)
{
    open_untrained("none");
    probe(usual_corpus());
    for (int kind = 0; kind < 3; kind++) {
        const ferry_probe_heads *heads = &probes.attention[kind];
        assert_int_equal(heads->layers, kind == FERRY_INSPECT_ENCODER_SELF ? 2 : 3);
        assert_int_equal(heads->heads, 2);
        for (int32_t b = 0; b < BUCKETS; b++)
            for (int32_t i = 0; i < heads->layers * heads->heads; i++) {
                const ferry_probe_head *head = ferry_probe_head_at(heads, b, i / 2, i % 2);
                assert_true(head->relative_entropy > 0.8 && head->relative_entropy < 1);
                assert_true(head->entropy < log(3 * TRAINED + 1));
                if (kind == FERRY_INSPECT_CROSS)
                    assert_true(isnan(head->distance) && isnan(head->relative_distance));
                else
                    assert_true(fabs(head->relative_distance - 1) < 0.15 && head->distance > 0.5);
            }
    }
    const ferry_probe_heads *encoder = &probes.attention[FERRY_INSPECT_ENCODER_SELF];
    assert_true(ferry_probe_head_at(encoder, 2, 0, 0)->distance > 2 * ferry_probe_head_at(encoder, 0, 0, 0)->distance);
}

TEST_WITH(shifts_are_those_that_were_asked_for, NULL, clean)
{
    open_untrained("alibi");
    probe(usual_corpus());
    for (int32_t shift = 0; shift < FERRY_PROBE_SHIFTS; shift++) {
        const ferry_probe_change *change = &probes.shifted[shift];
        const double most = ferry_probe_shift_factor(shift) * TRAINED;
        assert_int_equal(change->sentences, 60); /* every second one of bucket 0 */
        assert_true(change->shift <= most && change->shift > most - 2);
        assert_true(change->nll > 2 && change->changed_nll > 2 && change->divergence > 1e-4);
    }
}

/* ---- the changes ---- */

/* Sentences of a text as the probes of the model see them. */
static ferry_probe_sentences take(const ferry_probe_text *text)
{
    ferry_probe_sentences sentences;
    CHECK(ferry_probe_sentences_take(model, text, &arena, &sentences, &error));
    return sentences;
}

static void expect_ids(const ferry_probe_batch *batch, int side, int32_t sentence, const int32_t *ids, int32_t count)
{
    const int32_t first = batch->offsets[side][sentence];
    assert_int_equal(batch->offsets[side][sentence + 1] - first, count);
    assert_memory_equal(batch->ids[side] + first, ids, (size_t)count * sizeof *ids);
}

TEST_WITH(other_pairs_stand_in_front, NULL, clean)
{
    /* Four pairs: 2, 6, 7 and 1 source pieces; the third is longer than half the trained length. */
    static const int32_t source[] = {11, 12, END, 2, 3, 4, 5, 6, 7, END, 2, 2, 2, 2, 2, 2, 2, END, 20, END};
    static const int32_t source_offsets[] = {0, 3, 10, 18, 20};
    static const int32_t target[] = {13, END, 8, 9, END, 2, END, 19, 18, END}, target_offsets[] = {0, 2, 5, 7, 10};
    static const int8_t buckets[4] = {0};
    const ferry_probe_text text = {source, source_offsets, target, target_offsets, 4, buckets, 1, TRAINED};
    open_untrained("none");
    const int32_t start = ferry_inspect_get_sizes(model).start_id;
    const ferry_probe_sentences sentences = take(&text);
    double mean;
    CHECK(ferry_probe_shift(&sentences, 3, &before, &after, &mean, &error));
    assert_int_equal(before.count, 3);
    assert_int_equal(after.count, 3);
    expect_ids(&before, 0, 0, source, 3);
    expect_ids(&after, 0, 0, (const int32_t[]){20, 11, 12, END}, 4); /* the last pair alone fits */
    expect_ids(&after, 1, 0, (const int32_t[]){start, 19, 18, 13}, 4);
    expect_ids(&before, 1, 1, (const int32_t[]){start, 8, 9}, 3);
    expect_ids(&after, 0, 1, (const int32_t[]){20, 11, 12, 2, 3, 4, 5, 6, 7, END}, 10);
    expect_ids(&after, 1, 1, (const int32_t[]){start, 19, 18, 13, 8, 9}, 6);
    expect_ids(&after, 0, 2, (const int32_t[]){11, 12, 20, END}, 4);
    assert_true(fabs(mean - 6.0 / 3) < 1e-12); /* 1 + 3 + 2 pieces */
    ferry_probe_batch_destroy(&before);
    ferry_probe_batch_destroy(&after);
    CHECK(ferry_probe_shift(&sentences, 0, &before, &after, &mean, &error));
    assert_true(before.count == 0 && isnan(mean));
}

static int compare_ids(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

TEST_WITH(shuffled_sources_have_the_same_pieces, NULL, clean)
{
    open_untrained("none");
    corpus *c = new_corpus();
    for (int32_t i = 0; i < 30; i++) add_pair(c, 10, 2, true, 0);
    const ferry_probe_sentences sentences = take(&c->text);
    int moved = 0;
    CHECK(ferry_probe_shuffle(&sentences, &before, &error));
    CHECK(ferry_probe_shuffle(&sentences, &after, &error));
    assert_memory_equal(before.offsets[0], c->offsets[0], 31 * sizeof(int32_t));
    assert_memory_equal(before.ids[0], after.ids[0], (size_t)c->offsets[0][30] * sizeof(int32_t));
    for (int32_t i = 0; i < 30; i++) {
        int32_t *found = before.ids[0] + c->offsets[0][i], *original = c->ids[0] + c->offsets[0][i];
        for (int32_t p = 0; p < 10; p++) moved += found[p] != original[p];
        assert_int_equal(found[10], END);
        qsort(found, 10, sizeof *found, compare_ids);
        qsort(original, 10, sizeof *original, compare_ids);
        assert_memory_equal(found, original, 10 * sizeof *found);
    }
    assert_in_range(moved, 200, 295); /* most of 300; equal pieces do not show */
}

/* Sums of slices are those of sentences one by one, whatever stands in front. */
TEST_WITH(likelihoods_are_of_the_pieces_of_the_reference, NULL, clean)
{
    enum { ROWS = 8 };
    open_untrained("rope");
    corpus *c = new_corpus();
    add_pair(c, 5, 7, true, 0);
    add_pair(c, 4, 3, true, 0);
    const ferry_probe_sentences sentences = take(&c->text);
    const ferry_probe_pair *second = &sentences.pairs[1];
    ferry_output_sums sums[2];
    float logits[ROWS * V];
    for (int32_t i = 0; i < 2; i++) {
        const ferry_probe_pair *pair = &sentences.pairs[i];
        CHECK(ferry_probe_batch_add(&before, &sentences, NULL, 0, pair, pair->ids[0], &error));
        CHECK(ferry_probe_batch_add(&after, &sentences, &second, 1 - i, pair, pair->ids[0], &error));
    }
    CHECK(ferry_probe_output(&sentences, &before, &after, sums, &error));
    assert_true(sums[0].tokens == 7 && sums[1].tokens == 3);
    assert_true(sums[1].nll == sums[1].changed_nll && fabs(sums[1].divergence) < 1e-6);
    assert_true(sums[0].divergence > 1e-3);
    const int32_t source_offsets[] = {0, 6}, input_offsets[] = {0, ROWS};
    CHECK(ferry_inspect_logits(model, c->ids[0], source_offsets, 1, before.ids[1], input_offsets,
                               FERRY_INSPECT_ONE_PASS, logits, &error));
    double nll = 0;
    for (int32_t row = 0; row < 7; row++) {
        double sum = 0;
        for (int32_t v = 0; v < V; v++) sum += exp((double)logits[row * V + v]);
        nll += log(sum) - (double)logits[row * V + c->ids[1][row]];
    }
    assert_true(fabs(sums[0].nll - nll) < 1e-5);
}

/* Of a large vocabulary, few sentences are computed together. */
TEST_WITH(sentences_are_computed_in_parts, NULL, clean)
{
    const ferry_inspect_shape large = {
        .d_model = 8, .heads = 1, .ffn_width = 8, .encoder_layers = 1, .decoder_layers = 1, .vocab = 60000};
    corpus *c = new_corpus();
    ferry_probe_batch one = {0}, other = {0};
    ferry_output_sums sums[6], alone;
    CHECK(ferry_inspect_untrained("sinusoidal", &large, NULL, &model, &error));
    for (int32_t i = 0; i < 6; i++) add_pair(c, 3 + i, 20 + i, true, 0);
    const ferry_probe_sentences sentences = take(&c->text);
    CHECK(ferry_probe_batch_add_all(&before, &sentences, &error));
    CHECK(ferry_probe_shuffle(&sentences, &after, &error));
    CHECK(ferry_probe_output(&sentences, &before, &after, sums, &error));
    for (int32_t i = 0; i < 6; i++) {
        const ferry_probe_pair *pair = &sentences.pairs[i];
        one.count = other.count = 0;
        CHECK(ferry_probe_batch_add(&one, &sentences, NULL, 0, pair, pair->ids[0], &error));
        CHECK(ferry_probe_batch_add(&other, &sentences, NULL, 0, pair, after.ids[0] + after.offsets[0][i], &error));
        CHECK(ferry_probe_output(&sentences, &one, &other, &alone, &error));
        assert_memory_equal(&alone, &sums[i], sizeof alone);
        assert_true(alone.tokens == 20 + i && alone.divergence > 0);
    }
    ferry_probe_batch_destroy(&one);
    ferry_probe_batch_destroy(&other);
}

/* ---- what a model does not have ---- */

static void refuse(const corpus *c, ferry_status status, const char *what)
{
    REFUSE(ferry_probe_model(model, &c->text, &probes, &error), status, what);
}

TEST_WITH(sentences_that_are_too_long_are_skipped, NULL, clean)
{
    open_untrained("learned"); /* 1,024 positions */
    corpus *c = usual_corpus();
    probe(c);
    const ferry_probe_change plain = probes.shuffled[2];
    assert_int_equal(probes.used, 360);
    assert_int_equal(probes.skipped, 0);
    ferry_probes_destroy(&probes);
    add_pair(c, 1025, 3, false, 2);
    add_pair(c, 3, 1024, false, 0);
    add_pair(c, 1024, 1023, false, -1); /* fits, and is in no bucket */
    probe(c);
    assert_int_equal(probes.used, 361);
    assert_int_equal(probes.skipped, 2);
    assert_int_equal(probes.shuffled[2].sentences, 120);
    assert_true(probes.shuffled[2].nll == plain.nll);
    ferry_probes_destroy(&probes);
    corpus *too_long = new_corpus();
    add_pair(too_long, 1025, 3, false, 0);
    refuse(too_long, FERRY_ERROR_LIMIT, "none of 1 sentences fits");
}

TEST_WITH(a_decoder_without_self_attention_has_no_such_heads, NULL, clean)
{
    model = open_small_model(&(small_model){.ssru = true}, NULL);
    probe(usual_corpus());
    assert_non_null(probes.attention[FERRY_INSPECT_ENCODER_SELF].heads_of);
    assert_null(probes.attention[FERRY_INSPECT_DECODER_SELF].heads_of);
    assert_non_null(probes.attention[FERRY_INSPECT_CROSS].heads_of);
    assert_true(ferry_probe_head_at(&probes.attention[FERRY_INSPECT_CROSS], 0, 1, 2)->entropy > 0);
}

TEST_WITH(what_is_too_little_is_not_a_number, NULL, clean)
{
    open_untrained("none");
    corpus *c = new_corpus();
    add_pair(c, TRAINED, 0, false, 1);
    probe(c);
    assert_true(isnan(probes.stacks[0].positions[0].seen) && isnan(probes.stacks[0].similarity[0]));
    assert_int_equal(probes.shifted[0].sentences, 0);
    assert_true(isnan(probes.shifted[0].shift) && isnan(probes.shifted[0].nll));
    assert_true(probes.shuffled[0].sentences == 0 && isnan(probes.shuffled[0].divergence));
    assert_true(isnan(ferry_probe_head_at(&probes.attention[0], 0, 0, 0)->entropy));
    assert_true(ferry_probe_head_at(&probes.attention[0], 1, 0, 0)->entropy > 0);
}

TEST_WITH(wrong_texts_are_refused, NULL, clean)
{
    open_untrained("none");
    corpus *c = new_corpus();
    add_pair(c, 3, 3, true, 3);
    refuse(c, FERRY_ERROR_ARGUMENT, "bucket of pair 0: expected less than 3, found 3");
    c->buckets[0] = 0;
    c->ids[0][1] = V;
    refuse(c, FERRY_ERROR_ARGUMENT, "id 21 is not below");
    c->offsets[0][1] = 0;
    refuse(c, FERRY_ERROR_ARGUMENT, "sources: sentence 0 has no ids");
    c->offsets[0][0] = 1;
    refuse(c, FERRY_ERROR_ARGUMENT, "sources: expected offsets from 0");
}
