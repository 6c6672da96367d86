/* Texts of which the model sees nothing, and what is said of others that have something which it does not know. */
#include "engine/lines/model.h"
#include "engine/lines/quality.h"
#include "tests/support/files.h"
#include "tests/support/shipped_model.h"

/* Nothing that could be seen, and what the shipped model does not know, without letters. */
static const char *const unseen[] = {"\u200B", "\u200B\uFEFF", "\u200E", "\u2581", "\x7F", "\u00AD", "\u0301"},
                         *const unknown[] = {"\u266A", "\u266A \u200B \u266A", "\U0001F600\u2581\t\U0001F600",
                                             "\U0001F468\u200D\U0001F4BB \uFFFD", "\u266A\u0301"};
enum { UNSEEN = COUNT(unseen), UNKNOWN = COUNT(unknown), ALL = UNSEEN + UNKNOWN };

static const char *text_at(size_t i)
{
    return i < UNSEEN ? unseen[i] : unknown[i - UNSEEN];
}

TEST(test_what_can_be_seen)
{
    static const char *const seen[] = {"a", "\u2581.a", "\u266A", " .", "\xFF", "\u200B1"};
    for (size_t i = 0; i < UNSEEN; i++)
        assert_int_equal(ferry_text_visibility(ferry_text_view(unseen[i])), FERRY_VISIBILITY_NONE);
    for (size_t i = 0; i < COUNT(seen); i++)
        assert_int_equal(ferry_text_visibility(ferry_text_view(seen[i])),
                         i < 2 ? FERRY_VISIBILITY_LETTER : FERRY_VISIBILITY_SYMBOL);
    assert_int_equal(ferry_text_visibility((ferry_view){"", 0}), FERRY_VISIBILITY_NONE);
}

static void check_kept(const ferry_result *result, size_t line, const char *text, int quality)
{
    assert_int_equal(ferry_result_outcome(result, line)->status, FERRY_OK);
    assert_text_is(ferry_result_text(result, line, 0), text);
    assert_int_equal(ferry_result_token_count(result, line, 0), 0);
    assert_int_equal(ferry_result_outcome(result, line)->quality, quality);
    if (quality == 0)
        assert_null(ferry_result_outcome(result, line)->warning);
    else
        assert_string_equal(ferry_result_outcome(result, line)->warning,
                            "the translation is the text itself: the model knows none of its characters");
}

/* Lines stay as they are, with any options, and so do the sentences of a text. */
SHIPPED_TEST(test_texts_of_which_nothing_is_seen)
{
    for (int round = 0; round < 3; round++) {
        ferry_options options = default_options(model);
        options.beam = options.nbest = round + 1;
        options.alignment = round == 1;
        options.replace_unknowns = round == 2;
        ferry_translator *translator = new_translator(model, &options);
        for (size_t i = 0; i < ALL; i++) {
            const ferry_text line = as_text(text_at(i)), prefix = as_text("Guten");
            const ferry_short_text text = ferry_format("  %s\n\nHello.\n\n%s ", text_at(i), text_at(i));
            ferry_result *result, *alone = translated(model, &options, &(ferry_text){"Hello.", 6}, 1);
            CHECK(translate_prefixed(translator, &line, &prefix, 1, &result, &error));
            check_kept(result, 0, text_at(i), 0);
            ferry_result_destroy(result);
            CHECK(ferry_translate_text(translator, as_text(text.text), &result, &error));
            const ferry_text hello = ferry_result_text(alone, 0, 0);
            assert_text_is(
                ferry_result_text(result, 0, 0),
                ferry_format("  %s\n\n%.*s\n\n%s ", text_at(i), (int)hello.size, hello.data, text_at(i)).text);
            ferry_result_destroy(result);
            ferry_result_destroy(alone);
        }
        ferry_translator_destroy(translator);
    }
}

