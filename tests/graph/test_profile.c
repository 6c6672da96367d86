/* Where the time goes: phases that are never negative, fit into the time that passed, and count what was done; and what
 * products did, against sums over the shapes of a small model's matrices. */
#include "tests/support/small_model.h"

#include "base/system.h"

static const char *const lines[] = {"How are you?", "", "Tom is reading a book in the garden.", "Hello, world!"};
enum { LINES = sizeof lines / sizeof lines[0], WITH_WORDS = LINES - 1 };

static ferry_translator *create(const ferry_model *model, int threads, int beam, int32_t max_length)
{
    ferry_options options;
    ferry_translator *translator;
    ferry_options_default(model, &options, sizeof options);
    options.threads = threads;
    options.beam = beam;
    options.max_length = max_length;
    CHECK(ferry_translator_create(model, &options, &translator, &error));
    return translator;
}

/* Seconds that passed. */
static double translate(ferry_translator *translator)
{
    ferry_text texts[LINES];
    ferry_result *result;
    for (int i = 0; i < LINES; i++) texts[i] = (ferry_text){lines[i], strlen(lines[i])};
    const double start = ferry_clock();
    CHECK(ferry_translate(translator, texts, LINES, &result, &error));
    const double passed = ferry_clock() - start;
    ferry_result_destroy(result);
    return passed;
}

static ferry_inspect_phase find(const ferry_translator *translator, const char *name)
{
    ferry_inspect_phase phase;
    for (size_t i = 0; phase = ferry_inspect_profile_phase(translator, i), phase.name != NULL; i++)
        if (strcmp(phase.name, name) == 0) return phase;
    fail_msg("no phase '%s'", name);
    return phase;
}

static double sum_of_phases(const ferry_translator *translator)
{
    double sum = 0;
    ferry_inspect_phase phase;
    for (size_t i = 0; phase = ferry_inspect_profile_phase(translator, i), phase.name != NULL; i++) {
        assert_true(phase.seconds >= 0);
        assert_true(phase.calls > 0 || phase.seconds == 0);
        sum += phase.seconds;
    }
    return sum;
}

/* Nothing is counted unasked. */
TEST(test_phases_fit_into_the_time_that_passed)
{
    static const char *const busy[] = {"tokenizing",      "encoder",      "source_keys",  "self_attention",
                                       "cross_attention", "feed_forward", "decoder_rest", "output_layer",
                                       "search",          "detokenizing", "other"};
    ferry_model *model = convert_data("models/marian-separate", NULL);
    for (int beam = 1; beam <= 2; beam++) {
        ferry_translator *translator = create(model, 1, beam, 40);
        translate(translator);
        assert_true(sum_of_phases(translator) == 0);
        assert_int_equal(find(translator, "tokenizing").calls, 0);
        ferry_inspect_profile_start(translator);
        const double passed = translate(translator), sum = sum_of_phases(translator);
        assert_true(sum <= passed);
        for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++) {
            const ferry_inspect_phase phase = find(translator, busy[i]);
            if (phase.calls == 0 || phase.seconds == 0) fail_msg("'%s' took no time", busy[i]);
        }
        assert_int_equal(find(translator, "shortlist").calls, 0);
        ferry_translator_destroy(translator);
    }
    ferry_model_close(model);
}

TEST(test_calls_count_what_was_done)
{
    ferry_model *model = convert_data("models/marian-separate", NULL);
    for (int threads = 1; threads <= 3; threads++) {
        ferry_translator *translator = create(model, threads, 1, 40);
        for (int round = 0; round < 2; round++) {
            ferry_inspect_profile_start(translator);
            translate(translator);
            assert_int_equal(find(translator, "tokenizing").calls, LINES);
            assert_int_equal(find(translator, "detokenizing").calls, WITH_WORDS);
            assert_in_range(find(translator, "other").calls, 1, threads);
            const int64_t steps = find(translator, "decoder_rest").calls;
            const int64_t layers = find(translator, "self_attention").calls;
            assert_true(steps > 0 && layers >= steps && layers % steps == 0);
            assert_int_equal(find(translator, "cross_attention").calls, layers);
            assert_int_equal(find(translator, "feed_forward").calls, layers);
        }
        translate(translator); /* goes on where the last one ended */
        assert_int_equal(find(translator, "tokenizing").calls, 2 * LINES);
        ferry_translator_destroy(translator);
    }
    ferry_model_close(model);
}

/* ---- what products did ---- */

/* Matrices of a share of the model: multiplications of one row, bytes. */
typedef struct share {
    int64_t products, bytes;
} share;

