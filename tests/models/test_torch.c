/* PyTorch's files: both forms of one model against its safetensors, small pickles made here, and what is refused. */
#include "base/system.h"
#include "models/containers/weights.h"
#include "tests/support/make_zip.h"

/* ---- the same weights in three forms ---- */

/* Elements in row-major order. */
static unsigned char *gather(const ferry_weights_entry *entry)
{
    const ferry_tensor *t = &entry->tensor;
    const size_t size = ferry_type_size(t->type), count = (size_t)ferry_tensor_count(t);
    unsigned char *out = malloc(count * size + 1);
    int64_t index[FERRY_MAX_DIMS] = {0};
    for (size_t n = 0; n < count; n++) {
        int64_t at = 0;
        for (int32_t i = 0; i < t->dims; i++) at += index[i] * entry->strides[i];
        memcpy(out + n * size, (const char *)t->data + (size_t)at * size, size);
        for (int32_t i = t->dims - 1; i >= 0 && ++index[i] == t->shape[i]; i--) index[i] = 0;
    }
    return out;
}

static void check_against_safetensors(const char *name)
{
    ferry_error error;
    ferry_mapped_file file;
    ferry_weights weights;
    ferry_safetensors golden;
    char relative[100];
    snprintf(relative, sizeof relative, "models/huggingface-small/%s/pytorch_model.bin", name);
    char *path = shared_path(relative), *golden_path = shared_path("models/huggingface-small/m2m100/model.safetensors");
    if (path == NULL || golden_path == NULL) not_run(name);
    CHECK(ferry_mapped_file_open(path, &file, &error));
    CHECK(ferry_torch_read(file.bytes, path, &weights, &error));
    CHECK(ferry_safetensors_open(golden_path, &golden, &error));
    size_t found = 0;
    for (size_t i = 0; i < golden.tensor_count; i++) {
        const ferry_tensor *expected = &golden.tensors[i];
        const ferry_weights_entry *entry = ferry_weights_find(&weights, expected->name.data);
        if (entry == NULL) fail_msg("%s: '%s' is missing", name, expected->name.data);
        assert_int_equal(entry->tensor.type, expected->type);
        assert_int_equal(entry->tensor.dims, expected->dims);
        assert_memory_equal(entry->tensor.shape, expected->shape, sizeof expected->shape);
        unsigned char *bytes = gather(entry);
        assert_memory_equal(bytes, expected->data, expected->bytes);
        free(bytes);
        found++;
    }
    /* The same shared table under its other names, which safetensors leaves out. */
    const char *const ties[] = {"lm_head.weight", "model.decoder.embed_tokens.weight",
                                "model.encoder.embed_tokens.weight"};
    const ferry_weights_entry *shared = ferry_weights_find(&weights, "model.shared.weight");
    assert_non_null(shared);
    for (size_t i = 0; i < 3; i++) {
        const ferry_weights_entry *tie = ferry_weights_find(&weights, ties[i]);
        if (tie == NULL) continue;
        assert_ptr_equal(tie->tensor.data, shared->tensor.data);
        found++;
    }
    assert_int_equal(found, weights.count);
    ferry_safetensors_close(&golden);
    ferry_weights_close(&weights);
    ferry_mapped_file_close(&file);
    free(golden_path);
    free(path);
}

static void test_zip_form_golden(void **state)
{
    (void)state;
    check_against_safetensors("m2m100-bin-zip");
}

static void test_legacy_form_golden(void **state)
{
    (void)state;
    check_against_safetensors("m2m100-bin-legacy");
}

/* ---- small files ---- */

typedef struct bytes {
    unsigned char data[2000];
    size_t size;
} bytes;

