#include "document_support.h"

#include "files.h"

static void append(ferry_string *out, ferry_view view)
{
    CHECK(ferry_string_append(out, view, &error));
}

void same_markup(ferry_view markup, ferry_string *translation)
{
    append(translation, markup);
}

/* The size of what is no text at byte `at`: a tag, with what is kept in it, a reference; 0: text. */
static size_t size_of_code(ferry_view markup, size_t at)
{
    static const char kept[] = " translate=\"no\">";
    size_t end = at;
    if (markup.data[at] == '&') {
        while (markup.data[end] != ';') end++;
        return end + 1 - at;
    }
    if (markup.data[at] != '<') return 0;
    while (markup.data[end] != '>') end++;
    end++;
    if (end - at >= sizeof kept && memcmp(markup.data + end - strlen(kept), kept, strlen(kept)) == 0) {
        while (markup.data[end] != '>') end++;
        end++;
    }
    return end - at;
}

static void change(ferry_view markup, ferry_string *translation, bool upper)
{
    for (size_t at = 0; at < markup.size;) {
        const size_t code = size_of_code(markup, at);
        const char c = markup.data[at];
        const bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        if (code > 0)
            append(translation, (ferry_view){markup.data + at, code});
        else if (letter && upper)
            append(translation, (ferry_view){&(char){(char)(c & ~32)}, 1});
        else
            append(translation, (ferry_view){(char[]){c, c}, (size_t)1 + letter});
        at += code > 0 ? code : 1;
    }
}

void upper_markup(ferry_view markup, ferry_string *translation)
{
    change(markup, translation, true);
}

void longer_markup(ferry_view markup, ferry_string *translation)
{
    change(markup, translation, false);
}

typedef struct user {
    markup_function *translate;
    const char *markup, *translation; /* or these */
    size_t warnings;
} user;

static ferry_status call_function(void *data, ferry_document *document, ferry_view markup, ferry_string *translation,
                                  ferry_error *error)
{
    user *u = data;
    (void)document;
    (void)error;
    if (u->translate != NULL) {
        u->translate(markup, translation);
        return FERRY_OK;
    }
    const ferry_view all = {u->markup, strlen(u->markup)};
    const bool wrapped = strncmp(u->markup, "<p>", 3) != 0;
    const ferry_view inner = {markup.data + 3, markup.size - strlen("<p></p>\n")};
    const ferry_view shown = wrapped ? inner : markup;
    if (!ferry_view_equal(all, shown)) fail_msg("shown: %.*s\nexpected: %s", (int)shown.size, shown.data, u->markup);
    if (wrapped) append(translation, ferry_text_view("<p>"));
    append(translation, ferry_text_view(u->translation));
    if (wrapped) append(translation, ferry_text_view("</p>\n"));
    return FERRY_OK;
}

static void count_warning(void *data, const ferry_document *document, size_t at, const char *message)
{
    user *u = data;
    assert_true(at <= document->source.size);
    assert_non_null(message);
    u->warnings++;
}

ferry_status try_document(const ferry_document_format *format, ferry_view source,
                          const ferry_document_translator *translator, ferry_string *out, ferry_error *error)
{
    ferry_document document;
    ferry_status status = ferry_document_read(&document, format, source, error);
    if (status == FERRY_OK) status = ferry_document_translate(&document, translator);
    if (status == FERRY_OK) status = ferry_document_write(&document, out, error);
    ferry_document_destroy(&document);
    return status;
}

void check_reading(const ferry_document_format *format, const char *source, const char *refusal)
{
    ferry_document document;
    ferry_error error = {0};
    const ferry_status status = ferry_document_read(&document, format, ferry_text_view(source), &error);
    if (refusal != NULL)
        check_refusal(status, &error, FERRY_ERROR_UNSUPPORTED, refusal);
    else if (status != FERRY_OK)
        fail_msg("%s: %s", source, error.message);
    ferry_document_destroy(&document);
}

