/* Tables of positions: those that are a formula are known as such, all others are kept. */
#include "plan_bench.h"

#include "base/tensor.h"
#include "models/plan/plan_tensors.h"
#include "models/plan/position_tables.h"

enum { P = 30, D = 12 };

typedef struct table_row {
    bool interleaved, minus_one;
    int32_t first, first_row, width; /* 0: D */
} table_row;

/* "Attention Is All You Need", section 3.5, in its four variants. */
static double formula(const table_row *row, int p, int i)
{
    const int half = (row->width > 0 ? row->width : D) / 2, k = row->interleaved ? i / 2 : i % half;
    const double angle = (p + row->first) / pow(10000, (double)k / (row->minus_one ? half - 1 : half));
    return (row->interleaved ? i % 2 == 0 : i < half) ? sin(angle) : cos(angle);
}

/* The rows before first_row hold nonsense. */
static ferry_weights_entry filled(float *table, const table_row *row)
{
    const int width = row->width > 0 ? row->width : D;
    for (int p = 0; p < P; p++)
        for (int i = 0; i < width; i++)
            table[p * width + i] = p < row->first_row ? 7 : (float)formula(row, p - row->first_row, i);
    return entry_of("t", FERRY_F32, P, width, table);
}

/* Into a plan that is begun anew. */
static void recognize(ferry_weights_entry *entry, int32_t first_row)
{
    tear_down(NULL);
    set_up(NULL);
    plan.model.d_model = (int32_t)entry->tensor.shape[entry->tensor.dims - 1];
    CHECK(ferry_import_position_table(&plan, true, entry, first_row, &error));
}

static void check_formula(ferry_weights_entry *entry, const table_row *row)
{
    recognize(entry, row->first_row);
    const ferry_position *position = &plan.model.decoder.position;
    assert_string_equal(position->scheme->name, "sinusoidal");
    assert_string_equal(position->scheme->parameters[0].choices[(int)position->values[0]],
                        row->interleaved ? "interleaved" : "split");
    assert_string_equal(position->scheme->parameters[1].choices[(int)position->values[1]],
                        row->minus_one ? "half_minus_one" : "half");
    assert_int_equal(position->values[2], row->first);
    assert_int_equal(plan.tensor_count, 0);
}

static void check_learned(ferry_weights_entry *entry, int32_t first_row)
{
    recognize(entry, first_row);
    const ferry_position *position = &plan.model.decoder.position;
    assert_string_equal(position->scheme->name, "learned");
    assert_string_equal(position->scheme->parameters[0].key, "max_positions");
    assert_int_equal(position->values[0], P - first_row);
    assert_int_equal(plan.tensor_count, 1);
    const ferry_import_tensor *tensor = &plan.tensors[0];
    assert_string_equal(tensor->name, "dec.position.weight");
    assert_true(tensor->form == FERRY_IMPORT_TABLE && tensor->N == P - first_row && tensor->K == D);
    assert_true(tensor->offset == (int64_t)first_row * D && tensor->row == D && tensor->column == 1);
}

TEST_WITH(test_formulas, set_up, tear_down)
{
    float table[P * D];
    for (int variant = 0; variant < 24; variant++) {
        const table_row row = {variant % 2 == 1, variant / 2 % 2 == 1, variant / 4 % 3, variant >= 12 ? 2 : 0, D};
        ferry_weights_entry entry = filled(table, &row);
        table[P * D - 1] += 8e-6f;
        check_formula(&entry, &row);
    }
}

