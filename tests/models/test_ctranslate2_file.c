/* CTranslate2's model.bin: real models of versions 1, 2 and 6, small ones made here, and what is refused. */
#include "base/system.h"
#include "models/containers/weights.h"
#include "tests/support/support.h"

typedef struct model {
    ferry_mapped_file file;
    ferry_ctranslate2_header header;
    ferry_weights weights;
    char *path;
} model;

static model open_shared(const char *name)
{
    ferry_error error;
    model m;
    char relative[120];
    snprintf(relative, sizeof relative, "models/%s/model.bin", name);
    m.path = shared_path(relative);
    if (m.path == NULL) not_run(relative);
    CHECK(ferry_mapped_file_open(m.path, &m.file, &error));
    CHECK(ferry_ctranslate2_read(m.file.bytes, m.path, &m.header, &m.weights, &error));
    return m;
}

static void close_model(model *m)
{
    ferry_weights_close(&m->weights);
    ferry_mapped_file_close(&m->file);
    free(m->path);
}

static const ferry_weights_entry *find(const ferry_weights *weights, const char *name)
{
    const ferry_weights_entry *entry = ferry_weights_find(weights, name);
    if (entry == NULL) fail_msg("'%s' is missing", name);
    return entry;
}

static float float_at(const ferry_weights_entry *entry, size_t index)
{
    float value;
    assert_int_equal(entry->tensor.type, FERRY_F32);
    memcpy(&value, (const char *)entry->tensor.data + index * sizeof value, sizeof value);
    return value;
}

/* ---- real models ---- */

static void test_headers(void **state)
{
    (void)state;
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
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        model m = open_shared(models[i].name);
        assert_int_equal(m.header.version, models[i].version);
        assert_string_equal(m.header.specification, models[i].specification);
        assert_int_equal(m.header.revision, models[i].revision);
        assert_int_equal(m.weights.count, models[i].count);
        close_model(&m);
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
        const ferry_weights_entry *entry = find(&young.weights, name);
        assert_int_equal(a->type, entry->tensor.type);
        assert_int_equal(a->bytes, entry->tensor.bytes);
        assert_memory_equal(a->shape, entry->tensor.shape, sizeof a->shape);
        assert_memory_equal(a->data, entry->tensor.data, a->bytes);
        assert_true(old.weights.entries[i].multiplier == entry->multiplier);
        parameters += (size_t)ferry_tensor_count(a);
    }
    assert_int_equal(parameters, 182731);
    close_model(&old);
    close_model(&young);
}

static void test_renamed_model_is_the_same(void **state)
{
    (void)state;
    compare_ages("");
    compare_ages("-i16");
}

static void test_scales(void **state)
{
    (void)state;
    static const struct {
        size_t row;
        float scale;
    } rows[] = {{0, 462.843567F}, {1, 142.462677F}, {2, 475.229858F}, {3, 178.097260F}, {11, 298.121246F}};
    static const int8_t third[] = {12, -10, -8, -44};
    model m = open_shared("aren-transliteration/v2/aren-transliteration-i8");
    const ferry_weights_entry *scales = find(&m.weights, "decoder/embeddings/weight_scale");
    const ferry_weights_entry *codes = find(&m.weights, "decoder/embeddings/weight");
    assert_int_equal(codes->tensor.type, FERRY_I8);
    assert_int_equal(codes->tensor.shape[1], 32);
    assert_int_equal(codes->strides[0], 32);
    assert_true(codes->multiplier == 0);
    for (size_t i = 0; i < 5; i++) assert_float_equal(float_at(scales, rows[i].row), rows[i].scale, 1e-5);
    assert_memory_equal((const int8_t *)codes->tensor.data + 3 * 32, third, 4);
    close_model(&m);
    m = open_shared("aren-transliteration/v2/aren-transliteration-i16");
    assert_true(find(&m.weights, "decoder/embeddings/weight")->multiplier == 1000);
    close_model(&m);
}

/* Tied matrices and their scales, as the converter wrote them. */
static void test_real_aliases(void **state)
{
    (void)state;
    model m = open_shared("ctranslate2-small/nllb-int8");
    assert_int_equal(m.header.version, 6);
    assert_string_equal(m.header.specification, "TransformerSpec");
    const ferry_weights_entry *kept = find(&m.weights, "decoder/embeddings/weight");
    const ferry_weights_entry *tied = find(&m.weights, "decoder/projection/weight");
    assert_ptr_equal(kept->tensor.data, tied->tensor.data);
    assert_ptr_equal(find(&m.weights, "decoder/embeddings/weight_scale")->tensor.data,
                     find(&m.weights, "encoder/embeddings_0/weight_scale")->tensor.data);
    close_model(&m);
    m = open_shared("tatoeba-en-de/ctranslate2-float16");
    assert_int_equal(find(&m.weights, "encoder/embeddings_0/weight")->tensor.type, FERRY_F16);
    close_model(&m);
}

