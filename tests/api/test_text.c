/* ferry_translate_text: each sentence is translated as if it came alone, and every byte between sentences is kept. */
#include "cancel_when_enough.h"
#include "tests/support/files.h"
#include "tests/support/shipped_model.h"
#include "tests/support/small_model.h"

#include "base/utf8.h"
#include "engine/api/translator.h"
#include "tokenizer/sentences.h"

static const char text[] =
    "\xEF\xBB\xBF"
    "  Good morning! How are you, Mr. Smith?\tI'm fine.\r\n\r\n\tWhere were you yesterday at 5 p.m.?  "
    "No.\n \n\nTom caf\xE9 reads.\xC2\xA0 He is \"here\"\0now. \xE2\x80\x8B\n\n1. One.\n2. Two!\n";
enum { SENTENCES = 10 };

static ferry_text whole_text(void)
{
    return (ferry_text){text, sizeof text - 1};
}

static ferry_result *text_of(const ferry_options *options, ferry_text source)
{
    ferry_translator *translator = new_translator(model, options);
    ferry_result *result;
    CHECK(ferry_translate_text(translator, source, &result, &error));
    ferry_translator_destroy(translator);
    return result;
}

static ferry_sentence sentence_of(const ferry_result *result, size_t index)
{
    const ferry_sentence *sentence = ferry_result_sentence(result, index);
    assert_non_null(sentence);
    return *sentence;
}

static ferry_text source_of(ferry_text source, ferry_sentence sentence)
{
    return (ferry_text){source.data + sentence.source_begin, sentence.source_end - sentence.source_begin};
}

/* Ranges ascend, do not overlap, and what is before, between and after them is the same white space on both sides. */
static void check_ranges(const ferry_result *result, ferry_text source)
{
    const ferry_text target = ferry_result_text(result, 0, 0);
    size_t from = 0, to = 0;
    for (size_t i = 0; i <= ferry_result_sentence_count(result); i++) {
        const ferry_sentence end = {.source_begin = source.size, .target_begin = target.size};
        const ferry_sentence next = i < ferry_result_sentence_count(result) ? sentence_of(result, i) : end;
        const ferry_view separator = {source.data + from, next.source_begin - from};
        assert_true(next.source_begin >= from && next.target_begin >= to && next.target_begin <= target.size);
        assert_true(ferry_utf8_is_blank(separator));
        assert_int_equal(next.target_begin - to, separator.size);
        if (separator.size > 0) assert_memory_equal(target.data + to, separator.data, separator.size);
        from = next.source_end;
        to = next.target_end;
        if (i < ferry_result_sentence_count(result)) assert_true(from > next.source_begin && to >= next.target_begin);
    }
}

/* ---- equality with ferry_translate ---- */

/* Sentence `index` is a line like `single`: with its hypotheses, and its source tokens where it has them in itself. */
static void check_tokens(const ferry_result *sentences, size_t index, const ferry_result *single)
{
    const size_t count = ferry_result_source_token_count(single, 0);
    assert_same_line(sentences, index, single, 0);
    assert_int_equal(ferry_result_source_token_count(sentences, index), count);
    for (size_t s = 0; s < count; s++) assert_same_token(source_token(sentences, index, s), source_token(single, 0, s));
}

static void check_text(const ferry_options *options, ferry_text source)
{
    ferry_result *result = text_of(options, source);
    const ferry_text target = ferry_result_text(result, 0, 0);
    check_ranges(result, source);
    assert_int_equal(ferry_result_count(result), 1);
    assert_int_equal(ferry_result_hypothesis_count(result, 0), 1);
    assert_int_equal(ferry_result_outcome(result, 0)->status, FERRY_OK);
    assert_null(ferry_result_outcome(result, 0)->error);
    assert_int_equal(ferry_result_token_count(result, 0, 0), 0);
    for (size_t i = 0; i < ferry_result_sentence_count(result); i++) {
        const ferry_sentence sentence = sentence_of(result, i);
        const ferry_text alone = source_of(source, sentence);
        ferry_result *single = translated(model, options, &alone, 1);
        const ferry_text expected = ferry_result_text(single, 0, 0);
        assert_int_equal(sentence.target_end - sentence.target_begin, expected.size);
        assert_memory_equal(target.data + sentence.target_begin, expected.data, expected.size);
        assert_int_equal(ferry_result_outcome(single, 0)->status, FERRY_OK);
        check_tokens(ferry_result_sentences(result), i, single);
        ferry_result_destroy(single);
    }
    ferry_result_destroy(result);
}

SHIPPED_TEST(test_sentences_are_translated_as_if_alone)
{
    ferry_options options = default_options(model);
    for (options.beam = 1; options.beam <= 3; options.beam += 2) {
        options.nbest = options.beam;
        options.scores = 1;
        options.max_source = options.beam == 1 ? 0 : 7;
        options.alignment = options.beam > 1;
        check_text(&options, whole_text());
    }
    ferry_result *result = text_of(NULL, whole_text());
    assert_int_equal(ferry_result_sentence_count(result), SENTENCES);
    assert_string_equal(ferry_result_outcome(result, 0)->warning, "sentences with warnings: 2");
    ferry_result_destroy(result);
}

