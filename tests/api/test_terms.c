/* Terms that a translation must have (ferry_request): where they are written, and what becomes of the rest. */
#include "tests/support/files.h"
#include "tests/support/service_support.h"
#include "tests/support/shipped_model.h"

/* A line, a word of it, and what it has to become. */
typedef struct wanted_word {
    const char *line, *word, *target;
} wanted_word;

static ferry_term term_of(size_t line, const char *text, const char *word, const ferry_text *target)
{
    const char *const found = strstr(text, word);
    assert_non_null(found);
    const size_t begin = (size_t)(found - text);
    return (
        ferry_term){.line = line, .begin = begin, .end = begin + strlen(word), .targets = target, .target_count = 1};
}

/* How often the word stands there, not as a part of another one (of ASCII letters). */
static size_t count_of(ferry_text text, const char *word)
{
    const char *const letters = "abcdefghijklmnopqrstuvwxyz";
    size_t count = 0;
    for (const char *at = text.data; (at = strstr(at, word)) != NULL; at += strlen(word)) {
        const char after = at[strlen(word)];
        count += after == '\0' || strchr(letters, after) == NULL;
    }
    return count;
}

static ferry_request request_of(const ferry_term *terms, size_t count)
{
    return (
        ferry_request){.size = sizeof(ferry_request), .terms = terms, .term_size = sizeof *terms, .term_count = count};
}

static const wanted_word words[] = {
    {"The landlord will come tomorrow.", "landlord", "Vermieter"},
    {"My dog likes to run in the garden.", "dog", "Hund"}, /* it has it */
    {"My dog likes to run in the garden.", "garden", "Park"},
    {"He is a good actor.", "actor", "Darsteller"},
    {"Good morning!", "morning", "Abend"},
    {"She bought a red car.", "car", "Wagen"},
    {"My dog is almost half the size of yours.", "half", "halb"}, /* and no "halbe" */
};
enum { WORDS = sizeof words / sizeof *words };

static void make_request(ferry_text *lines, ferry_text *targets, ferry_term *terms)
{
    for (size_t i = 0; i < WORDS; i++) {
        lines[i] = as_text(words[i].line);
        targets[i] = as_text(words[i].target);
        terms[i] = term_of(i, words[i].line, words[i].word, &targets[i]);
    }
}

/* Each is there once, whatever the search, the batch and the number of threads; those that had it are the same. */
SHIPPED_TEST(test_words_are_written)
{
    ferry_text lines[WORDS], targets[WORDS];
    ferry_term terms[WORDS];
    make_request(lines, targets, terms);
    const ferry_request request = request_of(terms, WORDS);
    for (int32_t beam = 1; beam <= 4; beam += 3) {
        ferry_options options = default_options(model);
        options.beam = beam;
        ferry_translator *translator = new_translator(model, &options);
        ferry_result *whole, *without;
        CHECK(ferry_translate_with(translator, lines, WORDS, &request, &whole, &error));
        CHECK(ferry_translate(translator, lines, WORDS, &without, &error));
        size_t changed = 0;
        for (size_t i = 0; i < WORDS; i++) {
            const ferry_text text = ferry_result_text(whole, i, 0), plain = ferry_result_text(without, i, 0);
            assert_int_equal(count_of(text, words[i].target), 1);
            assert_int_equal(ferry_result_outcome(whole, i)->quality & FERRY_QUALITY_TERM, 0);
            if (count_of(plain, words[i].target) == 1)
                assert_same_line(whole, i, without, i);
            else
                changed++;
        }
        assert_in_range(changed, 3, WORDS - 1);
        ferry_result_destroy(without);
        ferry_translator_destroy(translator);
        options.batch = 2;
        options.threads = 3;
        translator = new_translator(model, &options);
        CHECK(ferry_translate_with(translator, lines, WORDS, &request, &without, &error));
        for (size_t i = 0; i < WORDS; i++) assert_same_line(whole, i, without, i);
        ferry_result_destroy(without);
        ferry_result_destroy(whole);
        ferry_translator_destroy(translator);
    }
}

