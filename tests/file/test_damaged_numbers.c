/* Weights that are not finite: the lines whose logits they reach fail, and say why; the others are translated as
 * before. */
#include "tests/support/model_damage.h"

enum { VOCAB = 400, SENTENCES = 6, LENGTH = 12, DAMAGED_ID = 7, LISTED = 3 };
static const char why[] =
    "the model computed a logit that is not a finite number: its weights are broken or too large, as trained, "
    "or its file is damaged (ferry_model_verify)";

/* Sentence 0 has id DAMAGED_ID, which no other one has. */
static int32_t ids[SENTENCES * LENGTH], offsets[SENTENCES + 1];

static sample make_model(ferry_type type, small_scales scales)
{
    static int32_t lists[VOCAB + 1], listed[LISTED * VOCAB];
    for (int32_t v = 0; v <= VOCAB; v++) lists[v] = LISTED * v;
    for (int32_t i = 0; i < LISTED * VOCAB; i++)
        listed[i] = i / LISTED % (VOCAB / LISTED - 1) + i % LISTED * (VOCAB / LISTED);
    const small_shortlist shortlist = {.first = 20, .offsets = lists, .ids = listed, .count = LISTED * VOCAB};
    for (int32_t i = 0; i < SENTENCES * LENGTH; i++) ids[i] = 20 + i * 37 % (VOCAB - 20);
    for (int32_t s = 0; s <= SENTENCES; s++) offsets[s] = s * LENGTH;
    ids[3] = DAMAGED_ID;
    return make_small_sample(&(small_model){
        .vocab = VOCAB, .type = type, .scales = scales, .linear_bias = true, .untied = true, .shortlist = &shortlist});
}

/* ---- searches ---- */

typedef struct search {
    const char *name;
    int32_t beam, scores, shortlist, renormalize, threads;
    float repetition_penalty;
    ferry_policy policy;
} search;

static const search searches[] = {
    {"greedy, by the bound", 1, 0, 0, 0, 1, 1, FERRY_POLICY_HUGGINGFACE},
    {"greedy with a shortlist", 1, 0, 1, 0, 1, 1, FERRY_POLICY_HUGGINGFACE},
    {"greedy with scores", 1, 1, 0, 0, 2, 1, FERRY_POLICY_HUGGINGFACE},
    {"greedy with a penalty", 1, 0, 0, 0, 1, 1.3f, FERRY_POLICY_HUGGINGFACE},
    {"greedy, renormalized", 1, 1, 0, 1, 1, 1, FERRY_POLICY_HUGGINGFACE},
    {"beams", 3, 1, 0, 0, 1, 1, FERRY_POLICY_HUGGINGFACE},
    {"beams with a shortlist", 3, 1, 1, 0, 2, 1, FERRY_POLICY_HUGGINGFACE},
    {"beams with a penalty", 3, 1, 0, 0, 1, 1.3f, FERRY_POLICY_HUGGINGFACE},
    {"beams of Marian", 3, 1, 0, 0, 1, 1, FERRY_POLICY_MARIAN},
    {"beams of CTranslate2", 3, 1, 0, 0, 1, 1, FERRY_POLICY_CTRANSLATE2},
};
enum { SEARCHES = sizeof searches / sizeof *searches };

static ferry_result *generate(const char *path, const search *s)
{
    ferry_model *model;
    ferry_options options;
    CHECK(ferry_model_open(path, 0, &model, &error));
    CHECK(ferry_options_default(model, &options, sizeof options));
    options.beam = s->beam;
    options.scores = s->scores;
    options.shortlist = s->shortlist;
    own_search(&options, model)->renormalize = s->renormalize;
    options.repetition_penalty = s->repetition_penalty;
    options.threads = s->threads;
    own_search(&options, model)->policy = s->policy;
    options.max_length = 15;
    ferry_result *result = generated(model, &options, ids, offsets, SENTENCES);
    ferry_model_close(model);
    return result;
}

/* ---- damage ---- */

typedef enum noticed {
    NOWHERE,
    IN_SENTENCE_0,
    EVERYWHERE,
} noticed;

typedef struct wrong {
    const char *tensor;
    size_t number; /* which of its floats */
    float value;
    noticed noticed;
} wrong;

static void check(const wrong *w, const search *s, const ferry_result *found, const ferry_result *intact)
{
    for (size_t i = 0; i < SENTENCES; i++) {
        const bool fails = w->noticed == EVERYWHERE || (w->noticed == IN_SENTENCE_0 && i == 0);
        const char *message = ferry_result_outcome(found, i)->error;
        if (fails != (message != NULL))
            fail_msg("%s, number %zu = %g, %s, sentence %zu: %s", w->tensor, w->number, (double)w->value, s->name, i,
                     fails ? "not noticed" : message);
        if (fails) {
            assert_int_equal(ferry_result_outcome(found, i)->status, FERRY_ERROR_FORMAT);
            assert_string_equal(message, why);
            assert_int_equal(ferry_result_hypothesis_count(found, i), 0);
        } else if (w->noticed == IN_SENTENCE_0) {
            assert_int_equal(ferry_result_token_count(found, i, 0), ferry_result_token_count(intact, i, 0));
            assert_memory_equal(ferry_inspect_result_ids(found, i, 0), ferry_inspect_result_ids(intact, i, 0),
                                ferry_result_token_count(found, i, 0) * sizeof(int32_t));
        }
    }
}

