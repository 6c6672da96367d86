/* CTranslate2's model.bin: small ones of every version, and what is refused. */
#include "tests/support/refusals.h"

static void put_string(made_file *b, const char *text)
{
    put(b, strlen(text) + 1, 2);
    put_bytes(b, text, strlen(text) + 1);
}

/* A variable [rows, 2]; `type` is the type's id or before version 4 its size, `stated` bytes or elements. Its bytes are
 * the name's first letter, and those after it. */
static void put_variable(made_file *b, const char *name, uint32_t rows, uint8_t type, uint32_t stated, size_t size)
{
    put_string(b, name);
    PUT(b, {2, 1}, {rows, 4}, {2, 4}, {type, 1}, {stated, 4});
    for (size_t i = 0; i < size; i++) put(b, (unsigned char)name[0] + i, 1);
}

static made_file begin(uint32_t version, const char *specification, uint32_t revision, uint32_t variables)
{
    made_file b = {.size = 0};
    put(&b, version, 4);
    if (version >= 2) {
        put_string(&b, specification);
        put(&b, revision, 4);
    }
    put(&b, variables, 4);
    return b;
}

static ferry_status read_weights(ferry_reader *in, ferry_weights *weights)
{
    ferry_ctranslate2_header header;
    const ferry_view bytes = {(const char *)in->cursor.data, in->cursor.size};
    return ferry_ctranslate2_read(bytes, in->file, weights->arena.account, &header, weights, in->error);
}

