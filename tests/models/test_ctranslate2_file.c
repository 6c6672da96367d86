/* CTranslate2's model.bin: real models of versions 1, 2 and 6, small ones made here, and what is refused. */
#include "tests/support/files.h"

typedef struct model {
    ferry_ctranslate2_header header;
    ferry_weights weights;
} model;

static model open_shared(const char *name)
{
    model m;
    char *path = shared_file("models/%s/model.bin", name);
    CHECK(ferry_ctranslate2_read(mapped_bytes(path), path, NULL, &m.header, &m.weights, &error));
    return m;
}

static float float_at(const ferry_weights_entry *entry, size_t index)
{
    float value;
    assert_int_equal(entry->tensor.type, FERRY_F32);
    memcpy(&value, (const char *)entry->tensor.data + index * sizeof value, sizeof value);
    return value;
}

/* ---- real models ---- */

TEST(test_headers)
{
    static const struct {
        const char *name, *specification;
        uint32_t version, revision;
        size_t count;
    } models[] = {
        {"aren-transliteration/v1/aren-transliteration", "", 1, 1, 200},
        {"aren-transliteration/v1/aren-transliteration-i16", "", 1, 1, 200},
        {"aren-transliteration/v2/aren-transliteration", "TransformerBase", 2, 2, 200},
        {"aren-transliteration/v2/aren-transliteration-i16", "TransformerBase", 2, 2, 269},
        {"aren-transliteration/v2/aren-transliteration-i8", "TransformerBase", 2, 2, 269},
    };
    for (size_t i = large_data() ? 0 : 1; i < COUNT(models); i++) { /* the first is too large for the tree */
        model m = open_shared(models[i].name);
        assert_int_equal(m.header.version, models[i].version);
        assert_string_equal(m.header.specification, models[i].specification);
        assert_int_equal(m.header.revision, models[i].revision);
        assert_int_equal(m.weights.count, models[i].count);
        ferry_weights_close(&m.weights);
    }
}

/* Two ages of the format hold the same numbers under the same names. */
static void compare_ages(const char *kind)
{
    char first[100], second[100];
    snprintf(first, sizeof first, "aren-transliteration/v1/aren-transliteration%s", kind);
    snprintf(second, sizeof second, "aren-transliteration/v2/aren-transliteration%s", kind);
    model old = open_shared(first), young = open_shared(second);
    size_t parameters = 0;
    for (size_t i = 0; i < old.weights.count; i++) {
        const ferry_tensor *a = &old.weights.entries[i].tensor;
        char name[200];
        snprintf(name, sizeof name, "%.*s", (int)a->name.size, a->name.data);
        const ferry_weights_entry *entry = find_weights(&young.weights, name);
        assert_int_equal(a->type, entry->tensor.type);
        assert_int_equal(a->bytes, entry->tensor.bytes);
        assert_memory_equal(a->shape, entry->tensor.shape, sizeof a->shape);
        assert_memory_equal(a->data, entry->tensor.data, a->bytes);
        assert_true(old.weights.entries[i].multiplier == entry->multiplier);
        parameters += (size_t)ferry_tensor_count(a);
    }
    assert_int_equal(parameters, 182731);
    ferry_weights_close(&old.weights);
    ferry_weights_close(&young.weights);
}

TEST(test_renamed_model_is_the_same)
{
    if (large_data()) compare_ages("");
    compare_ages("-i16");
}

TEST(test_scales)
{
    static const struct {
        size_t row;
        float scale;
    } rows[] = {{0, 462.843567F}, {1, 142.462677F}, {2, 475.229858F}, {3, 178.097260F}, {11, 298.121246F}};
    static const int8_t third[] = {12, -10, -8, -44};
    model m = open_shared("aren-transliteration/v2/aren-transliteration-i8");
    const ferry_weights_entry *scales = find_weights(&m.weights, "decoder/embeddings/weight_scale");
    const ferry_weights_entry *codes = find_weights(&m.weights, "decoder/embeddings/weight");
    assert_int_equal(codes->tensor.type, FERRY_I8);
    assert_int_equal(codes->tensor.shape[1], 32);
    assert_int_equal(codes->strides[0], 32);
    assert_true(codes->multiplier == 0);
    for (size_t i = 0; i < 5; i++) assert_float_equal(float_at(scales, rows[i].row), rows[i].scale, 1e-5);
    assert_memory_equal((const int8_t *)codes->tensor.data + 3 * 32, third, 4);
    ferry_weights_close(&m.weights);
    m = open_shared("aren-transliteration/v2/aren-transliteration-i16");
    assert_true(find_weights(&m.weights, "decoder/embeddings/weight")->multiplier == 1000);
    ferry_weights_close(&m.weights);
}