static void add(bytes *b, const void *data, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

#define ADD(b, literal) add(b, literal, sizeof literal - 1)

/* Each in the form that a pickler chooses. */
static void add_number(bytes *b, int number)
{
    const unsigned char four[] = {'J', (unsigned char)number, (unsigned char)(number >> 8),
                                  (unsigned char)(number >> 16), (unsigned char)(number >> 24)};
    const unsigned char negative[] = {0x8A, 2, (unsigned char)number, (unsigned char)(number >> 8)};
    if (number < 0) {
        add(b, negative, sizeof negative);
    } else if (number < 256) {
        add(b, (const unsigned char[]){'K', (unsigned char)number}, 2);
    } else {
        add(b, four, sizeof four);
    }
}

static void add_pair(bytes *b, int first, int second)
{
    add_number(b, first);
    add_number(b, second);
    ADD(b, "\x86");
}

typedef struct window {
    const char *storage;
    int elements, offset, shape[2], strides[2];
    bool legacy;
    int view[2]; /* first, elements; 0, 0: none */
} window;

/* {"a": tensor} of one tensor on the storage "0". */
static bytes describe(const window *w)
{
    bytes b = {.size = 0};
    ADD(&b, "\x80\x02}X\x01\0\0\0actorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\n");
    add(&b, w->storage, strlen(w->storage));
    ADD(&b, "\nX\x01\0\0\0"
            "0U\x03"
            "cpu");
    add_number(&b, w->elements);
    if (w->legacy && w->view[1] == 0) ADD(&b, "N");
    if (w->view[1] != 0) {
        ADD(&b, "U\x01v");
        add_number(&b, w->view[0]);
        add_number(&b, w->view[1]);
        ADD(&b, "\x87");
    }
    ADD(&b, "tQ");
    add_number(&b, w->offset);
    add_pair(&b, w->shape[0], w->shape[1]);
    add_pair(&b, w->strides[0], w->strides[1]);
    ADD(&b, "\x89}tRs.");
    return b;
}

typedef struct opened {
    unsigned char *file;
    ferry_weights weights;
    ferry_error error;
    ferry_status status;
} opened;

static opened open_bytes(unsigned char *file, size_t size)
{
    opened o = {.file = file};
    o.status = ferry_torch_read((ferry_view){(const char *)file, size}, "model.bin", &o.weights, &o.error);
    return o;
}

static opened open_zip(const zip_part *parts, size_t count)
{
    size_t size;
    unsigned char *file = make_zip(parts, count, &size);
    return open_bytes(file, size);
}

static opened open_pickle(const void *pickle, size_t size, const void *storage, size_t storage_size)
{
    const zip_part parts[] = {{"any/data.pkl", pickle, size},
                              {"any/byteorder", "little", 6},
                              {"any/data/0", storage, storage_size},
                              {"any/version", "3\n", 2}};
    return open_zip(parts, 4);
}

static void close_opened(opened *o)
{
    if (o->status == FERRY_OK) ferry_weights_close(&o->weights);
    free(o->file);
}

static void expect(opened o, ferry_status status, const char *what)
{
    if (o.status != status || strstr(o.error.message, what) == NULL || strstr(o.error.message, "model.bin") == NULL) {
        fail_msg("expected %d '%s', found %d '%s'", status, what, o.status, o.error.message);
    }
    assert_null(o.weights.entries);
    close_opened(&o);
}

static const float six[] = {0, 1, 2, 3, 4, 5};

static void check_floats(const opened *o, const char *name, const float *expected, size_t count)
{
    if (o->status != FERRY_OK) fail_msg("%s", o->error.message);
    const ferry_weights_entry *entry = ferry_weights_find(&o->weights, name);
    assert_non_null(entry);
    assert_int_equal(entry->tensor.type, FERRY_F32);
    assert_int_equal(ferry_tensor_count(&entry->tensor), count);
    unsigned char *values = gather(entry);
    assert_memory_equal(values, expected, count * sizeof *expected);
    free(values);
}

/* The pickle of the specification: two tensors on one storage. */
static const char specified[] = "\x80\x02"
                                "ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\0\0\0aq\x02"
                                "ctorch._utils\n_rebuild_tensor_v2\nq\x03((X\x07\0\0\0"
                                "storageq\x04"
                                "ctorch\nFloatStorage\nq\x05X\x01\0\0\0"
                                "0q\x06X\x03\0\0\0cpuq\x07K\x06tq\x08QK\x00K\x02K\x03\x86q\x09K\x03K\x01"
                                "\x86q\x0a\x89h\x00)Rq\x0btq\x0cRq\x0dX\x01\0\0\0bq\x0eh\x03(("
                                "h\x04h\x05h\x06h\x07K\x06tq\x0fQK\x01K\x02\x85q\x10K\x03\x85q\x11"
                                "\x89h\x00)Rq\x12tq\x13Rq\x14u.";

static void test_specified_pickle(void **state)
{
    (void)state;
    const float b[] = {1, 4};
    assert_int_equal(sizeof specified - 1, 221);
    opened o = open_pickle(specified, 221, six, sizeof six);
    check_floats(&o, "a", six, 6);
    check_floats(&o, "b", b, 2);
    assert_int_equal(o.weights.count, 2);
    close_opened(&o);
    for (size_t size = 0; size < 221; size++) {
        expect(open_pickle(specified, size, six, sizeof six), FERRY_ERROR_FORMAT, "not a sound pickle");
    }
}

static void test_strides(void **state)
{
    (void)state;
    const float transposed[] = {0, 3, 1, 4, 2, 5}, corner[] = {2, 5};
    window w = {.storage = "FloatStorage", .elements = 6, .shape = {3, 2}, .strides = {1, 3}};
    bytes b = describe(&w);
    opened o = open_pickle(b.data, b.size, six, sizeof six);
    check_floats(&o, "a", transposed, 6);
    close_opened(&o);
    b = describe(&(window){.storage = "FloatStorage", .elements = 6, .offset = 2, .shape = {2, 1}, .strides = {3, 9}});
    o = open_pickle(b.data, b.size, six, sizeof six);
    check_floats(&o, "a", corner, 2);
    close_opened(&o);
    b = describe(&(window){.storage = "FloatStorage", .elements = 6, .offset = 6, .shape = {0, 7}, .strides = {1, 1}});
    o = open_pickle(b.data, b.size, six, sizeof six);
    check_floats(&o, "a", six, 0);
    close_opened(&o);
}

static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int type, size;
    } types[] = {{"FloatStorage", FERRY_F32, 4},  {"HalfStorage", FERRY_F16, 2}, {"BFloat16Storage", FERRY_BF16, 2},
                 {"DoubleStorage", FERRY_F64, 8}, {"LongStorage", FERRY_I64, 8}, {"IntStorage", FERRY_I32, 4},
                 {"ShortStorage", FERRY_I16, 2},  {"CharStorage", FERRY_I8, 1},  {"ByteStorage", 255, 1},
                 {"BoolStorage", 255, 1}};
    const unsigned char data[64] = {0};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        window w = {.storage = types[i].name, .elements = 4, .offset = 1, .shape = {1, 3}, .strides = {3, 1}};
        bytes b = describe(&w);
        opened o = open_pickle(b.data, b.size, data, 4 * (size_t)types[i].size);
        if (o.status != FERRY_OK) fail_msg("%s", o.error.message);
        const ferry_weights_entry *entry = ferry_weights_find(&o.weights, "a");
        assert_int_equal(entry->tensor.type, types[i].type);
        assert_int_equal(entry->tensor.bytes, 3 * types[i].size);
        close_opened(&o);
        expect(open_pickle(b.data, b.size, data, 4 * (size_t)types[i].size + 1), FERRY_ERROR_FORMAT,
               "bytes in the storage '0', found");
    }
}

