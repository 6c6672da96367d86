/* The graph below the goldens: the cache of keys and values, attention's seam for positional encodings, memory. */
#include "tests/support/jobs.h"

#include "engine/graph/decoder.h"
#include "engine/graph/encoder.h"
#include "engine/api/model.h"
#include "tests/support/random.h"

static uint32_t random_state = 12345;

static float random_float(void)
{
    return (float)next_random(&random_state) / 8388608.0f - 1.0f;
}

/* ---- the cache ---- */

enum { LAYERS = 2, HEADS = 3, WIDTH = 5, ROW = HEADS * WIDTH, MOST = 6, STEPS = 60 };

/* A hypothesis' past, kept the plain way. */
typedef struct past {
    float k[STEPS][LAYERS][ROW], v[STEPS][LAYERS][ROW];
    int32_t length;
} past;

static void check_past(const ferry_cache *cache, const ferry_sequence *sequence, const past *expected)
{
    assert_int_equal(sequence->length, expected->length);
    for (int32_t layer = 0; layer < LAYERS; layer++) {
        const ferry_past keys = ferry_cache_keys(&cache->layout, sequence, layer, 0, HEADS, expected->length);
        const ferry_past values = ferry_cache_values(&cache->layout, sequence, layer, 0, HEADS, expected->length);
        for (int32_t p = 0; p < expected->length; p++)
            for (int32_t i = 0; i < ROW; i++) {
                const size_t h = (size_t)(i / WIDTH), d = (size_t)(i % WIDTH), slot = (size_t)(p % 4);
                const float *block = sequence->blocks[p / 4];
                const float *key = block + keys.offset + h * keys.head;
                const float *value = block + values.offset + h * values.head + slot * values.stride;
                assert_true(key[d / 4 * 16 + slot * 4 + d % 4] == expected->k[p][layer][i]);
                assert_true(value[d] == expected->v[p][layer][i]);
            }
    }
}

static void append_random(ferry_cache *cache, ferry_sequence *sequence, past *expected)
{
    const int32_t p = expected->length++;
    CHECK(ferry_sequence_extend(cache, sequence, expected->length, &error));
    for (int32_t layer = 0; layer < LAYERS; layer++) {
        for (int32_t i = 0; i < ROW; i++) {
            expected->k[p][layer][i] = random_float();
            expected->v[p][layer][i] = random_float();
        }
        ferry_sequence_write(cache, sequence, layer, p, 1, expected->k[p][layer], expected->v[p][layer]);
    }
}

/* Random reorders with splits, deaths and growth: every hypothesis keeps exactly its own past, and no block is lost. */
TEST(test_reordered_hypotheses_keep_their_past)
{
    ferry_cache cache;
    ferry_arena arena = {0};
    ferry_sequence sequences[MOST];
    static past pasts[MOST], next[MOST];
    ferry_cache_init(&cache, LAYERS, HEADS, WIDTH);
    for (int round = 0; round < 20; round++) {
        const ferry_arena_mark mark = ferry_arena_begin(&arena);
        int32_t rows = 1;
        memset(pasts, 0, sizeof pasts);
        for (int32_t i = 0; i < MOST; i++) CHECK(ferry_sequence_begin(&arena, STEPS, &sequences[i], &error));
        for (int32_t step = 0; step < STEPS && rows > 0; step++) {
            int32_t parents[MOST];
            for (int32_t i = 0; i < rows; i++) append_random(&cache, &sequences[i], &pasts[i]);
            for (int32_t i = 0; i < rows; i++) check_past(&cache, &sequences[i], &pasts[i]);
            const int32_t count = step == STEPS - 1 ? 0 : 1 + (int32_t)(next_random(&random_state) % MOST);
            for (int32_t i = 0; i < count; i++) {
                parents[i] = (int32_t)(next_random(&random_state) % (uint32_t)rows);
                next[i] = pasts[parents[i]];
            }
            CHECK(ferry_sequence_reorder(&cache, &arena, sequences, rows, parents, count, &error));
            memcpy(pasts, next, sizeof pasts);
            rows = count;
            for (int32_t i = 0; i < rows; i++) check_past(&cache, &sequences[i], &pasts[i]);
        }
        ferry_arena_end(&arena, mark);
    }
    /* All blocks are free again: as many can be taken as were made, without asking for memory. */
    const size_t allocations = cache.allocations;
    ferry_sequence all;
    CHECK(ferry_sequence_begin(&arena, (int32_t)cache.blocks * 4, &all, &error));
    CHECK(ferry_sequence_extend(&cache, &all, (int32_t)cache.blocks * 4, &error));
    assert_int_equal(cache.allocations, allocations);
    ferry_cache_destroy(&cache);
    ferry_arena_destroy(&arena);
}

