#include "pickle.h"

#include <string.h>

#include "weights.h"

enum {
    MAX_STEPS = 1 << 22, /* opcodes of one pickle: 100 times those of a large model */
    MAX_STACK = 1 << 20,
    MAX_MEMO = 1 << 20,
    MAX_LONG = 8 /* bytes of an integer */
};

typedef struct machine {
    ferry_cursor *cursor;
    const char *file;
    ferry_arena *arena;
    ferry_error *error;
    ferry_pickle_value **stack; /* [depth] */
    size_t depth, stack_capacity;
    ferry_pickle_value **memo; /* [memo_count], NULL where nothing was put */
    size_t memo_count, memo_capacity;
    size_t start, opcode_at;
    bool stopped;
} machine;

enum { ORDERED_DICT, REBUILD_TENSOR, REBUILD_PARAMETER, SIZE };

static ferry_status fail(const machine *m, const char *what)
{
    return ferry_fail(m->error, FERRY_ERROR_FORMAT, "%s: not a sound pickle: %s at byte %zu", m->file, what,
                      m->opcode_at);
}

/* ---- stack ---- */

/* Makes room for one more pointer than `count`. */
static ferry_status grow(const machine *m, ferry_pickle_value ***list, size_t count, size_t *capacity)
{
    if (count < *capacity) return FERRY_OK;
    const size_t wanted = *capacity < 8 ? 8 : *capacity * 2;
    ferry_pickle_value **larger = ferry_arena_alloc(m->arena, wanted, sizeof(ferry_pickle_value *));
    if (larger == NULL) return ferry_fail_memory(m->error, "a pickle", wanted, sizeof(ferry_pickle_value *));
    if (count > 0) memcpy(larger, *list, count * sizeof(ferry_pickle_value *));
    *list = larger;
    *capacity = wanted;
    return FERRY_OK;
}

static ferry_status push(machine *m, ferry_pickle_value *value)
{
    if (m->depth >= MAX_STACK) return fail(m, "stack too deep");
    FERRY_TRY(grow(m, &m->stack, m->depth, &m->stack_capacity));
    m->stack[m->depth++] = value;
    return FERRY_OK;
}

static ferry_status push_new(machine *m, ferry_pickle_value value)
{
    ferry_pickle_value *copy = ferry_arena_alloc(m->arena, 1, sizeof *copy);
    if (copy == NULL) return ferry_fail_memory(m->error, "a pickle", 1, sizeof *copy);
    *copy = value;
    return push(m, copy);
}

static ferry_status push_integer(machine *m, int64_t integer)
{
    return push_new(m, (ferry_pickle_value){.kind = FERRY_PICKLE_INTEGER, .integer = integer});
}

/* NULL when the stack is empty or a mark is on top. */
static ferry_pickle_value *top(const machine *m)
{
    if (m->depth == 0 || m->stack[m->depth - 1]->kind == FERRY_PICKLE_MARK) return NULL;
    return m->stack[m->depth - 1];
}

static ferry_pickle_value *pop(machine *m)
{
    ferry_pickle_value *value = top(m);
    if (value != NULL) m->depth--;
    return value;
}

/* How many values are above the last mark. */
static ferry_status count_marked(const machine *m, size_t *count)
{
    *count = 0;
    while (*count < m->depth && m->stack[m->depth - 1 - *count]->kind != FERRY_PICKLE_MARK) ++*count;
    return *count < m->depth ? FERRY_OK : fail(m, "missing mark");
}

/* ---- containers ---- */

static ferry_status append(const machine *m, ferry_pickle_value *container, const ferry_pickle_value *item)
{
    ferry_pickle_value **items = (ferry_pickle_value **)(uintptr_t)container->items;
    FERRY_TRY(grow(m, &items, container->count, &container->capacity));
    items[container->count++] = (ferry_pickle_value *)(uintptr_t)item;
    container->items = (const ferry_pickle_value **)(uintptr_t)items;
    return FERRY_OK;
}

/* The topmost values become a tuple, which replaces the mark below them, if there is one. */
static ferry_status make_tuple(machine *m, size_t count, bool marked)
{
    ferry_pickle_value tuple = {.kind = FERRY_PICKLE_TUPLE};
    if (m->depth < count) return fail(m, "empty stack");
    for (size_t i = m->depth - count; i < m->depth; i++) {
        if (m->stack[i]->kind == FERRY_PICKLE_MARK) return fail(m, "unexpected mark");
        FERRY_TRY(append(m, &tuple, m->stack[i]));
    }
    m->depth -= count + marked;
    return push_new(m, tuple);
}