static void test_windows_beyond(void **state)
{
    (void)state;
    static const window windows[] = {
        {.storage = "FloatStorage", .elements = 6, .offset = 1, .shape = {2, 3}, .strides = {3, 1}},
        {.storage = "FloatStorage", .elements = 6, .offset = 7, .shape = {0, 3}, .strides = {3, 1}},
        {.storage = "FloatStorage", .elements = 6, .offset = -1, .shape = {1, 1}, .strides = {1, 1}},
        {.storage = "FloatStorage", .elements = 6, .shape = {2, 2}, .strides = {5, 1}},
        {.storage = "FloatStorage", .elements = 6, .shape = {100, 3}, .strides = {0, 1}},
        {.storage = "FloatStorage", .elements = 6, .shape = {INT32_MAX, INT32_MAX}, .strides = {INT32_MAX, INT32_MAX}},
    };
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        const bytes b = describe(&windows[i]);
        expect(open_pickle(b.data, b.size, six, sizeof six), FERRY_ERROR_FORMAT,
               "tensor 'a' with its offset, shape and strides reaches beyond");
    }
    bytes b = describe(&(window){.storage = "FloatStorage", .elements = 6, .shape = {-1, 1}, .strides = {1, 1}});
    expect(open_pickle(b.data, b.size, six, sizeof six), FERRY_ERROR_FORMAT, "expected an offset, a shape");
    b = describe(&(window){.storage = "FloatStorage", .elements = -6, .shape = {1, 1}, .strides = {1, 1}});
    expect(open_pickle(b.data, b.size, six, sizeof six), FERRY_ERROR_FORMAT, "impossible size of the storage");
    b = describe(&(window){.storage = "FloatStorage", .elements = 5, .shape = {1, 1}, .strides = {1, 1}});
    expect(open_pickle(b.data, b.size, six, sizeof six), FERRY_ERROR_FORMAT, "expected 20 bytes");
}

