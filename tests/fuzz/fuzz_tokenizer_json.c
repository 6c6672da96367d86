/* Any bytes up to the first NUL as tokenizer.json: refused, or a tokenizer that makes ids of the bytes behind it, with
 * ranges in their order, and text of ids. */
#include "use_tokenizer.h"

#include "models/containers/reader.h"
#include "models/text/tokenizer_json.h"

enum { ROWS = 320 };

static void use(const ferry_tokenizer *tokenizer, ferry_view text)
{
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    ferry_error error;
    if (ferry_tokenizer_encode_ranges(tokenizer, (ferry_view){NULL, 0}, text, &ids, &ranges, &error) == FERRY_OK) {
        if (ids.count != ranges.count) abort();
        for (size_t i = 0; i < ids.count; i++) {
            const ferry_range range = ranges.ranges[i];
            if (ids.ids[i] < 0 || ids.ids[i] >= ROWS || range.begin > range.end || range.end > text.size) abort();
            if (i > 0 && range.begin < ranges.ranges[i - 1].begin) abort();
        }
        const ferry_buffer decoded = decode(tokenizer, &ids, ranges.ranges);
        read_all((ferry_view){decoded.data, decoded.size});
        free(decoded.data);
    }
    free(ids.ids);
    free(ranges.ranges);
}

/* As a model file would say it. */
static void open(const ferry_tokenizer_config *text, ferry_view line)
{
    ferry_tokenizer *tokenizer;
    ferry_error error;
    if (ferry_tokenizer_create(text, &tokenizer, &error) != FERRY_OK) abort(); /* the importer has checked it */
    use(tokenizer, line);
    ferry_tokenizer_destroy(tokenizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *begin = (const char *)data, *end = size > 0 ? memchr(begin, '\0', size) : NULL;
    const ferry_view file = {begin, end != NULL ? (size_t)(end - begin) : size};
    const ferry_view line = {end, end != NULL ? size - file.size : 0};
    ferry_budget budget;
    ferry_import_plan plan = {.prefix = ""};
    ferry_tokenizer_json json;
    ferry_error error;
    json_t *root;
    ferry_budget_begin(&budget, 0);
    plan.account = plan.arena.account = &budget.account;
    plan.model.encoder.vocab_size = plan.model.decoder.vocab_size = ROWS;
    if (ferry_json_parse(file, "input", JSON_OBJECT, &budget.account, &root, &error) != FERRY_OK) return 0;
    if (ferry_tokenizer_json_read(&plan, (ferry_json){.object = root, .file = "input"}, &json, &error) == FERRY_OK)
        open(&plan.text, line);
    json_decref(root);
    ferry_arena_destroy(&plan.arena);
    return 0;
}