/* The topmost `count` values join the container below them (and below the mark, if there is one). */
static ferry_status add_items(machine *m, size_t count, bool marked, ferry_pickle_kind kind)
{
    const size_t below = count + (marked ? 2 : 1);
    if (m->depth < below || m->stack[m->depth - below]->kind != kind)
        return fail(m, kind == FERRY_PICKLE_DICT ? "entries for what is no dict" : "items for what is no list");
    if (kind == FERRY_PICKLE_DICT && count % 2 != 0) return fail(m, "a key without a value");
    ferry_pickle_value *container = m->stack[m->depth - below];
    for (size_t i = m->depth - count; i < m->depth; i++) {
        if (m->stack[i]->kind == FERRY_PICKLE_MARK) return fail(m, "unexpected mark");
        FERRY_TRY(append(m, container, m->stack[i]));
    }
    m->depth -= below - 1;
    return FERRY_OK;
}

/* ---- memo ---- */

static ferry_status put(machine *m, size_t index)
{
    ferry_pickle_value *value = top(m);
    if (value == NULL) return fail(m, "nothing to remember");
    if (index >= MAX_MEMO) return fail(m, "memo too large");
    while (m->memo_count <= index) {
        FERRY_TRY(grow(m, &m->memo, m->memo_count, &m->memo_capacity));
        m->memo[m->memo_count++] = NULL;
    }
    m->memo[index] = value;
    return FERRY_OK;
}

static ferry_status get(machine *m, size_t index)
{
    if (index >= m->memo_count || m->memo[index] == NULL) return fail(m, "an undefined memo entry");
    return push(m, m->memo[index]);
}

/* ---- globals ---- */

static const struct {
    const char *module, *name;
    ferry_pickle_kind kind;
    int integer; /* of the value: a function, or a storage's element type */
} globals[] = {
    {"collections", "OrderedDict", FERRY_PICKLE_FUNCTION, ORDERED_DICT},
    {"torch._utils", "_rebuild_tensor_v2", FERRY_PICKLE_FUNCTION, REBUILD_TENSOR},
    {"torch._utils", "_rebuild_parameter", FERRY_PICKLE_FUNCTION, REBUILD_PARAMETER},
    {"torch", "Size", FERRY_PICKLE_FUNCTION, SIZE},
    {"torch", "FloatStorage", FERRY_PICKLE_STORAGE_TYPE, FERRY_F32},
    {"torch", "HalfStorage", FERRY_PICKLE_STORAGE_TYPE, FERRY_F16},
    {"torch", "BFloat16Storage", FERRY_PICKLE_STORAGE_TYPE, FERRY_BF16},
    {"torch", "DoubleStorage", FERRY_PICKLE_STORAGE_TYPE, FERRY_F64},
    {"torch", "LongStorage", FERRY_PICKLE_STORAGE_TYPE, FERRY_I64},
    {"torch", "IntStorage", FERRY_PICKLE_STORAGE_TYPE, FERRY_I32},
    {"torch", "ShortStorage", FERRY_PICKLE_STORAGE_TYPE, FERRY_I16},
    {"torch", "CharStorage", FERRY_PICKLE_STORAGE_TYPE, FERRY_I8},
    {"torch", "ByteStorage", FERRY_PICKLE_STORAGE_TYPE, FERRY_TYPE_OTHER},
    {"torch", "BoolStorage", FERRY_PICKLE_STORAGE_TYPE, FERRY_TYPE_OTHER},
};

static ferry_status push_global(machine *m, ferry_view module, ferry_view name)
{
    for (size_t i = 0; i < sizeof globals / sizeof globals[0]; i++) {
        if (!ferry_view_is(module, globals[i].module) || !ferry_view_is(name, globals[i].name)) continue;
        return push_new(m, (ferry_pickle_value){.kind = globals[i].kind, .integer = globals[i].integer, .text = name});
    }
    return ferry_fail(m->error, FERRY_ERROR_UNSUPPORTED,
                      "%s: its pickle asks for '%s.%s': refused, a file of weights needs nothing but tensors", m->file,
                      ferry_printable_view(module).text, ferry_printable_view(name).text);
}

static bool read_line(ferry_cursor *cursor, ferry_view *line)
{
    const char *begin = (const char *)cursor->data + cursor->at;
    const size_t left = ferry_cursor_left(cursor);
    const char *end = left > 0 ? memchr(begin, '\n', left) : NULL;
    return end != NULL && ferry_read_bytes(cursor, (uint64_t)(end - begin), line) && ferry_read_text(cursor, "\n");
}

static ferry_status global_from_stack(machine *m)
{
    const ferry_pickle_value *name = pop(m), *module = name != NULL ? pop(m) : NULL;
    if (module == NULL || name->kind != FERRY_PICKLE_TEXT || module->kind != FERRY_PICKLE_TEXT)
        return fail(m, "a global without a name");
    return push_global(m, module->text, name->text);
}