/* Two terms with the same target have a place each. */
SHIPPED_TEST(test_equal_words)
{
    const char *const line = "My dog saw the dog of my friend.";
    const ferry_text text = as_text(line), target = as_text("Katze");
    const ferry_term terms[] = {term_of(0, line, "dog", &target), term_of(0, line, "dog of", &target)};
    const ferry_request request = request_of(terms, COUNT(terms));
    ferry_translator *translator = new_translator(model, NULL);
    ferry_result *result;
    CHECK(ferry_translate_with(translator, &text, 1, &request, &result, &error));
    assert_int_equal(count_of(ferry_result_text(result, 0, 0), "Katze"), 2);
    assert_int_equal(ferry_result_outcome(result, 0)->quality & FERRY_QUALITY_TERM, 0);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

/* Several in a line. */
SHIPPED_TEST(test_several_words)
{
    const char *const line = "The landlord saw the dog, and the actor saw the garden.";
    const ferry_text text = as_text(line),
                     targets[] = {as_text("Vermieter"), as_text("Hund"), as_text("Darsteller"), as_text("Park")};
    const char *const sources[] = {"landlord", "dog", "actor", "garden"};
    ferry_term terms[COUNT(sources)];
    ferry_options options = default_options(model);
    options.beam = 4;
    ferry_translator *translator = new_translator(model, &options);
    for (size_t i = 0; i < COUNT(sources); i++) terms[i] = term_of(0, line, sources[i], &targets[i]);
    for (size_t count = 1; count <= COUNT(sources); count++) {
        const ferry_request request = request_of(terms, count);
        ferry_result *result;
        CHECK(ferry_translate_with(translator, &text, 1, &request, &result, &error));
        for (size_t i = 0; i < count; i++) assert_true(count_of(ferry_result_text(result, 0, 0), targets[i].data) >= 1);
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}

/* Bytes are those of the line, although ill-formed ones become longer, and a character that is cut one of its own:
 * "Paris" becomes "Rom", and nothing else does. */
SHIPPED_TEST(test_words_behind_ill_formed_bytes)
{
    static const char *const lines[] = {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF Tom was in Paris.",
                                        "\xE2\x82 \xF0\x9F\x98 \xF0\x9F Tom was in Paris."};
    const ferry_text target = as_text("Rom");
    ferry_translator *translator = new_translator(model, NULL);
    for (size_t i = 0; i < COUNT(lines); i++) {
        const ferry_text text = as_text(lines[i]);
        const ferry_term term = term_of(0, lines[i], "Paris", &target);
        const ferry_request request = request_of(&term, 1);
        ferry_result *result;
        CHECK(ferry_translate_with(translator, &text, 1, &request, &result, &error));
        assert_string_equal(ferry_result_text(result, 0, 0).data, "Tom war in Rom.");
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}

/* A term that does not fit, or that the model cannot write, is a sign. */
SHIPPED_TEST(test_words_that_cannot_be_written)
{
    const char *const line = "The landlord will come tomorrow.";
    const ferry_text text = as_text(line), targets[] = {as_text("Vermieter"), as_text("\xE6\xBC\xA2\xE5\xAD\x97")};
    for (int i = 0; i < 2; i++) {
        ferry_options options = default_options(model);
        options.max_length = i == 0 ? 3 : 0;
        const ferry_term term = term_of(0, line, "landlord", &targets[i]);
        const ferry_request request = request_of(&term, 1);
        ferry_translator *translator = new_translator(model, &options);
        ferry_result *result;
        CHECK(ferry_translate_with(translator, &text, 1, &request, &result, &error));
        const ferry_outcome *outcome = ferry_result_outcome(result, 0);
        assert_int_equal(outcome->status, FERRY_OK);
        assert_true((outcome->quality & FERRY_QUALITY_TERM) != 0);
        assert_non_null(
            strstr(outcome->warning, i == 0 ? "the translation lacks the term 'Vermieter'" : "lacks the term"));
        ferry_result_destroy(result);
        ferry_translator_destroy(translator);
    }
}

/* In a text, the terms count its bytes; no sentence ends within one; a service gives the same result. */
SHIPPED_TEST(test_words_of_a_text)
{
    const char *const whole =
        "Good morning!\n  The landlord will come tomorrow. My dog knows Dr. No. Yes. It is late.\n";
    const ferry_text text = as_text(whole), targets[] = {as_text("Vermieter"), as_text("Nein")};
    const ferry_term terms[] = {term_of(0, whole, "landlord", &targets[0]), term_of(0, whole, "No. Yes", &targets[1])};
    const ferry_request request = request_of(terms, COUNT(terms));
    ferry_translator *translator = new_translator(model, NULL);
    ferry_result *result, *without;
    CHECK(ferry_translate_text_with(translator, text, &request, &result, &error));
    CHECK(ferry_translate_text(translator, text, &without, &error));
    assert_int_equal(ferry_result_sentence_count(result), ferry_result_sentence_count(without) - 1);
    for (size_t i = 0; i < COUNT(terms); i++)
        assert_int_equal(count_of(ferry_result_text(result, 0, 0), targets[i].data), 1);
    assert_int_equal(ferry_result_outcome(result, 0)->quality & FERRY_QUALITY_TERM, 0);
    ferry_result_destroy(without);

    sent *texts = new_texts(1);
    texts[0].given = (ferry_submission){.text = text, .request = &request};
    ferry_service *service = new_service(new_translator(model, NULL), NULL);
    CHECK(submit(service, &texts[0], &error));
    end_service(service, 1);
    assert_true(is_same_result(texts[0].result, result));
    free_results(texts, 1);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

/* ---- opaque terms ---- */

/* What is between '[' and ']' in a line comes back. */
typedef struct opaque_line {
    const char *marked;
    const char *translation; /* NULL: any that has each piece once */
} opaque_line;

static const opaque_line opaque_lines[] = {
    {"Click on [{name}] to open the file.", NULL},
    {"He lives in [%s] with his dog.", NULL},
    {"[{a}] and [{b}] are in the garden.", "{a} und {b} sind im Garten."},
    {"[{x}]", "{x}"},
    {"[{x}] [{y}].", "{x} {y}."},
    {"\xFF The house of [{o\xC3\xA9}] is green.", NULL},
    {"Boston, Paris and London are near [{x}] and [\xE6\xBC\xA2].", NULL},
    {"The dog saw [<1>], [<2>], [<3>], [<4>] and [<5>].", NULL},
};

static size_t pieces_of(ferry_text text, ferry_view piece)
{
    size_t count = 0;
    for (size_t at = 0; at + piece.size <= text.size; at++)
        count += memcmp(text.data + at, piece.data, piece.size) == 0;
    return count;
}

static void see_pieces(const ferry_result *result, const ferry_term *terms, ferry_text line)
{
    const ferry_text text = ferry_result_text(result, 0, 0);
    for (const ferry_term *term = terms; term->end > 0; term++)
        assert_int_equal(pieces_of(text, (ferry_view){line.data + term->begin, term->end - term->begin}), 1);
    for (size_t t = 0; t < ferry_result_source_token_count(result, 0); t++) {
        ferry_token token;
        CHECK(ferry_result_source_token(result, 0, t, &token, sizeof token));
        assert_true(token.begin <= token.end && token.end <= line.size);
        for (const ferry_term *term = terms; term->end > 0; term++) /* no token ends or begins within a piece */
            assert_false((token.begin > term->begin && token.begin < term->end) ||
                         (token.end > term->begin && token.end < term->end));
    }
}

static char grown[256];

static int keep_grown(void *user, size_t line, ferry_text text)
{
    (void)user, (void)line;
    assert_null(strstr(text.data, "Hawaii")); /* a stand-in that no line here has */
    snprintf(grown, sizeof grown, "%s", text.data);
    return 0;
}

/* More than there are stand-ins: the others are shown, and a sign says which one is lost. */
SHIPPED_TEST(test_many_pieces)
{
    enum { PIECES = 40 };
    char bytes[PIECES * 16] = "";
    ferry_term terms[PIECES] = {{0}};
    for (size_t i = 0; i < PIECES; i++) {
        terms[i].begin = strlen(bytes);
        sprintf(bytes + strlen(bytes), "{%zu}", i);
        terms[i].end = strlen(bytes);
        strcat(bytes, i + 1 < PIECES ? " and " : ".");
    }
    const ferry_text line = as_text(bytes);
    const ferry_request request = request_of(terms, PIECES);
    ferry_translator *translator = new_translator(model, NULL);
    ferry_result *result;
    CHECK(ferry_translate_with(translator, &line, 1, &request, &result, &error));
    size_t lost = 0;
    for (size_t i = 0; i < PIECES; i++)
        lost += pieces_of(ferry_result_text(result, 0, 0),
                          (ferry_view){line.data + terms[i].begin, terms[i].end - terms[i].begin}) == 0;
    const ferry_outcome *outcome = ferry_result_outcome(result, 0);
    assert_in_range(lost, 1, PIECES - 2);
    assert_true((outcome->quality & FERRY_QUALITY_TERM) != 0);
    assert_non_null(strstr(outcome->warning, "lacks the term '{"));
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

SHIPPED_TEST(test_pieces_come_back)
{
    for (size_t i = 0; i < COUNT(opaque_lines); i++)
        for (int variant = 0; variant < 3; variant++) {
            char bytes[128];
            ferry_term terms[8] = {{0}};
            size_t count = 0, size = 0;
            for (const char *c = opaque_lines[i].marked; *c != '\0'; c++) {
                if (*c == '[') terms[count].begin = size;
                if (*c == ']') terms[count++].end = size;
                if (*c != '[' && *c != ']') bytes[size++] = *c;
            }
            const ferry_text line = {bytes, size};
            const ferry_request request = request_of(terms, count);
            ferry_options options = default_options(model);
            options.beam = variant == 1 ? 4 : 1;
            options.alignment = variant == 2;
            options.partial = keep_grown;
            ferry_translator *translator = new_translator(model, &options);
            ferry_result *result;
            grown[0] = '\0';
            CHECK(ferry_translate_with(translator, &line, 1, &request, &result, &error));
            see_pieces(result, terms, line);
            assert_int_equal(ferry_result_outcome(result, 0)->quality & FERRY_QUALITY_TERM, 0);
            if (opaque_lines[i].translation != NULL)
                assert_string_equal(ferry_result_text(result, 0, 0).data, opaque_lines[i].translation);
            if (grown[0] != '\0') assert_string_equal(grown, ferry_result_text(result, 0, 0).data);
            ferry_result_destroy(result);
            ferry_translator_destroy(translator);
        }
}
