/* PyTorch's files: small pickles made here, in both forms of a file, and what is refused. */
#include "tests/support/make_zip.h"
#include "tests/support/refusals.h"

/* ---- small files ---- */

static ferry_view archive_of(ferry_view pickle, const void *storage, size_t size)
{
    const zip_part parts[] = {{"any/data.pkl", pickle.data, pickle.size},
                              {"any/byteorder", "little", 6},
                              {"any/data/0", storage, size},
                              {"any/version", "3\n", 2}};
    return make_zip(parts, 4);
}

static const float six[] = {0, 1, 2, 3, 4, 5};

/* An archive of this pickle and the storage `six`. */
static ferry_view pickled(ferry_view pickle)
{
    return archive_of(pickle, six, sizeof six);
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

/* The first 221 bytes of the archive's member are the pickle; the archive is sound. */
static ferry_status read_pickle(ferry_reader *in, ferry_weights *weights)
{
    const ferry_view pickle = {(const char *)in->cursor.data, in->cursor.size};
    in->cursor = ferry_cursor_begin(pickled(pickle));
    return ferry_torch_read(in, weights);
}

TEST(test_specified_pickle)
{
    const made_file pickle = {(unsigned char *)(uintptr_t)specified, sizeof specified - 1, 0};
    assert_int_equal(pickle.size, 221);
    check_weights(ferry_torch_read, pickled(BYTES(specified)), "a f32 [2, 3] 0 1 2 3 4 5; b f32 [2] 1 4");
    check_refused_weights_cuts(read_pickle, &pickle, 0, FERRY_ERROR_FORMAT);
}

#define TENSOR "ctorch._utils\n_rebuild_tensor_v2\n("
#define STORAGE(type, key, elements)                                                                                   \
    "(U\x07storagectorch\n" type "Storage\nU\x01" key "U\x03"                                                          \
    "cpu" elements "tQ"
/* {"a": tensor} of a storage "0"; numbers, and after those of elements a view, are the pickler's. */
#define ONE(type, elements, offset, shape, strides)                                                                    \
    "\x80\x02}U\x01"                                                                                                   \
    "a" TENSOR                                                                                                         \
    STORAGE(type, "0", elements)                                                                                       \
    offset shape strides "\x89}tRs."
#define PAIR(first, second) "K" first "K" second "\x86"

/* Forms of one pickle and windows on `six`: of each, the numbers of a tensor. */
TEST(test_forms_of_pickles)
{
    static const char protocol_5[] = "\x80\x05\x95\0\0\0\0\0\0\0\0}\x94\x8c\x01"
                                     "a\x94\x8c\x0ctorch._utils\x94\x8c\x12_rebuild_tensor_v2\x94\x93\x94((\x8c\x07"
                                     "storage\x94\x8c\x05torch\x94\x8c\x0c"
                                     "FloatStorage\x94\x93\x94\x8c\x01"
                                     "0\x94\x8c\x03"
                                     "cpu\x94K\x06t\x94QK\x00K\x02K\x03\x86\x94K\x03K\x01\x86\x94\x89}\x94t\x94R\x94s"
                                     "\x8c\x01"
                                     "bj\x10\0\0\0s.";
    static const struct {
        ferry_view pickle;
        const char *expected;
    } rows[] = {
        {BYTES(protocol_5), "a f32 [2, 3] 0 1 2 3 4 5; b f32 [2, 3] 0 1 2 3 4 5"},
        {BYTES(ONE("Float", "K\x06", "K\0", PAIR("\x03", "\x02"), PAIR("\x01", "\x03"))), "a f32 [3, 2] 0 3 1 4 2 5"},
        {BYTES(ONE("Float", "K\x06", "K\x02", PAIR("\x02", "\x01"), PAIR("\x03", "\x09"))), "a f32 [2, 1] 2 5"},
        {BYTES(ONE("Float", "K\x06", "K\x06", PAIR("\0", "\x07"), PAIR("\x01", "\x01"))), "a f32 [0, 7]"},
        {BYTES(ONE("Float", "K\x06", "K\x06", PAIR("\x07", "\0"), PAIR("\x01", "\x01"))), "a f32 [7, 0]"},
        {BYTES(ONE("Float", "\x8a\x08\x06\0\0\0\0\0\0\0", "K\x05", ")", ")")), "a f32 [] 5"},
        {BYTES(ONE("Float", "M\x06\0", "\x8a\0", "(K\x01K\x01K\x02K\x03t", "(K\x06K\x06K\x03K\x01t")),
         "a f32 [1, 1, 2, 3] 0 1 2 3 4 5"},
        {BYTES(ONE("Float", "K\x06", "K\x04", "K\x02\x85", "K\x01\x85\x89")), "a f32 [2] 4 5"},
        {BYTES("\x80\x02}U\x01"
               "actorch._utils\n_rebuild_parameter\n(" TENSOR STORAGE(
                   "Float", "0", "K\x06") "K\x03K\x03\x85K\x01\x85\x89}tR\x88}tRs."),
         "a f32 [3] 3 4 5"},
        {BYTES("\x80\x02}(U\x05"
               "epochK\x01U\x05model}U\x01"
               "a" TENSOR STORAGE("Float", "0", "K\x06") "K\x05"
                                                         "ctorch\nSize\n)\x85R)\x89}tRsu."),
         "a f32 [] 5"},
        {BYTES("\x80\x02}(U\x05model}U\x0astate_dict}U\x01"
               "a" TENSOR STORAGE("Float", "0", "K\x06") "K\x05))\x89}tRsu."),
         "a f32 [] 5"},
        /* Of a wrapper only the inner dict counts; a dict's state is read over. */
        {BYTES("\x80\x02}(U\x05"
               "epochM\x01\x02U\x0astate_dict}Nbu."),
         ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) check_weights(ferry_torch_read, pickled(rows[i].pickle), rows[i].expected);
}

/* A window of 3 elements on a storage of 4. */
#define OF_TYPE(type) BYTES(ONE(type, "K\x04", "K\x01", PAIR("\x01", "\x03"), PAIR("\x03", "\x01")))

TEST(test_types)
{
    static const struct {
        ferry_view pickle;
        size_t size;
        const char *expected;
    } rows[] = {
        {OF_TYPE("Float"), 4, "a f32 [1, 3] 0 0 0"},          {OF_TYPE("Half"), 2, "a f16 [1, 3] 0 0 0"},
        {OF_TYPE("BFloat16"), 2, "a bf16 [1, 3] 0 0 0"},      {OF_TYPE("Double"), 8, "a f64 [1, 3] 0 0 0"},
        {OF_TYPE("Long"), 8, "a i64 [1, 3] 0 0 0"},           {OF_TYPE("Int"), 4, "a i32 [1, 3] 0 0 0"},
        {OF_TYPE("Short"), 2, "a i16 [1, 3] 0 0 0"},          {OF_TYPE("Char"), 1, "a i8 [1, 3] 0 0 0"},
        {OF_TYPE("Byte"), 1, "a unsupported [1, 3] 3 bytes"}, {OF_TYPE("Bool"), 1, "a unsupported [1, 3] 3 bytes"},
    };
    const unsigned char data[64] = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t size = 4 * rows[i].size;
        const ferry_name message = ferry_name_format("in: storage '0': expected %zu bytes, found %zu", size, size + 1);
        const refused longer = {archive_of(rows[i].pickle, data, size + 1), FERRY_ERROR_FORMAT, message.text};
        check_weights(ferry_torch_read, archive_of(rows[i].pickle, data, size), rows[i].expected);
        check_refused_weights(ferry_torch_read, &longer, 1);
    }
}

#define BEYOND(count)                                                                                                  \
    "tensor 'a': offset, shape and strides reach beyond its storage of " count " elements, or repeat them"
#define NO_SHAPE "tensor 'a': expected an offset, a shape of at most 4 dimensions and strides"

#define WINDOW(elements, offset, shape, strides) pickled(BYTES(ONE("Float", elements, offset, shape, strides)))
#define ONES PAIR("\x01", "\x01")
#define LARGE "J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86"

TEST(test_windows_beyond)
{
    const refused rows[] = {
        MALFORMED(WINDOW("K\x06", "K\x01", PAIR("\x02", "\x03"), PAIR("\x03", "\x01")), BEYOND("6")),
        MALFORMED(WINDOW("K\x06", "K\x07", PAIR("\0", "\x03"), PAIR("\x03", "\x01")), BEYOND("6")),
        MALFORMED(WINDOW("K\x06", "\x8a\x01\xff", ONES, ONES), BEYOND("6")),
        MALFORMED(WINDOW("K\x06", "K\0", PAIR("\x02", "\x02"), PAIR("\x05", "\x01")), BEYOND("6")),
        MALFORMED(WINDOW("K\x06", "K\0", PAIR("\x07", "\x01"), PAIR("\0", "\x01")), BEYOND("6")),
        MALFORMED(WINDOW("K\x06", "K\0", LARGE, LARGE), BEYOND("6")),
        MALFORMED(WINDOW("K\x06", "K\0", "J\xff\xff\xff\xffK\x01\x86", ONES), NO_SHAPE),
        MALFORMED(WINDOW("K\x06", "K\0", ONES, "K\x01\x8a\x01\xff\x86"), NO_SHAPE),
        MALFORMED(WINDOW("\x8a\x01\x80", "K\0", ONES, ONES), "storage '0': impossible size"),
        MALFORMED(WINDOW("K\x05", "K\0", ONES, ONES), "storage '0': expected 20 bytes, found 24"),
        MALFORMED(WINDOW("K\x06", "K\0", "(K\x01K\x01K\x01K\x01K\x01t", "(K\x01K\x01K\x01K\x01K\x01t"), NO_SHAPE),
        MALFORMED(WINDOW("K\x06", "K\0", "K\x01\x85", ")"), NO_SHAPE),
    };
    check_refused_weights(ferry_torch_read, rows, COUNT(rows));
}

/* ---- pickles that are refused ---- */

#define PICKLE(literal) pickled(BYTES("\x80\x02" literal))
#define ASKS(what) "its pickle asks for '" what "': refused, a file of weights needs nothing but tensors"
#define OPCODE(what) "its pickle has the opcode " what ": refused, a file of weights does not need it"
#define BROKEN(what) "not a sound pickle: " what

TEST(test_globals)
{
    const refused rows[] = {
        UNSUPPORTED(PICKLE("cos\nsystem\nX\x02\0\0\0ls\x85R."), ASKS("os.system")),
        UNSUPPORTED(PICKLE("\x8c\x08"
                           "builtins\x8c\x04"
                           "eval\x93."),
                    ASKS("builtins.eval")),
        UNSUPPORTED(PICKLE("ctorch.storage\n_load_from_bytes\n."), ASKS("torch.storage._load_from_bytes")),
        UNSUPPORTED(PICKLE("ctorch._utils\n_rebuild_tensor_v3\n."), ASKS("torch._utils._rebuild_tensor_v3")),
        UNSUPPORTED(PICKLE("ctorch\nFloatStorageX\n."), ASKS("torch.FloatStorageX")),
        UNSUPPORTED(PICKLE("ccollections\nSize\n."), ASKS("collections.Size")),
        MALFORMED(PICKLE("U\x05torchK\x02\x93."), BROKEN("a global without a name at byte 11")),
        MALFORMED(PICKLE("K\x01U\x04Size\x93."), BROKEN("a global without a name at byte 10")),
        MALFORMED(PICKLE("(U\x04Size\x93."), BROKEN("a global without a name at byte 9")),
    };
    check_refused_weights(ferry_torch_read, rows, COUNT(rows));
}

TEST(test_opcodes)
{
    const refused rows[] = {
        UNSUPPORTED(PICKLE("P1\n."), OPCODE("0x50 (PERSID) at byte 2")),
        UNSUPPORTED(PICKLE("(ios\nsystem\n."), OPCODE("0x69 (INST) at byte 3")),
        UNSUPPORTED(PICKLE("(o."), OPCODE("0x6F (OBJ) at byte 3")),
        UNSUPPORTED(PICKLE("ccollections\nOrderedDict\n)\x81."), OPCODE("0x81 (NEWOBJ) at byte 28")),
        UNSUPPORTED(PICKLE("\x92."), OPCODE("0x92 (NEWOBJ_EX) at byte 2")),
        UNSUPPORTED(PICKLE("\x82\x01."), OPCODE("0x82 (EXT1) at byte 2")),
        UNSUPPORTED(PICKLE("\x83\x01\x01."), OPCODE("0x83 (EXT2) at byte 2")),
        UNSUPPORTED(PICKLE("\x84\x01\x01\x01\x01."), OPCODE("0x84 (EXT4) at byte 2")),
        UNSUPPORTED(PICKLE("I1\n."), OPCODE("0x49 (unknown) at byte 2")),
        UNSUPPORTED(PICKLE("]Nb."), "its pickle has BUILD of something else than a dict: refused"),
        MALFORMED(pickled(BYTES("\x80\x01}.")), BROKEN("unknown protocol at byte 0")),
        MALFORMED(pickled(BYTES("\x80\x06}.")), BROKEN("unknown protocol at byte 0")),
        MALFORMED(pickled(BYTES("}.")), BROKEN("expected a protocol of 2 or later at byte 0")),
    };
    check_refused_weights(ferry_torch_read, rows, COUNT(rows));
}

TEST(test_broken_stacks)
{
    const refused rows[] = {
        MALFORMED(PICKLE("."), BROKEN("not exactly one value is left at byte 2")),
        MALFORMED(PICKLE("}}."), BROKEN("not exactly one value is left at byte 4")),
        MALFORMED(PICKLE("(."), BROKEN("not exactly one value is left at byte 3")),
        MALFORMED(PICKLE("N\x86."), BROKEN("empty stack at byte 3")),
        MALFORMED(PICKLE("(\x85."), BROKEN("unexpected mark at byte 3")),
        MALFORMED(PICKLE("}t."), BROKEN("missing mark at byte 3")),
        MALFORMED(PICKLE("NNs."), BROKEN("entries for what is no dict at byte 4")),
        MALFORMED(PICKLE("]NNs."), BROKEN("entries for what is no dict at byte 5")),
        MALFORMED(PICKLE("}(Nu."), BROKEN("a key without a value at byte 5")),
        MALFORMED(PICKLE("}Na."), BROKEN("items for what is no list at byte 4")),
        MALFORMED(PICKLE("](N(ue."), BROKEN("entries for what is no dict at byte 6")),
        MALFORMED(PICKLE("](N}(ue."), "expected a dict of tensors"),
        MALFORMED(PICKLE("e."), BROKEN("missing mark at byte 2")),
        MALFORMED(PICKLE("h\x07."), BROKEN("an undefined memo entry at byte 2")),
        MALFORMED(PICKLE("h\x00."), BROKEN("an undefined memo entry at byte 2")),
        MALFORMED(PICKLE("}q\x05h\x04."), BROKEN("an undefined memo entry at byte 5")),
        MALFORMED(PICKLE("}q\x05h\x06."), BROKEN("an undefined memo entry at byte 5")),
        MALFORMED(PICKLE("q\x01."), BROKEN("nothing to remember at byte 2")),
        MALFORMED(PICKLE("]r\0\0\x10\0."), BROKEN("memo too large at byte 3")),
        MALFORMED(PICKLE("]r\xff\xff\x0f\0."), "expected a dict of tensors"),
        MALFORMED(PICKLE("N)R."), BROKEN("a call (REDUCE) of what is no function at byte 4")),
        MALFORMED(PICKLE("NNR."), BROKEN("a call (REDUCE) of what is no function at byte 4")),
        MALFORMED(PICKLE("NQ."), BROKEN("a persistent id that is no storage at byte 3")),
        MALFORMED(PICKLE("U\x07storageNNNN(tQ."), BROKEN("a persistent id that is no storage at byte 17")),
        MALFORMED(PICKLE("b."), BROKEN("empty stack at byte 2")),
        MALFORMED(PICKLE("\x8a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01."),
                  BROKEN("an integer of more than 64 bits at byte 2")),
        MALFORMED(PICKLE("ccollections\nOrderedDict\nN\x85R."), BROKEN("OrderedDict with arguments at byte 29")),
        MALFORMED(PICKLE("ctorch\nSize\n)R."), BROKEN("Size of what is no tuple at byte 15")),
        MALFORMED(PICKLE("ctorch\nSize\n))\x86R."), BROKEN("Size of what is no tuple at byte 17")),
        MALFORMED(PICKLE(TENSOR "NNNNNtR."), BROKEN("_rebuild_tensor_v2 with other arguments at byte 42")),
        MALFORMED(PICKLE(TENSOR "NNNNNNNNtR."), BROKEN("_rebuild_tensor_v2 with other arguments at byte 45")),
        MALFORMED(PICKLE("ctorch._utils\n_rebuild_parameter\n)R."),
                  BROKEN("_rebuild_parameter of what is no tensor at byte 36")),
    };
    check_refused_weights(ferry_torch_read, rows, COUNT(rows));
}

#define ENTRY(name, storage) "U\x01" name TENSOR storage "K\x00))\x89}tR"

TEST(test_other_values)
{
    const refused rows[] = {
        MALFORMED(PICKLE("]."), "expected a dict of tensors"),
        MALFORMED(PICKLE("}K\x01Ns."), "expected a dict of tensors, found a key that is no text"),
        MALFORMED(PICKLE("}U\x01xK\x01s."), "key 'x': expected a tensor, found something else"),
        MALFORMED(PICKLE("}q\x01U\x01xh\x01s."), "key 'x': expected a tensor, found something else"),
        MALFORMED(PICKLE("}(" ENTRY("a", STORAGE("Float", "0", "K\x06")) "U\x04lossG?\xf0\0\0\0\0\0\0u."),
                  "key 'loss': expected a tensor, found something else"),
        MALFORMED(PICKLE("}(U\x0astate_dictNU\x05modelN" ENTRY("a", STORAGE("Float", "0", "K\x06")) "u."),
                  "key 'state_dict': expected a tensor, found something else"),
        MALFORMED(PICKLE("}(" ENTRY("a", STORAGE("Float", "0", "K\x06")) ENTRY("b", STORAGE("Int", "0", "K\x06")) "u."),
                  "storage '0': two descriptions"),
        MALFORMED(PICKLE("}(" ENTRY("a", STORAGE("Float", "0", "K\x06"))
                             ENTRY("b", STORAGE("Float", "0", "K\x05")) "u."),
                  "storage '0': two descriptions"),
        MALFORMED(PICKLE("}(" ENTRY("a", STORAGE("Float", "0", "K\x06"))
                             ENTRY("b", STORAGE("Float", "1", "K\x06")) "u."),
                  "storage '1': no member for it"),
        {PICKLE("}(" ENTRY("a", STORAGE("Float", "0", "K\x06")) ENTRY("a", STORAGE("Float", "0", "K\x06")) "u."),
         FERRY_ERROR_FORMAT, "in and in: tensor 'a' occurs twice"},
    };
    check_refused_weights(ferry_torch_read, rows, COUNT(rows));
}

TEST(test_zip_members)
{
    const zip_part pickle = {"m/data.pkl", specified, 221}, data = {"m/data/0", six, sizeof six};
    const zip_part big[] = {pickle, data, {"m/byteorder", "big", 3}},
                   constants[] = {pickle, data, {"m/constants.pkl", "", 0}};
    const zip_part code[] = {pickle, data, {"m/code/model.py", "", 0}}, two[] = {pickle, data, {"n/data.pkl", "", 0}};
    const zip_part other[] = {pickle, {"m/data/00", six, sizeof six}}, none[] = {{"m/data/0", six, sizeof six}};
    static const char script[] = "in: a TorchScript archive (a program), not a file of weights";
    const char *packed = scratch_file("packed.bin");
    write_deflated(packed, "m/data.pkl", &(repeated){"", BYTES(specified), 1, ""});
    const refused rows[] = {
        UNSUPPORTED(make_zip(big, 3), "byte order 'big': not supported"),
        {make_zip(constants, 3), FERRY_ERROR_UNSUPPORTED, script},
        {make_zip(code, 3), FERRY_ERROR_UNSUPPORTED, script},
        MALFORMED(make_zip(two, 3), "expected one member '.../data.pkl' in the zip archive, found 2"),
        MALFORMED(make_zip(none, 1), "expected one member '.../data.pkl' in the zip archive, found 0"),
        MALFORMED(make_zip(other, 2), "storage '0': no member for it"),
        UNSUPPORTED(mapped_bytes(packed), "member 'm/data.pkl': compressed, which PyTorch does not do"),
        MALFORMED(text_view("0000000000"), "not a PyTorch file: neither a zip archive nor the legacy form"),
    };
    check_refused_weights(ferry_torch_read, rows, COUNT(rows));
    const zip_part nested[] = {pickle, data, {"m/x/data.pkl", "", 0}}; /* which do not say their order */
    for (size_t i = 2; i <= 3; i++)
        check_weights(ferry_torch_read, make_zip(nested, i), "a f32 [2, 3] 0 1 2 3 4 5; b f32 [2] 1 4");
}

/* ---- legacy form ---- */

#define MAGIC "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19."
#define MACHINE "\x80\x02}U\x0dlittle_endian\x88s."

static made_file legacy(ferry_view state, uint64_t elements)
{
    static const char head[] = MAGIC "\x80\x02M\xE9\x03." MACHINE, keys[] = "\x80\x02]U\x01"
                                                                            "0a.";
    made_file b = {.size = 0};
    put_bytes(&b, head, sizeof head - 1);
    put_bytes(&b, state.data, state.size);
    put_bytes(&b, keys, sizeof keys - 1);
    put(&b, elements, 8);
    put_bytes(&b, six, sizeof six);
    return b;
}

/* `count` elements from the second one on of a view of the storage. */
#define VIEWED(view, count)                                                                                            \
    legacy(BYTES(ONE("Float", "K\x06U\x01v" view "\x87", "K\x01", PAIR("\x01", count), PAIR(count, "\x01"))), 6)

TEST(test_legacy)
{
#define WHOLE BYTES(ONE("Float", "K\x06N", "K\0", PAIR("\x02", "\x03"), PAIR("\x03", "\x01")))
    static const char beyond[] = "in: tensor 'a': a view beyond its storage";
    const made_file b = legacy(WHOLE, 6), other = legacy(WHOLE, 5);
    const made_file inner = VIEWED("K\x02K\x03", "\x02"), last = VIEWED("K\x02K\x04", "\x03");
    const made_file two = VIEWED("K\x02K\x02", "\x02"), five = VIEWED("K\x02K\x05", "\x02");
    const made_file before = VIEWED("\x8a\x01\xffK\x03", "\x01"), after_end = VIEWED("K\x07K\x01", "\x01");
    check_weights(ferry_torch_read, whole(&b), "a f32 [2, 3] 0 1 2 3 4 5");
    check_weights(ferry_torch_read, whole(&inner), "a f32 [1, 2] 3 4");
    check_weights(ferry_torch_read, whole(&last), "a f32 [1, 3] 3 4 5");
    check_refused_weights_cuts(ferry_torch_read, &b, 15, FERRY_ERROR_FORMAT);
    const refused rows[] = {
        MALFORMED(longer(&b, 1), "1 bytes past the last storage"),
        MALFORMED(whole(&other), "storage '0': cut off, or of another size"),
        MALFORMED(edited(&b, b.size - sizeof six - 8 - 3, '1'),
                  "storage '1': no tensor names it, or a second one of its name"),
        UNSUPPORTED(BYTES(MAGIC "\x80\x02M\xEA\x03."), "expected version 1001 of PyTorch's legacy format"),
        UNSUPPORTED(BYTES(MAGIC "\x80\x02M\xE9\x03.\x80\x02}U\x0dlittle_endian\x89s."),
                    "expected a file of a little-endian machine"),
        UNSUPPORTED(BYTES(MAGIC "\x80\x02M\xE9\x03.\x80\x02}."), "expected a file of a little-endian machine"),
        MALFORMED(BYTES(MAGIC "\x80\x02M\xE9\x03." MACHINE "\x80\x02}.\x80\x02]U\x01xa."),
                  "expected a list of 0 storages"),
        MALFORMED(whole(&two), BEYOND("2")),
        {whole(&five), FERRY_ERROR_FORMAT, beyond},
        {whole(&before), FERRY_ERROR_FORMAT, beyond},
        {whole(&after_end), FERRY_ERROR_FORMAT, beyond},
    };
    check_refused_weights(ferry_torch_read, rows, COUNT(rows));
}
