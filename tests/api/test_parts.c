/* Lines that are too long for the model: where they are cut, that the parts are translated like lines of their own and
 * joined without losing a byte between them, and what the result says about it. */
#include "tests/support/model_damage.h"
#include "tests/support/sanitized.h"
#include "tests/support/shipped_model.h"
#include "tests/support/split_line.h"

#include "base/utf8.h"
#include "engine/api/translator.h"
#include "engine/lines/model.h"
#include "engine/lines/line.h"
#include "tokenizer/sentences.h"

enum { MOST = 12 }; /* max_source of most tests */

/* ---- where a text may be cut ---- */

/* `marked` has a '|' at each cut of the kind, except at its end. */
static void check_cuts(ferry_cut cut, const char *marked)
{
    char text[256], found[512];
    size_t size = 0, at = 0;
    for (const char *c = marked; *c != '\0'; c++)
        if (*c != '|') text[size++] = *c;
    const ferry_view view = {text, size};
    for (size_t i = 0; i < size; i++) {
        if (i > 0 && ferry_cut_is_at(view, i, cut)) found[at++] = '|';
        found[at++] = text[i];
    }
    found[at] = '\0';
    assert_true(ferry_cut_is_at(view, size, cut));
    assert_string_equal(found, marked);
}

TEST(test_blanks_and_characters)
{
    check_cuts(FERRY_CUT_BLANK, "a|  b|\xE3\x80\x80"
                                "c|\t\n d");
    check_cuts(FERRY_CUT_BLANK, "  a");
    check_cuts(FERRY_CUT_CLUSTER, "a|b|é|e\xCC\x81\xCC\xA3|x");
    check_cuts(FERRY_CUT_CLUSTER, "a|\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x94\xAC|\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD|b");
    check_cuts(FERRY_CUT_CLUSTER, "हि|न्|दी");
    check_cuts(FERRY_CUT_CHARACTER, "a|\xCC\x81|é|漢|\xF0\x9F\x91\xA9|b");
}

TEST(test_cuts_near_a_guess)
{
    static const struct {
        const char *text;
        size_t low, high, guess, found; /* low: none */
        ferry_cut cut;
    } rows[] = {
        {"aa bb cc", 0, 8, 5, 5, FERRY_CUT_BLANK}, /* the guess itself, */
        {"aa bb cc", 0, 8, 4, 2, FERRY_CUT_BLANK}, /* before it, */
        {"aa bb cc", 2, 8, 4, 5, FERRY_CUT_BLANK}, /* and otherwise behind it */
        {"aa bb cc", 2, 5, 4, 2, FERRY_CUT_BLANK},       {"aa bb cc", 2, 6, 3, 5, FERRY_CUT_BLANK},
        {"aa bb cc", 5, 9, 6, 8, FERRY_CUT_BLANK}, /* the end is one */
        {"aa bb cc", 5, 8, 7, 5, FERRY_CUT_BLANK},       {"aaa", 0, 3, 1, 1, FERRY_CUT_CLUSTER},
        {"e\xCC\x81x", 0, 3, 2, 0, FERRY_CUT_CLUSTER},   {"e\xCC\x81x", 0, 4, 2, 3, FERRY_CUT_CLUSTER},
        {"e\xCC\x81x", 0, 3, 2, 1, FERRY_CUT_CHARACTER},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t found =
            ferry_cut_near(ferry_text_view(rows[i].text), rows[i].low, rows[i].high, rows[i].guess, rows[i].cut);
        if (found != rows[i].found) fail_msg("row %zu: found %zu, expected %zu", i, found, rows[i].found);
    }
}

/* More than 64 bytes for each token, or more than a megabyte. */
TEST(test_long_texts)
{
    enum { TOKENS = 5, MANY = 1 << 20 };
    assert_false(ferry_parts_is_long(64 * (TOKENS + 1) - 1, TOKENS));
    assert_true(ferry_parts_is_long(64 * (TOKENS + 1), TOKENS));
    assert_false(ferry_parts_is_long(MANY, MANY));
    assert_true(ferry_parts_is_long(MANY + 1, MANY));
}

/* ---- splitting ---- */

static ferry_translator *create(int32_t max_source)
{
    ferry_options options = default_options(model);
    options.max_source = max_source;
    return new_translator(model, &options);
}

