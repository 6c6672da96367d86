/* Opening a model from a path, an open file and memory; its content hash; what it says about itself. */
#define _GNU_SOURCE /* arch_prctl */
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#define NO_FILE "NUL"
#define pipe(ends) _pipe(ends, 256, _O_BINARY)
#else
#include <unistd.h>
#define NO_FILE "/dev/null"
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/wait.h>
#endif

#include "base/system.h"
#include "engine/api/info.h"
#include "engine/lines/model.h"
#include "tools/system/folders.h"
#include "tools/system/terminal.h"
#include "engine/file/model_file.h"
#include "engine/file/schema.h"
#include "engine/kernels/kernels.h"
#include "models/convert.h"
#include "tests/support/files.h"
#include "tests/support/shipped_model.h"
#include "tests/support/small_model.h"

enum { ALIGNMENT = 64, TILE_DATA = 18 };

/* ---- the permission for tiles, which lasts until a process ends ---- */

static bool tiles_are_permitted(void)
{
    uint64_t permitted = 0;
#if defined(__x86_64__) && defined(__linux__)
    enum { GET_PERMISSION = 0x1022 };
    if (syscall(SYS_arch_prctl, GET_PERMISSION, &permitted) != 0) return false; /* an older kernel, without tiles */
#endif
    return (permitted >> TILE_DATA & 1) == 1;
}

static const char *model_path(void)
{
    static char *path;
    if (path != NULL) return path;
    path = scratch_file("opened.gguf");
    CHECK(ferry_import(data_file("models/marian-separate"), path, NULL, &error));
    return path;
}

/* Runs a test of this program in a process that has opened nothing yet. */
static void run_in_new_process(const char *test)
{
    int status = -1;
#if defined(__linux__)
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "suite_api", "test_opening", test, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
#endif
    if (status != 0) fail_msg("%s: status %d", test, status);
}

TEST(test_tiles_are_requested_only_by_opening)
{
    if (tiles_are_permitted()) { /* by another test */
        run_in_new_process("test_tiles_are_requested_only_by_opening");
        return;
    }
    const char *path = model_path();
    assert_false(tiles_are_permitted());
    CHECK(ferry_model_open(path, FERRY_OPEN_NO_AMX, &model, &error));
    assert_string_not_equal(ferry_inspect_isa(model), "amx");
    assert_string_equal(ferry_inspect_isa(model), ferry_kernels_find_without_tiles()->isa);
    ferry_model_close(model);
    CHECK(ferry_inspect_open(path, "plain", NULL, &model, &error));
    ferry_model_close(model);
    assert_false(tiles_are_permitted());
    CHECK(ferry_model_open(path, 0, &model, &error));
    assert_string_equal(ferry_inspect_isa(model), ferry_kernels_available()[0]->isa);
    assert_int_equal(tiles_are_permitted(), strcmp(ferry_inspect_isa(model), "amx") == 0);
    ferry_model_close(model);
}

TEST(test_inspecting_an_open_file)
{
    const int file = ferry_descriptor_open(model_path()), other = ferry_descriptor_open(NO_FILE);
    assert_true(file >= 0 && other >= 0);
    CHECK(ferry_inspect_open_fd(file, "a name", "plain", &model, &error));
    close(file);
    assert_string_equal(ferry_inspect_isa(model), "plain");
    CHECK(ferry_model_verify(model, &error));
    ferry_model_close(model);
    REFUSE(ferry_inspect_open_fd(other, "a name", NULL, &model, &error), FERRY_ERROR_IO, "a name: ");
    close(other);
    assert_null(model);
}

/* ---- three ways to the same bytes ---- */

/* The same in every test; closes the model. */
static void check_translation(void)
{
    static ferry_result *expected;
    const ferry_text line = {"Where were you yesterday?", 25};
    ferry_result *result = translated(model, NULL, &line, 1);
    if (expected == NULL) expected = translated(model, NULL, &line, 1);
    assert_same_line(result, 0, expected, 0);
    ferry_result_destroy(result);
    ferry_model_close(model);
}