static int64_t round_up(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static void add_matrices(share *sum, int32_t count, int32_t N, int32_t K, ferry_type type)
{
    sum->products += (int64_t)count * N * K;
    sum->bytes += count * round_up(N, 16) * (type == FERRY_I8 ? round_up(K, 4) : 4 * (int64_t)K);
}

/* Self-attention and feed-forward of the encoder; keys and values for cross-attention; the decoder without them and the
 * output matrix; that one. */
typedef struct shares {
    share encoder, keys, layers, output;
} shares;

static shares count_shares(const small_model *m)
{
    const int32_t D = m->d_model, inner = m->heads * m->head_width, F = m->ffn_width, L = m->layers;
    shares s = {.encoder = {0}};
    add_matrices(&s.encoder, 3 * L, inner, D, m->type);
    add_matrices(&s.encoder, L, D, inner, m->type);
    add_matrices(&s.encoder, m->gated ? 2 * L : L, F, D, m->type);
    add_matrices(&s.encoder, L, D, F, m->type);
    add_matrices(&s.keys, 2 * L, inner, D, m->type);
    s.layers = s.encoder;
    add_matrices(&s.layers, L, inner, D, m->type);
    add_matrices(&s.layers, L, D, inner, m->type);
    add_matrices(&s.output, 1, m->vocab, D, m->mixed ? FERRY_F32 : m->type);
    return s;
}

/* Of no size a multiple of 4 or 16, so that filling up shows. */
static const small_model small = {
    .layers = 2, .d_model = 26, .heads = 2, .head_width = 11, .ffn_width = 37, .vocab = 41, .type = FERRY_F32};

static ferry_inspect_work generate(const ferry_model *made, int threads, const int32_t *ids, const int32_t *offsets,
                                   int32_t sentences, int64_t *target_tokens)
{
    ferry_translator *translator = create(made, threads, 1, 7);
    ferry_result *result;
    for (int round = 0; round < 2; round++) { /* the second one begins at zero again */
        ferry_inspect_profile_start(translator);
        CHECK(ferry_inspect_generate(translator, ids, offsets, sentences, &result, &error));
        *target_tokens = 0;
        for (int32_t i = 0; i < sentences; i++)
            *target_tokens += (int64_t)ferry_result_token_count(result, (size_t)i, 0);
        ferry_result_destroy(result);
    }
    const ferry_inspect_work work = ferry_inspect_profile_work(translator);
    ferry_translator_destroy(translator);
    return work;
}

/* One sentence: every matrix is read once for it, or once for each step. */
static void check_one_sentence(const small_model *description)
{
    static const int32_t ids[] = {5, 9, 2, 7, 11}, offsets[] = {0, 5};
    const int64_t source = offsets[1];
    const shares s = count_shares(description);
    ferry_model *made = open_small_model(description, NULL);
    int64_t steps;
    const ferry_inspect_work work = generate(made, 1, ids, offsets, 1, &steps);
    const int64_t layers = source * (s.encoder.products + s.keys.products) + steps * s.layers.products;
    const int64_t output = steps * s.output.products;
    const bool floats = description->type == FERRY_F32;
    assert_true(steps > 0);
    assert_int_equal(work.steps, steps);
    assert_int_equal(work.float_products, (floats ? layers : 0) + (floats || description->mixed ? output : 0));
    assert_int_equal(work.int8_products, (floats ? 0 : layers) + (floats || description->mixed ? 0 : output));
    assert_int_equal(work.weight_bytes, s.encoder.bytes + s.keys.bytes + steps * (s.layers.bytes + s.output.bytes));
    ferry_model_close(made);
}

TEST(test_products_of_one_sentence)
{
    small_model description = small;
    check_one_sentence(&description);
    description.type = FERRY_I8;
    description.gated = true;
    check_one_sentence(&description);
    description.mixed = description.untied = true;
    check_one_sentence(&description);
}

TEST(test_products_of_threads_add_up)
{
    static const int32_t ids[] = {5, 9, 2, 7, 11, 3, 8, 4, 6, 1}, offsets[] = {0, 5, 8, 10};
    const shares s = count_shares(&small);
    ferry_model *made = open_small_model(&small, NULL);
    for (int threads = 1; threads <= 3; threads++) {
        int64_t steps;
        const ferry_inspect_work work = generate(made, threads, ids, offsets, 3, &steps);
        assert_int_equal(work.float_products, offsets[3] * (s.encoder.products + s.keys.products) +
                                                  steps * (s.layers.products + s.output.products));
        assert_int_equal(work.int8_products, 0);
    }
    ferry_model_close(made);
}