static size_t tokens_of(ferry_view text)
{
    int32_t *ids;
    size_t count;
    CHECK(ferry_inspect_tokenize(model, (ferry_text){text.data, text.size}, NULL, NULL, &ids, &count, &error));
    ferry_inspect_free(ids);
    return count;
}

/* Whether the model knows no piece of the text but "▁". */
static bool sees_nothing(ferry_view text)
{
    int32_t *ids;
    size_t count, known = 0;
    CHECK(ferry_inspect_tokenize(model, (ferry_text){text.data, text.size}, NULL, NULL, &ids, &count, &error));
    for (size_t i = 0; i + 1 < count; i++) { /* the end of sentence is last */
        const ferry_text piece = ferry_inspect_piece(model, FERRY_INSPECT_ENCODER, ids[i]);
        known += ids[i] != model->file.text.source_unk_id && !is_same_text(piece, as_text("\u2581"));
    }
    ferry_inspect_free(ids);
    return known == 0;
}

/* Parts and separators make up the line but for white space at its ends; every part has the ids of its text; none
 * contains the end of a sentence, could go on to the next cut of a lesser kind where it ends, or end at a cut of a
 * better kind.
 */
static void check_parts(const ferry_sentence_language *language, ferry_view line, const ferry_parts *parts, size_t most)
{
    const char *at = parts->parts[0].text.data;
    assert_true(parts->count > 1);
    assert_true(ferry_utf8_is_blank((ferry_view){line.data, (size_t)(at - line.data)}));
    for (size_t i = 0; i < parts->count; i++) {
        const ferry_part *part = &parts->parts[i];
        assert_ptr_equal(part->separator.data, at);
        assert_true(ferry_utf8_is_blank(part->separator) && (i > 0 || part->separator.size == 0));
        assert_ptr_equal(part->text.data, at + part->separator.size);
        assert_true(part->text.size > 0 && part->ids.count <= most);
        assert_int_equal(sees_nothing(part->text) ? 0 : tokens_of(part->text), part->ids.count);
        at = part->text.data + part->text.size;
        if (i + 1 == parts->count) continue;
        const ferry_view rest = {part->text.data, (size_t)(line.data + line.size - part->text.data)};
        const size_t sentence = ferry_sentence_end(rest, 0, language);
        assert_true(part->text.size <= sentence);
        if (part->text.size == sentence) continue;
        assert_true(tokens_of((ferry_view){rest.data, sentence}) > most);
        int cut = FERRY_CUT_BLANK;
        while (!ferry_cut_is_at(rest, part->text.size, (ferry_cut)cut)) cut++;
        size_t next = part->text.size + 1;
        while (!ferry_cut_is_at(rest, next, (ferry_cut)cut)) next++;
        assert_true(tokens_of((ferry_view){rest.data, next}) > most);
        for (int better = FERRY_CUT_BLANK; better < cut; better++) {
            for (next = 1; !ferry_cut_is_at(rest, next, (ferry_cut)better);) next++;
            assert_true(tokens_of((ferry_view){rest.data, next}) > most);
        }
    }
    assert_true(ferry_utf8_is_blank((ferry_view){at, (size_t)(line.data + line.size - at)}));
}

static const char *const long_lines[] = {
    "Hello, world! How are you?  I am fine.\tTom is reading a book. Where were you yesterday? I don't know. No.",
    "  The early bird gets the worm, but the second mouse gets the cheese,\xE2\x80\x83 and nobody asks the worm at all "
    " ",
    "Pneumonoultramicroscopicsilicovolcanoconiosis-Pneumonoultramicroscopicsilicovolcanoconiosis. Yes! Is it?",
    "cafe\u0301cafe\u0301cafe\u0301cafe\u0301cafe\u0301cafe\u0301cafe\u0301cafe\u0301cafe\u0301cafe\u0301cafe\u0301cafe"
    "\u0301cafe\u0301cafe\u0301",
    "Ｔｏｍ　ｒｅａｄｓ。Ｔｏｍ　ｒｕｎｓ。Ｔｏｍ　ｅａｔｓ．Ｈｏｗａｒｅｙｏｕｔｏｄａｙｍｙｆｒｉｅｎｄ？Ｙｅｓ！",
};
enum { LONG_LINES = sizeof long_lines / sizeof long_lines[0] };

