/* From a plan to a model file: every way in which a source may hold a matrix, every type that it may become. */
#include "plan_bench.h"

#include "base/tensor.h"
#include "engine/kernels/linear.h"
#include "models/plan/plan_tensors.h"

static void refuse_plan(const ferry_import_options *options, ferry_status status, const char *what)
{
    char *path = scratch_file("refused.gguf");
    REFUSE(ferry_import_write(&plan, path, options, &error), status, what);
    check_no_file(path);
}

/* Numbers that every type holds exactly, and none twice in a row. */
static float number(int i)
{
    return (float)((i * 37) % 101 - 50) / 16;
}

static const ferry_tensor *written(const char *name, ferry_type type)
{
    const ferry_tensor *tensor = ferry_gguf_tensor(&file, name);
    if (tensor == NULL) fail_msg("no tensor '%s'", name);
    assert_int_equal(tensor->type, type);
    return tensor;
}

/* W[n][k] of a matrix in panels. */
static float panel_value(const ferry_tensor *tensor, int n, int k)
{
    const size_t K = (size_t)tensor->shape[1], at = ((size_t)(n / 16) * K + (size_t)k) * 16 + (size_t)(n % 16);
    return tensor->type == FERRY_F16 ? ferry_f16_to_f32(((const uint16_t *)tensor->data)[at])
                                     : ((const float *)tensor->data)[at];
}

/* q[n][k]. */
static int code_value(const ferry_tensor *tensor, int n, int k)
{
    const size_t groups = (size_t)tensor->shape[1];
    return ((const int8_t *)
                tensor->data)[((size_t)(n / 16) * groups + (size_t)(k / 4)) * 64 + (size_t)(n % 16 * 4 + k % 4)];
}

static const ferry_import_options f32 = {.type = FERRY_F32}, f16 = {.type = FERRY_F16}, i8 = {.type = FERRY_I8},
                                  wide = {.type = FERRY_F32, .widen = true};

/* ---- where numbers are ---- */

enum { ROWS = 50, COLUMNS = 21, WIDTH = 48 /* that planes can have */ };

/* A source [ROWS, COLUMNS] of one type, unaligned, and five ways of looking at it. */
static void check_views(ferry_type type, const ferry_import_options *options)
{
    made_file memory = {.size = 0};
    put(&memory, 0, 1);
    for (int i = 0; i < ROWS * COLUMNS; i++) put_value(&memory, number(i), type);
    const ferry_weights_entry entry = entry_of("m", type, ROWS, COLUMNS, memory.data + 1);
    set_up(NULL);
    const ferry_import_tensor transposed = ferry_import_transposed(&entry, FERRY_IMPORT_MATRIX);
    const ferry_import_tensor whole = ferry_import_whole(&entry, FERRY_IMPORT_MATRIX);
    const ferry_import_tensor slice = ferry_import_rows(&whole, 17, 20);
    const ferry_import_tensor scattered = {
        .form = FERRY_IMPORT_MATRIX, .N = 18, .K = 7, .source = &entry, .offset = 4, .row = 2 * COLUMNS, .column = 2};
    const ferry_import_tensor down = {
        .form = FERRY_IMPORT_VECTOR, .N = ROWS, .K = 1, .source = &entry, .offset = 3, .row = COLUMNS};
    CHECK(ferry_import_add(&plan, &entry, FERRY_IMPORT_MATRIX, &error, "whole.weight"));
    CHECK(ferry_import_add(&plan, &entry, FERRY_IMPORT_TABLE, &error, "table"));
    CHECK(ferry_import_add_tensor(&plan, &transposed, &error, "transposed.weight"));
    CHECK(ferry_import_add_tensor(&plan, &slice, &error, "slice.weight"));
    CHECK(ferry_import_add_tensor(&plan, &scattered, &error, "scattered.weight"));
    CHECK(ferry_import_add_tensor(&plan, &down, &error, "down.bias"));
    write_plan(options);
    const ferry_type stored = options->type;
    const ferry_tensor *w = written("whole.weight", stored), *t = written("transposed.weight", stored);
    const ferry_tensor *s = written("slice.weight", stored), *x = written("scattered.weight", stored);
    const float *table = written("table", FERRY_F32)->data, *vector = written("down.bias", FERRY_F32)->data;
    assert_int_equal(w->shape[0] * 16, 64);
    assert_int_equal(t->shape[1], ROWS);
    for (int n = 0; n < ROWS; n++) {
        assert_true(vector[n] == number(n * COLUMNS + 3));
        for (int k = 0; k < COLUMNS; k++) {
            assert_true(panel_value(w, n, k) == number(n * COLUMNS + k));
            assert_true(table[n * COLUMNS + k] == number(n * COLUMNS + k));
            assert_true(panel_value(t, k, n) == number(n * COLUMNS + k));
            if (n < 20) assert_true(panel_value(s, n, k) == number((n + 17) * COLUMNS + k));
            if (n < 18 && k < 7) assert_true(panel_value(x, n, k) == number(4 + 2 * n * COLUMNS + 2 * k));
        }
    }
    for (int n = ROWS; n < 64; n++) assert_true(panel_value(w, n, 0) == 0); /* what fills the last panel up */
    tear_down(NULL);
}

