/* PyTorch's files of weights. Zip form (1.6 and later): members <top>/data.pkl, <top>/data/<key>, … Legacy form:
 * pickles of a magic number, a version, a dict of the machine, the state dict and the list of storage keys, then for
 * each key an i64 count and the elements. The state dict is a pickle of name → tensor; a tensor is a window of a
 * storage. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pickle.h"
#include "weights.h"

enum { LEGACY_VERSION = 1001 };

static const char legacy_magic[] = "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19\x2E";

/* A storage that tensors refer to. */
typedef struct storage {
    ferry_view key;
    ferry_type type;
    size_t size;   /* of an element */
    int64_t count; /* elements */
    ferry_view bytes;
} storage;

typedef struct reader {
    ferry_reader *in;
    ferry_view bytes;
    ferry_weights *weights;
    const ferry_pickle_value *state; /* name, tensor, name, tensor, … */
    storage *storages;               /* [storage_count], by key */
    size_t storage_count;
} reader;

/* The value of a text key, or NULL. */
static const ferry_pickle_value *dict_get(const ferry_pickle_value *dict, const char *key)
{
    for (size_t i = 0; i < dict->count; i += 2) {
        const ferry_pickle_value *name = dict->items[i];
        if (name->kind == FERRY_PICKLE_TEXT && ferry_view_is(name->text, key)) return dict->items[i + 1];
    }
    return NULL;
}

/* About a "tensor", a "storage" or a "member". */
static ferry_status broken(const reader *r, const char *kind, ferry_view name, const char *what)
{
    return ferry_fail_named(r->in->error, FERRY_ERROR_FORMAT, r->in->file, kind, name, "%s", what);
}

/* ---- storages ---- */

static int compare_storages(const void *a, const void *b)
{
    return ferry_view_compare(((const storage *)a)->key, ((const storage *)b)->key);
}

static storage *find_storage(const reader *r, ferry_view key)
{
    const storage wanted = {.key = key};
    if (r->storage_count == 0) return NULL;
    return bsearch(&wanted, r->storages, r->storage_count, sizeof *r->storages, compare_storages);
}

/* The state dict must be one of names to tensors. */
static ferry_status check_state(reader *r)
{
    const char *const wrappers[] = {"state_dict", "model"};
    if (r->state->kind != FERRY_PICKLE_DICT)
        return ferry_reader_fail(r->in, FERRY_ERROR_FORMAT, "expected a dict of tensors");
    for (size_t i = 0; i < 2; i++) {
        const ferry_pickle_value *inner = dict_get(r->state, wrappers[i]);
        if (inner == NULL || inner->kind != FERRY_PICKLE_DICT) continue;
        r->state = inner;
        break;
    }
    for (size_t i = 0; i < r->state->count; i += 2) {
        const ferry_pickle_value *name = r->state->items[i], *tensor = r->state->items[i + 1];
        if (name->kind != FERRY_PICKLE_TEXT)
            return ferry_reader_fail(r->in, FERRY_ERROR_FORMAT,
                                     "expected a dict of tensors, found a key that is no text");
        if (tensor->kind != FERRY_PICKLE_TENSOR || tensor->items[0]->kind != FERRY_PICKLE_STORAGE)
            return broken(r, "key", name->text, "expected a tensor, found something else");
    }
    return FERRY_OK;
}

/* Every storage that a tensor refers to, once. */
static ferry_status collect_storages(reader *r)
{
    const size_t count = r->state->count / 2;
    size_t kept = 0;
    r->storages = ferry_arena_alloc(&r->weights->arena, count + 1, sizeof *r->storages);
    if (r->storages == NULL) return ferry_fail_memory(r->in->error, "a list of storages", count, sizeof *r->storages);
    for (size_t i = 0; i < count; i++) {
        const ferry_pickle_value *s = r->state->items[2 * i + 1]->items[0];
        const ferry_type type = (ferry_type)s->items[1]->integer;
        const size_t size = s->items[1]->integer == FERRY_TYPE_OTHER ? 1 : ferry_type_size(type);
        r->storages[i] = (storage){s->items[2]->text, type, size, s->items[4]->integer, {NULL, 0}};
    }
    qsort(r->storages, count, sizeof *r->storages, compare_storages);
    for (size_t i = 0; i < count; i++) {
        const storage *s = &r->storages[i], *before = kept > 0 ? &r->storages[kept - 1] : NULL;
        if (before == NULL || compare_storages(before, s) != 0)
            r->storages[kept++] = *s;
        else if (before->type != s->type || before->count != s->count)
            return broken(r, "storage", s->key, "two descriptions");
    }
    r->storage_count = kept;
    return FERRY_OK;
}