SEPARATE_TEST(test_parts_of_a_line)
{
    for (int32_t most = 5; most <= MOST; most++) {
        ferry_translator *translator = create(most);
        for (size_t i = 0; i < LONG_LINES; i++) {
            ferry_parts parts = {0};
            const ferry_view line = ferry_text_view(long_lines[i]);
            CHECK(split_line(translator, line, &parts, &error));
            check_parts(translator->rules.sentences, line, &parts, (size_t)most);
            ferry_parts_destroy(&parts);
        }
        ferry_translator_destroy(translator);
    }
}

/* Split in portions, a line has the same parts. */
SEPARATE_TEST(test_portions_of_a_line)
{
    for (size_t i = 0; i < LONG_LINES; i++) {
        ferry_translator *translator = create(MOST);
        ferry_parts whole = {0};
        CHECK(split_line(translator, ferry_text_view(long_lines[i]), &whole, &error));
        for (size_t bytes = 1; bytes <= strlen(long_lines[i]); bytes += 7) {
            const ferry_line_source from = {.model = translator->model,
                                            .rules = &translator->rules,
                                            .text = as_text(long_lines[i]),
                                            .stop = &(ferry_stop){0}};
            ferry_splitter splitter = {0};
            ferry_line line = {0};
            ferry_result *result;
            size_t portions = 0;
            CHECK(ferry_result_create(1, &result, &error));
            for (bool more = true; more; portions++) {
                size_t left = bytes;
                CHECK(ferry_line_split(&from, &left, &splitter, &line, result->lines, &more, &error));
            }
            assert_in_range(portions, bytes == 1 ? whole.count : 1, whole.count + 1); /* white space ends a line */
            assert_int_equal(line.parts.count, whole.count);
            for (size_t p = 0; p < whole.count; p++)
                assert_memory_equal(&line.parts.parts[p].text, &whole.parts[p].text, sizeof(ferry_view));
            ferry_splitter_end(&splitter);
            ferry_line_destroy(&line);
            ferry_result_destroy(result);
        }
        ferry_parts_destroy(&whole);
        ferry_translator_destroy(translator);
    }
}

/* A line is split only from its first token too many on; until then its ids are those of the whole text. */
SEPARATE_TEST(test_lines_that_fit)
{
    for (size_t i = 0; i < LONG_LINES; i++) {
        int32_t *ids;
        size_t count;
        CHECK(ferry_inspect_tokenize(model, as_text(long_lines[i]), NULL, NULL, &ids, &count, &error));
        for (int32_t less = 0; less <= 1; less++) {
            ferry_translator *translator = create((int32_t)count - less);
            ferry_parts parts = {0};
            CHECK(split_line(translator, ferry_text_view(long_lines[i]), &parts, &error));
            assert_true(less == 0 ? parts.count == 1 : parts.count > 1);
            if (less == 0) {
                assert_int_equal(parts.parts[0].ids.count, count);
                assert_memory_equal(parts.parts[0].ids.ids, ids, count * sizeof *ids);
            }
            ferry_parts_destroy(&parts);
            ferry_translator_destroy(translator);
        }
        ferry_inspect_free(ids);
    }
}

#ifdef SANITIZED
enum { MEGABYTE = 100000 }; /* sanitizers take ten times as long */
#else
enum { MEGABYTE = 1000000 };
#endif

/* A megabyte of each kind, in time that is linear (the test would not end otherwise). */
SEPARATE_TEST(test_a_megabyte)
{
    static const ferry_view units[] = {{"Tom is reading a book in the garden.  ", 38},
                                       {"a", 1},
                                       {"Ｔｏｍｒｅａｄｓ。", 27},
                                       {"e\xCC\x81", 3},
                                       {"x                                         ", 42},
                                       {"a b\0 \x01", 6},
                                       {" ", 1}};
    static char line[MEGABYTE];
    ferry_translator *translator = create(0);
    for (size_t i = 0; i < COUNT(units); i++) {
        ferry_parts parts = {0};
        size_t bytes = 0;
        for (size_t at = 0; at < MEGABYTE; at++) line[at] = units[i].data[at % units[i].size];
        if (i + 1 == COUNT(units)) line[0] = line[MEGABYTE - 1] = 'x';
        const size_t size = MEGABYTE - MEGABYTE % units[i].size;
        CHECK(split_line(translator, (ferry_view){line, size}, &parts, &error));
        for (size_t p = 0; p < parts.count; p++) {
            assert_in_range(parts.parts[p].ids.count, sees_nothing(parts.parts[p].text) ? 0 : 1, 512);
            bytes += parts.parts[p].separator.size + parts.parts[p].text.size;
        }
        assert_true(parts.count > 1 && bytes <= size && bytes + 64 > size);
        ferry_parts_destroy(&parts);
    }
    ferry_translator_destroy(translator);
}