static int open_file(const char *path)
{
    const int fd = ferry_descriptor_open(path);
    assert_true(fd >= 0);
    return fd;
}

/* A file with the model at `offset`, and other bytes around it. */
static const char *embedded_file(size_t offset)
{
    const ferry_view inner = mapped_bytes(model_path());
    unsigned char *all = kept_memory(offset + inner.size + 100);
    memset(all, 0xAA, offset + inner.size + 100);
    memcpy(all + offset, inner.data, inner.size);
    const char *path = scratch_file("package.bin");
    write_bytes(path, all, offset + inner.size + 100);
    return path;
}

/* A copy that begins `offset` bytes after a multiple of ALIGNMENT. */
static unsigned char *copy_in_memory(ferry_view file, size_t offset, size_t *size)
{
    unsigned char *memory = ferry_aligned_alloc(ALIGNMENT, ferry_round_up(offset + file.size, ALIGNMENT));
    assert_non_null(memory);
    memcpy(memory + offset, file.data, file.size);
    *size = file.size;
    return memory;
}

TEST(test_path)
{
    CHECK(ferry_model_open(model_path(), 0, &model, &error));
    check_translation();
    CHECK(ferry_model_open(model_path(), FERRY_OPEN_COPY | FERRY_OPEN_NO_AMX, &model, &error));
    check_translation();
}

TEST(test_descriptor)
{
    static const struct {
        size_t offset;
        int flags;
    } rows[] = {{0, 0}, {64, 0}, {4096, 0}, {4096 + 192, 0}, {4096 + 192, FERRY_OPEN_COPY}, {77, FERRY_OPEN_COPY}};
    const uint64_t length = mapped_bytes(model_path()).size;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const int fd = open_file(embedded_file(rows[i].offset));
        CHECK(ferry_model_open_fd(fd, rows[i].offset, length, rows[i].flags, &model, &error));
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
        close(fd);
        CHECK(ferry_model_verify(model, &error));
        check_translation();
    }
    const int fd = open_file(model_path());
    CHECK(ferry_model_open_fd(fd, 0, 0, 0, &model, &error)); /* to its end */
    close(fd);
    check_translation();
}

TEST(test_memory)
{
    size_t size;
    unsigned char *memory = copy_in_memory(mapped_bytes(model_path()), 0, &size);
    CHECK(ferry_model_open_memory(memory, size, 0, &model, &error));
    assert_ptr_equal(model->file.map.bytes.data, memory);
    check_translation();
    ferry_aligned_free(memory);
    memory = copy_in_memory(mapped_bytes(model_path()), 1, &size);
    CHECK(ferry_model_open_memory(memory + 1, size, FERRY_OPEN_COPY, &model, &error));
    memset(memory, 0xAA, size + 1);
    ferry_aligned_free(memory);
    check_translation();
}

/* A mapping would see the change, and end the process at the truncated pages. */
TEST(test_copy_outlives_the_file)
{
    const made_file copy = file_copy(model_path());
    const char *path = scratch_file("changed.gguf");
    write_bytes(path, copy.data, copy.size);
    CHECK(ferry_model_open(path, FERRY_OPEN_COPY, &model, &error));
    assert_int_equal(fclose(ferry_stream_open(path, "wb")), 0);
    CHECK(ferry_model_verify(model, &error));
    check_translation();
}

/* The widened matrices of an f16 file release the pages that they came from: not those of a copy. */
TEST(test_copy_of_f16)
{
    const ferry_import_options options = {.type = FERRY_F16};
    const char *path = scratch_file("half.gguf");
    CHECK(ferry_import(data_file("models/marian-separate"), path, &options, &error));
    CHECK(ferry_model_open(path, FERRY_OPEN_COPY, &model, &error));
    CHECK(ferry_model_verify(model, &error));
    ferry_model_close(model);
    size_t size;
    const ferry_view bytes = mapped_bytes(path);
    void *memory = copy_in_memory(bytes, 0, &size);
    CHECK(ferry_model_open_memory(memory, size, 0, &model, &error));
    CHECK(ferry_model_verify(model, &error));
    ferry_model_close(model);
    assert_memory_equal(memory, bytes.data, size);
    ferry_aligned_free(memory);
}

