#include "document_support.h"

#include "base/utf8.h"
#include "documents/document_parts.h"
#include "tests/support/files.h"

static void append(ferry_buffer *out, ferry_view view)
{
    CHECK(ferry_buffer_append(out, view, &error));
}

/* ---- what a reader says ---- */

static void append_escaped(ferry_buffer *out, ferry_view text)
{
    for (size_t at = 0; at < text.size; at++) {
        const char c = text.data[at];
        append(out, c == '&'   ? ferry_text_view("&amp;")
                    : c == '<' ? ferry_text_view("&lt;")
                    : c == '>' ? ferry_text_view("&gt;")
                               : (ferry_view){text.data + at, 1});
    }
}

static void append_tag(ferry_buffer *out, const char *begin, size_t number, const char *end)
{
    append(out, ferry_text_view(ferry_format("%sx%zu%s", begin, number, end).text));
}

/* Whether a wrapped line ends between two ideographs. */
static bool is_between(const ferry_document *document, size_t item)
{
    const ferry_span *before = &document->spans[item - 1], *after = before + 2;
    const ferry_view text = {document->text.data, document->text.size};
    size_t end = before->text_end, begin = after->text_begin;
    uint32_t a, b;
    if (before->kind != FERRY_SPAN_TEXT || after->kind != FERRY_SPAN_TEXT) return false;
    return ferry_utf8_previous(text, &end, &a) && ferry_utf8_next(text, &begin, &b) && ferry_is_ideograph(a) &&
           ferry_is_ideograph(b);
}

/* The beginning of what is kept, without what would be markup. */
static void append_kept(ferry_buffer *out, ferry_view text, size_t number)
{
    enum { MOST = 60 };
    char shown[MOST];
    size_t size = 0;
    for (size_t at = 0; at < text.size && size < MOST; at++)
        if (strchr("<>&", text.data[at]) == NULL) shown[size++] = text.data[at];
    append_tag(out, "<", number, size > 0 ? " translate=\"no\">" : "/>");
    append(out, (ferry_view){shown, size});
    if (size > 0) append_tag(out, "</", number, ">");
}

static void append_block(ferry_buffer *out, const ferry_document *document, const ferry_segment *block)
{
    append(out, ferry_text_view("<p>"));
    for (size_t i = block->first_span; i < block->after_span; i++) {
        const ferry_span *item = &document->spans[i];
        const ferry_view text = {document->text.data + item->text_begin, item->text_end - item->text_begin};
        const size_t number = i - block->first_span;
        switch (item->kind) {
        case FERRY_SPAN_TEXT: append_escaped(out, text); break;
        case FERRY_SPAN_OPEN: append_tag(out, "<", number, ">"); break;
        case FERRY_SPAN_CLOSE: append_tag(out, "</", item->partner - block->first_span, ">"); break;
        case FERRY_SPAN_POINT: append_tag(out, "<", number, "/>"); break;
        case FERRY_SPAN_KEPT: append_kept(out, text, number); break;
        case FERRY_SPAN_BREAK: append(out, ferry_text_view(item->blank && !is_between(document, i) ? " " : "")); break;
        }
    }
    append(out, ferry_text_view("</p>\n"));
}

/* Expects what the reader says of the blocks with letters; one block is without "<p>" and "</p>\n". */
static void check_shown(const ferry_document *document, const char *expected)
{
    ferry_buffer out = {0};
    size_t count = 0;
    for (size_t i = 0; i < document->segment_count; i++) {
        if (!document->segments[i].has_letters) continue;
        append_block(&out, document, &document->segments[i]);
        count++;
    }
    ferry_view shown = {out.data, out.size};
    if (count == 1 && strncmp(expected, "<p>", 3) != 0) shown = (ferry_view){out.data + 3, out.size - 8};
    if (count > 0 && !ferry_view_is(shown, expected))
        fail_msg("shown: %.*s\nexpected: %s", (int)shown.size, shown.data, expected);
    free(out.data);
}

/* ---- a translation with elements, as one that is aligned ---- */

enum { MOST_WORDS = 256, OUTSIDE = 999 };

/* A word of markup: its text, the innermost element, the number of what is kept, or OUTSIDE. */
typedef struct word {
    size_t begin, end, element, kept;
    bool spaced; /* a blank is before it */
} word;

