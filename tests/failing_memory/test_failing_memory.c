/* Memory that runs out while a model is opened, a translator created or text translated: an error each time, nothing is
 * lost, and the translator works afterwards. */
#include "failing_memory.h"
#include "tests/support/import_support.h"
#include "tests/support/shipped_model.h"
#include "tests/support/small_model.h"

#include "base/pool.h"
#include "engine/lines/model.h"
#include "tokenizer/sentencepiece_c.h"

enum { MOST_LINES = 6, MOST_IDS = 12 };

/* What is translated: lines, or ids where a model has no tokenizer; what comes of it, when nothing fails. */
typedef struct work {
    const char *path;
    const ferry_model *model;
    ferry_options options;
    ferry_search_options search; /* options.search */
    size_t lines;
    bool whole_text; /* texts[0] is one */
    bool scored;     /* each with itself as its translation */
    bool prefixed;   /* each with itself as its beginning, which is repaired */
    bool terms;      /* a word of the first one has to become another one */
    ferry_text texts[MOST_LINES];
    ferry_result *expected;
    ferry_model *opened;
    ferry_translator *translator;
    ferry_result *result;
} work;

static ferry_status translate(work *w, ferry_translator *translator, ferry_result **result, ferry_error *error)
{
    static const int32_t ids[] = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 2, 3}, offsets[] = {0, 1, 10, MOST_IDS};
    if (w->lines == 0) return ferry_inspect_generate(translator, ids, offsets, 3, result, error);
    if (w->scored) return ferry_score(translator, w->texts, w->texts, w->lines, result, error);
    static const ferry_text target = {"e", 1};
    static const ferry_term terms[] = {{.begin = 2, .end = 3, .targets = &target, .target_count = 1},
                                       {.begin = 6, .end = 7}};
    static const ferry_request request = {
        .size = sizeof request, .terms = terms, .term_size = sizeof *terms, .term_count = COUNT(terms)};
    if (w->terms) return ferry_translate_with(translator, w->texts, w->lines, &request, result, error);
    if (w->prefixed) return translate_prefixed(translator, w->texts, w->texts, w->lines, result, error);
    if (w->whole_text) return ferry_translate_text(translator, w->texts[0], result, error);
    return ferry_translate(translator, w->texts, w->lines, result, error);
}

static void check_same(const ferry_result *found, const ferry_result *expected)
{
    assert_int_equal(ferry_result_count(found), ferry_result_count(expected));
    for (size_t i = 0; i < ferry_result_count(expected); i++) {
        assert_int_equal(ferry_result_outcome(found, i)->status, ferry_result_outcome(expected, i)->status);
        assert_same_line(found, i, expected, i);
    }
}

/* ---- opening ---- */

static ferry_status run_opening(void *user, ferry_error *error)
{
    work *w = user;
    return ferry_model_open(w->path, 0, &w->opened, error);
}

static void check_translator(work *w, ferry_status status)
{
    assert_int_equal(w->translator != NULL, status == FERRY_OK);
    if (status != FERRY_OK) return;
    CHECK(translate(w, w->translator, &w->result, &error));
    check_same(w->result, w->expected);
    ferry_result_destroy(w->result);
    ferry_translator_destroy(w->translator);
}

static void end_opening(void *user, ferry_status status)
{
    work *w = user;
    assert_int_equal(w->opened != NULL, status == FERRY_OK);
    if (status != FERRY_OK) return;
    CHECK(ferry_translator_create(w->opened, &w->options, &w->translator, &error));
    check_translator(w, FERRY_OK);
    ferry_model_close(w->opened);
}

/* ---- creating ---- */

static ferry_status run_creating(void *user, ferry_error *error)
{
    work *w = user;
    return ferry_translator_create(w->model, &w->options, &w->translator, error);
}

static void end_creating(void *user, ferry_status status)
{
    check_translator(user, status);
}

/* ---- translating ---- */

static void begin_translating(void *user)
{
    work *w = user;
    CHECK(ferry_translator_create(w->model, &w->options, &w->translator, &error));
}

static ferry_status run_translating(void *user, ferry_error *error)
{
    work *w = user;
    return translate(w, w->translator, &w->result, error);
}

