#include "tokenizer_support.h"

#include "check_ranges.h"
#include "random.h"

ferry_view read_file(const char *path)
{
    const made_file copy = file_copy(path);
    return (ferry_view){(const char *)copy.data, copy.size};
}

char *read_lines(const char *name)
{
    const ferry_view file = mapped_bytes(in_directory(FERRY_TEST_DATA, name));
    return memcpy(kept_memory(file.size + 1), file.data, file.size);
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

static ferry_tokenizer *kept[1000];
static size_t kept_count;

static void destroy_kept(void)
{
    while (kept_count > 0) ferry_tokenizer_destroy(kept[--kept_count]);
}

ferry_tokenizer *create_tokenizer(const ferry_tokenizer_config *config)
{
    assert_true(kept_count < COUNT(kept));
    if (kept_count == 0) atexit(destroy_kept);
    CHECK(ferry_tokenizer_create(config, &kept[kept_count], &error));
    return kept[kept_count++];
}

void encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids)
{
    CHECK(ferry_tokenizer_encode(tokenizer, text, ids, &error));
}

void check_ids(const ferry_tokenizer *tokenizer, ferry_view text, const int32_t *expected, size_t count)
{
    ferry_ids ids = {0};
    encode(tokenizer, text, &ids);
    assert_int_equal(ids.count, count);
    assert_memory_equal(ids.ids, expected, count * sizeof *expected);
    free(ids.ids);
}

void assert_text(const ferry_string *text, ferry_view expected)
{
    assert_int_equal(text->size, expected.size);
    if (expected.size > 0) assert_memory_equal(text->data, expected.data, expected.size);
}

own_ids *load_own_ids(const char *path)
{
    const ferry_view proto = read_file(path);
    own_ids *model = kept_memory(sizeof *model);
    CHECK(ferry_spm_create(proto, path, &model->spm, &error));
    const int32_t count = ferry_spm_count(model->spm);
    ferry_view *pieces = kept_memory((size_t)count * sizeof *pieces);
    for (int32_t id = 0; id < count; id++) pieces[id] = ferry_spm_piece(model->spm, id);
    model->config = one_vocabulary(pieces, (size_t)count);
    model->config.source_model = model->config.target_model = proto;
    model->config.source_unk_id = model->unknown = ferry_spm_unknown(model->spm);
    model->config.special_ids = &model->unknown;
    model->config.special_count = 1;
    model->tokenizer = create_tokenizer(&model->config);
    return model;
}

void assert_sound(ferry_view text, const ferry_range *ranges, size_t count)
{
    const char *fault = fault_of_ranges(text, ranges, count);
    if (fault != NULL) fail_msg("'%.*s': ranges %s", (int)text.size, text.data, fault);
}

/* Ranges as ferry_ranges has them; `expected` is "ID:TEXT|ID:TEXT", where TEXT is what the range has; "TEXT|TEXT" if
 * `ids` is NULL. */
static void assert_parts(ferry_view text, const int32_t *ids, const ferry_range *ranges, size_t count,
                         const char *expected)
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

void check_encoded(const ferry_tokenizer_config *config, encoded_side side, const encoded_row *rows, size_t count)
{
    const ferry_tokenizer *tokenizer = create_tokenizer(config);
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    for (const encoded_row *row = rows; row < rows + count; row++) {
        CHECK(side == TARGET ? ferry_tokenizer_encode_target(tokenizer, row->text, &ids, &ranges, &error)
                             : ferry_tokenizer_encode_ranges(tokenizer, VIEW(""), row->text, &ids, &ranges, &error));
        assert_int_equal(ranges.count, ids.count);
        assert_parts(row->text, side != SOURCE_PARTS ? ids.ids : NULL, ranges.ranges, ids.count, row->parts);
    }
    free(ids.ids);
    free(ranges.ranges);
}

void check_translations(const ferry_tokenizer_config *config, const decoded_row *rows, size_t count)
{
    const ferry_tokenizer *tokenizer = create_tokenizer(config);
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

void check_any_texts(const ferry_tokenizer_config *config, ferry_view bytes, int rounds)
{
    const ferry_tokenizer *tokenizer = create_tokenizer(config);
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
            random_ids[i] = (int32_t)(next_random(&random) % (uint32_t)config->target_count);
        CHECK(ferry_tokenizer_decode_ranges(tokenizer, random_ids, COUNT(random_ids), NULL, &output, joined, &error));
        assert_sound((ferry_view){output.data, output.size}, joined, COUNT(random_ids));
    }
    free(ids.ids);
    free(again.ids);
    free(ranges.ranges);
    free(output.data);
}