TEST(test_strides_and_slices)
{
    static const ferry_type types[] = {FERRY_F32, FERRY_F16, FERRY_BF16, FERRY_F64};
    for (size_t i = 0; i < 4; i++) {
        check_views(types[i], &f32);
        check_views(types[i], &f16);
    }
}

TEST_WITH(test_leading_ones_and_zeros, set_up, tear_down)
{
    float numbers[40];
    for (int i = 0; i < 40; i++) numbers[i] = number(i);
    const ferry_weights_entry row = entry_of("row", FERRY_F32, 1, 40, numbers);
    const ferry_import_tensor all = ferry_import_whole(&row, FERRY_IMPORT_VECTOR);
    const ferry_import_tensor part = ferry_import_rows(&all, 30, 10);
    const ferry_import_tensor zeros = {.form = FERRY_IMPORT_VECTOR, .N = 33, .K = 1};
    const ferry_import_tensor matrix = {.form = FERRY_IMPORT_MATRIX, .N = 17, .K = 5};
    CHECK(ferry_import_check_shape(&row, 40, 0, &error));
    REFUSE(ferry_import_check_shape(&row, 39, 0, &error), FERRY_ERROR_FORMAT, "");
    REFUSE(ferry_import_check_shape(&row, 40, 1, &error), FERRY_ERROR_FORMAT, "");
    ferry_weights_entry scalar = entry_of("scalar", FERRY_F32, 1, 1, numbers);
    CHECK(ferry_import_check_shape(&scalar, 1, 0, &error));
    scalar.tensor.dims = 0;
    REFUSE(ferry_import_check_shape(&scalar, 1, 0, &error), FERRY_ERROR_FORMAT, "expected shape [1], found []");
    CHECK(ferry_import_add(&plan, &row, FERRY_IMPORT_VECTOR, &error, "row.bias"));
    CHECK(ferry_import_add_tensor(&plan, &part, &error, "part.bias"));
    CHECK(ferry_import_add_tensor(&plan, &zeros, &error, "zeros.bias"));
    CHECK(ferry_import_add_tensor(&plan, &matrix, &error, "zeros.weight"));
    write_plan(&i8);
    assert_memory_equal(written("row.bias", FERRY_F32)->data, numbers, sizeof numbers);
    assert_memory_equal(written("part.bias", FERRY_F32)->data, numbers + 30, 10 * sizeof *numbers);
    const float *bias = written("zeros.bias", FERRY_F32)->data, *scale = written("zeros.scale", FERRY_F32)->data;
    for (int i = 0; i < 33; i++) assert_true(bias[i] == 0);
    for (int i = 0; i < 17; i++) assert_true(scale[i] == 1 && code_value(written("zeros.weight", FERRY_I8), i, 3) == 0);
}

TEST_WITH(test_integers, set_up, tear_down)
{
    enum { COUNT = 40000 }; /* several pieces of writing */
    static int32_t ids[COUNT];
    for (int i = 0; i < COUNT; i++) ids[i] = i * 3 - 7;
    const ferry_import_tensor tensor = {.form = FERRY_IMPORT_INTEGERS, .N = COUNT, .K = 1, .integers = ids};
    CHECK(ferry_import_add_tensor(&plan, &tensor, &error, "shortlist.ids"));
    CHECK(ferry_import_add_tensor(&plan, &tensor, &error, "shortlist.offsets"));
    write_plan(&f16);
    assert_int_equal(written("shortlist.ids", FERRY_I32)->shape[0], COUNT);
    assert_memory_equal(written("shortlist.ids", FERRY_I32)->data, ids, sizeof ids);
    assert_non_null(ferry_gguf_find(&file, "ferry.shortlist.first"));
}