static ferry_string run(const ferry_document_format *format, ferry_view source, user *u)
{
    ferry_string out = {0};
    const ferry_document_translator translator = {.translate = call_function, .warn = count_warning, .user = u};
    CHECK(try_document(format, source, &translator, &out, &error));
    return out;
}

ferry_string translate_document(const ferry_document_format *format, ferry_view source, markup_function *translate,
                                size_t *warnings)
{
    user u = {.translate = translate};
    const ferry_string out = run(format, source, &u);
    if (warnings != NULL) *warnings = u.warnings;
    return out;
}

static void assert_same(ferry_string *out, const char *expected)
{
    if (!ferry_view_is((ferry_view){out->data, out->size}, expected))
        fail_msg("found:\n%.*s\nexpected:\n%s", (int)out->size, out->data, expected);
    free(out->data);
}

void assert_document(const ferry_document_format *format, const char *source, markup_function *translate,
                     const char *expected)
{
    ferry_string out = translate_document(format, ferry_text_view(source), translate, NULL);
    assert_same(&out, expected);
}

void assert_translated(const ferry_document_format *format, const char *source, const char *markup,
                       const char *translation, const char *expected)
{
    user u = {.markup = markup, .translation = translation};
    ferry_string out = run(format, ferry_text_view(source), &u);
    assert_same(&out, expected);
}

/* ---- cases of a file ---- */

/* The text with what its symbols stand for, kept. */
static char *expand(ferry_view text)
{
    static const char *const symbols[][2] = {{"⏎", "\n"}, {"␍", "\r"},           {"⇥", "\t"},
                                             {"␣", " "},  {"␂", "\xEF\xBB\xBF"}, {" ¶ ", "</p>\n<p>"}};
    ferry_string expanded = {0};
    for (size_t at = 0, size; at < text.size; at += size) {
        ferry_view shown = {text.data + at, 1};
        size = 1;
        for (size_t i = 0; i < COUNT(symbols); i++) {
            if (!ferry_text_begins(text.data + at, symbols[i][0])) continue;
            shown = ferry_text_view(symbols[i][1]);
            size = strlen(symbols[i][0]);
        }
        append(&expanded, shown);
    }
    char *kept = kept_memory(expanded.size + 1);
    if (expanded.size > 0) memcpy(kept, expanded.data, expanded.size);
    free(expanded.data);
    return kept;
}

static void check_case(const ferry_document_format *format, bool shown, ferry_view line)
{
    static const char arrow[] = " → ";
    const char *at = find_text(line, arrow);
    const size_t size = at != NULL ? (size_t)(at - line.data) : line.size, next = at != NULL ? size + strlen(arrow) : 0;
    const char *source = expand((ferry_view){line.data, size});
    const char *result = expand((ferry_view){line.data + next, line.size - next});
    char *markup = kept_memory(strlen(result) + sizeof "<p></p>\n");
    sprintf(markup, "<p>%s</p>\n", result);
    if (!shown)
        assert_document(format, source, upper_markup, result);
    else
        assert_translated(format, source, markup, markup, source);
}

void check_cases(const char *name)
{
    const ferry_document_format *format = ferry_document_format_named(name);
    const made_file file = file_copy(data_file("documents/%s.cases", name));
    ferry_view rest = whole(&file);
    bool shown = false;
    assert_document(format, "", upper_markup, "");
    for (const char *end; (end = find_text(rest, "\n")) != NULL;) {
        const ferry_view line = {rest.data, (size_t)(end - rest.data)};
        rest = (ferry_view){end + 1, rest.size - line.size - 1};
        if (ferry_text_begins(line.data, "@@ "))
            shown = ferry_text_begins(line.data, "@@ shown");
        else if (line.size > 0 && !ferry_text_begins(line.data, ";; "))
            check_case(format, shown, line);
    }
}