TEST(test_refused)
{
    size_t size;
    int ends[2];
    unsigned char *memory = copy_in_memory(mapped_bytes(model_path()), 0, &size);
    const int fd = open_file(model_path());
    const ferry_name expected = ferry_name_format("file descriptor %d: not a GGUF file", fd);
    REFUSE(ferry_model_open_fd(fd, 64, 0, 0, &model, &error), FERRY_ERROR_FORMAT, expected.text);
    REFUSE(ferry_model_open_fd(fd, 100, 0, 0, &model, &error), FERRY_ERROR_ARGUMENT,
           "offset: expected a multiple of 64 without FERRY_OPEN_COPY, found 36 more than one");
    REFUSE(ferry_model_open_fd(fd, 32, 0, 0, &model, &error), FERRY_ERROR_ARGUMENT,
           "offset: expected a multiple of 64");
    REFUSE(ferry_model_open_fd(fd, size + 64, 0, 0, &model, &error), FERRY_ERROR_ARGUMENT, "offset: ");
    REFUSE(ferry_model_open_fd(fd, 64, size - 63, 0, &model, &error), FERRY_ERROR_ARGUMENT, "length: ");
    REFUSE(ferry_model_open_fd(fd, 0, UINT64_MAX, FERRY_OPEN_COPY, &model, &error), FERRY_ERROR_ARGUMENT, "length: ");
    REFUSE(ferry_model_open_fd(fd, 0, size - 64, 0, &model, &error), FERRY_ERROR_FORMAT, "the file was cut off");
    REFUSE(ferry_model_open_fd(fd, size / 64 * 64, 0, FERRY_OPEN_COPY, &model, &error), FERRY_ERROR_FORMAT, "GGUF");
    close(fd);
    REFUSE(ferry_model_open_fd(fd, 0, 0, 0, &model, &error), FERRY_ERROR_IO, "cannot examine: Bad file descriptor");
    assert_int_equal(pipe(ends), 0);
    REFUSE(ferry_model_open_fd(ends[0], 0, 0, 0, &model, &error), FERRY_ERROR_IO, "expected a regular file");
    close(ends[0]);
    close(ends[1]);
    REFUSE(ferry_model_open_memory(memory + 1, size - 1, 0, &model, &error), FERRY_ERROR_ARGUMENT,
           "data: expected a multiple of 64 without FERRY_OPEN_COPY, found 1 more than one");
    REFUSE(ferry_model_open_memory(memory, 0, 0, &model, &error), FERRY_ERROR_FORMAT, "memory: not a GGUF file");
    REFUSE(ferry_model_open_memory(memory, 0, FERRY_OPEN_COPY, &model, &error), FERRY_ERROR_FORMAT,
           "memory: not a GGUF");
    REFUSE(ferry_model_open_memory(memory, size - 64, FERRY_OPEN_COPY, &model, &error), FERRY_ERROR_FORMAT, "memory: ");
    assert_null(model);
    ferry_aligned_free(memory);
}

/* ---- the content hash ---- */

static void check_hash(const void *data, size_t size, const char *expected)
{
    char digits[FERRY_HASH_DIGITS];
    ferry_content_hash *hash = ferry_content_hash_create();
    ferry_content_hash_add(hash, data, size);
    ferry_content_hash_digits(hash, digits);
    ferry_content_hash_destroy(hash);
    assert_memory_equal(digits, expected, sizeof digits);
}

/* The value of XXH128 for no bytes and for "a", as xxhsum prints them. */
TEST(test_hash_is_xxh3)
{
    check_hash("", 0, "99aa06d3014798d86001c324468d497f");
    check_hash("a", 1, "a96faf705af16834e6c632b61e964e1f");
}

