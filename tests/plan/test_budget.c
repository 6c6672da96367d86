/* What a source may take: small files that ask for much, in one layer or in several, are refused by name before memory,
 * temporary files and model file take more than the budget. Memory and written bytes are those of a process of their
 * own. */
#define _XOPEN_SOURCE 700 /* fork */
#include "tests/support/import_support.h"
#include "tests/support/make_zip.h"
#include "tests/support/sanitized.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/containers/reader.h"
#include "models/plan/source.h"

#define BASE ((size_t)256 << 20)
#define MEGABYTE ((size_t)1 << 20)

/* ---- converting in a process of its own ---- */

typedef struct outcome {
    ferry_status status;
    ferry_error error;
    size_t memory;  /* the most that was resident, mapped files too, beyond what was before */
    size_t written; /* to files, temporary ones too */
} outcome;

static size_t resident(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (size_t)usage.ru_maxrss << 10;
}

static size_t written_so_far(void)
{
    size_t bytes = 0;
    char line[128];
    FILE *file = fopen("/proc/self/io", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "wchar: %zu", &bytes);
    if (file != NULL) fclose(file);
    return bytes;
}

/* The child ends without a word to cmocka. */
static void convert_here(const char *source, const ferry_import_options *options, int answer)
{
    outcome o = {.status = FERRY_OK};
#ifndef SANITIZED
    const struct rlimit space = {(rlim_t)6 << 30, (rlim_t)6 << 30};
    setrlimit(RLIMIT_AS, &space);
#endif
    const size_t memory = resident(), written = written_so_far();
    o.status = ferry_import(source, scratch_file("bomb.gguf"), options, &o.error);
    o.memory = resident() - memory;
    o.written = written_so_far() - written;
    _exit(write(answer, &o, sizeof o) == (ssize_t)sizeof o ? 0 : 1);
}

static outcome convert_apart(const char *source, uint64_t budget)
{
    const ferry_import_options options = {.type = FERRY_F32, .budget = budget};
    outcome o;
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) convert_here(source, &options, ends[1]);
    close(ends[1]);
    const bool answered = read(ends[0], &o, sizeof o) == (ssize_t)sizeof o;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!answered || status != 0) fail_msg("%s: converting ended with %#x", source, (unsigned)status);
    return o;
}

/* Refused while `file` was read, for a budget of `budget`, or else of at most `most`. */
static void refuse_bomb(const char *source, uint64_t budget, const char *file, size_t most)
{
    size_t needed, limit;
    const outcome o = convert_apart(source, budget);
    if (budget > 0) most = budget;
    check_refusal(o.status, &o.error, FERRY_ERROR_LIMIT, file);
    const char *numbers = strstr(o.error.message, ": would need ");
    assert_non_null(numbers);
    assert_int_equal(sscanf(numbers,
                            ": would need %zu bytes of memory, temporary files and model file together; the budget of "
                            "this source is %zu bytes",
                            &needed, &limit),
                     2);
    assert_true(needed > limit && limit <= most);
    assert_int_not_equal(access(scratch_file("bomb.gguf"), F_OK), 0);
    print_message("%s%zu of %zu MB resident, %zu MB written\n", file, o.memory >> 20, limit >> 20, o.written >> 20);
    assert_true(o.written <= limit);
#ifndef SANITIZED
    assert_true(o.memory <= limit + 16 * MEGABYTE);
#endif
}

/* ---- the rule ---- */

TEST(test_limit)
{
    ferry_budget budget;
    ferry_budget_begin(&budget, 0);
    assert_int_equal(budget.memory.limit, BASE);
    ferry_budget_add_file(&budget, 1000);
    assert_int_equal(budget.memory.limit, BASE + 8000);
    assert_int_equal(ferry_budget_check(&budget, "f", FERRY_ERROR_FORMAT, NULL), FERRY_ERROR_FORMAT);
    ferry_budget_add_file(&budget, UINT64_MAX);
    assert_int_equal(budget.memory.limit, SIZE_MAX);
    ferry_budget_begin(&budget, 1000);
    ferry_budget_add_file(&budget, 1000);
    assert_int_equal(budget.memory.limit, 1000);
    assert_true(ferry_account_take(&budget.account, 600));
    assert_false(ferry_account_take(&budget.account, 401));
    REFUSE_SAYING(ferry_budget_check(&budget, "f", FERRY_OK, &error), FERRY_ERROR_LIMIT,
                  "f: would need 1001 bytes of memory, temporary files and model file together; the budget of this "
                  "source is 1000 bytes");
}