/* The translator that failed translates; every fourth time, also once more. */
static void end_translating(void *user, ferry_status status)
{
    static unsigned number;
    work *w = user;
    assert_int_equal(w->result != NULL, status == FERRY_OK);
    const int times = ++number % 4 == 0 ? 2 : 1;
    for (int again = 0; again < times; again++) {
        if (w->result != NULL) check_same(w->result, w->expected);
        ferry_result_destroy(w->result);
        CHECK(translate(w, w->translator, &w->result, &error));
    }
    check_same(w->result, w->expected);
    ferry_result_destroy(w->result);
    ferry_translator_destroy(w->translator);
}

/* ---- models and options ---- */

typedef struct variant_of_options {
    int32_t beam, nbest, scores, threads, batch, alignment;
    float coverage_penalty; /* of CTranslate2's policy */
} choice;

static const choice choices[] = {{1, 1, 0, 1, 16, 0, 0},
                                 {1, 1, 1, 1, 1, 0, 0},
                                 {3, 3, 1, 1, 2, 1, 0},
                                 {3, 1, 0, 2, 1, 0, 0.5f},
                                 {1, 1, 0, 2, 16, 0, 0}};

static void take_defaults(work *w)
{
    w->options = default_options(w->model);
    CHECK(ferry_search_options_default(w->model, &w->search, sizeof w->search));
    w->options.search = &w->search;
    w->options.max_length = 12;
}

static void choose(work *w, const choice *chosen)
{
    w->options.beam = chosen->beam;
    w->options.nbest = chosen->nbest;
    w->options.scores = chosen->scores;
    w->options.threads = chosen->threads;
    w->options.batch = chosen->batch;
    w->options.alignment = chosen->alignment;
    w->search.coverage_penalty = chosen->coverage_penalty;
    if (chosen->coverage_penalty != 0) w->search.policy = FERRY_POLICY_CTRANSLATE2;
}

static void fail_translating(work *w, const char *name)
{
    const ferry_options *o = &w->options;
    const ferry_short_text title = ferry_format("%s: translating, beam %d, nbest %d, scores %d, threads %d, batch %d",
                                                name, o->beam, o->nbest, o->scores, o->threads, o->batch);
    ferry_translator *translator;
    CHECK(ferry_translator_create(w->model, &w->options, &translator, &error));
    CHECK(translate(w, translator, &w->expected, &error));
    ferry_translator_destroy(translator);
    fail_each(&(fault){title.text, w, begin_translating, run_translating, end_translating});
}

/* Of the model file w->path. */
static void fail_all(work *w, const char *name, size_t first, size_t last)
{
    CHECK(ferry_model_open(w->path, 0, &model, &error));
    w->model = model;
    take_defaults(w);
    const ferry_policy policy = w->search.policy;
    for (size_t i = first; i <= last; i++) {
        w->search.policy = policy;
        choose(w, &choices[i]);
        fail_translating(w, name);
        const ferry_short_text title = ferry_format("%s: creating, threads %d", name, w->options.threads);
        if (i != 1 && i != 4) fail_each(&(fault){title.text, w, NULL, run_creating, end_creating});
        if (i < last) ferry_result_destroy(w->expected);
    }
    const ferry_short_text title = ferry_format("%s: opening", name);
    fail_each(&(fault){title.text, w, NULL, run_opening, end_opening});
    ferry_result_destroy(w->expected);
    ferry_model_close(model);
}

/* ---- all of them ---- */

static work lines_of_pieces(void)
{
    return (work){.lines = 4,
                  .texts = {{"a b c d e f g h i j k l", 23},
                            {" ", 1},
                            {"k \xFF c", 5},
                            {"b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b", 67}}};
}

