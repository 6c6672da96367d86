#include "tokenizer_support.h"

ferry_view read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, size, file), size);
    fclose(file);
    return (ferry_view){data, size};
}

void free_view(ferry_view view)
{
    free((void *)(uintptr_t)view.data);
}

ferry_tokenizer *create_tokenizer(const ferry_tokenizer_config *config)
{
    ferry_error error;
    ferry_tokenizer *tokenizer;
    if (ferry_tokenizer_create(config, &tokenizer, &error) != FERRY_OK) fail_msg("%s", error.message);
    return tokenizer;
}

void encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids)
{
    ferry_error error;
    if (ferry_tokenizer_encode(tokenizer, text, ids, &error) != FERRY_OK) fail_msg("%s", error.message);
}

void assert_text(const ferry_string *text, ferry_view expected)
{
    assert_int_equal(text->size, expected.size);
    if (expected.size > 0) assert_memory_equal(text->data, expected.data, expected.size);
}