/* "Calls" one of the functions above: builds its return value. */
static ferry_status reduce(machine *m)
{
    const ferry_pickle_value *arguments = pop(m), *function = arguments != NULL ? pop(m) : NULL;
    if (function == NULL || arguments->kind != FERRY_PICKLE_TUPLE || function->kind != FERRY_PICKLE_FUNCTION)
        return fail(m, "a call (REDUCE) of what is no function");
    ferry_pickle_value result = *arguments;
    switch (function->integer) {
    case ORDERED_DICT:
        if (arguments->count != 0) return fail(m, "OrderedDict with arguments");
        return push_new(m, (ferry_pickle_value){.kind = FERRY_PICKLE_DICT});
    case REBUILD_TENSOR:
        if (arguments->count < 6 || arguments->count > 7) return fail(m, "_rebuild_tensor_v2 with other arguments");
        result.kind = FERRY_PICKLE_TENSOR;
        return push_new(m, result);
    case REBUILD_PARAMETER:
        if (arguments->count < 1 || arguments->items[0]->kind != FERRY_PICKLE_TENSOR)
            return fail(m, "_rebuild_parameter of what is no tensor");
        return push_new(m, *arguments->items[0]);
    default: /* SIZE */
        if (arguments->count != 1 || arguments->items[0]->kind != FERRY_PICKLE_TUPLE)
            return fail(m, "Size of what is no tuple");
        return push_new(m, *arguments->items[0]);
    }
}

static ferry_status persistent_storage(machine *m)
{
    const ferry_pickle_value *id = pop(m);
    if (id == NULL || id->kind != FERRY_PICKLE_TUPLE || id->count < 5 || id->count > 6 ||
        id->items[0]->kind != FERRY_PICKLE_TEXT || !ferry_view_is(id->items[0]->text, "storage") ||
        id->items[1]->kind != FERRY_PICKLE_STORAGE_TYPE || id->items[2]->kind != FERRY_PICKLE_TEXT ||
        id->items[4]->kind != FERRY_PICKLE_INTEGER)
        return fail(m, "a persistent id that is no storage");
    ferry_pickle_value storage = *id;
    storage.kind = FERRY_PICKLE_STORAGE;
    return push_new(m, storage);
}

/* The state of a dict (PyTorch's _metadata) is ignored. */
static ferry_status build(machine *m)
{
    if (pop(m) == NULL) return fail(m, "empty stack");
    if (top(m) != NULL && top(m)->kind == FERRY_PICKLE_DICT) return FERRY_OK;
    return ferry_fail(m->error, FERRY_ERROR_UNSUPPORTED,
                      "%s: its pickle has BUILD of something else than a dict: refused", m->file);
}

/* Two's complement of `size` bytes, lowest first. */
static ferry_status push_long(machine *m, uint64_t size)
{
    uint64_t bits;
    if (size > MAX_LONG) return fail(m, "an integer of more than 64 bits");
    if (!ferry_read_number(m->cursor, (size_t)size, &bits)) return fail(m, "cut off");
    const bool negative = size > 0 && bits >> (8 * size - 1) != 0;
    if (negative && size < MAX_LONG) bits |= UINT64_MAX << (8 * size);
    return push_integer(m, (int64_t)bits);
}

/* ---- opcodes ---- */

static ferry_status refuse_opcode(const machine *m, uint8_t opcode)
{
    static const char *const names[UINT8_MAX + 1] = {
        [0x42] = "BINBYTES", [0x43] = "SHORT_BINBYTES", [0x50] = "PERSID",   [0x69] = "INST",
        [0x6F] = "OBJ",      [0x81] = "NEWOBJ",         [0x82] = "EXT1",     [0x83] = "EXT2",
        [0x84] = "EXT4",     [0x8B] = "LONG4",          [0x92] = "NEWOBJ_EX"};
    return ferry_fail(
        m->error, FERRY_ERROR_UNSUPPORTED,
        "%s: its pickle has the opcode 0x%02X (%s) at byte %zu: refused, a file of weights does not need it", m->file,
        opcode, names[opcode] != NULL ? names[opcode] : "unknown", m->opcode_at);
}

/* How many bytes the number has that follows an opcode. */
static const uint8_t operand_bytes[UINT8_MAX + 1] = {
    [0x47] = 8, [0x4A] = 4, [0x4B] = 1, [0x4D] = 2, [0x55] = 1, [0x58] = 4, [0x68] = 1,
    [0x6A] = 4, [0x71] = 1, [0x72] = 4, [0x80] = 1, [0x8A] = 1, [0x8C] = 1, [0x95] = 8,
};