/* ---- translating ---- */

static void append(ferry_buffer *text, const char *data, size_t size)
{
    CHECK(ferry_buffer_reserve(text, size, &error));
    if (size > 0) memcpy(text->data + text->size, data, size);
    text->size += size;
}

static ferry_token moved(ferry_token token, size_t bytes)
{
    token.begin += bytes;
    token.end += bytes;
    return token;
}

/* Source tokens of a line are those of its parts, with their places in it. */
static void check_source_tokens(const ferry_result *joined, const ferry_result *single, const ferry_parts *parts,
                                const char *line)
{
    size_t count = 0;
    for (size_t p = 0; p < parts->count; p++)
        for (size_t s = 0; s < ferry_result_source_token_count(single, p); s++)
            assert_same_token(source_token(joined, 0, count++),
                              moved(source_token(single, p, s), (size_t)(parts->parts[p].text.data - line)));
    assert_int_equal(ferry_result_source_token_count(joined, 0), count);
}

/* Token `token` of hypothesis k is token t of a part's hypothesis h, whose text begins at byte `at`, and whose source
 * tokens are the line's from `source` on. */
static void check_token(const ferry_result *joined, size_t k, size_t token, const ferry_result *single, size_t p,
                        size_t h, size_t t, size_t at, size_t source)
{
    size_t first, count;
    const size_t S = ferry_result_source_token_count(single, p);
    assert_same_token(target_token(joined, 0, k, token), moved(target_token(single, p, h, t), at));
    const float *weights = ferry_result_weights(joined, 0, k, token, &first, &count);
    assert_true(first == source && count == S);
    assert_memory_equal(weights, ferry_result_weights(single, p, h, t, NULL, NULL), S * sizeof *weights);
}

/* Against each part translated as a line: text, separators, tokens, ids, and the score by the formula of ferry.h. */
static void check_joined(const ferry_result *whole, size_t k, const ferry_result *single, const ferry_parts *parts,
                         const ferry_options *options)
{
    ferry_buffer text = {0};
    double sum = 0;
    size_t tokens = 0, source = 0;
    const int32_t *ids = ferry_inspect_result_ids(whole, 0, k);
    for (size_t p = 0; p < parts->count; p++) {
        const size_t count = ferry_result_hypothesis_count(single, p), h = k < count ? k : count - 1;
        const ferry_text one = ferry_result_text(single, p, h);
        const size_t more = ferry_result_token_count(single, p, h);
        append(&text, parts->parts[p].separator.data, parts->parts[p].separator.size);
        for (size_t t = 0; options->alignment != 0 && t < more; t++)
            check_token(whole, k, tokens + t, single, p, h, t, text.size, source);
        source += ferry_result_source_token_count(single, p);
        append(&text, one.data, one.size);
        for (size_t t = 0; t < more; t++) sum += (double)ferry_inspect_result_token_scores(single, p, h)[t];
        assert_memory_equal(ids + tokens, ferry_inspect_result_ids(single, p, h), more * sizeof *ids);
        assert_memory_equal(ferry_inspect_result_token_scores(whole, 0, k) + tokens,
                            ferry_inspect_result_token_scores(single, p, h), more * sizeof(float));
        tokens += more;
    }
    const ferry_text joined = ferry_result_text(whole, 0, k);
    assert_int_equal(joined.size, text.size);
    assert_memory_equal(joined.data, text.data, text.size);
    assert_int_equal(ferry_result_token_count(whole, 0, k), tokens);
    const double n = (double)tokens,
                 score = (sum - (double)options->search->word_penalty * n) / pow(n, (double)options->length_penalty);
    const double found = (double)ferry_result_score(whole, 0, k);
    if (options->scores == 0 ? found != 0 : !(fabs(found - score) <= 1e-5 * fabs(score)))
        fail_msg("score %.8g, expected %.8g", found, score);
    free(text.data);
}