TEST(test_types_of_each_version)
{
    static const struct {
        uint32_t version;
        uint8_t type;
        uint32_t stated;
        size_t size;
        const char *expected;
    } rows[] = {{4, 0, 8, 8, "$ f32 [1, 2] 2.30573e-15 6.04532e-13"},
                {5, 1, 2, 2, "$ i8 [1, 2] 36 37"},
                {6, 2, 4, 4, "$ i16 [1, 2] / 1000 9508 10022"},
                {4, 3, 8, 8, "$ i32 [1, 2] 656811300 724183336"},
                {5, 4, 4, 4, "$ f16 [1, 2] 9508 10022"},
                {6, 5, 4, 4, "$ bf16 [1, 2] 9508 10022"},
                {2, 1, 2, 2, "$ i8 [1, 2] 36 37"},
                {2, 2, 2, 4, "$ i16 [1, 2] / 1000 9508 10022"},
                {2, 4, 2, 8, "$ f32 [1, 2] 2.30573e-15 6.04532e-13"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        made_file b = begin(rows[i].version, "TransformerSpec", 5, 1);
        put_variable(&b, "$", 1, rows[i].type, rows[i].stated, rows[i].size);
        if (rows[i].version > 2) put(&b, 0, 4);
        check_weights(read_weights, whole(&b), rows[i].expected);
    }
}

TEST(test_aliases)
{
    static const char *const aliases[] = {"c", "m", "nothing", "absent", "b", "m", "a_zero" /* its own */, "m_scale"};
    made_file b = begin(3, "TransformerSpec", 3, 5);
    put_variable(&b, "m", 2, 1, 4, 4);
    put_variable(&b, "m_scale", 1, 1, 2, 2);
    put_variable(&b, "m_zero", 1, 1, 2, 2);
    put_variable(&b, "absent_scale", 1, 1, 2, 2);
    put_variable(&b, "c_scale", 1, 1, 2, 2); /* not m's */
    put(&b, 4, 4);
    for (size_t i = 0; i < COUNT(aliases); i++) put_string(&b, aliases[i]);
    check_weights(read_weights, whole(&b),
                  "a_zero i8 [1, 2] 109 110; absent_scale i8 [1, 2] 97 98; b i8 [2, 2] 109 110 111 112; "
                  "b_scale i8 [1, 2] 109 110; b_zero i8 [1, 2] 109 110; c i8 [2, 2] 109 110 111 112; "
                  "c_scale i8 [1, 2] 99 100; c_zero i8 [1, 2] 109 110; m i8 [2, 2] 109 110 111 112; "
                  "m_scale i8 [1, 2] 109 110; m_zero i8 [1, 2] 109 110");
}

/* One scale for the whole matrix. */
TEST(test_multiplier)
{
    made_file b = begin(6, "TransformerSpec", 7, 2);
    put_variable(&b, "m", 2, 1, 4, 4);
    put_string(&b, "m_scale");
    PUT(&b, {0, 1 + 1} /* dimensions, type */, {4, 4}, {0x423c0000 /* 47 */, 4}, {0, 4});
    check_weights(read_weights, whole(&b), "m i8 [2, 2] / 47 109 110 111 112; m_scale f32 [] 47");
}

TEST(test_renaming)
{
    static const char *const names[] = {"transformer/encoder/w_embs:0",
                                        "transformer/encoder/layer_0/multi_head/LayerNorm/gamma:0",
                                        "transformer/decoder/layer_1/masked_multi_head/conv1d/kernel:0",
                                        "transformer/decoder/layer_1/multi_head/conv1d_2/bias:0",
                                        "transformer/decoder/dense/kernel:0"};
    made_file b = begin(1, "", 1, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) put_variable(&b, names[i], 1, 2, 2, 4);
#define NUMBERS " i16 [1, 2] / 1000 30068 30582"
    check_weights(read_weights, whole(&b),
                  "decoder/layer_1/attention/linear_2/bias" NUMBERS
                  "; decoder/layer_1/self_attention/linear_0/weight" NUMBERS "; decoder/projection/weight" NUMBERS
                  "; encoder/embeddings/weight" NUMBERS "; encoder/layer_0/self_attention/layer_norm/gamma" NUMBERS);
}

/* ---- refusals ---- */

static ferry_view head(uint32_t version, const char *specification, uint32_t variables, uint32_t aliases)
{
    made_file b = begin(version, specification, 7, variables);
    put(&b, aliases, 4);
    return whole(&b);
}

/* A model of one variable. */
static ferry_view one(uint32_t version, uint32_t rows, uint8_t type, uint32_t stated, size_t size)
{
    made_file b = begin(version, "TransformerSpec", 7, 1);
    put_variable(&b, "x", rows, type, stated, size);
    return whole(&b);
}

#define VERSION(found) "not a CTranslate2 model: expected version 1 to 6, found " found
#define NAME_OF_64 "A specification's name of 64 bytes, which is 1 more than it has."

TEST(test_headers_refused)
{
    const made_file oldest = begin(1, "", 1, 0);
    made_file empty = begin(6, "TransformerSpec", 7, 0);
    put(&empty, 0, 4);
    const refused rows[] = {
        MALFORMED(head(7, "x", 0, 0), VERSION("7")),
        MALFORMED(head(0, "x", 0, 0), VERSION("0")),
        MALFORMED(head(0x04034b50, "x", 0, 0), VERSION("67324752 (a zip archive?)")),
        MALFORMED(BYTES("\x48\0\0\0\0\0\0\0{\"a\":1}"), VERSION("72 (a safetensors file?)")),
        MALFORMED(head(6, NAME_OF_64, 0, 0), "the specification's name has 64 bytes"),
        MALFORMED(head(6, "TransformerSpec", UINT32_MAX, 0), "4294967295 variables in 4 bytes"),
        MALFORMED(head(6, "TransformerSpec", 0, UINT32_MAX), "4294967295 aliases in 0 bytes"),
        MALFORMED(edited(&empty, 6 + 15, 'x'), "cut off or broken in its header"),
        MALFORMED(longer(&empty, 3), "3 bytes past the last record"),
    };
    check_refused_weights(read_weights, rows, COUNT(rows));
    ferry_ctranslate2_header header;
    ferry_weights weights;
    CHECK(ferry_ctranslate2_read(head(6, &NAME_OF_64[1], 0, 0), "model.bin", NULL, &header, &weights, &error));
    assert_string_equal(header.specification, &NAME_OF_64[1]);
    assert_true(header.version == 6 && header.revision == 7);
    ferry_weights_close(&weights);
    CHECK(ferry_ctranslate2_read(whole(&oldest), "model.bin", NULL, &header, &weights, &error));
    assert_int_equal(header.revision, 1);
    ferry_weights_close(&weights);
}

TEST(test_variables_refused)
{
    made_file deep = begin(6, "TransformerSpec", 7, 1), twins = begin(6, "TransformerSpec", 7, 2);
    made_file own = begin(6, "TransformerSpec", 7, 1);
    put_string(&deep, "deep");
    PUT(&deep, {5, 1}, {0, 8});
    for (int i = 0; i < 2; i++) put_variable(&twins, "twin", 1, 1, 2, 2);
    put(&twins, 0, 4);
    put_variable(&own, "x", 1, 1, 2, 2);
    put(&own, 1, 4);
    for (int i = 0; i < 2; i++) put_string(&own, "x");
    const refused rows[] = {
        MALFORMED(one(6, 1, 6, 8, 8), "tensor 'x': unknown element type 6"),
        MALFORMED(one(3, 1, 3, 2, 6), "tensor 'x': unknown element type 3"),
        MALFORMED(one(3, 1, 0, 2, 6), "tensor 'x': unknown element type 0"),
        MALFORMED(one(6, 1, 0, 7, 8), "tensor 'x': shape [1, 2] of f32 does not fit its 7 bytes"),
        MALFORMED(one(6, 1, 0, 9, 9), "tensor 'x': shape [1, 2] of f32 does not fit its 9 bytes"),
        MALFORMED(one(6, 2, 0, 16, 15), "tensor 'x': expected 16 bytes, found 15: cut off?"),
        MALFORMED(one(3, 1, 4, UINT32_MAX, 8), "tensor 'x': expected 17179869180 bytes, found 8: cut off?"),
        MALFORMED(whole(&deep), "tensor 'deep': expected at most 4 dimensions, found 5"),
        {whole(&twins), FERRY_ERROR_FORMAT, "in and in: tensor 'twin' occurs twice"},
        {whole(&own), FERRY_ERROR_FORMAT, "in and in: tensor 'x' occurs twice"},
    };
    check_refused_weights(read_weights, rows, COUNT(rows));
}

TEST(test_every_length)
{
    made_file b = begin(6, "TransformerSpec", 7, 1);
    put_variable(&b, "x", 2, 1, 4, 4);
    put(&b, 1, 4);
    put_string(&b, "y");
    put_string(&b, "x");
    check_refused_weights_cuts(read_weights, &b, 0, FERRY_ERROR_FORMAT);
    check_weights(read_weights, whole(&b), "x i8 [2, 2] 120 121 122 123; y i8 [2, 2] 120 121 122 123");
}