/* ---- sources of integers ---- */

enum { OUTPUTS = 19, INPUTS = 10 };

static int code(int n, int k)
{
    return (n * 61 + k * 17) % 255 - 127;
}

/* Codes as Marian holds them, [in, out] with the outputs' codes one after the other. */
static ferry_weights_entry transposed_codes(int8_t *codes, float multiplier)
{
    for (int n = 0; n < OUTPUTS; n++)
        for (int k = 0; k < INPUTS; k++) codes[n * INPUTS + k] = (int8_t)code(n, k);
    ferry_weights_entry entry = entry_of("codes", FERRY_I8, INPUTS, OUTPUTS, codes);
    entry.strides[0] = 1;
    entry.strides[1] = INPUTS;
    entry.multiplier = multiplier;
    return entry;
}

TEST_WITH(test_sixteen_bits, set_up, tear_down)
{
    static int16_t codes[OUTPUTS * INPUTS];
    for (int i = 0; i < OUTPUTS * INPUTS; i++) codes[i] = (int16_t)(i * 331 - 30000);
    ferry_weights_entry entry = entry_of("wide", FERRY_I16, OUTPUTS, INPUTS, codes);
    entry.multiplier = 1000;
    CHECK(ferry_import_add(&plan, &entry, FERRY_IMPORT_MATRIX, &error, "a.weight"));
    CHECK(ferry_import_add(&plan, &entry, FERRY_IMPORT_TABLE, &error, "table"));
    write_plan(&f32);
    for (int i = 0; i < OUTPUTS * INPUTS; i++) {
        const float wanted = (float)(i * 331 - 30000) / 1000;
        assert_true(panel_value(written("a.weight", FERRY_F32), i / INPUTS, i % INPUTS) == wanted);
        assert_true(((const float *)written("table", FERRY_F32)->data)[i] == wanted);
    }
    write_plan(&i8);
    assert_non_null(written("a.scale", FERRY_F32));
}

/* ---- quantizing ---- */

typedef struct report {
    int calls;
    char name[64];
    double largest, rms, rms_error;
} report;

static void note(void *user, const char *tensor, double largest, double rms, double rms_error)
{
    report *r = user;
    r->calls++;
    snprintf(r->name, sizeof r->name, "%s", tensor);
    r->largest = largest;
    r->rms = rms;
    r->rms_error = rms_error;
}

TEST_WITH(test_quantizing, set_up, tear_down)
{
    static float numbers[OUTPUTS * INPUTS];
    report r = {0};
    static int8_t codes[OUTPUTS * INPUTS];
    const ferry_weights_entry integers = transposed_codes(codes, 2);
    const ferry_import_tensor kept = ferry_import_transposed(&integers, FERRY_IMPORT_MATRIX);
    double squares = 0, errors = 0, largest = 0;
    for (int i = 0; i < OUTPUTS * INPUTS; i++) numbers[i] = number(i) * (1 + (float)(i / INPUTS));
    const ferry_weights_entry entry = entry_of("m", FERRY_F32, OUTPUTS, INPUTS, numbers);
    const ferry_import_options options = {.type = FERRY_I8, .quantized = note, .user = &r};
    CHECK(ferry_import_add(&plan, &entry, FERRY_IMPORT_MATRIX, &error, "a.weight"));
    CHECK(ferry_import_add(&plan, &entry, FERRY_IMPORT_TABLE, &error, "table"));
    CHECK(ferry_import_add_tensor(&plan, &kept, &error, "kept.weight")); /* of codes already */
    write_plan(&options);
    const ferry_tensor *a = written("a.weight", FERRY_I8);
    const float *scales = written("a.scale", FERRY_F32)->data;
    for (int n = 0; n < OUTPUTS; n++) {
        double row = 0;
        for (int k = 0; k < INPUTS; k++) row = fmax(row, fabs((double)numbers[n * INPUTS + k]));
        assert_true(fabs((double)scales[n] - row / 127) < 1e-7 * row);
        for (int k = 0; k < INPUTS; k++) {
            const double w = (double)numbers[n * INPUTS + k];
            const double difference = w - code_value(a, n, k) * (double)scales[n];
            assert_true(fabs(difference) <= 0.5001 * (double)scales[n]);
            largest = fmax(largest, fabs(w));
            squares += w * w;
            errors += difference * difference;
        }
    }
    assert_int_equal(r.calls, 1);
    assert_string_equal(r.name, "a.weight");
    assert_true(r.largest == largest);
    assert_true(fabs(r.rms - sqrt(squares / (OUTPUTS * INPUTS))) < 1e-12 * r.rms);
    assert_true(fabs(r.rms_error - sqrt(errors / (OUTPUTS * INPUTS))) < 1e-9 * r.rms_error);
    assert_memory_equal(written("table", FERRY_F32)->data, numbers, sizeof numbers);
}

