#include "gguf_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/file/model_file.h"

enum {
    HEADER_BYTES = 4 + 4 + 8 + 8,
    GROWTH = 3 /* times a buffer's size: while it grows, the old one is held, too, and the new one may be half empty */
};

typedef struct buffer {
    unsigned char *data;
    size_t size;
    size_t capacity;
} buffer;

struct ferry_gguf_writer {
    ferry_new_file *file; /* the caller's, or `own` */
    ferry_new_file own;
    ferry_account *account; /* NULL: nothing is counted */
    buffer keys;
    buffer table;
    buffer sizes;             /* size_t of each declared tensor */
    ferry_content_hash *hash; /* of what is written; NULL: none is wanted */
    size_t hash_at;           /* of its digits, in `keys` */
    uint64_t key_count;
    size_t tensor_count;
    uint64_t offset;     /* of the next tensor, from the beginning of the data */
    size_t current;      /* tensor that append fills */
    size_t filled;       /* its bytes so far */
    ferry_error failure; /* the first one; its status is FERRY_OK so far */
};

static void *reserve(ferry_gguf_writer *writer, buffer *out, size_t size)
{
    if (writer->failure.status != FERRY_OK) return NULL;
    size_t wanted;
    unsigned char *data = NULL;
    if (ferry_add_size(out->size, size, &wanted) && ferry_account_take(writer->account, GROWTH * size))
        data = ferry_array_grow(out->data, &out->capacity, wanted, 1);
    if (data == NULL) {
        ferry_fail_memory(&writer->failure, "the keys of a model file", out->size, 1);
        return NULL;
    }
    out->data = data;
    out->size += size;
    return out->data + out->size - size;
}

static void put(ferry_gguf_writer *writer, buffer *out, const void *data, size_t size)
{
    void *target = reserve(writer, out, size);
    if (target != NULL && size > 0) memcpy(target, data, size);
}

/* `size` bytes of an integer, the lowest first. */
static void put_number(ferry_gguf_writer *writer, buffer *out, uint64_t number, size_t size)
{
    unsigned char *target = reserve(writer, out, size);
    for (size_t i = 0; target != NULL && i < size; i++) target[i] = (unsigned char)(number >> (8 * i));
}

static void put_text(ferry_gguf_writer *writer, buffer *out, ferry_view text)
{
    put_number(writer, out, text.size, 8);
    put(writer, out, text.data, text.size);
}

static void put_elements(ferry_gguf_writer *writer, ferry_gguf_type type, const void *values, size_t count)
{
    static const size_t sizes[] = {
        [FERRY_GGUF_U8] = 1,  [FERRY_GGUF_BOOL] = 1, [FERRY_GGUF_U32] = 4, [FERRY_GGUF_I32] = 4,
        [FERRY_GGUF_F32] = 4, [FERRY_GGUF_U64] = 8,  [FERRY_GGUF_F64] = 8};
    const ferry_view *texts = values;
    if (type != FERRY_GGUF_TEXT) put(writer, &writer->keys, values, count * sizes[type]);
    for (size_t i = 0; type == FERRY_GGUF_TEXT && i < count; i++) put_text(writer, &writer->keys, texts[i]);
}

static void put_key(ferry_gguf_writer *writer, const char *key, ferry_gguf_type type)
{
    put_text(writer, &writer->keys, ferry_text_view(key));
    put_number(writer, &writer->keys, type, 4);
    writer->key_count++;
}

void ferry_gguf_put(ferry_gguf_writer *writer, const char *key, ferry_gguf_type type, const void *value)
{
    put_key(writer, key, type);
    put_elements(writer, type, value, 1);
}

static void begin_array(ferry_gguf_writer *writer, const char *key, ferry_gguf_type type, size_t count)
{
    put_key(writer, key, FERRY_GGUF_ARRAY);
    put_number(writer, &writer->keys, type, 4);
    put_number(writer, &writer->keys, count, 8);
}

void ferry_gguf_put_array(ferry_gguf_writer *writer, const char *key, ferry_gguf_type type, const void *values,
                          size_t count)
{
    begin_array(writer, key, type, count);
    put_elements(writer, type, values, count);
}

void ferry_gguf_put_list(ferry_gguf_writer *writer, const char *key, const ferry_string_table *texts, size_t count)
{
    begin_array(writer, key, FERRY_GGUF_TEXT, count);
    for (size_t i = 0; i < count; i++) put_text(writer, &writer->keys, ferry_string_table_at(texts, i));
}

void ferry_gguf_put_hash(ferry_gguf_writer *writer)
{
    ferry_gguf_put_string(writer, FERRY_HASH_KEY, FERRY_HASH_ZEROS);
    writer->hash_at = writer->keys.size - FERRY_HASH_DIGITS;
    writer->hash = ferry_content_hash_create();
    if (writer->hash == NULL) ferry_fail_memory(&writer->failure, "the content hash of a model file", 0, 1);
}