typedef struct words {
    ferry_buffer text;
    word words[MOST_WORDS];
    size_t count;
} words;

static bool is_of_word(char c)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* Words of a block; `tokens`: as the stand-in has them, elements within words belong to the whole word. */
static void read_words(ferry_view markup, bool tokens, words *found)
{
    size_t open[64] = {OUTSIDE}, depth = 0;
    bool spaced = false, in_word = false;
    found->count = 0;
    for (size_t at = 0; at < markup.size; at++) {
        const char *tag = markup.data + at;
        size_t kept = OUTSIDE;
        char c = *tag;
        if (c == '<') {
            const char *end = memchr(tag, '>', markup.size - at);
            const size_t number = (size_t)atoi(tag + (tag[1] == '/' ? 3 : 2));
            if (tag[1] == '/')
                depth--;
            else if (tokens && end[-1] == '/')
                spaced = true; /* it stands alone */
            else if (ferry_text_begins(strchr(tag, '>') - 1, "/") || ferry_text_begins(strpbrk(tag, " >"), " "))
                kept = number;
            else
                open[++depth] = number;
            at = (size_t)(end - markup.data);
            if (!tokens) in_word = false;
            if (kept == OUTSIDE) continue;
            if (end[-1] != '/') at += (size_t)(strchr(strchr(end, '<'), '>') - end); /* its text and its end */
        } else if (c == '&' && (ferry_text_begins(tag, "&amp;") || ferry_text_begins(tag, "&lt;") ||
                                ferry_text_begins(tag, "&gt;"))) {
            c = tag[1] == 'a' ? '&' : tag[1] == 'l' ? '<' : '>';
            at = (size_t)(strchr(tag, ';') - markup.data);
        }
        if (c == ' ') {
            spaced = true;
            in_word = false;
            continue;
        }
        const bool letter = kept == OUTSIDE && (!tokens || is_of_word(c));
        if (!in_word || !letter) {
            assert_true(found->count < MOST_WORDS);
            found->words[found->count++] =
                (word){found->text.size, found->text.size, open[depth], kept, spaced || found->count == 1};
        }
        if (kept == OUTSIDE) append(&found->text, (ferry_view){&c, 1});
        found->words[found->count - 1].end = found->text.size;
        in_word = letter;
        spaced = false;
    }
}

/* The word of the source that a word of the translation comes from: the next one of its element. */
static size_t find_source(const words *source, const word *of, size_t *next)
{
    size_t found = OUTSIDE;
    for (size_t i = source->count; i-- > 0;)
        if (source->words[i].kept == of->kept && (of->kept != OUTSIDE || source->words[i].element == of->element) &&
            (found == OUTSIDE || i >= *next))
            found = i;
    if (found != OUTSIDE) *next = found + 1;
    return found;
}

/* A block's translation as the stand-in takes it. */
static void give(ferry_view shown, ferry_view translation, ferry_buffer *given)
{
    static words source, target;
    size_t next[MOST_WORDS + OUTSIDE] = {0};
    read_words(shown, true, &source);
    read_words(translation, false, &target);
    if (source.count > 0 && source.words[0].kept == OUTSIDE)
        append(given, (ferry_view){source.text.data, source.words[0].end});
    append(given, (ferry_view){"\2", 1});
    for (size_t i = 0; i < target.count; i++) {
        const word *w = &target.words[i];
        const size_t from = find_source(&source, w, &next[w->element]);
        if (i > 0) append(given, ferry_text_view(w->spaced ? " " : "\1"));
        if (w->end > w->begin) append(given, (ferry_view){target.text.data + w->begin, w->end - w->begin});
        if (w->kept == OUTSIDE || from != OUTSIDE) append(given, ferry_text_view(ferry_format("\f%zu", from).text));
    }
    append(given, ferry_text_view("\n"));
    source.text.size = target.text.size = 0;
}

/* Of all blocks: "<p>…</p>\n<p>…</p>\n". */
static char *give_all(const char *shown, const char *translation)
{
    ferry_buffer given = {0};
    if (strncmp(shown, "<p>", 3) != 0) give(ferry_text_view(shown), ferry_text_view(translation), &given);
    while (strncmp(shown, "<p>", 3) == 0 && strncmp(translation, "<p>", 3) == 0) {
        const char *shown_end = strstr(shown, "</p>\n"), *end = strstr(translation, "</p>\n");
        give((ferry_view){shown + 3, (size_t)(shown_end - shown - 3)},
             (ferry_view){translation + 3, (size_t)(end - translation - 3)}, &given);
        shown = shown_end + strlen("</p>\n");
        translation = end + strlen("</p>\n");
    }
    append(&given, (ferry_view){"", 1});
    char *kept = kept_memory(given.size);
    memcpy(kept, given.data, given.size);
    free(given.data);
    return kept;
}