TEST(test_small_models)
{
    static int32_t offsets[22], ids[42];
    for (int32_t i = 0; i < 22; i++) offsets[i] = 2 * i;
    for (int32_t i = 0; i < 42; i++) ids[i] = i / 2 % 10 + i % 2 * 10;
    const small_shortlist list = {.first = 3, .offsets = offsets, .ids = ids, .count = 42};
    const struct {
        const char *name;
        small_model model;
    } rows[] = {
        {"floats", {.tokenizer = "pieces"}},
        {"halves, languages", {.tokenizer = "pieces", .type = FERRY_F16, .keys = put_small_languages}},
        {"codes, a shortlist", {.tokenizer = "pieces", .type = FERRY_I8, .shortlist = &list}},
        {"codes, multipliers, an SSRU",
         {.tokenizer = "pieces", .type = FERRY_I8, .ssru = true, .scales = SMALL_INPUT_MULTIPLIER, .policy = "marian"}},
        {"several types",
         {.tokenizer = "pieces", .type = FERRY_I8, .untied = true, .mixed = true, .sentence_inputs = true}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        work w = lines_of_pieces();
        w.path = scratch_file("small.gguf");
        write_small_model(w.path, &rows[i].model);
        fail_all(&w, rows[i].name, 0, COUNT(choices) - 1);
    }
}

static void put_merges(ferry_gguf_writer *writer)
{
    static const ferry_view merges[] = {{"a b", 3}, {"b ab", 4}};
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.merges", merges, COUNT(merges));
}

TEST(test_merges)
{
    static const char *const kinds[] = {"bpe", "subword-nmt-0.1"}, *const pieces[26] = {"</s>", "<unk>", "a",   "b",
                                                                                        "ab",   "bab",   "b@@", "ab@@"};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        work w = lines_of_pieces();
        w.path = scratch_file("merges.gguf");
        write_small_model(w.path, &(small_model){.tokenizer = kinds[i], .pieces = pieces, .keys = put_merges});
        fail_all(&w, kinds[i], 0, 0);
    }
}

TEST(test_sentencepiece)
{
    work w = {.lines = 5,
              .texts = {{"The house is small, and the garden is large.", 44},
                        {"", 0},
                        {"A \xC3 B", 5},
                        {"\xF0\x9F\x98\x80 emoji", 10},
                        {"Hello 1234!", 11}}};
    w.path = scratch_file("sentencepiece.gguf");
    CHECK(ferry_import(data_file("models/marian-separate"), w.path, NULL, &error));
    fail_all(&w, "SentencePiece", 0, COUNT(choices) - 1);
}

typedef struct pieces {
    ferry_view proto;
    ferry_spm *spm;
    char text[200]; /* a piece and | each */
} pieces;

static ferry_status append_piece(void *user, const ferry_spm_part *part)
{
    char *text = user;
    strcat(strncat(text, part->piece.data, part->piece.size), "|");
    return FERRY_OK;
}

static ferry_status load_and_segment(void *user, ferry_error *error)
{
    pieces *p = user;
    p->text[0] = '\0';
    FERRY_TRY(ferry_spm_create(p->proto, "source.spm", &p->spm, error));
    return ferry_spm_encode(p->spm, text_view("A house \xF0\x9F\x98\x80\xF0\x9F\x98\x80."), append_piece, p->text,
                            error);
}

static void check_pieces(void *user, ferry_status status)
{
    const pieces *p = user;
    if (status == FERRY_OK)
        assert_string_equal(p->text, "\xE2\x96\x81"
                                     "A|\xE2\x96\x81house|\xE2\x96\x81|\xF0\x9F\x98\x80\xF0\x9F\x98\x80|.|");
    if (p->spm == NULL) return;
    memory_fail(1, true); /* a lookup needs none */
    assert_true(ferry_spm_piece(p->spm, 0).size > 0);
    assert_false(memory_heal());
    ferry_spm_destroy(p->spm);
}

TEST(test_every_allocation_of_sentencepiece)
{
    pieces p = {.proto = mapped_bytes(data_file("models/marian-separate/source.spm"))};
    CHECK(load_and_segment(&p, &error));
    check_pieces(&p, FERRY_OK);
    fail_every(&(fault){"SentencePiece alone", &p, NULL, load_and_segment, check_pieces});
}

static ferry_status make_glossary(void *user, ferry_error *error)
{
    static const ferry_text target = {"e", 1};
    static const ferry_glossary_entry entries[] = {{{"b", 1}, &target, 1}, {{"d", 1}, NULL, 0}};
    return ferry_glossary_create(entries, sizeof *entries, COUNT(entries), user, error);
}

static void destroy_glossary(void *user, ferry_status status)
{
    ferry_glossary **glossary = user;
    assert_int_equal(*glossary != NULL, status == FERRY_OK);
    ferry_glossary_destroy(*glossary);
}

TEST(test_every_allocation_of_a_glossary)
{
    ferry_glossary *glossary;
    fail_every(&(fault){"a glossary", &glossary, NULL, make_glossary, destroy_glossary});
}