/* ---- small files ---- */

typedef struct bytes {
    unsigned char data[1000];
    size_t size;
} bytes;

static void put(bytes *b, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) b->data[b->size++] = (unsigned char)(value >> (8 * i));
}

static void put_string(bytes *b, const char *text)
{
    put(b, strlen(text) + 1, 2);
    memcpy(b->data + b->size, text, strlen(text) + 1);
    b->size += strlen(text) + 1;
}

/* A variable [rows, 2]; `type` is the type's id or before version 4 its size, `stated` bytes or elements. */
static void put_variable(bytes *b, const char *name, uint32_t rows, uint8_t type, uint32_t stated, size_t size)
{
    put_string(b, name);
    put(b, 2, 1);
    put(b, rows, 4);
    put(b, 2, 4);
    put(b, type, 1);
    put(b, stated, 4);
    for (size_t i = 0; i < size; i++) put(b, i + 1, 1);
}

static bytes begin(uint32_t version, const char *specification, uint32_t revision, uint32_t variables)
{
    bytes b = {.size = 0};
    put(&b, version, 4);
    if (version >= 2) {
        put_string(&b, specification);
        put(&b, revision, 4);
    }
    put(&b, variables, 4);
    return b;
}

static ferry_status read_bytes(const bytes *b, ferry_ctranslate2_header *header, ferry_weights *weights,
                               ferry_error *error)
{
    return ferry_ctranslate2_read((ferry_view){(const char *)b->data, b->size}, "model.bin", header, weights, error);
}

static void refuse(const bytes *b, const char *what)
{
    ferry_error error = {0};
    ferry_ctranslate2_header header;
    ferry_weights weights;
    unsigned char *exact = malloc(b->size + 1);
    memcpy(exact, b->data, b->size);
    const ferry_view view = {(const char *)exact, b->size};
    const ferry_status status = ferry_ctranslate2_read(view, "model.bin", &header, &weights, &error);
    if (status != FERRY_ERROR_FORMAT || strstr(error.message, what) == NULL ||
        strstr(error.message, "model.bin") == NULL) {
        fail_msg("expected '%s', found %d '%s'", what, status, error.message);
    }
    assert_null(weights.entries);
    free(exact);
}

static void test_types_of_each_version(void **state)
{
    (void)state;
    static const int types[] = {FERRY_F32, FERRY_I8, FERRY_I16, FERRY_I32, FERRY_F16, FERRY_BF16};
    ferry_error error;
    ferry_ctranslate2_header header;
    ferry_weights weights;
    for (uint8_t type = 0; type < 6; type++) {
        bytes b = begin(4 + type % 3, "TransformerSpec", 5, 1);
        const size_t size = 2 * ferry_type_size((ferry_type)types[type]);
        put_variable(&b, "x", 1, type, (uint32_t)size, size);
        put(&b, 0, 4);
        CHECK(read_bytes(&b, &header, &weights, &error));
        assert_int_equal(find(&weights, "x")->tensor.type, types[type]);
        assert_int_equal(find(&weights, "x")->tensor.bytes, size);
        ferry_weights_close(&weights);
    }
    for (uint8_t size = 1; size <= 4; size = (uint8_t)(size * 2)) {
        bytes b = begin(2, "TransformerBase", 2, 1);
        put_variable(&b, "x", 1, size, 2, 2 * (size_t)size);
        CHECK(read_bytes(&b, &header, &weights, &error));
        assert_int_equal(find(&weights, "x")->tensor.type, size == 1 ? FERRY_I8 : size == 2 ? FERRY_I16 : FERRY_F32);
        ferry_weights_close(&weights);
    }
}

static void test_aliases(void **state)
{
    (void)state;
    ferry_error error;
    ferry_ctranslate2_header header;
    ferry_weights weights;
    bytes b = begin(3, "TransformerSpec", 3, 4);
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
    CHECK(read_bytes(&b, &header, &weights, &error));
    assert_int_equal(weights.count, 4 + 2 + 2);
    assert_ptr_equal(find(&weights, "b")->tensor.data, find(&weights, "m")->tensor.data);
    assert_ptr_equal(find(&weights, "b_scale")->tensor.data, find(&weights, "m_scale")->tensor.data);
    assert_ptr_equal(find(&weights, "b_zero")->tensor.data, find(&weights, "m_zero")->tensor.data);
    assert_ptr_equal(find(&weights, "a_zero")->tensor.data, find(&weights, "m_scale")->tensor.data);
    assert_null(ferry_weights_find(&weights, "nothing"));
    assert_null(ferry_weights_find(&weights, "nothing_scale"));
    ferry_weights_close(&weights);
}