static ferry_status storage_bytes(const reader *r, const storage *s, size_t *bytes)
{
    if (s->count >= 0 && ferry_mul_size((size_t)s->count, s->size, bytes)) return FERRY_OK;
    return broken(r, "storage", s->key, "impossible size");
}

/* ---- tensors ---- */

/* Integers of a tuple, none negative. */
static bool read_integers(const ferry_pickle_value *tuple, int64_t *integers)
{
    if (tuple->kind != FERRY_PICKLE_TUPLE || tuple->count > FERRY_MAX_DIMS) return false;
    for (size_t i = 0; i < tuple->count; i++) {
        if (tuple->items[i]->kind != FERRY_PICKLE_INTEGER || tuple->items[i]->integer < 0) return false;
        integers[i] = tuple->items[i]->integer;
    }
    return true;
}

/* Elements from the first to the last that shape and strides reach; false when that is more than `limit`, or when the
 * tensor has more elements than that (an expanded one). */
static bool find_span(const ferry_weights_entry *entry, int64_t limit, int64_t *span)
{
    int64_t elements = 1, step;
    *span = 0;
    for (int32_t i = 0; i < entry->tensor.dims; i++)
        if (entry->tensor.shape[i] == 0) return true;
    *span = 1;
    for (int32_t i = 0; i < entry->tensor.dims; i++)
        if (__builtin_mul_overflow(elements, entry->tensor.shape[i], &elements) ||
            __builtin_mul_overflow(entry->tensor.shape[i] - 1, entry->strides[i], &step) ||
            __builtin_add_overflow(*span, step, span))
            return false;
    return *span <= limit && elements <= limit;
}

static ferry_status read_tensor(const reader *r, ferry_view name, const ferry_pickle_value *value,
                                ferry_weights_entry *entry)
{
    const ferry_pickle_value *source = value->items[0], *view = source->count < 6 ? NULL : source->items[5];
    const ferry_pickle_value *offset = value->items[1], *shape = value->items[2], *strides = value->items[3];
    *entry = (ferry_weights_entry){.tensor = {.name = name, .shape = {1, 1, 1, 1}}, .file = r->in->file};
    if (offset->kind != FERRY_PICKLE_INTEGER || !read_integers(shape, entry->tensor.shape) ||
        !read_integers(strides, entry->strides) || shape->count != strides->count)
        return broken(r, "tensor", name, "expected an offset, a shape of at most 4 dimensions and strides");
    entry->tensor.dims = (int32_t)shape->count;
    const storage *s = find_storage(r, source->items[2]->text);
    int64_t first = 0, count = s->count, span;
    if (view != NULL && view->kind != FERRY_PICKLE_NONE) { /* of legacy files: key, offset, elements */
        if (view->kind != FERRY_PICKLE_TUPLE || view->count != 3 || view->items[1]->kind != FERRY_PICKLE_INTEGER ||
            view->items[2]->kind != FERRY_PICKLE_INTEGER)
            return broken(r, "tensor", name, "cannot read the view of its storage");
        first = view->items[1]->integer;
        count = view->items[2]->integer;
        if (first < 0 || count < 0 || first > s->count || count > s->count - first)
            return broken(r, "tensor", name, "a view beyond its storage");
    }
    entry->tensor.type = s->type;
    if (offset->integer < 0 || offset->integer > count || !find_span(entry, count - offset->integer, &span)) {
        return ferry_tensor_fail(r->in, &entry->tensor, FERRY_ERROR_FORMAT,
                                 "offset, shape and strides reach beyond its storage of %" PRId64
                                 " elements, or repeat them",
                                 count);
    }
    entry->tensor.data = s->bytes.data + (size_t)(first + offset->integer) * s->size;
    entry->tensor.bytes = (size_t)span * s->size;
    return FERRY_OK;
}