static bool has_feature(const char *word)
{
    const ferry_string_table *words;
    size_t count;
    CHECK(ferry_gguf_get_texts(&file, "ferry.features", &words, &count, &error));
    while (count > 0 && !ferry_view_is(ferry_string_table_at(words, count - 1), word)) count--;
    return count > 0;
}

/* ---- four bits ---- */

enum { STEP_ROWS = 50, STEP_COLUMNS = 160 /* two lines of steps */ };

/* Σ (x - s·q)² of 32 numbers with the best q of a step. */
static double error_of_step(const float *x, float unit, int s)
{
    double sum = 0;
    for (int k = 0; k < 32; k++) {
        double least = INFINITY;
        for (int q = -8; q <= 7; q++)
            if (abs(s * q) <= 127) least = fmin(least, fabs((double)x[k] / (double)unit - s * q));
        sum += least * least;
    }
    return sum;
}

/* A tensor of steps holds the best codes that numbers [STEP_ROWS, STEP_COLUMNS] can have with these scales. */
static void check_steps(const char *name, const float *numbers, const float *scales)
{
    enum { PANEL = 64 * (2 + STEP_COLUMNS / 8) };
    const ferry_tensor *tensor = written(name, FERRY_I8);
    const uint8_t *data = tensor->data;
    assert_true(tensor->shape[0] == 4 && tensor->shape[1] == PANEL / 64 && tensor->shape[2] == 64);
    for (int n = 0; n < STEP_ROWS; n++, numbers += STEP_COLUMNS) {
        const uint8_t *panel = data + n / 16 * PANEL, *nibbles = panel + 128 + n % 16 * 4;
        for (int k = 0; k < STEP_COLUMNS; k += 32) {
            const int step = (int8_t)panel[k / 32 * 16 + n % 16];
            double found = 0, best = INFINITY;
            for (int i = k; i < k + 32; i++) {
                const int byte = nibbles[i / 8 * 64 + i % 4], q = (i % 8 < 4 ? byte & 15 : byte >> 4) - 8;
                assert_true(abs(step * q) <= 127);
                found += pow((double)numbers[i] / (double)scales[n] - step * q, 2);
            }
            for (int s = -18; s <= 18; s++) best = fmin(best, error_of_step(numbers + k, scales[n], s));
            assert_true(found <= best * (1 + 1e-5) + 1e-6);
        }
    }
}

static void note_message(void *user, const char *message)
{
    snprintf(user, 200, "%s", message);
}