static void test_renaming(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"transformer/encoder/w_embs:0", "encoder/embeddings/weight"},
        {"transformer/encoder/layer_0/multi_head/LayerNorm/gamma:0", "encoder/layer_0/self_attention/layer_norm/gamma"},
        {"transformer/decoder/layer_1/masked_multi_head/conv1d/kernel:0",
         "decoder/layer_1/self_attention/linear_0/weight"},
        {"transformer/decoder/layer_1/multi_head/conv1d_2/bias:0", "decoder/layer_1/attention/linear_2/bias"},
        {"transformer/decoder/dense/kernel:0", "decoder/projection/weight"},
    };
    ferry_error error;
    ferry_ctranslate2_header header;
    ferry_weights weights;
    bytes b = begin(1, "", 1, 5);
    for (size_t i = 0; i < 5; i++) put_variable(&b, names[i][0], 1, 2, 2, 4);
    CHECK(read_bytes(&b, &header, &weights, &error));
    assert_int_equal(header.revision, 1);
    for (size_t i = 0; i < 5; i++) assert_true(find(&weights, names[i][1])->multiplier == 1000);
    ferry_weights_close(&weights);
}

/* ---- lies ---- */

static void test_headers_refused(void **state)
{
    (void)state;
    static const char safetensors[] = "\x48\0\0\0\0\0\0\0{\"a\":1}";
    bytes b = begin(7, "x", 1, 0);
    refuse(&b, "expected version 1 to 6, found 7");
    b = begin(0, "x", 1, 0);
    refuse(&b, "found 0");
    b = begin(0x04034b50, "x", 1, 0);
    refuse(&b, "(a zip archive?)");
    memcpy(b.data, safetensors, sizeof safetensors);
    refuse(&b, "(a safetensors file?)");
    b = begin(6, "A name of a specification that is longer than any specification's name", 1, 0);
    refuse(&b, "the specification's name has 70 bytes");
    b = begin(6, "TransformerSpec", 1, 0);
    put(&b, 0, 4); /* no aliases: all is well but for the name's NUL */
    b.data[6 + 15] = 'x';
    refuse(&b, "cut off or broken in its header");
    b = begin(6, "TransformerSpec", 7, UINT32_MAX);
    put(&b, 0, 4);
    refuse(&b, "4294967295 variables in 4 bytes");
    b = begin(6, "TransformerSpec", 7, 0);
    put(&b, UINT32_MAX, 4);
    refuse(&b, "4294967295 aliases in 0 bytes");
}

static void test_variables_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t rows, stated;
        uint8_t type;
        size_t size;
        const char *what;
    } cases[] = {
        {1, 8, 6, 8, "unknown element type 6"},
        {1, 7, 0, 8, "shape [1, 2] of f32 does not fit its 7 bytes"},
        {2, 16, 0, 15, "expected 16 bytes, found 15: cut off?"},
        {UINT32_MAX, UINT32_MAX, 0, 8, "does not fit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bytes b = begin(6, "TransformerSpec", 7, 1);
        put_variable(&b, "the_name", cases[i].rows, cases[i].type, cases[i].stated, cases[i].size);
        refuse(&b, cases[i].what);
        refuse(&b, "variable 'the_name'");
    }
    bytes b = begin(2, "TransformerBase", 2, 1);
    put_variable(&b, "x", 1, 3, 2, 6);
    refuse(&b, "unknown element type 3");
    b = begin(6, "TransformerSpec", 7, 1);
    put_string(&b, "deep");
    put(&b, 5, 1);
    put(&b, 0, 8);
    refuse(&b, "variable 'deep': expected at most 4 dimensions, found 5");
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

static void test_every_length(void **state)
{
    (void)state;
    bytes b = begin(6, "TransformerSpec", 7, 1);
    put_variable(&b, "x", 2, 1, 4, 4);
    put(&b, 1, 4);
    put_string(&b, "y");
    put_string(&b, "x");
    bytes longer = b;
    put(&longer, 0, 3);
    refuse(&longer, "3 bytes behind the last record");
    while (b.size > 0) {
        b.size--;
        refuse(&b, "model.bin");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_renamed_model_is_the_same),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_real_aliases),
        cmocka_unit_test(test_types_of_each_version),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_renaming),
        cmocka_unit_test(test_headers_refused),
        cmocka_unit_test(test_variables_refused),
        cmocka_unit_test(test_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