void ferry_gguf_declare(ferry_gguf_writer *writer, const char *name, ferry_type type, int32_t dims,
                        const int64_t *shape)
{
    assert(strlen(name) <= FERRY_GGUF_MAX_TENSOR_NAME && dims >= 1 && dims <= FERRY_MAX_DIMS);
    size_t bytes = ferry_type_size(type);
    put_text(writer, &writer->table, ferry_text_view(name));
    put_number(writer, &writer->table, (uint64_t)dims, 4);
    for (int32_t i = dims; i-- > 0;) {
        put_number(writer, &writer->table, (uint64_t)shape[i], 8);
        bytes *= (size_t)shape[i];
    }
    put_number(writer, &writer->table, type, 4);
    put_number(writer, &writer->table, writer->offset, 8);
    put(writer, &writer->sizes, &bytes, sizeof bytes);
    writer->offset += ferry_round_up(bytes, FERRY_GGUF_ALIGNMENT);
    writer->tensor_count++;
}

static ferry_status report(ferry_gguf_writer *writer, ferry_error *error)
{
    if (error != NULL && writer->failure.status != FERRY_OK) *error = writer->failure;
    return writer->failure.status;
}

static void write_bytes(ferry_gguf_writer *writer, const void *data, size_t size)
{
    if (writer->failure.status != FERRY_OK || size == 0) return;
    if (writer->hash != NULL) ferry_content_hash_add(writer->hash, data, size);
    ferry_new_file_write(writer->file, data, size, &writer->failure);
}

static void write_padding(ferry_gguf_writer *writer, size_t size)
{
    static const unsigned char zeros[FERRY_GGUF_ALIGNMENT];
    write_bytes(writer, zeros, ferry_round_up(size, FERRY_GGUF_ALIGNMENT) - size);
}

ferry_status ferry_gguf_writer_create(const char *path, ferry_new_file *file, ferry_account *account,
                                      ferry_gguf_writer **writer, ferry_error *error)
{
    *writer = NULL;
    ferry_gguf_writer *created = calloc(1, sizeof *created);
    if (created == NULL) return ferry_fail_memory(error, "a file writer", 1, sizeof *created);
    created->file = file != NULL ? file : &created->own;
    const ferry_status status = file != NULL ? FERRY_OK : ferry_new_file_open(path, &created->own, error);
    if (status != FERRY_OK) {
        free(created);
        return status;
    }
    ferry_gguf_put_u32(created, "general.alignment", FERRY_GGUF_ALIGNMENT);
    created->account = account;
    *writer = created;
    return FERRY_OK;
}

ferry_status ferry_gguf_writer_start(ferry_gguf_writer *writer, ferry_error *error)
{
    buffer header = {0};
    put(writer, &header, "GGUF", 4);
    put_number(writer, &header, FERRY_GGUF_VERSION, 4);
    put_number(writer, &header, writer->tensor_count, 8);
    put_number(writer, &header, writer->key_count, 8);
    assert(writer->failure.status != FERRY_OK || header.size == HEADER_BYTES);
    const size_t head = header.size + writer->keys.size + writer->table.size;
    if (!ferry_account_take(writer->account, head + writer->offset))
        ferry_fail_memory(&writer->failure, "a model file", head + writer->offset, 1);
    write_bytes(writer, header.data, header.size);
    write_bytes(writer, writer->keys.data, writer->keys.size);
    write_bytes(writer, writer->table.data, writer->table.size);
    write_padding(writer, head);
    free(header.data);
    return report(writer, error);
}

ferry_status ferry_gguf_writer_append(ferry_gguf_writer *writer, const void *data, size_t bytes, ferry_error *error)
{
    assert(writer->current < writer->tensor_count);
    size_t size;
    memcpy(&size, writer->sizes.data + writer->current * sizeof size, sizeof size);
    assert(bytes <= size - writer->filled);
    write_bytes(writer, data, bytes);
    writer->filled += bytes;
    if (writer->filled == size) {
        write_padding(writer, size);
        writer->current++;
        writer->filled = 0;
    }
    return report(writer, error);
}

ferry_status ferry_gguf_writer_finish(ferry_gguf_writer *writer, ferry_error *error)
{
    assert(writer->current == writer->tensor_count);
    if (writer->failure.status == FERRY_OK && writer->hash != NULL) {
        char digits[FERRY_HASH_DIGITS]; /* over the zeros */
        ferry_content_hash_digits(writer->hash, digits);
        ferry_new_file_write_at(writer->file, HEADER_BYTES + writer->hash_at, digits, sizeof digits, &writer->failure);
    }
    FERRY_TRY(report(writer, error));
    return writer->file == &writer->own ? ferry_new_file_finish(&writer->own, error) : FERRY_OK;
}

void ferry_gguf_writer_destroy(ferry_gguf_writer *writer)
{
    if (writer == NULL) return;
    if (writer->file == &writer->own) ferry_new_file_close(&writer->own);
    ferry_content_hash_destroy(writer->hash);
    free(writer->keys.data);
    free(writer->table.data);
    free(writer->sizes.data);
    free(writer);
}