/* Files that are read count, each once, and others do not. */
TEST(test_limit_follows_files)
{
    char *directory = scratch_directory("limits"), *large = kept_memory(MEGABYTE);
    ferry_source *source;
    ferry_view bytes;
    write_bytes(in_directory(directory, "read"), large, MEGABYTE);
    write_bytes(in_directory(directory, "unread"), large, MEGABYTE);
    write_bytes(in_directory(directory, "broken.gz"), large, 1000);
    CHECK(ferry_source_open(in_directory(directory, "read"), 0, &source, &error));
    const ferry_memory *memory = source->budget.account.memory;
    assert_int_equal(memory->limit, BASE);
    for (int i = 0; i < 2; i++) CHECK(ferry_source_map(source, "read", &bytes, &error));
    assert_int_equal(memory->limit, BASE + 8 * MEGABYTE);
    for (int i = 0; i < 2; i++)
        REFUSE(ferry_source_map(source, "broken", &bytes, &error), FERRY_ERROR_FORMAT, "cannot be inflated");
    assert_int_equal(memory->limit, BASE + 8 * MEGABYTE + 8000);
    ferry_source_close(source);
}

/* ---- layers that inflate ---- */

/* A zip archive whose config.json.gz is many gzip files, one after the other. */
TEST(test_nested_json)
{
    const char *path = scratch_file("nested.zip");
    made_file all = {.size = 0}, middle = {.size = 0};
    put_gzip(&all, &(repeated){"{\"model_type\":\"m2m_100\",\"x\":[", text_view("{},"), 1, ""});
    put_gzip(&middle, &(repeated){"", text_view("{},"), 640, ""});
    for (int i = 0; i < 230000; i++) put_bytes(&all, middle.data, middle.size);
    put_gzip(&all, &(repeated){"", text_view("{},"), 1, "{}]}"});
    const size_t size = write_deflated(path, "config.json.gz", &(repeated){"", {(char *)all.data, all.size}, 1, ""});
    print_message("archive of %zu bytes\n", size);
    assert_true(size < 32 << 10);
    refuse_bomb(path, 0, "nested.zip/config.json.gz: ", BASE + MEGABYTE);
    refuse_bomb(path, 20 * MEGABYTE, "nested.zip/config.json.gz: ", 0);
}

/* Each of many members would fit; the first that does not ends it all, though more are looked into. */
TEST(test_many_members)
{
    const char *path = scratch_file("many.zip");
    made_file inner = {.size = 0};
    put_gzip(&inner, &(repeated){"", {kept_memory(1 << 16), 1 << 16}, 64, ""});
    zip_part parts[20];
    for (size_t i = 0; i < COUNT(parts); i++) {
        char *name = kept_memory(16);
        snprintf(name, 16, "m%02zu.bin.gz", i);
        parts[i] = (zip_part){name, inner.data, inner.size};
    }
    write_zip(path, parts, COUNT(parts));
    refuse_bomb(path, 10 * MEGABYTE, "many.zip/m02.bin.gz: ", 0);
}

/* ---- parsers ---- */

static void write_gzip(const char *directory, const char *name, const repeated *bytes)
{
    made_file file = {.size = 0};
    put_gzip(&file, bytes);
    write_bytes(in_directory(directory, name), file.data, file.size);
}

/* The beginning of a file of PyTorch's legacy form, up to the state. */
static const char legacy_start[] = "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19."
                                   "\x80\x02M\xE9\x03."
                                   "\x80\x02}U\x0Dlittle_endian\x88s."
                                   "\x80\x02";

/* A tuple of a tuple of a tuple … */
TEST(test_pickle)
{
    char *directory = scratch_directory("pickle");
    write_text(directory, "config.json", "{\"model_type\":\"m2m_100\"}");
    made_file file = {.size = 0};
    put_gzip(&file, &(repeated){"", {legacy_start, sizeof legacy_start - 1}, 1, ")"});
    put_gzip(&file, &(repeated){"", text_view("\x85"), 4000000, "."});
    write_bytes(in_directory(directory, "pytorch_model.bin.gz"), file.data, file.size);
    assert_true(file.size < 5000);
    refuse_bomb(directory, 0, "pickle/pytorch_model.bin.gz: ", BASE + MEGABYTE);
}