/* Slabs of more than a large page: every block has memory of its own, and few slabs give many blocks. */
TEST(test_many_blocks_are_distinct)
{
    enum { BLOCKS = 700, FLOATS = 16 * (64 + 64) * 4 }; /* 32 kB each */
    ferry_cache cache;
    ferry_arena arena = {0};
    ferry_sequence sequence, rest;
    ferry_cache_init(&cache, 1, 16, 64);
    assert_int_equal(cache.layout.layer_floats, FLOATS);
    CHECK(ferry_sequence_begin(&arena, BLOCKS * 4, &sequence, &error));
    CHECK(ferry_sequence_extend(&cache, &sequence, BLOCKS * 4, &error));
    const size_t allocations = cache.allocations;
    const int32_t left = (int32_t)cache.blocks - BLOCKS;
    assert_true(allocations < 40);
    assert_true(left <= (int32_t)cache.blocks / 8 + 64);
    CHECK(ferry_sequence_begin(&arena, left * 4, &rest, &error));
    CHECK(ferry_sequence_extend(&cache, &rest, left * 4, &error));
    assert_int_equal(cache.allocations, allocations);
    for (int32_t b = 0; b < BLOCKS + left; b++) {
        float *block = b < BLOCKS ? sequence.blocks[b] : rest.blocks[b - BLOCKS];
        for (int32_t i = 0; i < FLOATS; i++) block[i] = (float)b;
    }
    for (int32_t b = 0; b < BLOCKS + left; b++) {
        const float *block = b < BLOCKS ? sequence.blocks[b] : rest.blocks[b - BLOCKS];
        assert_int_equal((uintptr_t)block % 64, 0);
        for (int32_t i = 0; i < FLOATS; i++) assert_true(block[i] == (float)b);
    }
    ferry_sequence_release(&cache, &sequence);
    ferry_sequence_release(&cache, &rest);
    ferry_cache_destroy(&cache);
    ferry_arena_destroy(&arena);
}

/* The slabs of the first 8 MB have no huge pages, which begin at 2 MB; without `frugal` they have. */
TEST(test_frugal_slabs)
{
    enum { HUGE_PAGE = 2 << 20, FEW = 8 << 20, BLOCKS = 400 }; /* 32 kB each */
    for (int32_t frugal = 0; frugal < 2; frugal++) {
        ferry_cache cache;
        ferry_arena arena = {0};
        ferry_sequence sequence;
        size_t huge = 0, last = 0, before = 0;
        ferry_cache_init(&cache, 1, 16, 64);
        cache.frugal = frugal == 1;
        CHECK(ferry_sequence_begin(&arena, BLOCKS * 4, &sequence, &error));
        for (int32_t blocks = 1; blocks <= BLOCKS; blocks++, last = cache.reserved) {
            CHECK(ferry_sequence_extend(&cache, &sequence, blocks * 4, &error));
            if (cache.reserved - last < HUGE_PAGE) continue;
            huge++;
            if (huge == 1) before = last;
        }
        assert_in_range(huge, 1, BLOCKS);
        assert_in_range(before, frugal == 1 ? FEW : 0, frugal == 1 ? FEW + HUGE_PAGE : FEW / 2);
        ferry_sequence_release(&cache, &sequence);
        ferry_cache_destroy(&cache);
        ferry_arena_destroy(&arena);
    }
}

/* Blocks that were never taken are no memory yet: of the last slab, at most a huge page. */
TEST(test_reserved_blocks_are_not_touched)
{
    enum { BLOCKS = 2000, MOST_UNUSED = (2 << 20) + (1 << 20) };
    ferry_cache cache;
    ferry_arena arena = {0};
    ferry_sequence sequence;
    ferry_cache_init(&cache, 1, 16, 64);
    const size_t block = cache.layout.layer_floats * sizeof(float), before = own_memory();
    CHECK(ferry_sequence_begin(&arena, BLOCKS * 4, &sequence, &error));
    for (int32_t blocks = 1; blocks <= BLOCKS; blocks += blocks / 2 + 1) {
        CHECK(ferry_sequence_extend(&cache, &sequence, blocks * 4, &error));
        const size_t used = (size_t)blocks * block, unused = cache.reserved - used,
                     part = used + (64 << 10) + 2 * block;
        assert_int_equal(cache.blocks - cache.untouched, blocks);
        assert_in_range(unused, 0, part < MOST_UNUSED ? part : MOST_UNUSED);
        if (cache.reserved < 2 << 20) assert_in_range(own_memory(), 0, before + used + (256 << 10));
    }
    ferry_sequence_release(&cache, &sequence);
    ferry_cache_destroy(&cache);
    ferry_arena_destroy(&arena);
}