/* Returns whether some parts have fewer hypotheses than others. */
static bool check_translation(const ferry_options *options, const char *line)
{
    ferry_text texts[64];
    ferry_parts parts = {0};
    const ferry_text whole = as_text(line);
    ferry_translator *translator = new_translator(model, options);
    CHECK(split_line(translator, ferry_text_view(line), &parts, &error));
    ferry_translator_destroy(translator);
    assert_in_range(parts.count, 2, 64);
    for (size_t p = 0; p < parts.count; p++)
        texts[p] = (ferry_text){parts.parts[p].text.data, parts.parts[p].text.size};
    ferry_result *joined = translated(model, options, &whole, 1),
                 *single = translated(model, options, texts, parts.count);
    size_t most = 0, least = SIZE_MAX;
    for (size_t p = 0; p < parts.count; p++) {
        const size_t hypotheses = ferry_result_hypothesis_count(single, p);
        most = hypotheses > most ? hypotheses : most;
        least = hypotheses < least ? hypotheses : least;
    }
    assert_int_equal(ferry_result_hypothesis_count(joined, 0), most);
    check_source_tokens(joined, single, &parts, line);
    for (size_t k = 0; k < most; k++) check_joined(joined, k, single, &parts, options);
    ferry_result_destroy(joined);
    ferry_result_destroy(single);
    ferry_parts_destroy(&parts);
    return least < most;
}

SHIPPED_TEST(test_joined_translations)
{
    ferry_options options = default_options(model);
    ferry_search_options *search = own_search(&options, model);
    options.max_source = MOST;
    for (options.beam = 1; options.beam <= 3; options.beam += 2)
        for (options.scores = 0; options.scores <= 1; options.scores++)
            for (size_t i = 0; i < LONG_LINES; i++) {
                options.nbest = options.beam;
                options.alignment = i < 3;
                options.split = (ferry_split)(i % 3);
                options.length_penalty = i % 2 == 0 ? 1 : 0.6f;
                search->word_penalty = i % 2 == 0 ? 0 : 0.25f;
                check_translation(&options, long_lines[i]);
            }
    /* Of few words, a part that may be longer has more hypotheses. */
    int32_t suppressed[8001];
    const int32_t eos = ferry_inspect_get_sizes(model).eos_id;
    search->suppressed_ids = suppressed;
    search->suppressed_count = 0;
    for (int32_t id = 0; id < (int32_t)(sizeof suppressed / sizeof *suppressed); id++)
        if (id != eos && id % 4000 != 1000) suppressed[search->suppressed_count++] = id;
    options.scores = 1;
    options.beam = options.nbest = 40;
    options.max_length = 0;
    options.length_factor = 0.25f;
    options.length_extra = 0;
    bool differ = false;
    for (size_t i = 0; i < LONG_LINES; i++) differ |= check_translation(&options, long_lines[i]);
    assert_true(differ);
}

/* ---- tags and limits ---- */

static const char *const pieces[] = {"</s>", "<unk>", "<pad>", ">>deu<<", "a", "b", "c", "d", "e", ">>x", "y<<"};
enum { PIECES = sizeof pieces / sizeof pieces[0], TAG = 3, UNKNOWN = 1 };

static int open_tagged(void **state)
{
    const char *table[21] = {NULL};
    (void)state;
    for (size_t i = 0; i < PIECES; i++) table[i] = pieces[i];
    model = open_small_model(&(small_model){.vocab = 21, .tokenizer = "pieces", .pieces = table, .leading_tag = true},
                             NULL);
    return 0;
}

/* The tag of a line goes to each part; what looks like one in the middle of a line is none. */
TEST_WITH(test_leading_tags, open_tagged, close_model)
{
    static const struct {
        const char *line;
        int32_t max_source;
        size_t parts;
        int32_t ids[4][4];
    } rows[] = {
        {">>deu<< a b c d", 4, 2, {{TAG, 4, 5, 0}, {TAG, 6, 7, 0}}},
        {">>deu<<   a b c", 3, 3, {{TAG, 4, 0}, {TAG, 5, 0}, {TAG, 6, 0}}},
        {"a b >>x y<< c", 3, 3, {{4, 5, 0}, {9, 10, 0}, {6, 0}}},
        {">>nonsense<< a b", 3, 0, {{0}}}, /* no tag of the model */
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        ferry_translator *translator = create(rows[r].max_source);
        ferry_parts parts = {0};
        ferry_error refused = {0};
        const ferry_status status = split_line(translator, ferry_text_view(rows[r].line), &parts, &refused);
        assert_int_equal(status, rows[r].parts == 0 ? FERRY_ERROR_ARGUMENT : FERRY_OK);
        assert_int_equal(parts.count, rows[r].parts);
        if (rows[r].parts == 0)
            assert_string_equal(refused.message, "the model has no tag '>>nonsense<<', with which the line begins");
        for (size_t p = 0; p < rows[r].parts; p++) {
            const ferry_ids *ids = &parts.parts[p].ids;
            assert_int_equal(ids->ids[ids->count - 1], 0);
            assert_memory_equal(ids->ids, rows[r].ids[p], ids->count * sizeof(int32_t));
        }
        ferry_parts_destroy(&parts);
        ferry_translator_destroy(translator);
    }
}