static void check_each(sample model, const wrong *wrongs, size_t count)
{
    for (int s = 0; s < SEARCHES; s++) {
        write_bytes(model.path, model.data, model.size);
        ferry_result *intact = generate(model.path, &searches[s]);
        for (size_t i = 0; i < SENTENCES; i++) assert_null(ferry_result_outcome(intact, i)->error);
        for (size_t w = 0; w < count; w++) {
            const size_t at = data_of(&model, wrongs[w].tensor) + wrongs[w].number * sizeof(float);
            float before;
            memcpy(&before, model.data + at, sizeof before);
            memcpy(model.data + at, &wrongs[w].value, sizeof before);
            write_bytes(model.path, model.data, model.size);
            ferry_result *found = generate(model.path, &searches[s]);
            memcpy(model.data + at, &before, sizeof before);
            check(&wrongs[w], &searches[s], found, intact);
            ferry_result_destroy(found);
        }
        ferry_result_destroy(intact);
    }
}
#define CHECK_EACH(model, wrongs) check_each(model, wrongs, sizeof(wrongs) / sizeof *(wrongs))

/* Number DAMAGED_ID of a matrix's first panel is W[DAMAGED_ID, 0]; ids below 20 are in all shortlists. */
TEST(test_floats)
{
    static const wrong wrongs[] = {
        {"enc.token_embd.weight", DAMAGED_ID, NAN, IN_SENTENCE_0},
        {"enc.token_embd.weight", DAMAGED_ID, INFINITY, IN_SENTENCE_0},
        {"enc.blk.0.attn_q.weight", 0, NAN, EVERYWHERE},
        {"enc.blk.0.attn_k.bias", 0, NAN, EVERYWHERE},
        {"enc.blk.0.attn_v.weight", 0, INFINITY, EVERYWHERE},
        {"enc.blk.0.attn_o.bias", 0, -INFINITY, EVERYWHERE},
        {"enc.blk.0.ffn_down.weight", 0, NAN, EVERYWHERE},
        {"enc.blk.0.ffn_norm.weight", 0, NAN, EVERYWHERE},
        {"dec.blk.0.attn_norm.bias", 0, INFINITY, EVERYWHERE},
        {"dec.blk.0.attn_v.bias", 0, NAN, EVERYWHERE},
        {"dec.blk.0.cross_attn_k.weight", 0, NAN, EVERYWHERE},
        {"dec.blk.0.cross_attn_v.weight", 0, NAN, EVERYWHERE},
        {"dec.blk.0.ffn_norm.weight", 0, INFINITY, EVERYWHERE},
        {"output.weight", DAMAGED_ID, NAN, EVERYWHERE},
        {"output.bias", DAMAGED_ID, NAN, EVERYWHERE},
        {"output.bias", DAMAGED_ID, INFINITY, EVERYWHERE},
        {"output.bias", DAMAGED_ID, -INFINITY, NOWHERE}, /* a token that is never chosen */
    };
    CHECK_EACH(make_model(FERRY_F32, SMALL_ROW_SCALES), wrongs);
}

/* Codes cannot hold a NaN, but what they are multiplied by can. (Scales are checked when the model is opened.
 * An input multiplier clamps what is infinite, but not a NaN.) */
TEST(test_codes)
{
    static const wrong wrongs[] = {
        {"enc.blk.0.attn_q.bias", 0, NAN, EVERYWHERE},        {"enc.blk.0.attn_norm.weight", 0, NAN, EVERYWHERE},
        {"enc.blk.0.ffn_norm.bias", 0, INFINITY, EVERYWHERE}, {"dec.blk.0.attn_norm.weight", 0, NAN, EVERYWHERE},
        {"dec.blk.0.cross_attn_v.bias", 0, NAN, EVERYWHERE},  {"dec.blk.0.ffn_down.bias", 0, INFINITY, EVERYWHERE},
        {"dec.blk.0.ffn_norm.weight", 0, NAN, EVERYWHERE},    {"output.bias", DAMAGED_ID, NAN, EVERYWHERE},
        {"output.bias", DAMAGED_ID, -INFINITY, NOWHERE},
    };
    static const small_scales scales[] = {SMALL_ROW_SCALES, SMALL_MULTIPLIER, SMALL_INPUT_MULTIPLIER};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) CHECK_EACH(make_model(FERRY_I8, scales[i]), wrongs);
}