static ferry_status run(machine *m, uint8_t opcode, uint64_t number)
{
    size_t marked = 0;
    ferry_pickle_value text = {.kind = FERRY_PICKLE_TEXT};
    ferry_view module, name;
    if (opcode == 0x74 || opcode == 0x65 || opcode == 0x75) FERRY_TRY(count_marked(m, &marked));
    switch (opcode) {
    case 0x2E: /* STOP */ m->stopped = true; return FERRY_OK;
    case 0x28: /* MARK */ return push_new(m, (ferry_pickle_value){.kind = FERRY_PICKLE_MARK});
    case 0x29: /* EMPTY_TUPLE */ return make_tuple(m, 0, false);
    case 0x85: /* TUPLE1 */ return make_tuple(m, 1, false);
    case 0x86: /* TUPLE2 */ return make_tuple(m, 2, false);
    case 0x87: /* TUPLE3 */ return make_tuple(m, 3, false);
    case 0x74: /* TUPLE */ return make_tuple(m, marked, true);
    case 0x5D: /* EMPTY_LIST */ return push_new(m, (ferry_pickle_value){.kind = FERRY_PICKLE_LIST});
    case 0x61: /* APPEND */ return add_items(m, 1, false, FERRY_PICKLE_LIST);
    case 0x65: /* APPENDS */ return add_items(m, marked, true, FERRY_PICKLE_LIST);
    case 0x7D: /* EMPTY_DICT */ return push_new(m, (ferry_pickle_value){.kind = FERRY_PICKLE_DICT});
    case 0x73: /* SETITEM */ return add_items(m, 2, false, FERRY_PICKLE_DICT);
    case 0x75: /* SETITEMS */ return add_items(m, marked, true, FERRY_PICKLE_DICT);
    case 0x4E: /* NONE */ return push_new(m, (ferry_pickle_value){.kind = FERRY_PICKLE_NONE});
    case 0x88: /* NEWTRUE */ return push_new(m, (ferry_pickle_value){.kind = FERRY_PICKLE_BOOLEAN, .integer = 1});
    case 0x89: /* NEWFALSE */ return push_new(m, (ferry_pickle_value){.kind = FERRY_PICKLE_BOOLEAN});
    case 0x4A: /* BININT */ return push_integer(m, (int32_t)(uint32_t)number);
    case 0x4B: /* BININT1 */
    case 0x4D: /* BININT2 */ return push_integer(m, (int64_t)number);
    case 0x8A: /* LONG1 */ return push_long(m, number);
    case 0x47: /* BINFLOAT */ return push_new(m, (ferry_pickle_value){.kind = FERRY_PICKLE_REAL});
    case 0x58: /* BINUNICODE */
    case 0x55: /* SHORT_BINSTRING */
    case 0x8C: /* SHORT_BINUNICODE */
        return ferry_read_bytes(m->cursor, number, &text.text) ? push_new(m, text) : fail(m, "cut off");
    case 0x68: /* BINGET */
    case 0x6A: /* LONG_BINGET */ return get(m, number);
    case 0x71: /* BINPUT */
    case 0x72: /* LONG_BINPUT */ return put(m, number);
    case 0x94: /* MEMOIZE */ return put(m, m->memo_count);
    case 0x63: /* GLOBAL */
        if (!read_line(m->cursor, &module) || !read_line(m->cursor, &name)) return fail(m, "cut off");
        return push_global(m, module, name);
    case 0x93: /* STACK_GLOBAL */ return global_from_stack(m);
    case 0x52: /* REDUCE */ return reduce(m);
    case 0x62: /* BUILD */ return build(m);
    case 0x51: /* BINPERSID */ return persistent_storage(m);
    case 0x80: /* PROTO */ return number >= 2 && number <= 5 ? FERRY_OK : fail(m, "unknown protocol");
    case 0x95: /* FRAME: the length of what follows is not needed */ return FERRY_OK;
    default: return refuse_opcode(m, opcode);
    }
}

ferry_status ferry_pickle_read(ferry_cursor *cursor, const char *file, ferry_arena *arena,
                               const ferry_pickle_value **value, ferry_error *error)
{
    machine m = {.cursor = cursor, .file = file, .arena = arena, .error = error, .start = cursor->at};
    for (size_t steps = 0; !m.stopped; steps++) {
        uint8_t opcode;
        uint64_t number = 0;
        m.opcode_at = cursor->at - m.start;
        if (!ferry_read_u8(cursor, &opcode)) return fail(&m, "cut off");
        if (steps == 0 && opcode != 0x80) return fail(&m, "expected a protocol of 2 or later");
        if (steps >= MAX_STEPS) return fail(&m, "too long");
        if (!ferry_read_number(cursor, operand_bytes[opcode], &number)) return fail(&m, "cut off");
        FERRY_TRY(run(&m, opcode, number));
    }
    *value = pop(&m);
    if (*value == NULL || m.depth != 0) return fail(&m, "not exactly one value is left");
    return FERRY_OK;
}