/* Words before pieces and after them, and where they are in the texts. */
TEST(test_moses_words)
{
    work w = {.lines = 3, .texts = {{"He said: \"It's 5,300 km...\"", 27}, {"", 0}, {"A & \xC3 b@@ c", 12}}};
    w.path = scratch_file("moses.gguf");
    CHECK(ferry_import(data_file("argos-bpe"), w.path, NULL, &error));
    fail_all(&w, "Moses' words", 2, 2);
}

PIECES_TEST(test_other_calls)
{
    work text = {.lines = 1, .whole_text = true, .texts = {{" a b. C d!\n\n k \xFF c. E\n", 22}}};
    work scores = lines_of_pieces(), unknown = lines_of_pieces();
    work prefixed = {.lines = 1, .prefixed = true, .texts = {{"k \xFF c", 5}}}; /* the model cannot write it */
    work terms = {.lines = 2, .terms = true, .texts = {{"a b c d \xFF k", 10}, {"a", 1}}};
    work entries = {.lines = 2, .texts = {{"a b c d \xFF k", 10}, {"A", 1}}};
    work *const works[] = {&text, &scores, &unknown, &prefixed, &terms, &entries};
    static const char *const names[] = {"a text", "scoring", "unknown words, parts", "prefixes", "terms", "a glossary"};
    ferry_glossary *glossary;
    CHECK(make_glossary(&glossary, &error));
    for (size_t i = 0; i < COUNT(works); i++) {
        works[i]->model = model;
        take_defaults(works[i]);
    }
    scores.scored = true;
    scores.options.max_length = 0;
    scores.options.alignment = 1;
    entries.options.glossary = glossary;
    /* A word that becomes its source, and a line in parts with its tokens. */
    unknown.options.max_length = 6;
    unknown.options.max_source = 9;
    unknown.options.alignment = unknown.options.replace_unknowns = 1;
    unknown.search.forced_first_id = model->file.text.source_unk_id;
    for (size_t i = 0; i < COUNT(works); i++) fail_translating(works[i], names[i]);
    assert_true(ferry_result_text(unknown.expected, 0, 0).data[0] != '<');
    assert_int_equal(ferry_result_outcome(prefixed.expected, 0)->status, FERRY_ERROR_ARGUMENT);
    for (size_t i = 0; i < COUNT(works); i++) ferry_result_destroy(works[i]->expected);
    ferry_glossary_destroy(glossary);
}

/* Their tables are computed when a model is opened, or as sentences become longer. */
TEST(test_positional_encodings)
{
    static const char *const names[] = {
        "alibi", "deberta", "deberta_released", "fire", "kerple",     "learned", "mixed",
        "none",  "rope",    "rope_interleaved", "shaw", "sinusoidal", "t5",      "transformer_xl"};
    for (size_t i = 0; i < COUNT(names); i++) {
        work w = {.path = scratch_file("position.gguf")};
        CHECK(ferry_import(data_file("positions/%s-post", names[i]), w.path, NULL, &error));
        fail_all(&w, names[i], 2, 2);
    }
}

/* ---- none fails ---- */

/* After the first rounds the same lines need no more memory than in them, and none stays. */
SEPARATE_TEST(test_the_same_lines_again)
{
    enum { LINES = 200, ROUNDS = 50, WARM = 3, SLACK = 1024 }; /* a block's usable size varies with its neighbors */
    static char texts[LINES][40];
    ferry_text lines[LINES];
    ferry_result *result;
    size_t most = 0;
    for (int i = 0; i < LINES; i++)
        lines[i] = (ferry_text){texts[i], (size_t)sprintf(texts[i], "%.*s %d", 1 + i % 30,
                                                          "The house is small and large, yes", i)};
    ferry_options options = default_options(model);
    options.beam = 2;
    options.max_length = 20;
    ferry_translator *translator = new_translator(model, &options);
    memory_watch();
    ptrdiff_t blocks = 0;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(ferry_translate(translator, lines, LINES, &result, &error));
        ferry_result_destroy(result);
        if (round == WARM) blocks = memory_blocks();
        if (round == WARM) most = memory_peak();
    }
    assert_true(most > 0);
    assert_in_range(memory_peak(), 0, most + SLACK);
    assert_int_equal(memory_blocks(), blocks);
    ferry_translator_destroy(translator);
}