TEST_WITH(test_four_bits, set_up, tear_down)
{
    static float numbers[STEP_ROWS * STEP_COLUMNS], as_codes[STEP_ROWS * STEP_COLUMNS], ones[STEP_ROWS];
    static int8_t codes[STEP_ROWS * STEP_COLUMNS];
    char message[200] = "";
    const ferry_import_options i4 = {.type = FERRY_I8, .four_bits = true, .noted = note_message, .user = message};
    uint32_t random = 1;
    for (int i = 0; i < STEP_ROWS * STEP_COLUMNS;
         i++) { /* like a normal distribution; groups of several sizes; zeros */
        float sum = 0;
        for (int j = 0; j < 4; j++) sum += (float)((random = random * 1664525 + 1013904223) >> 8) * 0x1p-24f - 0.5f;
        numbers[i] = i / 32 % 7 == 0 ? 0 : sum * (float)(i / 32 % 13);
        as_codes[i] = codes[i] = (int8_t)fmaxf(-127, fminf(127, nearbyintf(sum * (float)(i / 32 % 90))));
        ones[i / STEP_COLUMNS] = 1;
    }
    const ferry_weights_entry layer = entry_of("m", FERRY_F32, STEP_ROWS, STEP_COLUMNS, numbers);
    const ferry_weights_entry narrow = entry_of("m", FERRY_F32, STEP_ROWS, 48, numbers);
    ferry_weights_entry integers = entry_of("codes", FERRY_I8, STEP_ROWS, STEP_COLUMNS, codes);
    CHECK(ferry_import_add(&plan, &layer, FERRY_IMPORT_MATRIX, &error, "enc.blk.0.a.weight"));
    CHECK(ferry_import_add(&plan, &narrow, FERRY_IMPORT_MATRIX, &error, "enc.blk.0.narrow.weight"));
    CHECK(ferry_import_add(&plan, &layer, FERRY_IMPORT_MATRIX, &error, "token_embd.weight"));
    write_plan(&i4);
    assert_string_equal(message, "");
    assert_true(has_feature("type:i4") && has_feature("type:i8"));
    check_steps("enc.blk.0.a.weight", numbers, written("enc.blk.0.a.scale", FERRY_F32)->data);
    assert_int_equal(written("enc.blk.0.narrow.weight", FERRY_I8)->shape[1], 12);
    assert_int_equal(written("token_embd.weight", FERRY_I8)->shape[1], STEP_COLUMNS / 4);
    integers.multiplier = 8; /* stays; codes are approximated */
    CHECK(ferry_import_add(&plan, &integers, FERRY_IMPORT_MATRIX, &error, "enc.blk.0.codes.weight"));
    write_plan(&i4);
    assert_true(strncmp(message, "its int8 matrices are rounded once more", 39) == 0);
    assert_true(*(const float *)written("enc.blk.0.codes.multiplier", FERRY_F32)->data == 8);
    check_steps("enc.blk.0.codes.weight", as_codes, ones);
    write_plan(&i8);
    assert_false(has_feature("type:i4"));
    assert_int_equal(written("enc.blk.0.a.weight", FERRY_I8)->shape[1], STEP_COLUMNS / 4);
}

/* ---- the output matrix: planes, or a coarse one ---- */

/* That a number of the file is above what it bounds, and no more than the roundings of float sums. */
static void check_above(const char *name, double bounded, double roundings)
{
    const double stored = (double)*(const float *)written(name, FERRY_F32)->data;
    assert_true(stored >= bounded && stored <= bounded * (1 + roundings) + 1e-18);
}

/* That of the matrix `name` [N, K] in the file. */
static void check_coarse(const char *name, int32_t N, int32_t K)
{
    static float panel[FERRY_LANES * ROWS], scales[FERRY_LANES];
    static int8_t codes[FERRY_LANES * (ROWS + 3)];
    const ferry_tensor *coarse = written("output_coarse.weight", FERRY_I8);
    const ferry_tensor *scale = written("output_coarse.scale", FERRY_F32), *exact = ferry_gguf_tensor(&file, name);
    const size_t bytes = ferry_int8_size(FERRY_LANES, K);
    double norm = 0, step = 0;
    assert_true(coarse->dims == 3 && coarse->shape[0] == (N + 15) / 16);
    assert_true(coarse->shape[1] == (K + 3) / 4 && coarse->shape[2] == 64);
    assert_true(scale->dims == 1 && scale->shape[0] == N);
    for (int32_t n = 0; n < N; n += FERRY_LANES) {
        for (int32_t i = 0; i < FERRY_LANES * K; i++)
            panel[i] = panel_value(exact, n + i % FERRY_LANES, i / FERRY_LANES);
        ferry_int8_from_panel(panel, K, codes, scales);
        assert_memory_equal((const int8_t *)coarse->data + (size_t)n / FERRY_LANES * bytes, codes, bytes);
        assert_memory_equal((const float *)scale->data + n, scales,
                            (size_t)(N - n < FERRY_LANES ? N - n : FERRY_LANES) * sizeof *scales);
        for (int l = 0; l < FERRY_LANES; l++) {
            double squares = 0;
            for (int32_t k = 0; k < K; k++) squares += pow((double)panel[k * FERRY_LANES + l], 2);
            norm = fmax(norm, sqrt(squares));
            step = fmax(step, (double)scales[l]);
        }
    }
    check_above("output_coarse.error", sqrt(K) * step / 2, 1e-6);
    check_above("output_coarse.norm", norm, 1e-5);
}

