/* Any bytes up to the first NUL as tokenizer.json: refused, or a tokenizer that makes ids of the bytes behind it, with
 * ranges in their order, and text of ids. */
#include "fuzz.h"

#include "models/containers/budget.h"
#include "models/families/huggingface/tokenizer_json.h"
#include "tokenizer/tokenizer.h"

enum { ROWS = 320 };

static void use(const ferry_tokenizer *tokenizer, ferry_view text)
{
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    ferry_string decoded = {0};
    ferry_error error;
    if (ferry_tokenizer_encode_ranges(tokenizer, (ferry_view){NULL, 0}, text, &ids, &ranges, &error) == FERRY_OK) {
        if (ids.count != ranges.count) abort();
        for (size_t i = 0; i < ids.count; i++) {
            const ferry_range range = ranges.ranges[i];
            if (ids.ids[i] < 0 || ids.ids[i] >= ROWS || range.begin > range.end || range.end > text.size) abort();
            if (i > 0 && range.begin < ranges.ranges[i - 1].begin) abort();
        }
        if (ferry_tokenizer_decode_ranges(tokenizer, ids.ids, ids.count, NULL, &decoded, ranges.ranges, &error) !=
            FERRY_OK)
            abort();
        read_all((ferry_view){decoded.data, decoded.size});
        for (size_t i = 0; i < ids.count; i++)
            if (ranges.ranges[i].begin > ranges.ranges[i].end || ranges.ranges[i].end > decoded.size) abort();
    }
    free(ids.ids);
    free(ranges.ranges);
    free(decoded.data);
}

/* As a model file would say it. */
static void open(const ferry_model_text *text, ferry_view line)
{
    const ferry_tokenizer_config config = {
        .source_pieces = text->source_pieces,
        .source_count = text->source_count,
        .target_pieces = text->target_pieces,
        .target_count = text->target_count,
        .source_unk = text->source_unk_id,
        .target_special = text->special_ids,
        .target_special_count = (size_t)text->special_count,
        .prefix_ids = text->prefix_ids,
        .prefix_count = (size_t)text->prefix_count,
        .suffix_ids = text->suffix_ids,
        .suffix_count = (size_t)text->suffix_count,
        .rules = {.steps = text->steps,
                  .step_count = (size_t)text->step_count,
                  .charsmap = text->charsmap,
                  .added_ids = text->added_ids,
                  .added_flags = text->added_flags,
                  .added_count = (size_t)text->added_count},
        .scores = text->scores,
        .bpe = text->kind == FERRY_TOKENIZER_BPE ? FERRY_BPE_TOKENIZERS : FERRY_BPE_NONE,
        .source_merges = text->source_merges,
        .source_merge_count = (size_t)text->source_merge_count,
        .target_merges = text->target_merges,
        .target_merge_count = (size_t)text->target_merge_count,
        .word_end = text->word_end,
        .fuse_unknown = text->fuse_unknown,
        .whole_words = text->whole_words,
        .byte_fallback = text->byte_fallback,
        .bytes = (ferry_decoder_bytes)text->decoder_bytes,
        .blanks = (ferry_decoder_blanks)text->decoder_blanks,
    };
    ferry_tokenizer *tokenizer;
    ferry_error error;
    if (ferry_tokenizer_create(&config, &tokenizer, &error) != FERRY_OK) abort(); /* the importer has checked it */
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
    if (ferry_json_parse(file, "input", &budget.account, &root, &error) != FERRY_OK) return 0;
    if (ferry_tokenizer_json_read(&plan, (ferry_json){.object = root, .file = "input"}, &json, &error) == FERRY_OK) {
        for (int i = 0; i < ROWS; i++)
            if (json.pieces[i].data == NULL) json.pieces[i].data = "";
        open(&plan.text, line);
    }
    json_decref(root);
    ferry_arena_destroy(&plan.arena);
    return 0;
}
