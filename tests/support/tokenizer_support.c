#include "tokenizer_support.h"

#include "check_ranges.h"
#include "random.h"

ferry_view read_file(const char *path)
{
    const made_file copy = file_copy(path);
    return (ferry_view){(const char *)copy.data, copy.size};
}

ferry_view read_digits(char **at)
{
    char *text = *at;
    size_t size = 0;
    for (; ferry_hex_digit(text[2 * size]) >= 0; size++)
        text[size] = (char)(ferry_hex_digit(text[2 * size]) * 16 + ferry_hex_digit(text[2 * size + 1]));
    *at = text + 2 * size + 1;
    return (ferry_view){text, size};
}

ferry_tokenizer_config one_vocabulary(const ferry_view *pieces, size_t count)
{
    const ferry_texts *listed = kept_texts(pieces, count);
    return (ferry_tokenizer_config){.source_pieces = listed,
                                    .source_count = (int32_t)count,
                                    .target_pieces = listed,
                                    .target_count = (int32_t)count};
}

ferry_tokenizer *create_tokenizer(const ferry_tokenizer_config *config)
{
    ferry_tokenizer *tokenizer;
    CHECK(ferry_tokenizer_create(config, &tokenizer, &error));
    return tokenizer;
}

void encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids)
{
    CHECK(ferry_tokenizer_encode(tokenizer, text, ids, &error));
}

void assert_text(const ferry_string *text, ferry_view expected)
{
    assert_int_equal(text->size, expected.size);
    if (expected.size > 0) assert_memory_equal(text->data, expected.data, expected.size);
}

own_ids load_own_ids(const char *path)
{
    const ferry_view proto = read_file(path);
    own_ids model = {.spm = NULL};
    CHECK(ferry_spm_create(proto, path, &model.spm, &error));
    const int32_t count = ferry_spm_count(model.spm);
    ferry_view *pieces = kept_memory((size_t)count * sizeof *pieces);
    int32_t *unknown = kept_memory(sizeof *unknown);
    for (int32_t id = 0; id < count; id++) pieces[id] = ferry_spm_piece(model.spm, id);
    *unknown = ferry_spm_unknown(model.spm);
    model.config = one_vocabulary(pieces, (size_t)count);
    model.config.source_model = model.config.target_model = proto;
    model.config.source_unk = *unknown;
    model.config.target_special = unknown;
    model.config.target_special_count = 1;
    model.tokenizer = create_tokenizer(&model.config);
    return model;
}

void free_own_ids(own_ids *model)
{
    ferry_tokenizer_destroy(model->tokenizer);
    ferry_spm_destroy(model->spm);
    free(model->ids.ids);
    free(model->ranges.ranges);
}

void assert_sound(ferry_view text, const ferry_range *ranges, size_t count)
{
    const char *fault = fault_of_ranges(text, ranges, count);
    if (fault != NULL) fail_msg("'%.*s': ranges %s", (int)text.size, text.data, fault);
}

void assert_parts(ferry_view text, const int32_t *ids, const ferry_range *ranges, size_t count, const char *expected)
{
    char found[1024] = "";
    size_t size = 0;
    assert_sound(text, ranges, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) size += (size_t)snprintf(found + size, sizeof found - size, "|");
        if (ids != NULL) size += (size_t)snprintf(found + size, sizeof found - size, "%d:", (int)ids[i]);
        size += (size_t)snprintf(found + size, sizeof found - size, "%.*s", (int)(ranges[i].end - ranges[i].begin),
                                 text.data + ranges[i].begin);
        assert_true(size + 20 < sizeof found);
    }
    assert_string_equal(found, expected);
}

void check_encoded(const ferry_tokenizer *tokenizer, bool target, ferry_view text, const char *expected)
{
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    if (target)
        CHECK(ferry_tokenizer_encode_target(tokenizer, text, &ids, &ranges, &error));
    else
        CHECK(ferry_tokenizer_encode_ranges(tokenizer, VIEW(""), text, &ids, &ranges, &error));
    assert_int_equal(ranges.count, ids.count);
    assert_parts(text, ids.ids, ranges.ranges, ids.count, expected);
    free(ids.ids);
    free(ranges.ranges);
}

void check_sources(const ferry_tokenizer *tokenizer, const encoded_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) check_encoded(tokenizer, false, rows[i].text, rows[i].parts);
}

void check_translations(const ferry_tokenizer *tokenizer, const decoded_row *rows, size_t count)
{
    ferry_string text = {0};
    for (const decoded_row *row = rows; row < rows + count; row++) {
        ferry_range ranges[COUNT(row->ids)];
        CHECK(ferry_tokenizer_decode_ranges(tokenizer, row->ids, row->count, row->words, &text, ranges, &error));
        assert_text(&text, row->text);
        assert_parts(row->text, NULL, ranges, row->count, row->parts);
        CHECK(ferry_tokenizer_decode_ranges(tokenizer, row->ids, row->count, row->words, &text, NULL, &error));
        assert_text(&text, row->text);
    }
    free(text.data);
}

void check_any_texts(const ferry_tokenizer *tokenizer, int32_t target_count, ferry_view bytes, int rounds)
{
    char text[40];
    int32_t random_ids[12];
    ferry_range joined[COUNT(random_ids)];
    ferry_ids ids = {0}, again = {0};
    ferry_ranges ranges = {0};
    ferry_string output = {0};
    uint32_t random = 15;
    for (int round = 0; round < rounds; round++) {
        const ferry_view view = {text, next_random(&random) % sizeof text};
        for (size_t i = 0; i < view.size; i++) text[i] = bytes.data[next_random(&random) % bytes.size];
        if (view.size > 8) memcpy(text + view.size % 5, bytes.data + next_random(&random) % (bytes.size - 4), 4);
        CHECK(ferry_tokenizer_encode_ranges(tokenizer, VIEW(""), view, &ids, &ranges, &error));
        assert_int_equal(ranges.count, ids.count);
        assert_sound(view, ranges.ranges, ranges.count);
        encode(tokenizer, view, &again);
        assert_int_equal(ids.count, again.count);
        if (ids.count > 0) assert_memory_equal(ids.ids, again.ids, ids.count * sizeof *ids.ids);
        for (size_t i = 0; i < COUNT(random_ids); i++)
            random_ids[i] = (int32_t)(next_random(&random) % (uint32_t)target_count);
        CHECK(ferry_tokenizer_decode_ranges(tokenizer, random_ids, COUNT(random_ids), NULL, &output, joined, &error));
        assert_sound((ferry_view){output.data, output.size}, joined, COUNT(random_ids));
    }
    free(ids.ids);
    free(again.ids);
    free(ranges.ranges);
    free(output.data);
}