/* ---- pickles that are refused ---- */

#define REFUSE(literal, status, what) expect(open_pickle(literal, sizeof literal - 1, six, sizeof six), status, what)

static void test_globals(void **state)
{
    (void)state;
    REFUSE("\x80\x02"
           "cos\nsystem\nX\x02\0\0\0ls\x85R.",
           FERRY_ERROR_UNSUPPORTED, "asks for 'os.system'");
    REFUSE("\x80\x04\x8c\x08"
           "builtins\x8c\x04"
           "eval\x93.",
           FERRY_ERROR_UNSUPPORTED, "asks for 'builtins.eval'");
    REFUSE("\x80\x02"
           "ctorch.storage\n_load_from_bytes\n.",
           FERRY_ERROR_UNSUPPORTED, "asks for 'torch.storage._load_from_bytes'");
    REFUSE("\x80\x02"
           "ctorch._utils\n_rebuild_tensor_v3\n.",
           FERRY_ERROR_UNSUPPORTED, "_rebuild_tensor_v3");
    REFUSE("\x80\x02"
           "ctorch\nFloatStorageX\n.",
           FERRY_ERROR_UNSUPPORTED, "asks for 'torch.FloatStorageX'");
    REFUSE("\x80\x02K\x01K\x02\x93.", FERRY_ERROR_FORMAT, "a global without a name");
}

static void test_opcodes(void **state)
{
    (void)state;
    REFUSE("\x80\x02P1\n.", FERRY_ERROR_UNSUPPORTED, "the opcode 0x50 (PERSID) at byte 2");
    REFUSE("\x80\x02(ios\nsystem\n.", FERRY_ERROR_UNSUPPORTED, "(INST)");
    REFUSE("\x80\x02(o.", FERRY_ERROR_UNSUPPORTED, "(OBJ)");
    REFUSE("\x80\x02"
           "ccollections\nOrderedDict\n)\x81.",
           FERRY_ERROR_UNSUPPORTED, "(NEWOBJ)");
    REFUSE("\x80\x04\x92.", FERRY_ERROR_UNSUPPORTED, "(NEWOBJ_EX)");
    REFUSE("\x80\x02\x82\x01.", FERRY_ERROR_UNSUPPORTED, "(EXT1)");
    REFUSE("\x80\x02\x83\x01\x01.", FERRY_ERROR_UNSUPPORTED, "(EXT2)");
    REFUSE("\x80\x02\x84\x01\x01\x01\x01.", FERRY_ERROR_UNSUPPORTED, "(EXT4)");
    REFUSE("\x80\x02I1\n.", FERRY_ERROR_UNSUPPORTED, "the opcode 0x49 (unknown)");
    REFUSE("\x80\x02]Nb.", FERRY_ERROR_UNSUPPORTED, "BUILD of something else than a dict");
    REFUSE("\x80\x01}.", FERRY_ERROR_FORMAT, "unknown protocol");
    REFUSE("}.", FERRY_ERROR_FORMAT, "expected a protocol");
}