/* Tied matrices and their scales, as the converter wrote them. */
TEST(test_real_aliases)
{
    model m = open_shared("ctranslate2-small/nllb-int8");
    assert_int_equal(m.header.version, 6);
    assert_string_equal(m.header.specification, "TransformerSpec");
    const ferry_weights_entry *kept = find_weights(&m.weights, "decoder/embeddings/weight");
    const ferry_weights_entry *tied = find_weights(&m.weights, "decoder/projection/weight");
    assert_ptr_equal(kept->tensor.data, tied->tensor.data);
    assert_ptr_equal(find_weights(&m.weights, "decoder/embeddings/weight_scale")->tensor.data,
                     find_weights(&m.weights, "encoder/embeddings_0/weight_scale")->tensor.data);
    ferry_weights_close(&m.weights);
    m = open_shared("tatoeba-en-de/ctranslate2-float16");
    assert_int_equal(find_weights(&m.weights, "encoder/embeddings_0/weight")->tensor.type, FERRY_F16);
    ferry_weights_close(&m.weights);
}

/* ---- small files ---- */

static void put_string(made_file *b, const char *text)
{
    put(b, strlen(text) + 1, 2);
    put_bytes(b, text, strlen(text) + 1);
}

/* A variable [rows, 2]; `type` is the type's id or before version 4 its size, `stated` bytes or elements. */
static void put_variable(made_file *b, const char *name, uint32_t rows, uint8_t type, uint32_t stated, size_t size)
{
    put_string(b, name);
    put(b, 2, 1);
    put(b, rows, 4);
    put(b, 2, 4);
    put(b, type, 1);
    put(b, stated, 4);
    for (size_t i = 0; i < size; i++) put(b, i + 1, 1);
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

static ferry_status read_weights(ferry_view bytes, const char *file, ferry_account *account, ferry_weights *weights,
                                 ferry_error *error)
{
    ferry_ctranslate2_header header;
    return ferry_ctranslate2_read(bytes, file, account, &header, weights, error);
}

static ferry_weights accept(const made_file *b)
{
    ferry_weights weights;
    CHECK(read_weights(whole(b), "model.bin", NULL, &weights, &error));
    return weights;
}

static void refuse(const made_file *b, const char *what)
{
    refuse_weights(read_weights, whole(b), FERRY_ERROR_FORMAT, what);
}

TEST(test_types_of_each_version)
{
    static const int types[] = {FERRY_F32, FERRY_I8, FERRY_I16, FERRY_I32, FERRY_F16, FERRY_BF16};
    for (uint8_t type = 0; type < 6; type++) {
        made_file b = begin(4 + type % 3, "TransformerSpec", 5, 1);
        const size_t size = 2 * ferry_type_size((ferry_type)types[type]);
        put_variable(&b, "x", 1, type, (uint32_t)size, size);
        put(&b, 0, 4);
        ferry_weights weights = accept(&b);
        assert_int_equal(find_weights(&weights, "x")->tensor.type, types[type]);
        assert_int_equal(find_weights(&weights, "x")->tensor.bytes, size);
        ferry_weights_close(&weights);
    }
    for (uint8_t size = 1; size <= 4; size = (uint8_t)(size * 2)) {
        made_file b = begin(2, "TransformerBase", 2, 1);
        put_variable(&b, "x", 1, size, 2, 2 * (size_t)size);
        ferry_weights weights = accept(&b);
        assert_int_equal(find_weights(&weights, "x")->tensor.type, size == 1   ? FERRY_I8
                                                                   : size == 2 ? FERRY_I16
                                                                               : FERRY_F32);
        ferry_weights_close(&weights);
    }
}

TEST(test_aliases)
{
    made_file b = begin(3, "TransformerSpec", 3, 4);
    put_variable(&b, "m", 2, 1, 4, 4);
    put_variable(&b, "m_scale", 1, 4, 2, 8);
    put_variable(&b, "m_zero", 1, 1, 2, 2);
    put_variable(&b, "absent_scale", 1, 4, 2, 8);
    put(&b, 3, 4);
    put_string(&b, "nothing");
    put_string(&b, "absent");
    put_string(&b, "b");
    put_string(&b, "m");
    put_string(&b, "a_zero"); /* one of its own */
    put_string(&b, "m_scale");
    ferry_weights weights = accept(&b);
    assert_int_equal(weights.count, 4 + 2 + 2);
    assert_ptr_equal(find_weights(&weights, "b")->tensor.data, find_weights(&weights, "m")->tensor.data);
    assert_ptr_equal(find_weights(&weights, "b_scale")->tensor.data, find_weights(&weights, "m_scale")->tensor.data);
    assert_ptr_equal(find_weights(&weights, "b_zero")->tensor.data, find_weights(&weights, "m_zero")->tensor.data);
    assert_ptr_equal(find_weights(&weights, "a_zero")->tensor.data, find_weights(&weights, "m_scale")->tensor.data);
    assert_null(ferry_weights_find(&weights, "nothing"));
    assert_null(ferry_weights_find(&weights, "nothing_scale"));
    ferry_weights_close(&weights);
}

TEST(test_renaming)
{
    static const char *const names[][2] = {
        {"transformer/encoder/w_embs:0", "encoder/embeddings/weight"},
        {"transformer/encoder/layer_0/multi_head/LayerNorm/gamma:0", "encoder/layer_0/self_attention/layer_norm/gamma"},
        {"transformer/decoder/layer_1/masked_multi_head/conv1d/kernel:0",
         "decoder/layer_1/self_attention/linear_0/weight"},
        {"transformer/decoder/layer_1/multi_head/conv1d_2/bias:0", "decoder/layer_1/attention/linear_2/bias"},
        {"transformer/decoder/dense/kernel:0", "decoder/projection/weight"},
    };
    made_file b = begin(1, "", 1, 5);
    for (size_t i = 0; i < 5; i++) put_variable(&b, names[i][0], 1, 2, 2, 4);
    ferry_ctranslate2_header header;
    ferry_weights weights;
    CHECK(ferry_ctranslate2_read(whole(&b), "model.bin", NULL, &header, &weights, &error));
    assert_int_equal(header.revision, 1);
    for (size_t i = 0; i < 5; i++) assert_true(find_weights(&weights, names[i][1])->multiplier == 1000);
    ferry_weights_close(&weights);
}

/* ---- refusals ---- */

TEST(test_headers_refused)
{
    static const struct {
        uint32_t version;
        const char *specification;
        uint32_t variables, aliases; /* said to follow */
        const char *what;
    } rows[] = {
        {7, "x", 0, 0, "expected version 1 to 6, found 7"},
        {0, "x", 0, 0, "found 0"},
        {0x04034b50, "x", 0, 0, "(a zip archive?)"},
        {6, "A name of a specification that is longer than any specification's name", 0, 0,
         "the specification's name has 70 bytes"},
        {6, "TransformerSpec", UINT32_MAX, 0, "4294967295 variables in 4 bytes"},
        {6, "TransformerSpec", 0, UINT32_MAX, "4294967295 aliases in 0 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        made_file b = begin(rows[i].version, rows[i].specification, 7, rows[i].variables);
        put(&b, rows[i].aliases, 4);
        refuse(&b, rows[i].what);
    }
    made_file b = {.size = 0};
    put_bytes(&b, "\x48\0\0\0\0\0\0\0{\"a\":1}", 16);
    refuse(&b, "(a safetensors file?)");
    b = begin(6, "TransformerSpec", 1, 0);
    put(&b, 0, 4); /* no aliases: all is well but for the name's NUL */
    b.data[6 + 15] = 'x';
    refuse(&b, "cut off or broken in its header");
}

TEST(test_variables_refused)
{
    static const struct {
        uint32_t rows, stated;
        uint8_t type;
        size_t size;
        const char *what;
    } cases[] = {
        {1, 8, 6, 8, "unknown element type 6"},
        {1, 7, 0, 8, "shape [1, 2] of f32 does not fit its 7 bytes"},
        {2, 16, 0, 15, "expected 16 bytes, found 15: cut off?"},
        {UINT32_MAX, UINT32_MAX, 0, 8, "expected 4294967295 bytes, found 8"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        made_file b = begin(6, "TransformerSpec", 7, 1);
        put_variable(&b, "the_name", cases[i].rows, cases[i].type, cases[i].stated, cases[i].size);
        refuse(&b, cases[i].what);
        refuse(&b, "tensor 'the_name'");
    }
    made_file b = begin(2, "TransformerBase", 2, 1);
    put_variable(&b, "x", 1, 3, 2, 6);
    refuse(&b, "unknown element type 3");
    b = begin(6, "TransformerSpec", 7, 1);
    put_string(&b, "deep");
    put(&b, 5, 1);
    put(&b, 0, 8);
    refuse(&b, "tensor 'deep': expected at most 4 dimensions, found 5");
    b = begin(6, "TransformerSpec", 7, 2);
    put_variable(&b, "twin", 1, 1, 2, 2);
    put_variable(&b, "twin", 1, 1, 2, 2);
    put(&b, 0, 4);
    refuse(&b, "tensor 'twin' occurs twice");
    b = begin(6, "TransformerSpec", 7, 1);
    put_variable(&b, "x", 1, 1, 2, 2);
    put(&b, 1, 4);
    put_string(&b, "x");
    put_string(&b, "x");
    refuse(&b, "tensor 'x' occurs twice");
}

TEST(test_every_length)
{
    made_file b = begin(6, "TransformerSpec", 7, 1);
    put_variable(&b, "x", 2, 1, 4, 4);
    put(&b, 1, 4);
    put_string(&b, "y");
    put_string(&b, "x");
    made_file longer = b;
    put(&longer, 0, 3);
    refuse(&longer, "3 bytes past the last record");
    while (b.size > 0) {
        b.size--;
        refuse(&b, "");
    }
}