/* Equal sources have equal files, whose hash is that of the bytes with zeros in its place. */
TEST(test_hash_of_a_file)
{
    made_file copy = file_copy(model_path());
    CHECK(ferry_model_open(model_path(), 0, &model, &error));
    const char *found = ferry_model_info(model, "hash");
    const size_t place = (size_t)(model->file.hash.data - model->file.map.bytes.data);
    assert_memory_equal(copy.data + place, found, FERRY_HASH_DIGITS);
    memset(copy.data + place, '0', FERRY_HASH_DIGITS);
    check_hash(copy.data, copy.size, found);
    ferry_model_close(model);
}

/* Whatever bit of the file is flipped, opening refuses it, or verifying does. */
TEST(test_damage_is_found)
{
    enum { STRIDE = 4099 };
    size_t size, opened = 0;
    unsigned char *memory = copy_in_memory(mapped_bytes(model_path()), 0, &size);
    for (size_t at = 0; at < size; at += at < 2048 ? 1 : STRIDE) {
        ferry_error error = {0};
        memory[at] ^= (unsigned char)(1u << at % 8);
        if (ferry_model_open_memory(memory, size, 0, &model, &error) == FERRY_OK) {
            const ferry_status status = ferry_model_verify(model, &error);
            opened++;
            if (status != FERRY_ERROR_FORMAT && status != FERRY_ERROR_UNSUPPORTED) fail_msg("byte %zu: not found", at);
            assert_non_null(strstr(error.message, status == FERRY_ERROR_FORMAT ? "memory: damaged: its content hash is "
                                                                               : "memory: carries no content hash"));
            ferry_model_close(model);
        }
        memory[at] ^= (unsigned char)(1u << at % 8);
    }
    assert_true(opened > 100);
    ferry_aligned_free(memory);
}

static void put_wrong_hash(ferry_gguf_writer *writer)
{
    ferry_gguf_put_string(writer, FERRY_HASH_KEY, "0123456789abcdef0123456789abcdeg");
}

TEST(test_files_without_a_hash)
{
    static const small_model wrong = {.keys = put_wrong_hash};
    static const ferry_inspect_shape shape = {16, 2, 16, 1, 1, 40};
    model = open_small_model(&(small_model){.layers = 1}, NULL);
    const char *path = scratch_file("wrong.gguf");
    REFUSE(ferry_model_verify(model, &error), FERRY_ERROR_UNSUPPORTED, "small.gguf: carries no content hash");
    assert_string_equal(ferry_model_info(model, "hash"), "");
    ferry_model_close(model);
    CHECK(ferry_inspect_untrained("none", &shape, NULL, &model, &error));
    REFUSE(ferry_model_verify(model, &error), FERRY_ERROR_UNSUPPORTED, "an untrained model: carries no content hash");
    ferry_model_close(model);
    write_small_model(path, &wrong);
    REFUSE(ferry_model_open(path, 0, &model, &error), FERRY_ERROR_FORMAT,
           "key 'ferry.hash': expected 32 hexadecimal digits, found '0123456789abcdef0123456789abcdeg'");
}

/* ---- what a model says about itself ---- */

static void put_origin(ferry_gguf_writer *writer)
{
    ferry_gguf_put_string(writer, "ferry.origin.kind", "made-by-hand");
    ferry_gguf_put_string(writer, "ferry.origin.name", "b\xC3");
    ferry_gguf_put_string(writer, "ferry.origin.licence", "Anyone may do anything.");
    ferry_gguf_put_string(writer, "ferry.origin.training", "none");
    ferry_gguf_put_u32(writer, "ferry.origin.trained_length", 31);
    ferry_gguf_put_u32(writer, "ferry.origin.trained_seed", 7);
    ferry_gguf_put_f32(writer, "ferry.origin.trained_tokens", 6e6f);
}