/* Of codes: that their planes hold them, and the bound. Rows of zeros have the scale 0. */
static void check_planes(const char *name, int32_t N, int32_t K, const float *numbers)
{
    const ferry_short_text stem = ferry_format("%.*s", (int)strlen(name) - 7, name);
    const ferry_tensor *upper = written(name, FERRY_I8);
    const ferry_tensor *lower = written(ferry_format("%s.lower", stem.text).text, FERRY_I8);
    const float *scales = written(ferry_format("%s.scale", stem.text).text, FERRY_F32)->data;
    double most = 0;
    assert_true(upper->dims == 3 && upper->shape[0] == (N + 15) / 16);
    assert_true(upper->shape[1] == K / 8 && upper->shape[2] == 64);
    assert_true(lower->dims == 3 && memcmp(lower->shape, upper->shape, sizeof lower->shape) == 0);
    assert_true((const char *)upper->data < (const char *)lower->data);
    for (int32_t n = 0; n < N; n++) {
        double squares = 0, largest = 0;
        for (int32_t k = 0; k < K; k++) largest = fmax(largest, fabs((double)numbers[k * N + n]));
        assert_true(fabs((double)scales[n] - largest / 127) <= 1e-7 * largest);
        for (int32_t k = 0; k < K; k++) {
            const size_t cell = (size_t)(n / 16) * ferry_nibbles_size(16, K) + (size_t)(n % 16 * 4);
            const int q =
                ferry_planes_code((const uint8_t *)upper->data + cell, (const uint8_t *)lower->data + cell, k);
            const double exact = largest > 0 ? (double)numbers[k * N + n] / (double)scales[n] : 0;
            assert_true(fabs(q - exact) <= 0.5001);
            squares += pow((q + 128) % 16 - 7.5, 2);
        }
        if (largest > 0) most = fmax(most, sqrt(squares));
    }
    check_above(ferry_format("%s.error", stem.text).text, most, 1e-6);
}

/* What the file holds of a source, f32, f16 or int8, is what the coarse matrix is made of. */
static void check_output(const char *name, bool tied_output, bool tied_embeddings, int32_t K)
{
    static float numbers[ROWS * COLUMNS];
    static const int32_t ids[COLUMNS];
    const ferry_import_tensor list = {.form = FERRY_IMPORT_INTEGERS, .N = COLUMNS, .K = 1, .integers = ids};
    for (int i = 0; i < ROWS * COLUMNS; i++)
        numbers[i] = i % COLUMNS == 3 ? 0 : number(i) * 0.777f; /* f16 rounds them */
    const ferry_weights_entry entry = entry_of("m", FERRY_F32, K, COLUMNS, numbers);
    const ferry_import_tensor transposed = ferry_import_transposed(&entry, FERRY_IMPORT_MATRIX);
    set_up(NULL);
    plan.model.tied_output = tied_output;
    plan.model.tied_embeddings = tied_embeddings;
    CHECK(ferry_import_add(&plan, &entry, FERRY_IMPORT_MATRIX, &error, "a.weight"));
    write_plan(&f32);
    assert_int_equal(file.tensor_count, 1);
    assert_false(has_feature("output-coarse:bound"));
    CHECK(ferry_import_add_tensor(&plan, &transposed, &error, "%s", name));
    write_plan(&f32);
    assert_int_equal(file.tensor_count, 6);
    assert_true(has_feature("output-coarse:bound"));
    check_coarse(name, COLUMNS, K);
    write_plan(&f16);
    check_coarse(name, COLUMNS, K);
    write_plan(&i8);
    assert_false(has_feature("output-coarse:bound"));
    assert_true(has_feature("planes") == (K == WIDTH));
    if (K == WIDTH) check_planes(name, COLUMNS, K, numbers);
    CHECK(ferry_import_add_tensor(&plan, &list, &error, "shortlist.ids")); /* whose words greedy search takes */
    write_plan(&f32);
    assert_null(ferry_gguf_tensor(&file, "output_coarse.weight"));
    assert_false(has_feature("output-coarse:bound"));
    write_plan(&i8);
    assert_false(has_feature("planes"));
    tear_down(NULL);
}

TEST(test_output_matrices_have_a_bound)
{
    static const int32_t widths[] = {WIDTH, WIDTH - 4, ROWS};
    for (size_t i = 0; i < COUNT(widths); i++) {
        check_output("output.weight", false, false, widths[i]);
        check_output("output.weight", false, true, widths[i]);
        check_output("dec.token_embd.weight", true, false, widths[i]);
        check_output("token_embd.weight", true, true, widths[i]);
    }
}

/* Of an output matrix of codes, with one multiplier or one for each row, unaligned. Where they are kept, there is none.
 */