static ferry_status read_pickle(const reader *r, const ferry_pickle_value **value)
{
    return ferry_pickle_read(&r->in->cursor, r->in->file, &r->weights->arena, value, r->in->error);
}

static ferry_status read_state(reader *r)
{
    FERRY_TRY(read_pickle(r, &r->state));
    FERRY_TRY(check_state(r));
    return collect_storages(r);
}

/* ---- zip form ---- */

/* PyTorch stores its members, so that they are used where they lie; a compressed one is not PyTorch's. */
static ferry_status stored_member(const reader *r, ferry_zip *zip, size_t index, ferry_view *bytes)
{
    FERRY_TRY(ferry_zip_member(zip, index, bytes, r->in->error));
    const uintptr_t begin = (uintptr_t)r->bytes.data, data = (uintptr_t)bytes->data;
    if (data >= begin && data - begin <= r->bytes.size) return FERRY_OK;
    return ferry_fail_named(r->in->error, FERRY_ERROR_UNSUPPORTED, r->in->file, "member",
                            ferry_text_view(ferry_zip_name(zip, index)), "compressed, which PyTorch does not do");
}

/* Index of <top><folder><name>; -1 where there is none. */
static ferry_status find_in_top(const reader *r, const ferry_zip *zip, ferry_view top, const char *folder,
                                ferry_view name, ptrdiff_t *index)
{
    const ferry_view parts[] = {top, ferry_text_view(folder), name};
    const size_t size = top.size + parts[1].size + name.size + 1;
    char *path = ferry_arena_alloc(&r->weights->arena, size, 1), *end = path;
    *index = -1;
    if (path == NULL) return ferry_fail_memory(r->in->error, "the name of a member", size, 1);
    if (name.size > 0 && memchr(name.data, 0, name.size) != NULL) return FERRY_OK;
    for (size_t i = 0; i < 3; end += parts[i++].size) memcpy(end, parts[i].data, parts[i].size);
    *end = '\0';
    *index = ferry_zip_find(zip, path);
    return FERRY_OK;
}

static ferry_status check_zip_kind(const reader *r, ferry_zip *zip, ferry_view top)
{
    ferry_view order;
    ptrdiff_t index;
    FERRY_TRY(find_in_top(r, zip, top, "constants.pkl", (ferry_view){"", 0}, &index));
    bool script = index >= 0;
    for (size_t i = 0; i < ferry_zip_count(zip) && !script; i++) {
        script = strncmp(ferry_zip_name(zip, i), top.data, top.size) == 0 &&
                 strncmp(ferry_zip_name(zip, i) + top.size, "code/", 5) == 0;
    }
    if (script)
        return ferry_reader_fail(r->in, FERRY_ERROR_UNSUPPORTED,
                                 "a TorchScript archive (a program), not a file of weights");
    FERRY_TRY(find_in_top(r, zip, top, "byteorder", (ferry_view){"", 0}, &index));
    if (index < 0) return FERRY_OK;
    FERRY_TRY(ferry_zip_member(zip, (size_t)index, &order, r->in->error));
    if (ferry_view_is(order, "little")) return FERRY_OK;
    return ferry_fail_named(r->in->error, FERRY_ERROR_UNSUPPORTED, r->in->file, "byte order", order, "not supported");
}

static ferry_status read_zip(reader *r, ferry_zip *zip)
{
    ferry_view top = {"", 0}, pickle; /* the folder of the one data.pkl, with its slash */
    ptrdiff_t index;
    size_t found = 0;
    for (size_t i = 0; i < ferry_zip_count(zip); i++) {
        const char *name = ferry_zip_name(zip, i), *slash = strchr(name, '/');
        if (slash == NULL || strcmp(slash, "/data.pkl") != 0) continue;
        top = (ferry_view){name, (size_t)(slash - name) + 1};
        found++;
    }
    if (found != 1)
        return ferry_reader_fail(r->in, FERRY_ERROR_FORMAT,
                                 "expected one member '.../data.pkl' in the zip archive, found %zu", found);
    FERRY_TRY(check_zip_kind(r, zip, top));
    FERRY_TRY(find_in_top(r, zip, top, "data.pkl", (ferry_view){"", 0}, &index));
    FERRY_TRY(stored_member(r, zip, (size_t)index, &pickle));
    r->in->cursor = ferry_cursor_begin(pickle);
    FERRY_TRY(read_state(r));
    for (size_t i = 0; i < r->storage_count; i++) {
        storage *s = &r->storages[i];
        size_t expected = 0;
        FERRY_TRY(find_in_top(r, zip, top, "data/", s->key, &index));
        if (index < 0) return broken(r, "storage", s->key, "no member for it");
        FERRY_TRY(stored_member(r, zip, (size_t)index, &s->bytes));
        FERRY_TRY(storage_bytes(r, s, &expected));
        if (expected == s->bytes.size) continue;
        return ferry_fail_named(r->in->error, FERRY_ERROR_FORMAT, r->in->file, "storage", s->key,
                                "expected %zu bytes, found %zu", expected, s->bytes.size);
    }
    return FERRY_OK;
}

