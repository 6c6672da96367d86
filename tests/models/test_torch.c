/* PyTorch's files: both forms of one model against its safetensors, small pickles made here, and what is refused. */
#include "tests/support/make_zip.h"

/* ---- the same weights in three forms ---- */

/* Elements in row-major order. */
static const unsigned char *gather(const ferry_weights_entry *entry)
{
    const ferry_tensor *t = &entry->tensor;
    const size_t size = ferry_type_size(t->type), count = (size_t)ferry_tensor_count(t);
    unsigned char *out = kept_memory(count * size);
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
    ferry_weights weights;
    ferry_safetensors golden;
    char *path = shared_file("models/huggingface-small/%s/pytorch_model.bin", name);
    CHECK(ferry_torch_read(mapped_bytes(path), path, NULL, &weights, &error));
    CHECK(ferry_safetensors_open(shared_file("models/huggingface-small/m2m100/model.safetensors"), &golden, &error));
    size_t found = 0;
    for (size_t i = 0; i < golden.weights.count; i++) {
        const ferry_tensor *expected = &golden.weights.entries[i].tensor;
        const ferry_weights_entry *entry = find_weights(&weights, expected->name.data);
        assert_int_equal(entry->tensor.type, expected->type);
        assert_int_equal(entry->tensor.dims, expected->dims);
        assert_memory_equal(entry->tensor.shape, expected->shape, sizeof expected->shape);
        assert_memory_equal(gather(entry), expected->data, expected->bytes);
        found++;
    }
    /* The same shared table under its other names, which safetensors leaves out. */
    const char *const ties[] = {"lm_head.weight", "model.decoder.embed_tokens.weight",
                                "model.encoder.embed_tokens.weight"};
    const ferry_weights_entry *shared = find_weights(&weights, "model.shared.weight");
    for (size_t i = 0; i < 3; i++) {
        const ferry_weights_entry *tie = ferry_weights_find(&weights, ties[i]);
        if (tie == NULL) continue;
        assert_ptr_equal(tie->tensor.data, shared->tensor.data);
        found++;
    }
    assert_int_equal(found, weights.count);
    ferry_safetensors_close(&golden);
    ferry_weights_close(&weights);
}

TEST(test_zip_form_golden)
{
    check_against_safetensors("m2m100-bin-zip");
}

TEST(test_legacy_form_golden)
{
    check_against_safetensors("m2m100-bin-legacy");
}

/* ---- small files ---- */

#define ADD(b, literal) put_bytes(b, literal, sizeof literal - 1)

/* Each in the form that a pickler chooses. */
static void add_number(made_file *b, int number)
{
    put_text(b, number < 0 ? "\x8A\x02" : number < 256 ? "K" : "J");
    put(b, (uint64_t)(int64_t)number, number < 0 ? 2 : number < 256 ? 1 : 4);
}