/* Nor does it matter that a model has pieces for every byte. */
TEST(test_bytes_of_nothing)
{
    model = convert_data("models/huggingface-small/t5gated", NULL);
    for (size_t i = 0; i < UNSEEN; i++) {
        ferry_result *result = translated(model, NULL, &(ferry_text){unseen[i], strlen(unseen[i])}, 1);
        check_kept(result, 0, unseen[i], 0);
        ferry_result_destroy(result);
    }
    ferry_result *result = translated(model, NULL, &(ferry_text){unknown[0], strlen(unknown[0])}, 1);
    assert_true(ferry_result_token_count(result, 0, 0) > 0);
    ferry_result_destroy(result);
    close_model(NULL);
}

/* Nothing is invented for a part of a line either. */
SHIPPED_TEST(test_parts_of_which_nothing_is_seen)
{
    ferry_options options = default_options(model);
    options.split = FERRY_SPLIT_ALL;
    ferry_result *alone = translated(model, &options, &(ferry_text){"Good morning!", 13}, 1);
    const ferry_text morning = ferry_result_text(alone, 0, 0);
    for (size_t i = 0; i < ALL; i++) {
        if (i + 1 == UNSEEN) continue; /* a mark on the blank before it */
        const ferry_short_text line = ferry_format("Good morning! %s", text_at(i)),
                               expected = ferry_format("%.*s %s", (int)morning.size, morning.data, text_at(i));
        for (options.alignment = 0; options.alignment <= 1; options.alignment++) {
            ferry_result *result = translated(model, &options, &(ferry_text){line.text, strlen(line.text)}, 1);
            assert_text_is(ferry_result_text(result, 0, 0), expected.text);
            assert_int_equal(ferry_result_token_count(result, 0, 0), ferry_result_token_count(alone, 0, 0));
            assert_null(ferry_result_outcome(result, 0)->warning);
            ferry_result_destroy(result);
        }
    }
    ferry_result_destroy(alone);
}

/* Up to the first character without a piece, or the first sign that the normalizer changes or drops. Letters and
 * punctuation may be changed. */