/* ---- legacy form ---- */

static ferry_status read_legacy(reader *r)
{
    const ferry_pickle_value *version, *machine, *keys;
    FERRY_TRY(read_pickle(r, &version));
    if (version->kind != FERRY_PICKLE_INTEGER || version->integer != LEGACY_VERSION) {
        return ferry_reader_fail(r->in, FERRY_ERROR_UNSUPPORTED, "expected version %d of PyTorch's legacy format",
                                 LEGACY_VERSION);
    }
    FERRY_TRY(read_pickle(r, &machine));
    const ferry_pickle_value *little = machine->kind == FERRY_PICKLE_DICT ? dict_get(machine, "little_endian") : NULL;
    if (little == NULL || little->kind != FERRY_PICKLE_BOOLEAN || little->integer != 1)
        return ferry_reader_fail(r->in, FERRY_ERROR_UNSUPPORTED, "expected a file of a little-endian machine");
    FERRY_TRY(read_state(r));
    FERRY_TRY(read_pickle(r, &keys));
    if (keys->kind != FERRY_PICKLE_LIST || keys->count != r->storage_count)
        return ferry_reader_fail(r->in, FERRY_ERROR_FORMAT, "expected a list of %zu storages", r->storage_count);
    for (size_t i = 0; i < keys->count; i++) { /* the elements of one storage: a count, then they themselves */
        const ferry_pickle_value *key = keys->items[i];
        uint64_t count;
        size_t bytes = 0;
        storage *s = key->kind == FERRY_PICKLE_TEXT ? find_storage(r, key->text) : NULL;
        if (s == NULL || s->bytes.data != NULL)
            return broken(r, "storage", key->text, "no tensor names it, or a second one of its name");
        FERRY_TRY(storage_bytes(r, s, &bytes));
        if (!ferry_read_u64(&r->in->cursor, &count) || count != (uint64_t)s->count ||
            !ferry_read_bytes(&r->in->cursor, bytes, &s->bytes))
            return broken(r, "storage", s->key, "cut off, or of another size");
    }
    const size_t left = ferry_cursor_left(&r->in->cursor);
    return left == 0 ? FERRY_OK : ferry_reader_fail(r->in, FERRY_ERROR_FORMAT, "%zu bytes past the last storage", left);
}

ferry_status ferry_torch_read(ferry_reader *in, ferry_weights *weights)
{
    const ferry_view bytes = {(const char *)in->cursor.data, in->cursor.size};
    reader r = {.in = in, .bytes = bytes, .weights = weights};
    if (ferry_is_zip(bytes)) {
        ferry_zip *zip;
        FERRY_TRY(ferry_zip_open(bytes, in->file, weights->arena.account, &zip, in->error));
        const ferry_status status = read_zip(&r, zip);
        ferry_zip_close(zip);
        FERRY_TRY(status);
    } else if (ferry_read_text(&in->cursor, legacy_magic)) {
        FERRY_TRY(read_legacy(&r));
    } else {
        return ferry_reader_fail(in, FERRY_ERROR_FORMAT,
                                 "not a PyTorch file: neither a zip archive nor the legacy form");
    }
    const size_t count = r.state->count / 2;
    FERRY_TRY(ferry_weights_reserve(weights, count, in->error));
    for (size_t i = 0; i < count; i++)
        FERRY_TRY(read_tensor(&r, r.state->items[2 * i]->text, r.state->items[2 * i + 1], &weights->entries[i]));
    weights->count = count;
    return FERRY_OK;
}