/* Split in portions, a text has the same sentences: portions end anywhere, within characters and sentences, too. */
SHIPPED_TEST(test_portions_of_a_text)
{
    enum { COPIES = 3, MOST = 200 };
    static char copies[COPIES * sizeof text];
    ferry_translator *translator = new_translator(model, NULL);
    for (size_t i = 0; i < COPIES; i++) memcpy(copies + i * (sizeof text - 1), text, sizeof text - 1);
    const ferry_text source = {copies, COPIES * (sizeof text - 1)};
    ferry_text_lines whole = {0};
    CHECK(ferry_text_split(&translator->rules, source, &whole, &error));
    assert_in_range(whole.count, SENTENCES, COPIES * SENTENCES);
    for (size_t bytes = 1; bytes < MOST; bytes += bytes < 8 ? 1 : 13) {
        ferry_text_lines lines = {0};
        size_t portions = 0;
        for (bool more = true; more; portions++)
            CHECK(ferry_text_split_on(&translator->rules, source, bytes, &lines, &more, &error));
        assert_in_range(portions, source.size / (bytes + 4), source.size / bytes + 1);
        assert_int_equal(lines.count, whole.count);
        assert_memory_equal(lines.texts, whole.texts, whole.count * sizeof *whole.texts);
        free(lines.texts);
    }
    free(whole.texts);
    ferry_translator_destroy(translator);
}

/* The source language's abbreviations, as the options name it. */
TEST(test_the_language_chooses_the_rules)
{
    model = open_small_model(&(small_model){.tokenizer = "pieces", .keys = put_small_languages}, NULL);
    ferry_options options = default_options(model);
    options.to = ferry_model_language(model, 1)->tag;
    for (size_t i = 0; i < 2; i++) {
        options.from = ferry_model_language(model, i)->tag;
        ferry_translator *translator = new_translator(model, &options);
        assert_ptr_equal(translator->rules.sentences, ferry_sentence_language_find(i == 0 ? "en" : "de"));
        ferry_translator_destroy(translator);
        ferry_result *result = text_of(&options, as_text("a bzw. B c"));
        assert_int_equal(ferry_result_sentence_count(result), i == 0 ? 2 : 1);
        ferry_result_destroy(result);
    }
    ferry_model_close(model);
}

SHIPPED_TEST(test_texts_without_sentences)
{
    static const char blank[] = " \t\r\n\n\xE3\x80\x80\xE2\x80\xA8 ";
    const ferry_text texts[] = {{NULL, 0}, {"", 0}, {blank, sizeof blank - 1}};
    ferry_options options = default_options(model);
    options.progress = cancel_when_enough;
    options.user = &(watch){.enough = 0}; /* the first report would cancel */
    for (size_t i = 0; i < COUNT(texts); i++) {
        ferry_result *result = text_of(&options, texts[i]);
        const ferry_text target = ferry_result_text(result, 0, 0);
        assert_int_equal(ferry_result_sentence_count(result), 0);
        assert_int_equal(ferry_result_hypothesis_count(result, 0), 1);
        assert_same_text(target, texts[i]);
        ferry_result_destroy(result);
    }
}

/* ---- failures ---- */

/* A sentence for which memory does not suffice stays as it is, with ill-formed bytes repaired; the others do not. */
SEPARATE_TEST(test_sentences_that_fail)
{
    ferry_options options = default_options(model);
    options.max_source = 1;
    const ferry_text source = as_text("Hello, world\xFF\xFF!\n\n How\xFF are you? ");
    ferry_result *result = text_of(&options, source);
    check_ranges(result, source);
    assert_text_is(ferry_result_text(result, 0, 0), "Hello, world\uFFFD\uFFFD!\n\n How\uFFFD are you? ");
    assert_int_equal(ferry_result_outcome(result, 0)->status, FERRY_ERROR_LIMIT);
    assert_non_null(strstr(ferry_result_outcome(result, 0)->error, "max_source is 1"));
    assert_string_equal(ferry_result_outcome(result, 0)->warning,
                        "sentences that are not translated: 2 of 2; sentences with warnings: 2");
    assert_int_equal(ferry_result_hypothesis_count(result, 0), 1);
    for (size_t i = 0; i < 2; i++) {
        const ferry_outcome *outcome = ferry_result_outcome(ferry_result_sentences(result), i);
        assert_int_equal(outcome->status, FERRY_ERROR_LIMIT);
        assert_non_null(strstr(outcome->error, "max_source is 1"));
    }
    ferry_result_destroy(result);
}

/* ---- the rest ---- */

SEPARATE_TEST(test_a_large_text)
{
    static const char unit[] = "Tom is reading a book.  He likes it!\r\n\n";
    enum { UNITS = 3000 };
    char *large = kept_memory(UNITS * (sizeof unit - 1));
    for (size_t i = 0; i < UNITS; i++) memcpy(large + i * (sizeof unit - 1), unit, sizeof unit - 1);
    ferry_options options = default_options(model);
    options.max_length = 3;
    ferry_result *result = text_of(&options, (ferry_text){large, UNITS * (sizeof unit - 1)});
    assert_int_equal(ferry_result_sentence_count(result), 2 * UNITS);
    check_ranges(result, (ferry_text){large, UNITS * (sizeof unit - 1)});
    ferry_result_destroy(result);
}