SHIPPED_TEST(test_what_a_model_reads)
{
    static const char *const signs[] = {"²", "ₙ", "™", "№", "½", "①",      "㎡",    "Ⅷ",
                                        "℃", "º", "≤", "∑", "▁", "\u200B", "\u200E"},
                             *const read[] = {"ﬁ", "Ｔ", "…", "𝐛", "é", "€", "“"};
    static const struct {
        const char *text;
        size_t bytes;
    } rows[] = {{"Good morning!", 13},   {"", 0},       {"a \u2192 b", 2}, {"\U0001F600", 0},
                {"caf\u00E9 \u266A", 6}, {"20 m² x", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(ferry_model_reads(model, as_text(rows[i].text)), rows[i].bytes);
    for (size_t i = 0; i < COUNT(signs); i++) assert_int_equal(ferry_model_reads(model, as_text(signs[i])), 0);
    for (size_t i = 0; i < COUNT(read); i++)
        assert_int_equal(ferry_model_reads(model, as_text(read[i])), strlen(read[i]));
}

/* One with pieces for bytes has none for signs. */
TEST(test_signs_as_bytes)
{
    model = convert_data("models/huggingface-small/t5gated", NULL);
    assert_int_equal(ferry_model_reads(model, as_text("Å字²")), 5);
    assert_int_equal(ferry_model_reads(model, as_text("→")), 0);
    close_model(NULL);
}

/* Without a normalizer, a sign that has a piece is read. */
TEST(test_signs_with_pieces)
{
    ferry_arena arena = {0};
    const ferry_view pieces[] = {ferry_text_view("<unk>"), ferry_text_view("²"), ferry_text_view("m²")};
    ferry_model plain = {0};
    ferry_tokenizer_config *text = &plain.file.text;
    CHECK(ferry_string_table_join(&arena, pieces, COUNT(pieces), &text->source_pieces, &error));
    text->kind = FERRY_TOKENIZER_PIECES;
    text->target_pieces = text->source_pieces;
    text->source_count = text->target_count = COUNT(pieces);
    CHECK(ferry_tokenizer_create(text, &plain.tokenizer, &error));
    assert_int_equal(ferry_model_reads(&plain, as_text("m²²³")), 5);
    ferry_tokenizer_destroy(plain.tokenizer);
    ferry_arena_destroy(&arena);
}

/* A script that the model does not know: nothing of it, or some. */
SHIPPED_TEST(test_unknown_text_is_told)
{
    static const struct {
        const char *line, *warning;
    } rows[] = {
        {"Hello \U0001F600. How are you?",
         "the translation is of a text with unknown tokens: 1, the first '\U0001F600'"},
        {"\u041F\u0440\u0438\u0432\u0435\u0442, \u0442\u044B!",
         "the translation is of a text with unknown tokens: 2, the first '\u041F\u0440\u0438\u0432\u0435\u0442'"},
        {"Hello.", NULL},
    };
    const ferry_text kept = as_text("\u041F\u0440\u0438\u0432\u0435\u0442");
    ferry_result *result = translated(model, NULL, &kept, 1);
    check_kept(result, 0, kept.data, FERRY_QUALITY_UNKNOWN);
    ferry_result_destroy(result);
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_options options = default_options(model);
        options.split = FERRY_SPLIT_NONE;
        const ferry_text line = as_text(rows[i].line);
        result = translated(model, &options, &line, 1);
        const char *warning = ferry_result_outcome(result, 0)->warning;
        assert_int_equal(ferry_result_outcome(result, 0)->quality, rows[i].warning != NULL ? FERRY_QUALITY_UNKNOWN : 0);
        if (rows[i].warning != NULL)
            assert_string_equal(warning, rows[i].warning);
        else
            assert_null(warning);
        ferry_result_destroy(result);
    }
}

/* Unknown words in the best hypothesis, unless they are replaced. */
SHIPPED_TEST(test_unknown_words_are_told)
{
    const ferry_text line = as_text("Good morning!");
    for (int replace = 0; replace <= 1; replace++) {
        ferry_options options = default_options(model);
        own_search(&options, model)->forced_first_id = model->file.text.source_unk_id;
        options.replace_unknowns = replace;
        ferry_result *result = translated(model, &options, &line, 1);
        const char *warning = ferry_result_outcome(result, 0)->warning;
        assert_int_equal(ferry_result_outcome(result, 0)->quality & FERRY_QUALITY_UNKNOWN,
                         replace ? 0 : FERRY_QUALITY_UNKNOWN);
        assert_true(replace || strstr(warning, "the translation has unknown words: ") == warning);
        assert_true(replace || strstr(warning, "; option replace_unknowns puts the source's in their place") != NULL);
        ferry_result_destroy(result);
    }
}

/* A prefix that the vocabulary cannot spell is an error of its line alone. */
SHIPPED_TEST(test_unknown_prefixes)
{
    const ferry_text lines[] = {as_text("Good morning!"), as_text("Good morning!"), as_text("Good morning!")},
                     prefixes[] = {as_text("Guten"), as_text("<b>Guten"), as_text("Guten \u5B57")};
    static const char *const errors[] = {NULL, "the prefix has text that the model cannot write: '<'",
                                         "the prefix has text that the model cannot write: '\u5B57'"};
    ferry_translator *translator = new_translator(model, NULL);
    ferry_result *result;
    CHECK(translate_prefixed(translator, lines, prefixes, 3, &result, &error));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ferry_result_outcome(result, i)->status, errors[i] != NULL ? FERRY_ERROR_ARGUMENT : FERRY_OK);
        if (errors[i] != NULL) assert_string_equal(ferry_result_outcome(result, i)->error, errors[i]);
    }
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}
