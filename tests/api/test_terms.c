/* Terms that a translation must have (ferry_request): where they are written, and what becomes of the rest. */
#include <ctype.h>

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

/* A line, a word of it with several targets, and the one that is written; "": the line has one. */
typedef struct wanted_form {
    const char *line, *word, *targets[3], *written;
} wanted_form;

static const wanted_form forms[] = {
    /* The others are likelier, too. */
    {"I was playing the violin.", "playing", {"spielen", "spielte", "spiele"}, "spielte"},
    /* "wartest" is likelier, by less than 1.5 */
    {"Will you wait for me?", "wait", {"warten", "wartest", "warte"}, "warten"},
    {"This is the house of the landlord.", "landlord", {"Vermieter", "Vermieters", "Vermietern"}, "Vermieters"},
    {"The landlord's dog is old.", "landlord", {"Vermieter", "Vermieters", "Vermietern"}, "Vermieter"},
    {"The roof of the house is red.", "house", {"Geb\xC3\xA4ude", "Geb\xC3\xA4udes", "Burg"}, "Geb\xC3\xA4udes"},
    {"He bought two houses.", "houses", {"Geb\xC3\xA4udes", "Geb\xC3\xA4uden", "Geb\xC3\xA4ude"}, "Geb\xC3\xA4ude"},
    {"He bought two houses.", "houses", {"Haus", "H\xC3\xA4user", "H\xC3\xA4usern"}, ""},
    {"He plays with the children.", "children", {"Freund", "Freunde", "Freunden"}, "Freunden"},
    /* The model cannot write the Chinese one. */
    {"My brothers are tall.", "brothers", {"\xE6\xBC\xA2", "Vetter", "Vetters"}, "Vetter"},
    {"My brothers are tall.", "brothers", {"Vetters", "\xE6\xBC\xA2", "Vetters"}, "Vetters"},
};
enum { FORMS = sizeof forms / sizeof *forms, TARGETS = 3 };

/* The likeliest of several targets is written, or the first one if it is hardly less likely, as if it were the only
 * one; the same in any batch. */