static void add_pair(made_file *b, int first, int second)
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
static made_file describe(const window *w)
{
    made_file b = {.size = 0};
    ADD(&b, "\x80\x02}X\x01\0\0\0actorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\n");
    put_text(&b, w->storage);
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

static ferry_view pickled(const void *pickle, size_t size, const void *storage, size_t storage_size)
{
    const zip_part parts[] = {{"any/data.pkl", pickle, size},
                              {"any/byteorder", "little", 6},
                              {"any/data/0", storage, storage_size},
                              {"any/version", "3\n", 2}};
    return make_zip(parts, 4);
}

static ferry_weights accept(ferry_view file)
{
    ferry_weights weights;
    CHECK(ferry_torch_read(file, "model.bin", NULL, &weights, &error));
    return weights;
}

static void refuse(ferry_view file, ferry_status status, const char *what)
{
    refuse_weights(ferry_torch_read, file, status, what);
}

static const float six[] = {0, 1, 2, 3, 4, 5};

static ferry_view pickled_six(const made_file *pickle)
{
    return pickled(pickle->data, pickle->size, six, sizeof six);
}

static void check_floats(const ferry_weights *weights, const char *name, const float *expected, size_t count)
{
    const ferry_weights_entry *entry = find_weights(weights, name);
    assert_int_equal(entry->tensor.type, FERRY_F32);
    assert_int_equal(ferry_tensor_count(&entry->tensor), count);
    assert_memory_equal(gather(entry), expected, count * sizeof *expected);
}

/* {"a": tensor} of the window on `six`, which must hold these numbers. */
static void check_window(ferry_view file, const float *expected, size_t count)
{
    ferry_weights weights = accept(file);
    check_floats(&weights, "a", expected, count);
    ferry_weights_close(&weights);
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

TEST(test_specified_pickle)
{
    const float b[] = {1, 4};
    assert_int_equal(sizeof specified - 1, 221);
    ferry_weights weights = accept(pickled(specified, 221, six, sizeof six));
    check_floats(&weights, "a", six, 6);
    check_floats(&weights, "b", b, 2);
    assert_int_equal(weights.count, 2);
    ferry_weights_close(&weights);
    for (size_t size = 0; size < 221; size++)
        refuse(pickled(specified, size, six, sizeof six), FERRY_ERROR_FORMAT, "not a sound pickle");
}

TEST(test_strides)
{
    static const struct {
        window window;
        float expected[6];
        size_t count;
    } rows[] = {
        {{.storage = "FloatStorage", .elements = 6, .shape = {3, 2}, .strides = {1, 3}}, {0, 3, 1, 4, 2, 5}, 6},
        {{.storage = "FloatStorage", .elements = 6, .offset = 2, .shape = {2, 1}, .strides = {3, 9}}, {2, 5}, 2},
        {{.storage = "FloatStorage", .elements = 6, .offset = 6, .shape = {0, 7}, .strides = {1, 1}}, {0}, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const made_file b = describe(&rows[i].window);
        check_window(pickled_six(&b), rows[i].expected, rows[i].count);
    }
}

TEST(test_types)
{
    static const struct {
        const char *name;
        int type, size;
    } types[] = {{"FloatStorage", FERRY_F32, 4},  {"HalfStorage", FERRY_F16, 2}, {"BFloat16Storage", FERRY_BF16, 2},
                 {"DoubleStorage", FERRY_F64, 8}, {"LongStorage", FERRY_I64, 8}, {"IntStorage", FERRY_I32, 4},
                 {"ShortStorage", FERRY_I16, 2},  {"CharStorage", FERRY_I8, 1},  {"ByteStorage", 255, 1},
                 {"BoolStorage", 255, 1}};
    const unsigned char data[64] = {0};
    for (size_t i = 0; i < COUNT(types); i++) {
        window w = {.storage = types[i].name, .elements = 4, .offset = 1, .shape = {1, 3}, .strides = {3, 1}};
        made_file b = describe(&w);
        const size_t size = 4 * (size_t)types[i].size;
        ferry_weights weights = accept(pickled(b.data, b.size, data, size));
        const ferry_weights_entry *entry = find_weights(&weights, "a");
        assert_int_equal(entry->tensor.type, types[i].type);
        assert_int_equal(entry->tensor.bytes, 3 * types[i].size);
        ferry_weights_close(&weights);
        refuse(pickled(b.data, b.size, data, size + 1), FERRY_ERROR_FORMAT, "storage '0': expected ");
    }
}

TEST(test_windows_beyond)
{
    static const char beyond[] = "tensor 'a': offset, shape and strides reach beyond";
    static const struct {
        int elements, offset, shape[2], strides[2];
        const char *what;
    } rows[] = {
        {6, 1, {2, 3}, {3, 1}, beyond},
        {6, 7, {0, 3}, {3, 1}, beyond},
        {6, -1, {1, 1}, {1, 1}, beyond},
        {6, 0, {2, 2}, {5, 1}, beyond},
        {6, 0, {100, 3}, {0, 1}, beyond},
        {6, 0, {INT32_MAX, INT32_MAX}, {INT32_MAX, INT32_MAX}, beyond},
        {6, 0, {-1, 1}, {1, 1}, "expected an offset, a shape"},
        {-6, 0, {1, 1}, {1, 1}, "storage '0': impossible size"},
        {5, 0, {1, 1}, {1, 1}, "expected 20 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const window w = {.storage = "FloatStorage",
                          .elements = rows[i].elements,
                          .offset = rows[i].offset,
                          .shape = {rows[i].shape[0], rows[i].shape[1]},
                          .strides = {rows[i].strides[0], rows[i].strides[1]}};
        const made_file b = describe(&w);
        refuse(pickled_six(&b), FERRY_ERROR_FORMAT, rows[i].what);
    }
}

/* ---- pickles that are refused ---- */

#define PICKLE(literal) literal, sizeof literal - 1

typedef struct bad_pickle {
    const char *pickle;
    size_t size;
    ferry_status status;
    const char *what;
} bad_pickle;

static void refuse_pickles(const bad_pickle *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        refuse(pickled(rows[i].pickle, rows[i].size, six, sizeof six), rows[i].status, rows[i].what);
}

TEST(test_globals)
{
    static const bad_pickle rows[] = {
        {PICKLE("\x80\x02"
                "cos\nsystem\nX\x02\0\0\0ls\x85R."),
         FERRY_ERROR_UNSUPPORTED, "asks for 'os.system'"},
        {PICKLE("\x80\x04\x8c\x08"
                "builtins\x8c\x04"
                "eval\x93."),
         FERRY_ERROR_UNSUPPORTED, "asks for 'builtins.eval'"},
        {PICKLE("\x80\x02"
                "ctorch.storage\n_load_from_bytes\n."),
         FERRY_ERROR_UNSUPPORTED, "asks for 'torch.storage._load_from_bytes'"},
        {PICKLE("\x80\x02"
                "ctorch._utils\n_rebuild_tensor_v3\n."),
         FERRY_ERROR_UNSUPPORTED, "_rebuild_tensor_v3"},
        {PICKLE("\x80\x02"
                "ctorch\nFloatStorageX\n."),
         FERRY_ERROR_UNSUPPORTED, "asks for 'torch.FloatStorageX'"},
        {PICKLE("\x80\x02K\x01K\x02\x93."), FERRY_ERROR_FORMAT, "a global without a name"},
    };
    refuse_pickles(rows, COUNT(rows));
}

TEST(test_opcodes)
{
    static const bad_pickle rows[] = {
        {PICKLE("\x80\x02P1\n."), FERRY_ERROR_UNSUPPORTED, "the opcode 0x50 (PERSID) at byte 2"},
        {PICKLE("\x80\x02(ios\nsystem\n."), FERRY_ERROR_UNSUPPORTED, "(INST)"},
        {PICKLE("\x80\x02(o."), FERRY_ERROR_UNSUPPORTED, "(OBJ)"},
        {PICKLE("\x80\x02"
                "ccollections\nOrderedDict\n)\x81."),
         FERRY_ERROR_UNSUPPORTED, "(NEWOBJ)"},
        {PICKLE("\x80\x04\x92."), FERRY_ERROR_UNSUPPORTED, "(NEWOBJ_EX)"},
        {PICKLE("\x80\x02\x82\x01."), FERRY_ERROR_UNSUPPORTED, "(EXT1)"},
        {PICKLE("\x80\x02\x83\x01\x01."), FERRY_ERROR_UNSUPPORTED, "(EXT2)"},
        {PICKLE("\x80\x02\x84\x01\x01\x01\x01."), FERRY_ERROR_UNSUPPORTED, "(EXT4)"},
        {PICKLE("\x80\x02I1\n."), FERRY_ERROR_UNSUPPORTED, "the opcode 0x49 (unknown)"},
        {PICKLE("\x80\x02]Nb."), FERRY_ERROR_UNSUPPORTED, "BUILD of something else than a dict"},
        {PICKLE("\x80\x01}."), FERRY_ERROR_FORMAT, "unknown protocol"},
        {PICKLE("}."), FERRY_ERROR_FORMAT, "expected a protocol"},
    };
    refuse_pickles(rows, COUNT(rows));
}

TEST(test_broken_stacks)
{
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
    for (size_t i = 0; i < COUNT(cases); i++) {
        made_file b = {.size = 0};
        put_text(&b, "\x80\x02");
        put_text(&b, cases[i].pickle);
        refuse(pickled_six(&b), FERRY_ERROR_FORMAT, cases[i].what);
    }
}

TEST(test_other_values)
{
    static const bad_pickle rows[] = {
        {PICKLE("\x80\x02h\x00."), FERRY_ERROR_FORMAT, "memo entry"},
        {PICKLE("\x80\x02]."), FERRY_ERROR_FORMAT, "expected a dict of tensors"},
        {PICKLE("\x80\x02}K\x01Ns."), FERRY_ERROR_FORMAT, "a key that is no text"},
        {PICKLE("\x80\x02}U\x01xK\x01s."), FERRY_ERROR_FORMAT, "key 'x': expected a tensor, found something else"},
        {PICKLE("\x80\x02}q\x01U\x01xh\x01s."), FERRY_ERROR_FORMAT, "key 'x': expected a tensor"},
        {PICKLE("\x80\x02}(U\x05"
                "epochM\x01\x02U\x04lossG?\xf0\0\0\0\0\0\0u."),
         FERRY_ERROR_FORMAT, "key 'epoch': expected a tensor"},
    };
    refuse_pickles(rows, COUNT(rows));
    /* Of a wrapper only the inner dict counts; a dict's state is read over. */
    const char empty[] = "\x80\x02}(U\x05"
                         "epochM\x01\x02U\x0astate_dict}Nbu.";
    ferry_weights weights = accept(pickled(empty, sizeof empty - 1, six, sizeof six));
    assert_int_equal(weights.count, 0);
    ferry_weights_close(&weights);
}

TEST(test_zip_members)
{
    static const zip_part pickle = {"m/data.pkl", specified, 221}, data = {"m/data/0", six, sizeof six};
    const struct {
        zip_part parts[3];
        size_t count;
        ferry_status status;
        const char *what;
    } rows[] = {
        {{pickle, data, {"m/byteorder", "big", 3}}, 3, FERRY_ERROR_UNSUPPORTED, "byte order 'big': not supported"},
        {{pickle, data, {"m/constants.pkl", "", 0}}, 3, FERRY_ERROR_UNSUPPORTED, "a TorchScript archive"},
        {{pickle, data, {"m/code/model.py", "", 0}}, 3, FERRY_ERROR_UNSUPPORTED, "a TorchScript archive"},
        {{pickle, data, {"n/data.pkl", "", 0}},
         3,
         FERRY_ERROR_FORMAT,
         "expected one member '.../data.pkl' in the zip archive, found 2"},
        {{pickle, {"m/data/00", six, sizeof six}}, 2, FERRY_ERROR_FORMAT, "storage '0': no member for it"},
        {{{"m/data/00", six, sizeof six}}, 1, FERRY_ERROR_FORMAT, "found 0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        refuse(make_zip(rows[i].parts, rows[i].count), rows[i].status, rows[i].what);
    made_file zeros = {.size = 0};
    put(&zeros, 0, 40);
    refuse(whole(&zeros), FERRY_ERROR_FORMAT, "not a PyTorch file");
}

/* ---- legacy form ---- */

static made_file legacy(const window *w, bool little, int64_t elements)
{
    const made_file state = describe(w);
    made_file b = {.size = 0};
    ADD(&b, "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.\x80\x02M\xE9\x03.\x80\x02}(X\x0d\0\0\0little_"
            "endian");
    put(&b, little ? 0x88 : 0x89, 1);
    ADD(&b, "u.");
    put_bytes(&b, state.data, state.size);
    ADD(&b, "\x80\x02]X\x01\0\0\0"
            "0a.");
    put(&b, (uint64_t)elements, 8);
    put_bytes(&b, six, sizeof six);
    return b;
}

TEST(test_legacy)
{
    static const window plain = {
        .storage = "FloatStorage", .elements = 6, .shape = {2, 3}, .strides = {3, 1}, .legacy = true};
    made_file b = legacy(&plain, true, 6);
    check_window(whole(&b), six, 6);
    for (size_t size = 15; size < b.size; size++) refuse(cut_to(&b, size), FERRY_ERROR_FORMAT, "");
    put(&b, 0, 1);
    refuse(whole(&b), FERRY_ERROR_FORMAT, "1 bytes past the last storage");
    b = legacy(&plain, true, 5);
    refuse(whole(&b), FERRY_ERROR_FORMAT, "storage '0': cut off, or of another size");
    b = legacy(&plain, false, 6);
    refuse(whole(&b), FERRY_ERROR_UNSUPPORTED, "little-endian");

    window w = {
        .storage = "FloatStorage", .elements = 6, .offset = 1, .shape = {1, 2}, .strides = {2, 1}, .view = {2, 3}};
    b = legacy(&w, true, 6);
    check_window(whole(&b), (const float[]){3, 4}, 2);
    w.view[1] = 2;
    b = legacy(&w, true, 6);
    refuse(whole(&b), FERRY_ERROR_FORMAT, "reach beyond its storage of 2 elements");
    w.view[1] = 5;
    b = legacy(&w, true, 6);
    refuse(whole(&b), FERRY_ERROR_FORMAT, "tensor 'a': a view beyond its storage");
}
