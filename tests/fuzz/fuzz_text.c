/* Any bytes as the text of a file that is translated by a small model: every line gives well-formed UTF-8, the same
 * alone as among the others. The first byte chooses options. */
#include "memory_file.h"

#include "embedded_model.h"

#include "base/utf8.h"
#include "tools/line_reader.h"

static void choose(ferry_options *options, uint8_t choice)
{
    options->beam = options->nbest = 1 + choice % 3;
    options->max_source = 8 + choice / 3;
    options->max_length = 5;
    options->batch = 3;
}

static void check_same(const ferry_result *a, size_t line, const ferry_result *b)
{
    const size_t count = ferry_result_hypothesis_count(a, line);
    if (ferry_result_outcome(a, line)->status != ferry_result_outcome(b, 0)->status ||
        count != ferry_result_hypothesis_count(b, 0))
        abort();
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
    if (size == 0) return 0;
    const ferry_view text = {(const char *)data + 1, size - 1};
    const int file = make_file(text, path);
    translate_file(find_translator(data[0] % CHOICES, choose), path, text, 1 + data[0] / 16);
    close(file);
    return 0;
}
