/* The public functions of documents/ferry_documents.h on the library and the model that ships. */
#include "documents/ferry_documents.h"
#include "tests/support/shipped_model.h"

static const char page[] = "<p>Good <b>morning</b>!</p>";

static ferry_document_result *translated_as(const char *format, ferry_text source, const ferry_options *options)
{
    ferry_translator *translator = new_translator(model, options);
    ferry_document_result *result;
    CHECK(ferry_document_translate(model, translator, format, source, NULL, &result, &error));
    ferry_translator_destroy(translator);
    return result;
}

static void check_counts(const ferry_document_result *result, size_t translated, size_t kept, size_t left)
{
    const ferry_document_counts counts = ferry_document_result_counts(result);
    assert_int_equal(counts.translated, translated);
    assert_int_equal(counts.kept, kept);
    assert_int_equal(counts.left, left);
}

static ferry_document_note note_of(const ferry_document_result *result, size_t index)
{
    const ferry_document_note *note = ferry_document_result_note(result, index);
    assert_non_null(note);
    return *note;
}

/* ---- formats ---- */

SHIPPED_TEST(test_format_names)
{
    static const char *const expected[] = {"text", "html", "srt", "vtt", "markdown", "po", "json"};
    const size_t count = sizeof expected / sizeof *expected;
    size_t found = 0;
    for (const char *name; (name = ferry_document_format_name(found)) != NULL; found++) {
        size_t i = 0;
        while (i < count && strcmp(expected[i], name) != 0) i++;
        if (i == count) fail_msg("a format without a test: %s", name);
        const ferry_text least = strcmp(name, "json") == 0 ? as_text("{}") : (ferry_text){NULL, 0};
        ferry_document_result_destroy(translated_as(name, least, NULL));
    }
    assert_int_equal(found, count);
    assert_null(ferry_document_format_name(found + 1));
    assert_null(ferry_document_format_name(SIZE_MAX));
}