/* ---- translating ---- */

/* `shown`, `left` (how many blocks stay) may be NULL. */
static ferry_buffer run_row(const ferry_document_format *format, ferry_view source, ferry_translator *translator,
                            const char *shown, size_t *left)
{
    ferry_buffer out = {0};
    ferry_document document;
    CHECK(ferry_document_read(&document, format, NULL, source, &error));
    if (shown != NULL) check_shown(&document, shown);
    CHECK(ferry_segments_translate(&document, translator, &(ferry_document_options){.size = 0}));
    CHECK(ferry_document_write(&document, &out, &error));
    for (size_t i = 0; i < document.note_count; i++) assert_true(document.notes[i].left);
    if (left != NULL) *left = document.note_count;
    ferry_document_destroy(&document);
    return out;
}

/* Before or behind a model that repeats what it reads, a model makes the same document of it. */
static ferry_buffer run(const ferry_document_format *format, ferry_view source, ferry_translator *translator,
                        const char *shown, size_t *left)
{
    const ferry_buffer out = run_row(format, source, translator, shown, left);
    for (int i = 0; i < 2; i++) {
        size_t others;
        ferry_translator same = {.way = STAND_IN_SAME}, copy = *translator;
        *(i == 0 ? &copy.next : &same.next) = i == 0 ? &same : &copy;
        ferry_buffer row = run_row(format, source, i == 0 ? &copy : &same, NULL, &others);
        if (!ferry_view_equal((ferry_view){row.data, row.size}, (ferry_view){out.data, out.size}))
            fail_msg("row %d:\n%.*s\nfound:\n%.*s\nexpected:\n%.*s", i, (int)source.size, source.data, (int)row.size,
                     row.data, (int)out.size, out.data);
        if (left != NULL) assert_int_equal(others, *left);
        free(row.data);
    }
    return out;
}

void check_reading(const ferry_document_format *format, const char *source, const char *refusal)
{
    ferry_document document;
    ferry_error error = {0};
    const ferry_status status = ferry_document_read(&document, format, NULL, ferry_text_view(source), &error);
    if (refusal != NULL)
        check_refusal(status, &error, FERRY_ERROR_UNSUPPORTED, refusal);
    else if (status != FERRY_OK)
        fail_msg("%s: %s", source, error.message);
    ferry_document_destroy(&document);
}

ferry_buffer translate_document(const ferry_document_format *format, ferry_view source, stand_in_way way, size_t *left)
{
    return run(format, source, &(ferry_translator){.way = way}, NULL, left);
}

static void assert_same(ferry_buffer *out, const char *expected)
{
    if (!ferry_view_is((ferry_view){out->data, out->size}, expected))
        fail_msg("found:\n%.*s\nexpected:\n%s", (int)out->size, out->data, expected);
    free(out->data);
}

/* Expects the document that the stand-in makes of `source`. */
static void assert_document(const ferry_document_format *format, const char *source, stand_in_way way,
                            const char *expected)
{
    ferry_buffer out = translate_document(format, ferry_text_view(source), way, NULL);
    assert_same(&out, expected);
}

/* Expects that the reader says this of `source`, as markup (without "<p>" and "</p>\n" if it is one block), and what
 * becomes of it with this translation, whose words are aligned to those of the same element, in order (NULL: the
 * text itself). */
static void assert_translated(const ferry_document_format *format, const char *source, const char *shown,
                              const char *translation, const char *expected)
{
    ferry_translator translator = {.way = STAND_IN_SAME};
    if (translation != NULL)
        translator = (ferry_translator){.way = STAND_IN_GIVEN, .given = give_all(shown, translation)};
    ferry_buffer out = run(format, ferry_text_view(source), &translator, shown, NULL);
    assert_same(&out, expected);
}

/* ---- cases of a file ---- */

