/* Sizes and numbers of positional encodings that no honest model has: refused before memory is taken for them, or
 * computed with. */
#include <sys/resource.h>

#include "tests/support/fake_position.h"
#include "tests/support/files.h"
#include "tests/support/sanitized.h"

#ifdef SANITIZED
enum { MOST_KILOBYTES = 4 << 20 }; /* with the shadow of what is not touched */
#else
enum { MOST_KILOBYTES = 48 << 10 };
#endif

static long resident_peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* A file of a few kilobytes says these sizes; the tables would take gigabytes. */
TEST(test_tables_out_of_proportion)
{
    static const float zeros[1 << 20];
    static const struct {
        const char *name;
        ferry_position_stack stack;
        fake_parameter parameters[3];
    } rows[] = {
        {"t5",
         {.layers = 1, .d_model = 2, .heads = 4096, .head_width = 1},
         {{.key = "num_buckets", .number = 4}, {.key = "max_distance", .number = 16384}}},
        {"deberta",
         {.layers = 1, .d_model = 2, .heads = 4096, .head_width = 16, .causal = true},
         {{.key = "clip", .number = 65536}, {.key = "p2c", .text = "paper"}}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_position position;
        REFUSE(try_bind_encoding(rows[i].name, &rows[i].stack, rows[i].parameters, zeros, &position, &error),
               FERRY_ERROR_UNSUPPORTED, "positions: expected tables of at most");
    }
}

static ferry_status no_tensor(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                              const int64_t *shape, const float **data, ferry_error *error)
{
    (void)user, (void)layer, (void)dims, (void)shape, (void)data;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "tensor '%s' is missing", declared->name);
}

static bool largest(void *user, const char *key, int64_t *value)
{
    (void)user, (void)key;
    *value = 65536;
    return true;
}

static bool no_text(void *user, const char *key, ferry_view *value)
{
    (void)user, (void)key, (void)value;
    return false;
}

/* The weights would be as large, but the file does not hold them. */
TEST(test_tables_of_missing_weights)
{
    const ferry_position_stack stack = {.layers = 1024, .d_model = 16, .heads = 1, .head_width = 16};
    const ferry_position_source source = {.text = no_text, .integer = largest, .tensor = no_tensor};
    ferry_position position;
    const long before = resident_peak();
    REFUSE(ferry_position_bind(ferry_text_view("shaw"), &stack, &source, ferry_kernels_find(NULL), &position, &error),
           FERRY_ERROR_FORMAT, "tensor 'rel_k' is missing");
    assert_in_range(resident_peak() - before, 0, MOST_KILOBYTES);
}