static void check_codes(bool each_row)
{
    static int8_t codes[OUTPUTS * INPUTS];
    static const ferry_import_options *const kept[] = {&f32, &i8}, *const widened[] = {&wide, &f16};
    const ferry_weights_entry entry = transposed_codes(codes, each_row ? 0 : 24.5f);
    ferry_import_tensor tensor = ferry_import_transposed(&entry, FERRY_IMPORT_MATRIX);
    float multipliers[OUTPUTS];
    made_file memory = {.size = 0};
    put(&memory, 0, 1);
    for (int n = 0; n < OUTPUTS; n++) multipliers[n] = each_row ? 10 + (float)n / 3 : 24.5f;
    put_bytes(&memory, multipliers, sizeof multipliers);
    set_up(NULL);
    for (int i = 0; each_row && i < 2; i++) {
        REFUSE(ferry_import_add_tensor(&plan, &tensor, &error, "output.weight"), FERRY_ERROR_FORMAT,
               "tensor 'codes': integers without a multiplier");
        tensor.multipliers = memory.data + 1;
        tensor.multiplier_count = OUTPUTS - 1 + i;
    }
    tensor.input_multiplier = each_row ? 0 : 7.25f;
    CHECK(ferry_import_add_tensor(&plan, &tensor, &error, "output.weight"));
    for (size_t i = 0; i < 2; i++) {
        write_plan(kept[i]);
        const ferry_tensor *a = written("output.weight", FERRY_I8);
        assert_true(a->shape[0] == 2 && a->shape[1] == 3 && a->shape[2] == 64);
        for (int n = 0; n < 32; n++)
            for (int k = 0; k < 12; k++)
                assert_int_equal(code_value(a, n, k), n < OUTPUTS && k < INPUTS ? code(n, k) : 0);
        assert_int_equal(file.tensor_count, each_row ? 2 : 3);
        for (int n = 0; each_row && n < OUTPUTS; n++)
            assert_true(((const float *)written("output.scale", FERRY_F32)->data)[n] == 1 / multipliers[n]);
        if (each_row) continue;
        assert_true(*(const float *)written("output.multiplier", FERRY_F32)->data == 24.5f);
        assert_true(*(const float *)written("output.input_multiplier", FERRY_F32)->data == 7.25f);
    }
    for (size_t i = 0; i < 2; i++) {
        write_plan(widened[i]);
        assert_int_equal(file.tensor_count, 5);
        for (int j = 0; j < OUTPUTS * INPUTS; j++) {
            const float exact = (float)code(j / INPUTS, j % INPUTS) / multipliers[j / INPUTS];
            assert_true(panel_value(written("output.weight", widened[i]->type), j / INPUTS, j % INPUTS) ==
                        (i == 0 ? exact : ferry_f16_to_f32(ferry_f32_to_f16(exact))));
        }
        check_coarse("output.weight", OUTPUTS, INPUTS);
    }
    tear_down(NULL);
}

TEST(test_codes)
{
    check_codes(false);
    check_codes(true);
}

/* ---- refusals ---- */

