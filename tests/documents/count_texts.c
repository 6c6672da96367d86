/* What becomes of the texts of documents: count_texts MODEL FORMAT < paths, a line each. Prints lines of fields between
 * tabs: what, path, line, why, text. "what" is
 *     text   a text of words, with the words of it that are kept as they are, and all its words, in place of "why"
 *     piece  a part of such a text that is kept as it is
 *     done, kept, left    what became of a text; why it is left */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "documents/formats/formats.h"

enum { MOST_BYTES = 1 << 20 };

typedef struct counter {
    ferry_model *model;
    ferry_translator *translator;
    const char *path;
    ferry_document document;
} counter;

static size_t find_line(const ferry_document *document, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++) line += document->source.data[i] == '\n';
    return line;
}

static void print(const counter *c, const char *what, size_t at, const char *why, ferry_view text)
{
    printf("%s\t%s\t%zu\t%s\t", what, c->path, find_line(&c->document, at), why);
    for (size_t i = 0; i < text.size; i++) putchar((unsigned char)text.data[i] < ' ' ? ' ' : text.data[i]);
    putchar('\n');
}

/* Parts between blanks that have a letter. */
static size_t count_words(ferry_view text)
{
    size_t count = 0;
    bool in_word = false;
    for (size_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        const bool is_letter = (c | 32) >= 'a' && ((c | 32) <= 'z' || c >= 0x80);
        if (c <= ' ') in_word = false;
        count += is_letter && !in_word;
        in_word = in_word || is_letter;
    }
    return count;
}

static const char *find_note(const ferry_document *document, const ferry_segment *segment)
{
    for (size_t i = 0; i < document->note_count; i++)
        if (document->notes[i].left && document->notes[i].offset == segment->begin) return document->notes[i].message;
    return "";
}

static void print_segment(const counter *c, const ferry_segment *segment)
{
    const ferry_document *document = &c->document;
    const ferry_view source = ferry_segment_source(document, segment);
    size_t words = 0, kept = 0;
    char counts[64];
    for (size_t i = segment->first_read; segment->has_letters && i < segment->after_read; i++) {
        const ferry_span *span = &document->spans[i];
        if (span->kind != FERRY_SPAN_TEXT && span->kind != FERRY_SPAN_KEPT) continue;
        const ferry_view text = ferry_span_text(document, span);
        words += count_words(text);
        if (span->kind == FERRY_SPAN_TEXT || !ferry_view_equal(text, ferry_span_source(document, span))) continue;
        kept += count_words(text); /* not `code` */
        print(c, "piece", span->begin, "", text);
    }
    snprintf(counts, sizeof counts, "%zu/%zu", kept, words);
    if (words > 0) print(c, "text", segment->begin, counts, source);
    const char *what = segment->translated ? "done" : segment->failed ? "left" : "kept";
    print(c, what, segment->begin, segment->failed ? find_note(document, segment) : "", source);
}

static void count(counter *c, const ferry_document_format *format, ferry_view source)
{
    ferry_error error;
    ferry_document *document = &c->document;
    const ferry_document_context context = {
        .model = c->model,
        .source = ferry_language_find(c->model, NULL, FERRY_LANGUAGE_DEFAULT_SOURCE),
        .target = ferry_language_find(c->model, NULL, FERRY_LANGUAGE_DEFAULT_TARGET),
    };
    const ferry_document_options options = {.size = sizeof options};
    ferry_status status = ferry_document_read(document, format, &context, source, &error);
    if (status == FERRY_OK) status = ferry_segments_translate(document, c->translator, &options);
    for (size_t i = 0; status == FERRY_OK && i < document->attribute_count; i++)
        print_segment(c, &document->attributes[i]);
    for (size_t i = 0; status == FERRY_OK && i < document->segment_count; i++) print_segment(c, &document->segments[i]);
    if (status != FERRY_OK) fprintf(stderr, "%s: %s\n", c->path, error.message);
    ferry_document_destroy(document);
}

int main(int argc, char **argv)
{
    static char bytes[MOST_BYTES];
    char path[4096];
    counter c;
    ferry_options options;
    const ferry_document_format *format = argc == 3 ? ferry_document_format_named(argv[2]) : NULL;
    if (format == NULL || ferry_model_open(argv[1], 0, &c.model, NULL) != FERRY_OK) return 2;
    ferry_options_default(c.model, &options, sizeof options);
    options.on_loop = FERRY_ON_LOOP_RETRY; /* as the program has it */
    options.threads = 1;
    if (ferry_translator_create(c.model, &options, &c.translator, NULL) != FERRY_OK) return 2;
    while (fgets(path, sizeof path, stdin) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        c.path = path;
        FILE *file = fopen(path, "rb");
        if (file == NULL) continue;
        const ferry_view source = {bytes, fread(bytes, 1, sizeof bytes, file)};
        fclose(file);
        count(&c, format, source);
    }
    ferry_translator_destroy(c.translator);
    ferry_model_close(c.model);
    return 0;
}