TEST(test_yaml)
{
    char *directory = scratch_directory("yaml");
    write_gzip(directory, "decoder.yml.gz", &(repeated){"a: ", text_view("x"), 8 * MEGABYTE, "\n"});
    refuse_bomb(directory, 0, "yaml/decoder.yml.gz: ", BASE + MEGABYTE);
}

/* What the estimate for YAML permits is enough for any form: a budget of it is not exceeded, and the text is read. */
TEST(test_yaml_cost)
{
    const ferry_view ones = repeated_text("#: [", "1,", 4000, "1]\n");
    char *list = kept_memory(ones.size + 1);
    memcpy(list, ones.data, ones.size);
    const struct {
        const char *start, *unit, *end;
        size_t times;
    } forms[] = {{"a: ", "x", "\n", MEGABYTE},
                 {"a: \"", "\\t", "\"\n", MEGABYTE},
                 {"? ", "k", "\n: 1\n", MEGABYTE},
                 {"a: 1\n# ", "k", "\n", MEGABYTE},
                 {"", list, "", 100}};
    char *directory = scratch_directory("forms");
    for (size_t i = 0; i < COUNT(forms); i++) {
        const ferry_view text = repeated_text(forms[i].start, forms[i].unit, forms[i].times, forms[i].end);
        write_bytes(in_directory(directory, "decoder.yml"), text.data, text.size);
        const outcome o = convert_apart(directory, 64 * text.size + MEGABYTE / 8);
        check_refusal(o.status, &o.error, FERRY_ERROR_UNSUPPORTED, "expected a model (.npz, .bin)");
        print_message("%.5s: %zu kB of text, %zu kB resident\n", text.data, text.size >> 10, o.memory >> 10);
#ifndef SANITIZED
        assert_true(o.memory <= 64 * text.size + 2 * MEGABYTE);
#endif
    }
}

/* A header of safetensors, whose file has a budget of its own where it is no part of a source. */
TEST(test_golden_header)
{
    const char *path = scratch_file("golden.safetensors");
    const ferry_view header = repeated_text("{\"a\":[", "{},", 1500000, "{}]}");
    const made_file file = made_safetensors(header, NULL, 0);
    ferry_safetensors golden;
    write_bytes(path, file.data, file.size);
    REFUSE(ferry_safetensors_open(path, &golden, &error), FERRY_ERROR_LIMIT, "golden.safetensors: would need ");
}

/* A directory of more names than fit. */
TEST(test_many_files)
{
    char *directory = scratch_directory("files");
    for (int i = 0; i < 300; i++) write_text(directory, ferry_name_format("%d", i).text, "");
    ferry_source *source;
    CHECK(ferry_source_open(directory, MEGABYTE / 2, &source, &error));
    ferry_source_close(source);
    REFUSE(ferry_source_open(directory, MEGABYTE / 7, &source, &error), FERRY_ERROR_LIMIT, "/files: would need ");
    assert_null(source);
}

/* ---- the model file ---- */

/* It is the last that the budget has to pay for: with a byte less than suffices, it is what there is no budget for. */
TEST(test_model_file)
{
    char *source = data_file("positions/none-post"), *output = scratch_file("model.gguf");
    const size_t size = mapped_bytes(in_directory(source, "model.safetensors")).size;
    uint64_t least = 0, enough = BASE;
    while (enough - least > 1) {
        ferry_error failure = {0};
        const uint64_t middle = least + (enough - least) / 2;
        const ferry_import_options options = {.budget = middle};
        const ferry_status status = ferry_import(source, output, &options, &failure);
        assert_true(status == FERRY_OK || status == FERRY_ERROR_LIMIT);
        *(status == FERRY_OK ? &enough : &least) = middle;
    }
    assert_true(enough > size);
    REFUSE(ferry_import(source, output, &(ferry_import_options){.budget = least}, &error), FERRY_ERROR_LIMIT,
           "/model.gguf: would need ");
    assert_int_equal(unlink(output), 0);
    REFUSE(ferry_import(source, output, &(ferry_import_options){.budget = enough - size / 2}, &error),
           FERRY_ERROR_LIMIT, "/model.gguf: would need ");
    check_no_file(output);
}