/* The text with what its symbols stand for, kept. */
static char *expand(ferry_view text)
{
    static const char *const symbols[][2] = {{"⏎", "\n"},
                                             {"␍", "\r"},
                                             {"⇥", "\t"},
                                             {"␣", " "},
                                             {"␂", "\xEF\xBB\xBF"},
                                             {" ¶ ", "</p>\n<p>"},
                                             {"▬", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}};
    ferry_buffer expanded = {0};
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

/* Whether the view begins with the text. */
static bool begins_with(ferry_view view, const char *text)
{
    return view.size >= strlen(text) && memcmp(view.data, text, strlen(text)) == 0;
}

/* Blocks: "<p>…</p>\n". */
static const char *paragraphs(const char *text)
{
    char *markup = kept_memory(strlen(text) + sizeof "<p></p>\n");
    sprintf(markup, "<p>%s</p>\n", text);
    return markup;
}

static void check_case(const ferry_document_format *format, ferry_view section, ferry_view line)
{
    static const char arrow[] = " → ";
    const char *parts[4] = {NULL};
    size_t count = 0;
    for (const char *end = line.data; end != NULL; count++) {
        assert_true(count < COUNT(parts));
        end = find_text(line, arrow);
        const size_t size = end != NULL ? (size_t)(end - line.data) : line.size;
        parts[count] = expand((ferry_view){line.data, size});
        if (end != NULL) line = (ferry_view){end + strlen(arrow), line.size - size - strlen(arrow)};
    }
    const char *source = parts[0], *result = parts[count - 1];
    if (begins_with(section, "shown"))
        assert_translated(format, source, paragraphs(result), NULL, source);
    else if (begins_with(section, "translated"))
        assert_translated(format, source, paragraphs(parts[1]), paragraphs(parts[2]), count > 3 ? result : source);
    else if (begins_with(section, "refused"))
        check_reading(format, source, parts[1]);
    else
        assert_document(format, source, begins_with(section, "twice") ? STAND_IN_LONGER : STAND_IN_UPPER, result);
}

void check_cases(const ferry_document_format *format)
{
    const made_file file = file_copy(data_file("documents/%s.cases", format->name));
    ferry_view rest = whole(&file);
    ferry_view section = {"", 0};
    assert_document(format, "", STAND_IN_UPPER, "");
    for (const char *end; (end = find_text(rest, "\n")) != NULL;) {
        const ferry_view line = {rest.data, (size_t)(end - rest.data)};
        rest = (ferry_view){end + 1, rest.size - line.size - 1};
        if (ferry_text_begins(line.data, "@@ "))
            section = (ferry_view){line.data + 3, line.size - 3};
        else if (line.size > 0 && !ferry_text_begins(line.data, ";; "))
            check_case(format, section, line);
    }
}

/* ---- calls ---- */

ferry_status call_documents(const ferry_document_options *options, const char *format, const char *source,
                            const char *given, ferry_document_result **result, ferry_error *error)
{
    static int model; /* the stand-in does not look at it */
    const ferry_text text = {source, strlen(source)};
    for (int row = 0; row < 3; row++) { /* alone; before and behind a model that repeats what it reads */
        ferry_translator translator = {.way = given != NULL ? STAND_IN_GIVEN : STAND_IN_UPPER, .given = given},
                         same = {.way = STAND_IN_SAME};
        ferry_document_result *found;
        if (row > 0) *(row == 1 ? &translator.next : &same.next) = row == 1 ? &same : &translator;
        const ferry_status status =
            ferry_document_translate((const ferry_model *)(const void *)&model, row == 2 ? &same : &translator, format,
                                     text, options, &found, error);
        if (status != FERRY_OK) return status;
        if (row > 0) assert_same_text(ferry_document_result_text(found), ferry_document_result_text(*result));
        if (row > 0)
            ferry_document_result_destroy(found);
        else
            *result = found;
    }
    return FERRY_OK;
}

void check_call(const ferry_document_options *options, const char *format, const char *source, const char *given,
                const char *expected)
{
    ferry_document_result *result;
    CHECK(call_documents(options, format, source, given, &result, &error));
    const ferry_text text = ferry_document_result_text(result);
    if (!ferry_view_is((ferry_view){text.data, text.size}, expected))
        fail_msg("%s: expected\n%s\nfound\n%s", source, expected, text.data);
    ferry_document_result_destroy(result);
}