TEST(test_info)
{
    static const char *const rows[][2] = {
        {"name", "small"},
        {"license", "Anyone may do anything."},
        {"origin", "made-by-hand"},
        {"origin.name", "b\xEF\xBF\xBD"},
        {"languages", ""},
        {"hash", ""},
        {"type", "f32"},
        {"d_model", "24"},
        {"decoder.block", "attention"},
        {"tokenizer.kind", "pieces"},
        {"training", "none"},
        {"trained_length", "31"},
        {"trained_seed", "7"},
        {"trained_tokens", "6000000"},
    };
    model = open_small_model(&(small_model){.keys = put_origin, .tokenizer = "pieces"}, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) assert_string_equal(ferry_model_info(model, rows[i][0]), rows[i][1]);
    assert_int_equal(strtoll(ferry_model_info(model, "parameters"), NULL, 10), model->file.parameters);
    assert_int_equal(strtoull(ferry_model_info(model, "bytes"), NULL, 10), model->file.map.bytes.size);
    assert_null(ferry_model_info(model, "d_modell"));
    assert_null(ferry_model_info(model, ""));
    ferry_model_close(model);
}

/* Numbers of the two stacks, all of which differ, as no model of the tests has them. */
TEST(test_info_of_each_stack)
{
    static const char *const rows[][3] = {
        {"layers", "1", "2"},
        {"heads", "3", "4"},
        {"head_width", "5", "6"},
        {"ffn_width", "7", "8"},
        {"vocab_size", "9", "10"},
        {"limit", "11", "12"},
        {"activation", "relu", "gelu"},
        {"norm", "layernorm", "rms"},
        {"norm_position", "post", "pre"},
        {"position", "none", "sinusoidal, layout split, exponent_divisor half_minus_one, first 0"},
    };
    model = open_small_model(&(small_model){0}, NULL);
    ferry_stack *stacks[] = {&model->file.transformer.encoder, &model->file.transformer.decoder};
    int32_t layers[2];
    for (int32_t i = 0; i < 2; i++) {
        ferry_stack *stack = stacks[i];
        layers[i] = stack->layer_count;
        stack->layer_count = 1 + i;
        stack->heads = 3 + i;
        stack->head_width = 5 + i;
        stack->ffn_width = 7 + i;
        stack->vocab_size = 9 + i;
        stack->position.limit = 11 + i;
        stack->activation = i == 0 ? FERRY_RELU : FERRY_GELU;
        stack->norm = i == 0 ? FERRY_LAYER_NORM : FERRY_RMS_NORM;
        stack->pre_norm = i == 1;
    }
    CHECK(ferry_model_info_create(model, &error));
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        const char *stack = i % 2 == 0 ? "encoder" : "decoder";
        const ferry_name key = ferry_name_format("%s.%s", stack, rows[i / 2][0]);
        assert_string_equal(ferry_model_info(model, key.text), rows[i / 2][1 + i % 2]);
    }
    for (int i = 0; i < 2; i++) stacks[i]->layer_count = layers[i];
    ferry_model_close(model);
}

/* Every key has a value in every model; only what an origin may lack is empty. */
TEST(test_info_keys)
{
    static const char may_be_empty[] = " license languages hash training trained_length trained_seed trained_tokens ";
    size_t count = 0;
    CHECK(ferry_model_open(model_path(), 0, &model, &error));
    for (const char *key; (key = ferry_model_info_key(count)) != NULL; count++) {
        const char *value = ferry_model_info(model, key);
        assert_non_null(value);
        if (value[0] == '\0' && strstr(may_be_empty, ferry_name_format(" %s ", key).text) == NULL)
            fail_msg("'%s' is empty", key);
        for (size_t i = 0; i < count; i++) assert_string_not_equal(ferry_model_info_key(i), key);
    }
    assert_true(count > 30);
    assert_null(ferry_model_info_key(count + 1));
    assert_int_equal(strlen(ferry_model_info(model, "hash")), FERRY_HASH_DIGITS);
    ferry_model_close(model);
}