TEST(test_tensors_that_are_refused)
{
    static int8_t codes[OUTPUTS * INPUTS];
    float numbers[12] = {0};
    ferry_weights_entry entry = transposed_codes(codes, 2);
    ferry_weights_entry floats = entry_of("floats", FERRY_F32, 3, 4, numbers);
    const ferry_import_tensor inside = ferry_import_whole(&floats, FERRY_IMPORT_MATRIX);
    ferry_import_tensor outside = ferry_import_rows(&inside, 1, 3);
    set_up(NULL);
    REFUSE(ferry_import_add_tensor(&plan, &outside, &error, "a.weight"), FERRY_ERROR_FORMAT,
           "test: tensor 'floats': shape [3, 4] does not hold 'a.weight'");
    REFUSE(ferry_import_add(&plan, &floats, FERRY_IMPORT_VECTOR, &error, "a.bias"), FERRY_ERROR_FORMAT, "");
    outside.N = 2;
    outside.offset++; /* one element beyond the end */
    REFUSE(ferry_import_add_tensor(&plan, &outside, &error, "a.weight"), FERRY_ERROR_FORMAT, "");
    outside.offset = -1;
    REFUSE(ferry_import_add_tensor(&plan, &outside, &error, "a.weight"), FERRY_ERROR_FORMAT, "");
    outside.offset = 4;
    CHECK(ferry_import_add_tensor(&plan, &outside, &error, "a.weight"));
    numbers[9] = NAN;
    refuse_plan(&i8, FERRY_ERROR_UNSUPPORTED, "test: tensor 'floats': a value is not finite");
    tear_down(NULL);

    set_up(NULL);
    codes[77] = -128;
    const ferry_import_tensor tensor = ferry_import_transposed(&entry, FERRY_IMPORT_MATRIX);
    CHECK(ferry_import_add_tensor(&plan, &tensor, &error, "a.weight"));
    refuse_plan(&f32, FERRY_ERROR_UNSUPPORTED, "tensor 'codes': the integer -128 is not supported");
    codes[77] = 0;
    entry.multiplier = -1;
    refuse_plan(&f32, FERRY_ERROR_FORMAT, "tensor 'codes': impossible multiplier -1");
    refuse_plan(&wide, FERRY_ERROR_FORMAT, "tensor 'codes': impossible multiplier -1");
    entry.multiplier = INFINITY;
    refuse_plan(&f32, FERRY_ERROR_FORMAT, "tensor 'codes': impossible multiplier inf");
    entry.multiplier = 1e-39f;
    refuse_plan(&f32, FERRY_ERROR_UNSUPPORTED, "tensor 'codes': a scale is not finite");
    entry.multiplier = 1;
    plan.tensors[0].input_multiplier = -2;
    refuse_plan(&f32, FERRY_ERROR_FORMAT, "tensor 'codes': impossible multiplier -2");
    tear_down(NULL);

    static const float long_row[65537];
    const ferry_weights_entry most = entry_of("most", FERRY_F32, 1, 65536, long_row);
    const ferry_weights_entry over = entry_of("over", FERRY_F32, 1, 65537, long_row);
    set_up(NULL);
    CHECK(ferry_import_add(&plan, &most, FERRY_IMPORT_MATRIX, &error, "a.weight"));
    write_plan(&i8);
    CHECK(ferry_import_add(&plan, &over, FERRY_IMPORT_MATRIX, &error, "b.weight"));
    refuse_plan(&i8, FERRY_ERROR_UNSUPPORTED, "tensor 'b.weight': 65537 inputs are too many for i8");
    write_plan(&f32);
    tear_down(NULL);
}

/* The largest numbers of f16 and f32, and what is none. The special one is the first of its matrix, then the last. */
TEST(test_numbers_that_are_too_large)
{
    static const struct {
        double value;
        const ferry_import_options *as;
        const char *what; /* NULL: accepted */
    } rows[] = {
        {65504, &f16, NULL},
        {-65519, &f16, NULL},
        {65520, &f16, "test: tensor 'm': a value is too large for f16: use f32"},
        {-65520, &f16, "test: tensor 'm': a value is too large for f16: use f32"},
        {-INFINITY, &f16,
         "test: tensor 'm': a value is not finite: training broke the weights, or the file is damaged"},
        {NAN, &f16, "test: tensor 'm': a value is not finite: training broke the weights, or the file is damaged"},
        {1e38, &f32, NULL},
        {-1e39, &f32, "test: tensor 'm': a value is not finite, or too large for f32"},
        {NAN, &f32, "test: tensor 'm': a value is not finite, or too large for f32"},
        {INFINITY, &i8, "test: tensor 'm': a value is not finite: training broke the weights, or the file is damaged"},
        {-INFINITY, &i8, "test: tensor 'm': a value is not finite: training broke the weights, or the file is damaged"},
        {65520, &i8, NULL}};
    for (size_t k = 0; k < 2 * COUNT(rows); k++) {
        double numbers[ROWS * 3] = {0};
        const size_t i = k / 2, place = k % 2 == 0 ? 0 : ROWS * 3 - 1;
        const bool wide_source = rows[i].as == &f32;
        const float single = (float)rows[i].value;
        if (wide_source) numbers[place] = rows[i].value;
        if (!wide_source) memcpy((float *)numbers + place, &single, sizeof single);
        const ferry_weights_entry entry = entry_of("m", wide_source ? FERRY_F64 : FERRY_F32, ROWS, 3, numbers);
        set_up(NULL);
        CHECK(ferry_import_add(&plan, &entry, FERRY_IMPORT_MATRIX, &error, "a.weight"));
        if (rows[i].what != NULL)
            refuse_plan(rows[i].as, FERRY_ERROR_UNSUPPORTED, rows[i].what);
        else
            write_plan(rows[i].as);
        tear_down(NULL);
    }
}