/* ---- the seam of the positional encodings: a scheme that only this test knows ---- */

/* ALiBi (Press et al. 2022) for 4 heads: score - 2^(-2(h+1))·|i - j|. */
static void alibi_score(const ferry_position *position, const ferry_position_tile *tile)
{
    (void)position;
    const float slope = exp2f(-2.0f * (float)(tile->head + 1));
    for (int32_t i = 0; i < tile->queries; i++)
        for (int32_t j = 0; j < tile->keys; j++)
            tile->scores[(size_t)i * tile->ld_scores + (size_t)j] -= slope * fabsf((float)(tile->first + i - j));
}

/* RoPE (Su et al. 2021), half layout, theta 10000, heads of width 16. */
static void rope_rotate(const ferry_position *position, const ferry_position_state *state, float *x, int32_t first,
                        int32_t count)
{
    (void)state;
    const int32_t H = position->stack.heads, K = position->stack.head_width;
    for (int32_t i = 0; i < count * H; i++)
        for (int32_t k = 0; k < K / 2; k++) {
            const double angle = (first + i / H) * pow(10000.0, -2.0 * k / K);
            float *a = &x[i * K + k], *b = &x[i * K + K / 2 + k];
            const double rotated = *a * cos(angle) - *b * sin(angle);
            *b = (float)(*a * sin(angle) + *b * cos(angle));
            *a = (float)rotated;
        }
}

static const ferry_position_scheme alibi = {.name = "alibi of this test", .score = alibi_score};
static const ferry_position_scheme rope = {.name = "rope of this test", .rotate = rope_rotate};
static const ferry_position_scheme silent = {.name = "silent"};

/* The golden model `name` with the schemes of this test in place of those that the file names. */
static void check_foreign_scheme(const char *name, const ferry_position_scheme *encoder,
                                 const ferry_position_scheme *decoder)
{
    int64_t rows, S, T, D, V, one;
    const char *directory = data_file("positions/%s", name);
    ferry_model *model = convert_and_open(directory, NULL);
    model->file.transformer.encoder.position.scheme = encoder;
    model->file.transformer.decoder.position.scheme = decoder;
    ferry_safetensors golden;
    CHECK(ferry_safetensors_open(in_directory(directory, "golden.safetensors"), &golden, &error));
    const int32_t *ids = golden_i32(&golden, "source_ids", &rows, &S);
    const int32_t *lengths = golden_i32(&golden, "source_lengths", &one, &rows);
    const int32_t *target = golden_i32(&golden, "decoder_input_ids", &rows, &T);
    const float *encoded = golden_f32(&golden, "encoder_output", &rows, &D);
    const float *logits = golden_f32(&golden, "logits", &rows, &V);
    float *found = kept_memory((size_t)(T * V > S * D ? T * V : S * D) * sizeof *found);
    const int32_t first[] = {0, lengths[0]};
    model->file.transformer.encoder.position.scheme = &silent; /* the file's own scheme is out of the way */
    CHECK(ferry_inspect_encode(model, ids, first, 1, found, &error));
    assert_true(largest_difference(found, encoded, (size_t)(lengths[0] * D)) > 1e-2);
    model->file.transformer.encoder.position.scheme = encoder;
    for (int32_t s = 0; s < 3; s++) {
        const int32_t offsets[] = {0, lengths[s]}, target_offsets[] = {0, (int32_t)T};
        CHECK(ferry_inspect_encode(model, ids + s * S, offsets, 1, found, &error));
        assert_true(largest_difference(found, encoded + s * S * D, (size_t)(lengths[s] * D)) <= 2e-4);
        for (int pass = 0; pass < 2; pass++) {
            CHECK(ferry_inspect_logits(model, ids + s * S, offsets, 1, target + s * T, target_offsets,
                                       pass == 0 ? FERRY_INSPECT_ONE_PASS : FERRY_INSPECT_STEP_BY_STEP, found, &error));
            assert_true(largest_difference(found, logits + s * T * V, (size_t)(T * V)) <= 2e-4);
        }
    }
    ferry_safetensors_close(&golden);
    ferry_model_close(model);
}