/* Piece "h", of which the model knows no finite number. */
static ferry_model *open_damaged(void)
{
    enum { ID = 7 };
    const float number = NAN;
    ferry_model *opened;
    const sample made = make_small_sample(&(small_model){.tokenizer = "pieces", .untied = true});
    memcpy(made.data + data_of(&made, "enc.token_embd.weight") + ID * sizeof number, &number, sizeof number);
    write_bytes(made.path, made.data, made.size);
    CHECK(ferry_model_open(made.path, 0, &opened, &error));
    return opened;
}

/* Line `wrong` of `result` fails; the others are as alone. */
static void check_failures(const ferry_result *result, size_t count, size_t wrong, ferry_status status,
                           const ferry_result *alone)
{
    assert_int_equal(ferry_result_count(result), count);
    for (size_t i = 0; i < count; i++) {
        if (i != wrong) assert_same_line(result, i, alone, 0);
        assert_int_equal(ferry_result_outcome(result, i)->status, i == wrong ? status : FERRY_OK);
        assert_true((ferry_result_outcome(result, i)->error != NULL) == (i == wrong));
        if (i != wrong) continue;
        assert_int_equal(ferry_result_hypothesis_count(result, i), 0);
        assert_int_equal(ferry_result_text(result, i, 0).size, 0);
    }
}

/* `count` lines of which one fails, as lines, pairs, sentences, and parts of one line; and afterwards nothing is left
 * of it in the translator. */
static void fail_one(ferry_translator *translator, const char *right, const char *fails, ferry_status status,
                     size_t count, size_t wrong)
{
    ferry_text texts[3];
    ferry_result *result, *alone, *score;
    char text[64] = "", line[64] = "";
    for (size_t i = 0; i < count; i++) {
        texts[i] = as_text(i == wrong ? fails : right);
        sprintf(text + strlen(text), "%s\n\n", texts[i].data);
        sprintf(line + strlen(line), "%s ", texts[i].data);
    }
    const ferry_text all = as_text(line);
    CHECK(ferry_translate(translator, &texts[wrong == 0], 1, &alone, &error));
    CHECK(ferry_score(translator, &texts[wrong == 0], &texts[wrong == 0], 1, &score, &error));
    CHECK(ferry_translate(translator, texts, count, &result, &error));
    check_failures(result, count, wrong, status, alone);
    if (status == FERRY_ERROR_LIMIT)
        assert_string_equal(ferry_result_outcome(result, wrong)->error,
                            "one character has 9 source tokens, special tokens included; max_source is 6");
    ferry_result_destroy(result);
    CHECK(ferry_score(translator, texts, texts, count, &result, &error));
    check_failures(result, count, wrong, status, score);
    ferry_result_destroy(result);
    CHECK(ferry_translate_text(translator, as_text(text), &result, &error));
    check_failures(ferry_result_sentences(result), count, wrong, status, alone);
    assert_int_equal(ferry_result_outcome(result, 0)->status, status);
    assert_string_equal(ferry_result_outcome(result, 0)->error,
                        ferry_result_outcome(ferry_result_sentences(result), wrong)->error);
    assert_non_null(strstr(ferry_result_outcome(result, 0)->warning,
                           ferry_format("sentences that are not translated: 1 of %zu", count).text));
    ferry_result_destroy(result);
    CHECK(ferry_translate(translator, &all, 1, &result, &error));
    check_failures(result, 1, 0, status, NULL);
    ferry_result_destroy(result);
    CHECK(ferry_translate(translator, &texts[wrong == 0], 1, &result, &error));
    assert_same_line(result, 0, alone, 0);
    ferry_result_destroy(result);
    ferry_result_destroy(alone);
    ferry_result_destroy(score);
}