static void test_broken_stacks(void **state)
{
    (void)state;
    static const struct {
        const char *pickle, *what;
    } cases[] = {{".", "not exactly one value"},
                 {"}}.", "not exactly one value"},
                 {"(.", "not exactly one value"},
                 {"\x85.", "empty stack"},
                 {"(\x85.", "unexpected mark"},
                 {"}t.", "missing mark"},
                 {"NNs.", "entries for what"},
                 {"]NNs.", "entries for what"},
                 {"}(Nu.", "a key without a value"},
                 {"}Na.", "items for what"},
                 {"](N(ue.", "entries for what"},
                 {"e.", "missing mark"},
                 {"h\x07.", "memo entry"},
                 {"q\x01.", "nothing to remember"},
                 {"}q\x05h\x04.", "memo entry"},
                 {"]r\xff\xff\xff\x7f.", "memo too large"},
                 {"N)R.", "a call (REDUCE)"},
                 {"NNR.", "a call (REDUCE)"},
                 {"NQ.", "a persistent id"},
                 {"U\x07storageNNNN(tQ.", "a persistent id"},
                 {"b.", "empty stack"},
                 {"\x8a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01.", "more than 64 bits"},
                 {"ccollections\nOrderedDict\nN\x85R.", "OrderedDict with arguments"},
                 {"ctorch\nSize\n)R.", "Size of what is no tuple"},
                 {"ctorch._utils\n_rebuild_tensor_v2\n)R.", "_rebuild_tensor_v2 with other arguments"},
                 {"ctorch._utils\n_rebuild_parameter\n)R.", "_rebuild_parameter of what is no tensor"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bytes b = {.size = 0};
        ADD(&b, "\x80\x02");
        add(&b, cases[i].pickle, strlen(cases[i].pickle));
        expect(open_pickle(b.data, b.size, six, sizeof six), FERRY_ERROR_FORMAT, cases[i].what);
    }
}

static void test_other_values(void **state)
{
    (void)state;
    REFUSE("\x80\x02].", FERRY_ERROR_FORMAT, "expected a dict of tensors");
    REFUSE("\x80\x02}K\x01Ns.", FERRY_ERROR_FORMAT, "a key that is no text");
    REFUSE("\x80\x02}U\x01xK\x01s.", FERRY_ERROR_FORMAT, "expected a tensor, found something else: 'x'");
    REFUSE("\x80\x02}q\x01U\x01xh\x01s.", FERRY_ERROR_FORMAT, "found something else: 'x'");
    REFUSE("\x80\x02}(U\x05"
           "epochM\x01\x02U\x04lossG?\xf0\0\0\0\0\0\0u.",
           FERRY_ERROR_FORMAT, "found something else: 'epoch'");
    /* Of a wrapper only the inner dict counts; a dict's state is read over. */
    const char empty[] = "\x80\x02}(U\x05"
                         "epochM\x01\x02U\x0astate_dict}Nbu.";
    opened o = open_pickle(empty, sizeof empty - 1, six, sizeof six);
    if (o.status != FERRY_OK) fail_msg("%s", o.error.message);
    assert_int_equal(o.weights.count, 0);
    close_opened(&o);
}

static void test_zip_members(void **state)
{
    (void)state;
    const zip_part pickle = {"m/data.pkl", specified, 221}, data = {"m/data/0", six, sizeof six};
    zip_part parts[] = {pickle, data, {"m/byteorder", "big", 3}};
    expect(open_zip(parts, 3), FERRY_ERROR_UNSUPPORTED, "byte order 'big'");
    parts[2] = (zip_part){"m/constants.pkl", "", 0};
    expect(open_zip(parts, 3), FERRY_ERROR_UNSUPPORTED, "a TorchScript archive");
    parts[2] = (zip_part){"m/code/model.py", "", 0};
    expect(open_zip(parts, 3), FERRY_ERROR_UNSUPPORTED, "a TorchScript archive");
    parts[2] = (zip_part){"n/data.pkl", "", 0};
    expect(open_zip(parts, 3), FERRY_ERROR_FORMAT, "expected one member '.../data.pkl' in the zip archive, found 2");
    parts[1] = (zip_part){"m/data/00", six, sizeof six};
    expect(open_zip(parts, 2), FERRY_ERROR_FORMAT, "no member for the storage '0'");
    expect(open_zip(parts + 1, 1), FERRY_ERROR_FORMAT, "found 0");
    expect(open_bytes(calloc(40, 1), 40), FERRY_ERROR_FORMAT, "not a PyTorch file");
}

/* ---- legacy form ---- */

static bytes legacy(const window *w, bool little, int64_t elements)
{
    const bytes state = describe(w);
    bytes b = {.size = 0};
    ADD(&b, "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.\x80\x02M\xE9\x03.\x80\x02}(X\x0d\0\0\0little_"
            "endian");
    add(&b, little ? "\x88" : "\x89", 1);
    ADD(&b, "u.");
    add(&b, state.data, state.size);
    ADD(&b, "\x80\x02]X\x01\0\0\0"
            "0a.");
    for (int i = 0; i < 8; i++) add(&b, &(unsigned char){(unsigned char)((uint64_t)elements >> (8 * i))}, 1);
    add(&b, six, sizeof six);
    return b;
}

static opened open_legacy(const bytes *b, size_t size)
{
    unsigned char *copy = malloc(size + 1);
    memcpy(copy, b->data, size < b->size ? size : b->size);
    return open_bytes(copy, size);
}

static void test_legacy(void **state)
{
    (void)state;
    const float window_of_view[] = {3, 4};
    window w = {.storage = "FloatStorage", .elements = 6, .shape = {2, 3}, .strides = {3, 1}, .legacy = true};
    bytes b = legacy(&w, true, 6);
    opened o = open_legacy(&b, b.size);
    check_floats(&o, "a", six, 6);
    close_opened(&o);
    for (size_t size = 15; size < b.size; size++) expect(open_legacy(&b, size), FERRY_ERROR_FORMAT, "model.bin");
    b.data[b.size++] = 0;
    expect(open_legacy(&b, b.size), FERRY_ERROR_FORMAT, "1 bytes behind the last storage");
    b = legacy(&w, true, 5);
    expect(open_legacy(&b, b.size), FERRY_ERROR_FORMAT, "another size of, the storage '0'");
    b = legacy(&w, false, 6);
    expect(open_legacy(&b, b.size), FERRY_ERROR_UNSUPPORTED, "little-endian");

    w = (window){
        .storage = "FloatStorage", .elements = 6, .offset = 1, .shape = {1, 2}, .strides = {2, 1}, .view = {2, 3}};
    b = legacy(&w, true, 6);
    o = open_legacy(&b, b.size);
    check_floats(&o, "a", window_of_view, 2);
    close_opened(&o);
    w.view[1] = 2;
    b = legacy(&w, true, 6);
    expect(open_legacy(&b, b.size), FERRY_ERROR_FORMAT, "reaches beyond its storage of 2 elements");
    w.view[1] = 5;
    b = legacy(&w, true, 6);
    expect(open_legacy(&b, b.size), FERRY_ERROR_FORMAT, "a view beyond its storage: tensor 'a'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip_form_golden),
        cmocka_unit_test(test_legacy_form_golden),
        cmocka_unit_test(test_specified_pickle),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_windows_beyond),
        cmocka_unit_test(test_globals),
        cmocka_unit_test(test_opcodes),
        cmocka_unit_test(test_broken_stacks),
        cmocka_unit_test(test_other_values),
        cmocka_unit_test(test_zip_members),
        cmocka_unit_test(test_legacy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