TEST(test_schemes_attach_from_outside)
{
    check_foreign_scheme("alibi-post", &alibi, &alibi);
    check_foreign_scheme("mixed-post", &rope, &alibi);
}

/* ---- attention weights ---- */

TEST(test_attention_weights_are_distributions)
{
    ferry_model *model = convert_data("positions/sinusoidal-post", NULL);
    const int32_t ids[] = {5, 9, 20, 31, 7, 0}, target[] = {96, 4, 8, 15};
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    float weights[36];
    for (int kind = 0; kind < 3; kind++) {
        const int32_t rows = kind == FERRY_INSPECT_ENCODER_SELF ? 6 : 4;
        const int32_t columns = kind == FERRY_INSPECT_DECODER_SELF ? 4 : 6;
        CHECK(ferry_inspect_attention(model, (ferry_inspect_attention_kind)kind, 1, 2, ids, 6, target, 4, weights,
                                      &error));
        for (int32_t i = 0; i < rows; i++) {
            double sum = 0;
            for (int32_t j = 0; j < columns; j++) {
                const float weight = weights[i * columns + j];
                const bool masked = kind == FERRY_INSPECT_DECODER_SELF && j > i;
                assert_true(masked ? weight == 0.0f : weight > 0.0f);
                sum += (double)weight;
            }
            assert_true(fabs(sum - 1) < 1e-5);
        }
    }
    REFUSE(ferry_inspect_attention(model, FERRY_INSPECT_CROSS, sizes.decoder_layers, 0, ids, 6, target, 4, weights,
                                   &error),
           FERRY_ERROR_ARGUMENT, "layer");
    ferry_model_close(model);
}

/* ---- memory ---- */

enum { SENTENCES = 11 };

/* The same work again asks the system for nothing. */
TEST(test_decoding_allocates_nothing_after_warm_up)
{
    ferry_model *model = convert_data("positions/sinusoidal-post", NULL);
    ferry_generator generator;
    size_t warm = 0;
    ferry_generator_init(&generator, &model->file.transformer, model->kernels);
    for (int round = 0; round < 6; round++) {
        job *j = new_job(&model->file.generation, SENTENCES);
        for (int32_t s = 0; s < SENTENCES; s++) {
            job_sentence *sentence = &j->sentences[s];
            sentence->length = 1 + s * 7 % JOB_LONGEST;
            for (int32_t i = 0; i < JOB_LONGEST; i++) sentence->ids[i] = (i * 7) % 96;
            sentence->options.beam = 3;
            sentence->options.max_length = 20 + s;
            sentence->options.nbest = 2;
        }
        generate_job(&generator, j, 0, SENTENCES, 4, 60);
        if (round == 2) warm = ferry_generator_allocations(&generator);
    }
    assert_true(warm > 0);
    assert_int_equal(ferry_generator_allocations(&generator), warm);
    ferry_generator_destroy(&generator);
    ferry_model_close(model);
}

/* ---- worked numbers of the literature ---- */

static bool text_parameter(void *user, const char *key, ferry_view *value)
{
    (void)user;
    const char *text = strcmp(key, "layout") == 0 ? "interleaved" : strcmp(key, "exponent_divisor") == 0 ? "half" : "";
    *value = (ferry_view){text, strlen(text)};
    return text[0] != 0;
}

static bool integer_parameter(void *user, const char *key, int64_t *value)
{
    (void)user;
    *value = 0;
    return strcmp(key, "first") == 0;
}

TEST(test_worked_example_of_sinusoids)
{
    const ferry_position_source source = {.text = text_parameter, .integer = integer_parameter};
    const ferry_position_stack stack = {.layers = 1, .d_model = 4, .heads = 1, .head_width = 4};
    ferry_position position;
    ferry_position_state rows = {0};
    CHECK(ferry_position_bind((ferry_view){"sinusoidal", 10}, &stack, &source, ferry_kernels_find(NULL), &position,
                              &error));
    CHECK(ferry_position_extend(&position, &rows, ferry_kernels_find(NULL), 2, &error));
    const float expected[] = {0, 1, 0, 1, 0.841471f, 0.540302f, 0.010000f, 0.999950f};
    assert_true(largest_difference(rows.rows, expected, 8) <= 5e-7);
    float x[] = {1, 2, 2, 4};
    const float moved[] = {1, 3, 2, 5};
    position.scheme->embed(&position, &rows, ferry_kernels_find(NULL), x, 0, 1);
    assert_memory_equal(x, moved, sizeof x);
    ferry_position_state_destroy(&rows);
    ferry_position_unbind(&position);
}