/* By a number that is not finite, or a character that is too long: U+FDFA has 8 tokens. */
TEST(test_one_line_that_fails)
{
    static const struct {
        const char *right, *fails;
        ferry_status status;
        int32_t max_source;
    } rows[] = {{"b d", "b h", FERRY_ERROR_FORMAT, 3}, {"No.", "\uFDFA", FERRY_ERROR_LIMIT, 6}};
    for (size_t r = 0; r < COUNT(rows); r++) {
        model = r == 0 ? open_damaged() : convert_data("models/marian-separate", NULL);
        ferry_options options = default_options(model);
        options.max_source = rows[r].max_source;
        options.max_length = 20;
        ferry_translator *translator = new_translator(model, &options);
        for (size_t count = 2; count <= 3; count++)
            for (size_t wrong = 0; wrong < count; wrong++)
                fail_one(translator, rows[r].right, rows[r].fails, rows[r].status, count, wrong);
        ferry_translator_destroy(translator);
        ferry_model_close(model);
    }
}

/* The model's own limit, or 512; a larger wish does not exceed the former. */
TEST(test_limits)
{
    static const int32_t beside[] = {-1, 0, 1};
    static const struct {
        int32_t wish, limit;
    } rows[] = {{0, 512}, {9, 9}, {4000, 4000}};
    model = open_small_model(&(small_model){.vocab = 21}, NULL);
    for (size_t r = 0; r < COUNT(rows); r++) {
        ferry_translator *translator = create(rows[r].wish);
        assert_int_equal(translator->rules.source_limit, rows[r].limit);
        ferry_translator_destroy(translator);
    }
    ferry_model_close(model);
    model = convert_data("positions/learned-pre", NULL);
    const int32_t limit = ferry_inspect_get_scheme(model, FERRY_INSPECT_ENCODER).limit;
    assert_in_range(limit, 1, 511);
    for (size_t i = 0; i <= COUNT(beside); i++) {
        const int32_t wish = i < COUNT(beside) ? limit + beside[i] : 0,
                      least = wish == 0 || wish > limit ? limit : wish;
        ferry_options options = default_options(model);
        options.max_source = options.max_length = wish;
        options.length_factor = (float)limit; /* without max_length */
        ferry_translator *translator = new_translator(model, &options);
        assert_int_equal(translator->rules.source_limit, least);
        assert_int_equal(translator->rules.scored_limit, least);
        assert_int_equal(ferry_inspect_target_limit(translator, 2), least);
        ferry_translator_destroy(translator);
    }
    ferry_model_close(model);
}

/* ---- warnings ---- */

SHIPPED_TEST(test_warnings)
{
    ferry_options options = default_options(model);
    const ferry_text texts[] = {as_text("How are you?"), as_text("How\xFF are you? How are you? How are you?"),
                                as_text("\xFF How are you?")};
    static const struct {
        int32_t max_source, max_length;
        bool forced;
        const char *warnings[3];
    } rows[] = {
#define INVALID "invalid UTF-8 was read as U+FFFD"
#define CUT "the translation ended at max_length 3"
        {0, 0, false, {NULL, INVALID, INVALID}},
        {0, 3, false, {CUT, INVALID "; " CUT, INVALID "; " CUT}},
        {7,
         3,
         false,
         {CUT,
          INVALID "; split into 3 parts: 15 source tokens, max_source is 7; the translation of "
                  "part 1 ended at max_length 3 (of all parts: 3)",
          INVALID "; " CUT}},
        {0, 6, false, {NULL, NULL, NULL}},
        {0, 6, true, {"the translation ended at max_length 6", NULL, NULL}},
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        options.max_source = rows[r].max_source;
        options.max_length = rows[r].max_length;
        own_search(&options, model)->forced_last_id = rows[r].forced ? 0 : -1;
        ferry_result *result = translated(model, &options, texts, r < 3 ? 3 : 1);
        for (size_t i = 0; i < ferry_result_count(result); i++) {
            const char *found = ferry_result_outcome(result, i)->warning, *expected = rows[r].warnings[i];
            assert_string_equal(found != NULL ? found : "", expected != NULL ? expected : "");
        }
        ferry_result_destroy(result);
    }
}