/* Of the smallest widths: D/2 - 1 is 1, and is nothing; a dimension of 1 before, which does not count. */
TEST_WITH(test_narrow_formulas, set_up, tear_down)
{
    static const table_row rows[] = {{.minus_one = true, .width = 4}, {.first = 2, .width = 2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        float table[P * D];
        ferry_weights_entry entry = filled(table, &rows[i]);
        entry.tensor.dims = 3;
        memcpy(entry.tensor.shape, (int64_t[]){1, P, rows[i].width}, 3 * sizeof *entry.tensor.shape);
        ferry_weights_row_major(&entry);
        check_formula(&entry, &rows[i]);
    }
}

TEST_WITH(test_formulas_in_half_precision, set_up, tear_down)
{
    float table[P * D];
    uint16_t halves[P * D];
    const table_row row = {.minus_one = true, .first = 2};
    filled(table, &row);
    for (int i = 0; i < P * D; i++) halves[i] = ferry_f32_to_f16(table[i]);
    ferry_weights_entry entry = entry_of("t", FERRY_F16, P, D, halves);
    check_formula(&entry, &row);
    halves[P * D - 1] = (uint16_t)(halves[P * D - 1] + 5); /* of 2^-11 */
    check_learned(&entry, 0);
}

/* As fairseq computes them: an angle loses the more, the larger it is. */
TEST_WITH(test_formula_in_single_precision, set_up, tear_down)
{
    enum { ROWS = 8000 };
    static float table[ROWS * D];
    const table_row row = {.minus_one = true};
    double worst = 0;
    for (int p = 0; p < ROWS; p++)
        for (int i = 0; i < D; i++) {
            const float rate = expf((float)(i % (D / 2)) * -(logf(10000) / (float)(D / 2 - 1))),
                        angle = (float)p * rate;
            table[p * D + i] = i < D / 2 ? sinf(angle) : cosf(angle);
            worst = fmax(worst, fabs((double)table[p * D + i] - formula(&row, p, i)));
        }
    assert_true(worst > 1.1e-5);
    ferry_weights_entry entry = entry_of("t", FERRY_F32, ROWS, D, table);
    check_formula(&entry, &row);
}

TEST_WITH(test_other_tables, set_up, tear_down)
{
    float table[P * D];
    const table_row row = {0};
    ferry_weights_entry entry = filled(table, &row);
    table[P * D - 1] += 3e-5f;
    check_learned(&entry, 0);
    table[P * D - 1] = NAN;
    check_learned(&entry, 0);
    filled(table, &row);
    check_learned(&entry, 3); /* position 3 is none of the known beginnings */
    for (int i = 0; i < P * D; i++) table[i] = (float)i;
    check_learned(&entry, 2);
    check_learned(&entry, P - 1);
    REFUSE(ferry_import_position_table(&plan, true, &entry, P, &error), FERRY_ERROR_FORMAT,
           "expected shape [31, 12], found [30, 12]");
    plan.model.d_model = D + 1;
    REFUSE(ferry_import_position_table(&plan, true, &entry, 0, &error), FERRY_ERROR_FORMAT,
           "test: tensor 't': expected shape [30, 13], found [30, 12]");
    const table_row odd = {.width = D - 1};
    entry = filled(table, &odd);
    recognize(&entry, 0);
    assert_string_equal(plan.model.decoder.position.scheme->name, "learned");
}

/* ---- the export layout ---- */

#define ROPE(parameters) "\"position\": {\"type\": \"rope\", \"layout\": \"half\", " parameters "}"
#define SINES(first)                                                                                                   \
    "\"position\": {\"type\": \"sinusoidal\", \"layout\": \"split\", \"exponent_divisor\": \"half\"" first "}"
#define T5(stack, other, distance)                                                                                     \
    "\"position\": {\"" other "\": {\"type\": \"none\"}, \"" stack                                                     \
    "\": {\"type\": \"t5\", \"num_buckets\": 8, \"max_distance\": " distance "}}"

/* On the bounds of parameters, which depend on the stack, and beyond. What is accepted lacks its tensor. */
TEST_WITH(test_parameters, set_up, tear_down)
{
    static const struct {
        const char *position, *message; /* NULL: accepted */
    } rows[] = {
        {T5("decoder", "encoder", "4"), "in: 'position.decoder.max_distance': expected 5 to 16384, found 4"},
        {T5("decoder", "encoder", "5"), "tensor 'decoder.rel_bias.weight' is missing"},
        {T5("encoder", "decoder", "2"), "in: 'position.encoder.max_distance': expected 3 to 16384, found 2"},
        {T5("encoder", "decoder", "3"), "tensor 'encoder.rel_bias.weight' is missing"},
        {T5("encoder", "decoder", "16384"), "tensor 'encoder.rel_bias.weight' is missing"},
        {ROPE("\"theta\": 1"), "in: 'position.theta': expected a number between 1 and 1e12"},
        {ROPE("\"theta\": 1.0001, \"dims\": 2"), NULL},
        {ROPE("\"theta\": 1e12, \"dims\": 16"), NULL},
        {ROPE("\"theta\": 1.001e12"), "in: 'position.theta': expected a number between 1 and 1e12"},
        {ROPE("\"theta\": 2, \"dims\": 0"), "in: 'position.dims': expected 2 to 16, found 0"},
        {SINES(""), NULL},
        {SINES(", \"first\": 65536"), NULL},
        {SINES(", \"first\": 65537"), "in: 'position.first': expected 0 to 65536, found 65537"},
        {"\"position\": {\"encoder\": {\"type\": \"none\"}}",
         "in: 'position': expected 'encoder' and 'decoder', found one"},
        {"\"position\": {\"decoder\": {\"type\": \"none\"}}",
         "in: 'position': expected 'encoder' and 'decoder', found one"},
        {"\"position\": {\"type\": 5}", "in: 'position.type': expected a text"},
        {"\"position\": {\"type\": \"none\", \"first\": 1}", "in: 'position.first': type 'none' has no such parameter"},
        {"\"x\": 1", "in: 'position' is missing"},
    };
    plan.model.d_model = 64;
    plan.model.encoder.heads = plan.model.decoder.heads = 4;
    plan.model.encoder.head_width = plan.model.decoder.head_width = 16;
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_error error = {0};
        json_t *root = json_loads(ferry_name_format("{%s}", rows[i].position).text, 0, NULL);
        const ferry_status status = ferry_import_positions(&plan, (ferry_json){.object = root, .file = "in"}, &error);
        const char *found = status == FERRY_OK ? "accepted" : error.message;
        if (strstr(found, rows[i].message != NULL ? rows[i].message : "accepted") == NULL)
            fail_msg("row %zu: %s", i, found);
        json_decref(root);
    }
}
