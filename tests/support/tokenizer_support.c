#include "tokenizer_support.h"

ferry_view read_file(const char *path)
{
    const made_file copy = file_copy(path);
    return (ferry_view){(const char *)copy.data, copy.size};
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