TEST(test_formats_of_files)
{
    static const char *const rows[][2] = {
        {"a.md", "markdown"}, {"a.MD", "markdown"}, {"b.md/a.html", "html"},
        {"a.htm", "html"},    {"a.txt", "text"},    {"a.srt", "srt"},
        {"a.vtt", "vtt"},     {"a.po", "po"},       {"a.json", "json"},
        {"a.png", NULL},      {"md", NULL},         {"b.md/a", NULL},
        {"", NULL},           {NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *format = ferry_document_format_of(rows[i][0]), *expected = rows[i][1];
        if (format == expected || (format != NULL && expected != NULL && strcmp(format, expected) == 0)) continue;
        fail_msg("%s: %s", rows[i][0] != NULL ? rows[i][0] : "NULL", format != NULL ? format : "NULL");
    }
}

/* ---- arguments ---- */

/* The call is refused with a message that begins so, without an error object, too, and sets the result to NULL. */
#define REFUSED(named, ...)                                                                                            \
    do {                                                                                                               \
        ferry_document_result *result = (void *)&result, *without = (void *)&without;                                  \
        ferry_error error = {0};                                                                                       \
        assert_int_equal(ferry_document_translate(__VA_ARGS__, &result, &error), FERRY_ERROR_ARGUMENT);                \
        assert_int_equal(ferry_document_translate(__VA_ARGS__, &without, NULL), FERRY_ERROR_ARGUMENT);                 \
        if (strncmp(error.message, named ": ", sizeof(named) + 1) != 0) fail_msg("%s: %s", named, error.message);      \
        assert_int_equal(error.status, FERRY_ERROR_ARGUMENT);                                                          \
        assert_string_equal(error.argument, named);                                                                    \
        assert_null(result);                                                                                           \
        assert_null(without);                                                                                          \
    } while (0)

SHIPPED_TEST(test_arguments)
{
    const ferry_text source = as_text(page);
    const ferry_document_options none = {.size = 0}, small = {.size = sizeof small - 1};
    ferry_translator *translator = new_translator(model, NULL);
    REFUSED("model", NULL, translator, "html", source, NULL);
    REFUSED("translator", model, NULL, "html", source, NULL);
    REFUSED("translator", model, NULL, "html", as_text(""), NULL); /* although it is not needed */
    REFUSED("format", model, translator, NULL, source, NULL);
    REFUSED("format", model, translator, "docx", source, NULL);
    REFUSED("format", model, translator, "", source, NULL);
    REFUSED("source", model, translator, "html", ((ferry_text){NULL, 1}), NULL);
    REFUSED("options", model, translator, "html", source, &none);
    REFUSED("options", model, translator, "html", source, &small);
    REFUSE_SAYING(ferry_document_translate(model, translator, "html", source, NULL, NULL, &error), FERRY_ERROR_ARGUMENT,
                  "result: expected a pointer, found NULL");
    ferry_translator_destroy(translator);
}

TEST(test_no_result)
{
    ferry_document_result_destroy(NULL);
    assert_int_equal(ferry_document_result_text(NULL).size, 0);
    assert_string_equal(ferry_document_result_text(NULL).data, "");
    check_counts(NULL, 0, 0, 0);
    assert_int_equal(ferry_document_result_note_count(NULL), 0);
    assert_null(ferry_document_result_note(NULL, 0));
}

/* ---- results ---- */

/* Without a callback, as with a program of a later version, whose structure is larger. */
SHIPPED_TEST(test_translation)
{
    const struct {
        ferry_document_options options;
        void *later;
    } larger = {{.size = sizeof larger}, NULL};
    const ferry_document_options same = {.size = sizeof same};
    const ferry_document_options *const rows[] = {NULL, &same, &larger.options};
    ferry_translator *translator = new_translator(model, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ferry_document_result *result;
        CHECK(ferry_document_translate(model, translator, "html", as_text(page), rows[i], &result, &error));
        const ferry_text text = ferry_document_result_text(result);
        assert_text_is(text, "<p>Guten <b>Morgen</b>!</p>");
        assert_int_equal(text.data[text.size], '\0');
        check_counts(result, 1, 0, 0);
        assert_int_equal(ferry_document_result_note_count(result), 0);
        assert_null(ferry_document_result_note(result, 0));
        ferry_document_result_destroy(result);
    }
    ferry_translator_destroy(translator);
}

SHIPPED_TEST(test_nothing_to_translate)
{
    static const ferry_text rows[] = {{NULL, 0}, {"", 0}, {"\0", 1}, {" \n", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ferry_document_result *result = translated_as("text", rows[i], NULL);
        const ferry_text text = ferry_document_result_text(result);
        assert_int_equal(text.size, rows[i].size);
        assert_memory_equal(text.data, rows[i].size > 0 ? rows[i].data : "", text.size);
        assert_int_equal(text.data[text.size], '\0');
        check_counts(result, 0, 0, 0);
        ferry_document_result_destroy(result);
    }
}

/* The lines are those of the source: a paragraph before may have another length afterwards. */
SHIPPED_TEST(test_notes_of_what_is_left)
{
    static const char source[] = "How are you?\n\nHello\377!\n\nTom, Tom.\n\nGood morning!\n\nWhere\377?\n";
    ferry_document_result *result = translated_as("text", as_text(source), NULL);
    static const struct {
        const char *at;
        size_t line;
    } rows[] = {{"Hello", 3}, {"Where", 9}};
    assert_text_is(ferry_document_result_text(result),
                   "Wie geht es dir?\n\nHello\377!\n\nTom, Tom.\n\nGuten Morgen!\n\nWhere\377?\n");
    check_counts(result, 2, 1, 2);
    assert_int_equal(ferry_document_result_note_count(result), 2);
    for (size_t i = 0; i < 2; i++) {
        const ferry_document_note note = note_of(result, i);
        assert_int_equal(note.offset, strstr(source, rows[i].at) - source);
        assert_int_equal(note.line, rows[i].line);
        assert_int_equal(note.left, 1);
        assert_string_equal(note.message, "it is not UTF-8");
    }
    assert_null(ferry_document_result_note(result, 2));
    assert_null(ferry_document_result_note(result, SIZE_MAX));
    ferry_document_result_destroy(result);
}

/* A sentence in parts is translated, with a warning, and what is given to the model first is not noted first. */
SHIPPED_TEST(test_notes_of_what_is_translated)
{
    static const char source[] =
        "<meta charset=utf-8><p>Good morning!</p>\n<p>We will go to the city on Monday, and then we will go home "
        "again.</p>\n"
        "<p title=\"We will go home on Monday, and then we will go to the city again.\">\377a</p>\n";
    ferry_options options = default_options(model);
    options.max_source = 12;
    ferry_document_result *result = translated_as("html", as_text(source), &options);
    check_counts(result, 3, 0, 1);
    assert_int_equal(ferry_document_result_note_count(result), 3);
    const ferry_document_note in_text = note_of(result, 0), in_title = note_of(result, 1), left = note_of(result, 2);
    assert_int_equal(in_text.offset, strstr(source, "We will go to") - source);
    assert_int_equal(in_text.line, 2);
    assert_int_equal(in_text.left, 0);
    assert_non_null(strstr(in_text.message, "parts"));
    assert_int_equal(in_title.line, 3);
    assert_int_equal(in_title.left, 0);
    assert_int_equal(left.offset, strchr(source, '\377') - source);
    assert_int_equal(left.left, 1);
    ferry_document_result_destroy(result);
}

SHIPPED_TEST(test_malformed_documents)
{
    static const char *const rows[][3] = {
        {"json", "{\"a\": \"Hello!\",\n \"b\": }", "line 2: "},
        {"html", "<meta charset=ISO-8859-1>\n<p>Hello\377!</p>", "ISO-8859-1"},
    };
    ferry_translator *translator = new_translator(model, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ferry_document_result *result = (void *)&result;
        REFUSE(ferry_document_translate(model, translator, rows[i][0], as_text(rows[i][1]), NULL, &result, &error),
               FERRY_ERROR_UNSUPPORTED, rows[i][2]);
        assert_null(result);
    }
    ferry_translator_destroy(translator);
}

/* ---- during the call ---- */

typedef struct seen {
    size_t calls, done, total, cancel_at; /* 0: never */
} seen;

static int see(void *user, size_t done, size_t total)
{
    seen *s = user;
    assert_in_range(done, s->done, total);
    if (s->calls++ > 0) assert_int_equal(total, s->total);
    s->done = done;
    s->total = total;
    return s->calls == s->cancel_at;
}

static const char three_texts[] = "<p title=\"Hello!\">How are you?</p><p>Good morning!</p>";

SHIPPED_TEST(test_progress)
{
    seen s = {0};
    const ferry_document_options options = {.size = sizeof options, .progress = see, .user = &s};
    ferry_translator *translator = new_translator(model, NULL);
    ferry_document_result *result;
    CHECK(ferry_document_translate(model, translator, "html", as_text(three_texts), &options, &result, &error));
    assert_in_range(s.calls, 3, 5); /* the engine tells the end of a call twice */
    assert_int_equal(s.done, 3);
    assert_int_equal(s.total, 3);
    check_counts(result, 3, 0, 0);
    ferry_document_result_destroy(result);
    ferry_translator_destroy(translator);
}

/* A paragraph's sentences are told, too, and the call can be cancelled between them. */
SHIPPED_TEST(test_progress_within_a_paragraph)
{
    enum { SENTENCES = 1000 };
    char source[7 * SENTENCES + 1] = "";
    seen s = {0};
    const ferry_document_options options = {.size = sizeof options, .progress = see, .user = &s};
    ferry_translator *translator = new_translator(model, NULL);
    ferry_document_result *result;
    for (size_t i = 0; i < SENTENCES; i++) memcpy(source + 7 * i, "Hello. ", 8);
    CHECK(ferry_document_translate(model, translator, "text", as_text(source), &options, &result, &error));
    assert_in_range(s.calls, SENTENCES, SENTENCES + 2);
    assert_int_equal(s.done, 1);
    ferry_document_result_destroy(result);
    s = (seen){.cancel_at = SENTENCES / 2};
    REFUSE(ferry_document_translate(model, translator, "text", as_text(source), &options, &result, &error),
           FERRY_ERROR_CANCELLED, "cancelled");
    assert_int_equal(s.calls, SENTENCES / 2);
    ferry_translator_destroy(translator);
}

static void check_cancelled(ferry_translator *translator, const ferry_document_options *options)
{
    ferry_document_result *result = (void *)&result;
    REFUSE(ferry_document_translate(model, translator, "html", as_text(three_texts), options, &result, &error),
           FERRY_ERROR_CANCELLED, "cancelled");
    assert_null(result);
}

/* By its callback, before it, and by that of the translator; the next call is as if nothing had been. */
SHIPPED_TEST(test_cancelling)
{
    ferry_translator *translator = new_translator(model, NULL);
    for (size_t at = 1; at <= 3; at++) {
        seen s = {.cancel_at = at};
        check_cancelled(translator,
                        &(ferry_document_options){.size = sizeof(ferry_document_options), .progress = see, .user = &s});
        assert_int_equal(s.calls, at);
    }
    ferry_translator_cancel(translator, ferry_translator_job(translator));
    check_cancelled(translator, NULL);
    ferry_translator_job(translator);
    ferry_document_result *result;
    CHECK(ferry_document_translate(model, translator, "html", as_text(three_texts), NULL, &result, &error));
    check_counts(result, 3, 0, 0);
    ferry_document_result_destroy(result);
    ferry_translator_destroy(translator);
}

/* What else the translator is used for afterwards has no weights, whether it had them before or not. */
SHIPPED_TEST(test_alignment_is_off_afterwards)
{
    const ferry_text line = as_text("Good morning!");
    ferry_options options = default_options(model);
    options.alignment = 1;
    ferry_translator *translator = new_translator(model, &options);
    ferry_document_result *document;
    ferry_result *result;
    CHECK(ferry_document_translate(model, translator, "html", as_text(page), NULL, &document, &error));
    CHECK(ferry_translate(translator, &line, 1, &result, &error));
    assert_text_is(ferry_result_text(result, 0, 0), "Guten Morgen!");
    assert_int_equal(ferry_result_source_token_count(result, 0), 0);
    ferry_result_destroy(result);
    ferry_document_result_destroy(document);
    ferry_translator_destroy(translator);
}

/* ---- what translations must have ---- */

/* Texts of a page, without the tags of their paragraphs, and what they become. */
static void check_page(ferry_translator *translator, const char *const rows[][2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ferry_document_result *result;
        CHECK(ferry_document_translate(model, translator, "html", as_text(rows[i][0]), NULL, &result, &error));
        if (!ferry_text_begins(ferry_document_result_text(result).data, rows[i][1]))
            fail_msg("%s: expected %s, found %s", rows[i][0], rows[i][1], ferry_document_result_text(result).data);
        ferry_document_result_destroy(result);
    }
}

/* What is kept comes back once, without a name in its place; what touches a word, touches one; numbers are right. */
SHIPPED_TEST(test_kept_pieces)
{
    static const char *const rows[][2] = {
        {"Where is %s?", "Wo ist %s?"},
        {"%s and %s are here.", "%s und %s sind hier."},
        {"<code>a</code>", "<code>a</code>"},
        {"Tom and Boston see <b>%s</b> in London.", "Tom und Boston sehen <b>%s</b> in London."},
        {"Where is <b><code>x</code></b>? <i>%s is here.</i>", "Wo ist <b><code>x</code></b>? <i>%s ist hier.</i>"},
        {"I was born in 1547.", "Ich wurde in 1547 geboren."},
        {"The house costs <b>77,748</b> dollars.", "Das Haus kostet <b>77,748</b> Dollar."},
        {"Water is H<sub>2</sub>O.", "Wasser ist H<sub>2</sub>O."},
        {"C<sub>6</sub>H<sub>12</sub>O<sub>6</sub> is sugar.", "C<sub>6</sub>H<sub>12</sub>O<sub>6</sub> ist Zucker."},
        {"The house<sup>1</sup> is old.", "Das Haus<sup>1</sup> ist alt."},
        {"The house is old\u00B9.", "Das Haus ist alt\u00B9."},
        {"Water is H\u2082O.", "Wasser ist H\u2082O."},
        {"The beau&shy;ti&shy;ful house is open.", "Das schöne Haus ist offen."},
        {"I like the dog.<sup>12</sup> It is big.", "Ich mag den Hund.<sup>12</sup> Es ist"},
    };
    ferry_translator *translator = new_translator(model, NULL);
    check_page(translator, rows, sizeof rows / sizeof *rows);
    ferry_translator_destroy(translator);
}

/* The translator's option; entries go on in elements, and not into what is kept. */
SHIPPED_TEST(test_glossaries)
{
    static const char *const rows[][2] = {
        {"Where is the <b>house</b>?", "Wo ist das <b>Bude</b>?"},
        {"WHERE IS THE HOUSE?", "WO IST DAS BUDE?"},
        {"He reads an old\n <b>book</b> in the house.", "Er liest ein <b>Schwarte</b> in dem Bude."},
        {"Where is <code>house</code>?", "Wo ist <code>house</code>?"},
    };
    static const ferry_text targets[] = {{"Bude", 4}, {"Schwarte", 8}};
    const ferry_glossary_entry entries[] = {{as_text("house"), &targets[0], 1}, {as_text("old book"), &targets[1], 1}};
    ferry_glossary *glossary;
    ferry_options options = default_options(model);
    CHECK(ferry_glossary_create(entries, sizeof *entries, 2, &glossary, &error));
    options.glossary = glossary;
    ferry_translator *translator = new_translator(model, &options);
    check_page(translator, rows, sizeof rows / sizeof *rows);
    ferry_translator_destroy(translator);
    ferry_glossary_destroy(glossary);
}
