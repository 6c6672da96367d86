/* A plan by hand, in a fixture that writes it to a model file: TEST_WITH(name, set_up, tear_down). */
#ifndef FERRY_TESTS_PLAN_BENCH_H
#define FERRY_TESTS_PLAN_BENCH_H

#include "tests/support/import_support.h"

#include "models/plan/plan.h"
#include "models/plan/position_tables.h"

static ferry_source *source;
static ferry_import_plan plan;
static ferry_gguf file; /* what was written */

static inline int set_up(void **state)
{
    static const int32_t eos[] = {0, 3};
    char *path = data_file("positions/none-post");
    (void)state;
    CHECK(ferry_source_open(path, 0, &source, &error));
    ferry_import_plan_init(&plan, source);
    plan.kind = "test";
    for (int i = 0; i < 2; i++) ferry_import_set_position(&plan, i == 1, "none", (double[]){0}, 1);
    plan.model.encoder.norm_eps = plan.model.decoder.norm_eps = 1e-5f;
    plan.generation.eos_ids = eos;
    plan.generation.eos_count = 2;
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    ferry_gguf_close(&file);
    ferry_import_plan_destroy(&plan);
    ferry_source_close(source);
    return 0;
}

/* A row-major entry [rows, columns], or a vector for rows = 0. */
static inline ferry_weights_entry entry_of(const char *name, ferry_type type, int64_t rows, int64_t columns,
                                           const void *data)
{
    ferry_weights_entry entry = {.tensor = {.name = text_view(name), .type = type, .data = data}, .file = "test"};
    entry.tensor.dims = rows > 0 ? 2 : 1;
    entry.tensor.shape[0] = rows > 0 ? rows : columns;
    entry.tensor.shape[1] = rows > 0 ? columns : 1;
    entry.tensor.shape[2] = entry.tensor.shape[3] = 1;
    entry.tensor.bytes = (size_t)ferry_tensor_count(&entry.tensor) * ferry_type_size(type);
    ferry_weights_row_major(&entry);
    return entry;
}

static inline void write_plan(const ferry_import_options *options)
{
    char *path = scratch_file("plan.gguf");
    CHECK(ferry_import_write(&plan, path, options, &error));
    ferry_gguf_close(&file);
    CHECK(ferry_gguf_open(mapped_bytes(path), path, &file, &error));
}

#endif
