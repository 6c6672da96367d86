/* Any bytes as the text of a file that is translated by a small model: every line gives well-formed UTF-8, the same
 * alone as among the others. The first byte chooses options. */
#define _GNU_SOURCE /* memfd_create */
#include "embedded_model.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"
#include "tools/line_reader.h"

enum { CHOICES = 24 };

/* Created once for each choice. */
static ferry_translator *find_translator(const ferry_model *model, uint8_t choice)
{
    static ferry_translator *translators[CHOICES];
    ferry_translator *translator = translators[choice];
    ferry_options options;
    if (translator != NULL) return translator;
    if (ferry_options_default(model, &options, sizeof options) != FERRY_OK) abort();
    options.from = ferry_model_language_tag(model, 0);
    options.to = ferry_model_language_tag(model, ferry_model_language_count(model) - 1);
    options.beam = 1 + choice % 3;
    options.nbest = options.beam;
    options.max_source = 8 + choice / 3;
    options.max_length = 5;
    options.batch = 3;
    if (ferry_translator_create(model, &options, &translators[choice], NULL) != FERRY_OK) abort();
    return translators[choice];
}

static void check_same(const ferry_result *a, size_t line, const ferry_result *b)
{
    const size_t count = ferry_result_hypotheses(a, line);
    if (ferry_result_status(a, line) != ferry_result_status(b, 0) || count != ferry_result_hypotheses(b, 0)) abort();
    for (size_t h = 0; h < count; h++) {
        const ferry_text x = ferry_result_text(a, line, h), y = ferry_result_text(b, 0, h);
        if (x.size != y.size || (x.size > 0 && memcmp(x.data, y.data, x.size) != 0)) abort();
        if (!ferry_utf8_is_valid((ferry_view){x.data, x.size})) abort();
    }
}

static void translate(ferry_translator *translator, const ferry_text *lines, size_t count)
{
    ferry_result *together, *alone;
    if (ferry_translate(translator, lines, count, &together, NULL) != FERRY_OK) abort();
    for (size_t i = 0; i < count; i++) {
        if (ferry_translate(translator, &lines[i], 1, &alone, NULL) != FERRY_OK) abort();
        check_same(together, i, alone);
        ferry_result_destroy(alone);
    }
    ferry_result_destroy(together);
}

/* Lines and what ends them are the input. */
static void translate_file(ferry_translator *translator, const char *path, ferry_view input, size_t most)
{
    ferry_lines lines;
    size_t at = 0;
    if (!ferry_lines_open(&lines, path)) abort();
    lines.as_is = true;
    while (ferry_lines_next(&lines, most)) {
        for (size_t i = 0; i < lines.count; i++) {
            const size_t size = lines.texts[i].size;
            if (size > input.size - at || (size > 0 && memcmp(lines.texts[i].data, input.data + at, size) != 0))
                abort();
            at += size + lines.returns[i];
            if (at < input.size && input.data[at++] != '\n') abort();
        }
        translate(translator, lines.texts, lines.count);
    }
    if (lines.failed || at != input.size) abort();
    ferry_lines_close(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    const int file = memfd_create("text", 0);
    if (size == 0) return 0;
    if (file < 0 || write(file, data + 1, size - 1) != (ssize_t)(size - 1)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ferry_translator *translator = find_translator(open_embedded_model(), data[0] % CHOICES);
    translate_file(translator, path, (ferry_view){(const char *)data + 1, size - 1}, 1 + data[0] / 16);
    close(file);
    return 0;
}