SHIPPED_TEST(test_likeliest_target)
{
    ferry_text lines[FORMS], targets[FORMS][TARGETS], written[FORMS];
    ferry_term terms[FORMS], single[FORMS];
    size_t count = 0;
    for (size_t i = 0; i < FORMS; i++) {
        lines[i] = as_text(forms[i].line);
        written[i] = as_text(forms[i].written);
        for (size_t t = 0; t < TARGETS; t++) targets[i][t] = as_text(forms[i].targets[t]);
        terms[i] = term_of(i, forms[i].line, forms[i].word, targets[i]);
        terms[i].target_count = TARGETS;
        if (written[i].size > 0) single[count++] = term_of(i, forms[i].line, forms[i].word, &written[i]);
    }
    const ferry_request several = request_of(terms, FORMS), one = request_of(single, count);
    for (int32_t variant = 0; variant < 4; variant++) {
        ferry_options options = default_options(model);
        options.beam = variant % 2 == 0 ? 1 : 4;
        ferry_translator *translator = new_translator(model, &options);
        ferry_result *expected, *result;
        CHECK(ferry_translate_with(translator, lines, FORMS, &one, &expected, &error));
        ferry_translator_destroy(translator);
        options.batch = variant < 2 ? options.batch : 2;
        options.threads = variant < 2 ? 1 : 3;
        translator = new_translator(model, &options);
        CHECK(ferry_translate_with(translator, lines, FORMS, &several, &result, &error));
        for (size_t i = 0; i < FORMS; i++) assert_same_line(result, i, expected, i);
        ferry_result_destroy(expected);
        ferry_result_destroy(result);
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

/* A term that does not fit is a sign. */
SHIPPED_TEST(test_words_that_do_not_fit)
{
    const char *const line = "The landlord will come tomorrow.";
    const ferry_text text = as_text(line), target = as_text("Vermieter");
    ferry_options options = default_options(model);
    options.max_length = 3;
    const ferry_term term = term_of(0, line, "landlord", &target);
    const ferry_request request = request_of(&term, 1);
    ferry_translator *translator = new_translator(model, &options);
    ferry_result *result;
    CHECK(ferry_translate_with(translator, &text, 1, &request, &result, &error));
    const ferry_outcome *outcome = ferry_result_outcome(result, 0);
    assert_int_equal(outcome->status, FERRY_OK);
    assert_true((outcome->quality & FERRY_QUALITY_TERM) != 0);
    assert_non_null(strstr(outcome->warning, "the translation lacks the term 'Vermieter'"));
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

/* The first target that the model can write; if it can write none, the first is an opaque piece. */
SHIPPED_TEST(test_words_that_the_model_lacks)
{
    const char *const lines[] = {"The landlord will come tomorrow.", "landlord"};
    const ferry_text targets[] = {as_text("\xE6\xBC\xA2\xE5\xAD\x97"), as_text("\xE5\xAD\x97"), as_text("Vermieter")};
    ferry_translator *translator = new_translator(model, NULL);
    for (size_t i = 0; i < 4; i++) {
        const ferry_text text = as_text(lines[i / 2]);
        ferry_term term = term_of(0, lines[i / 2], "landlord", targets);
        term.target_count = 2 + i % 2;
        const ferry_request request = request_of(&term, 1);
        ferry_result *result;
        CHECK(ferry_translate_with(translator, &text, 1, &request, &result, &error));
        const ferry_text found = ferry_result_text(result, 0, 0);
        assert_int_equal(count_of(found, targets[i % 2 == 0 ? 0 : 2].data), 1);
        assert_int_equal(count_of(found, targets[i % 2 == 0 ? 2 : 0].data), 0);
        assert_int_equal(ferry_result_outcome(result, 0)->quality & FERRY_QUALITY_TERM, 0);
        ferry_result_destroy(result);
    }
    ferry_translator_destroy(translator);
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
    {"Tom [<x0>] bilingual.", NULL}, /* whose stand-in would be the beginning of a word */
    {"[u@example.org] is [<x1>] bookworm.", NULL},
    {"Tom was wearing a [{a}] [{b}].", "Tom trug einen {a} {b}."},
    {"[{a}][{b}][{c}] is here.", "{a}{b}{c} ist hier."},
    {"The [%s]bar is in the garden.", NULL},
    {"I go to \"[{a}]\" with him.", NULL}, /* behind a mark, a name would be other tokens */
    {"Are the train tickets ([{a}])?", NULL},
    {"Is that a '[{a}]'?", NULL},
};

static size_t pieces_of(ferry_text text, ferry_view piece)
{
    size_t count = 0;
    for (size_t at = 0; at + piece.size <= text.size; at++)
        count += memcmp(text.data + at, piece.data, piece.size) == 0;
    return count;
}

/* Whether a letter is directly behind the piece. */
static bool goes_on(ferry_text text, ferry_view piece)
{
    for (size_t at = 0; at + piece.size < text.size; at++)
        if (memcmp(text.data + at, piece.data, piece.size) == 0)
            return isalpha((unsigned char)text.data[at + piece.size]);
    return false;
}

static void see_pieces(const ferry_result *result, const ferry_term *terms, ferry_text line)
{
    const ferry_text text = ferry_result_text(result, 0, 0);
    for (const ferry_term *term = terms; term->end > 0; term++) {
        const ferry_view piece = {line.data + term->begin, term->end - term->begin};
        assert_int_equal(pieces_of(text, piece), 1);
        assert_false(goes_on(text, piece));
    }
    for (size_t t = 0; t < ferry_result_source_token_count(result, 0); t++) {
        ferry_token token;
        CHECK(ferry_result_source_token(result, 0, t, &token, sizeof token));
        assert_true(token.begin <= token.end && token.end <= line.size);
        assert_false(token.begin < token.end && line.data[token.end - 1] == ' '); /* as without pieces */
        for (const ferry_term *term = terms; term->end > 0; term++) /* no token ends or begins within a piece */
            assert_false((token.begin > term->begin && token.begin < term->end) ||
                         (token.end > term->begin && token.end < term->end));
    }
}

static char grown[256];

static int keep_grown(void *user, size_t line, ferry_text text)
{
    (void)user, (void)line;
    assert_null(strstr(text.data, "Texas")); /* a stand-in that no line here has */
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
