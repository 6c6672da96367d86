/* Tables of positions: those that are a formula are known as such, all others are kept. */
#include "tests/support/plan_bench.h"

#include "base/half.h"

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
static void fill(float *table, const table_row *row)
{
    const int width = row->width > 0 ? row->width : D;
    for (int p = 0; p < P; p++)
        for (int i = 0; i < width; i++)
            table[p * width + i] = p < row->first_row ? 7 : (float)formula(row, p - row->first_row, i);
}

/* Into a plan that is begun anew. */
static void recognize(ferry_weights_entry *entry, int32_t first_row)
{
    tear_down(NULL);
    set_up(NULL);
    plan.model.d_model = (int32_t)entry->tensor.shape[entry->tensor.dims - 1];
    CHECK(ferry_import_position_table(&plan, true, entry, first_row, &error));
}

static ferry_weights_entry entry_of(ferry_type type, const void *data)
{
    ferry_weights_entry entry = {
        .tensor = {.name = {"t", 1}, .type = type, .dims = 2, .shape = {P, D, 1, 1}, .data = data}, .file = "test"};
    entry.tensor.bytes = P * D * ferry_type_size(type);
    ferry_weights_row_major(&entry);
    return entry;
}

static void check_formula(const table_row *row)
{
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
        fill(table, &row);
        table[P * D - 1] += 8e-6f;
        ferry_weights_entry entry = entry_of(FERRY_F32, table);
        recognize(&entry, row.first_row);
        check_formula(&row);
    }
}

/* Of the smallest widths: D/2 - 1 is 1, and is nothing; a dimension of 1 before, which does not count. */
TEST_WITH(test_narrow_formulas, set_up, tear_down)
{
    static const table_row rows[] = {{.minus_one = true, .width = 4}, {.first = 2, .width = 2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        float table[P * D];
        fill(table, &rows[i]);
        ferry_weights_entry entry = entry_of(FERRY_F32, table);
        entry.tensor = (ferry_tensor){.name = {"t", 1},
                                      .type = FERRY_F32,
                                      .dims = 3,
                                      .shape = {1, P, rows[i].width, 1},
                                      .data = table,
                                      .bytes = (size_t)(P * rows[i].width) * sizeof *table};
        ferry_weights_row_major(&entry);
        recognize(&entry, 0);
        check_formula(&rows[i]);
    }
}

TEST_WITH(test_formulas_in_half_precision, set_up, tear_down)
{
    float table[P * D];
    uint16_t halves[P * D];
    const table_row row = {.minus_one = true, .first = 2};
    fill(table, &row);
    for (int i = 0; i < P * D; i++) halves[i] = ferry_f32_to_f16(table[i]);
    ferry_weights_entry entry = entry_of(FERRY_F16, halves);
    recognize(&entry, 0);
    check_formula(&row);
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
    ferry_weights_entry entry = entry_of(FERRY_F32, table);
    entry.tensor.shape[0] = ROWS;
    entry.tensor.bytes = sizeof table;
    recognize(&entry, 0);
    check_formula(&row);
}

TEST_WITH(test_other_tables, set_up, tear_down)
{
    float table[P * D];
    const table_row row = {0};
    fill(table, &row);
    ferry_weights_entry entry = entry_of(FERRY_F32, table);
    table[P * D - 1] += 3e-5f;
    check_learned(&entry, 0);
    table[P * D - 1] = NAN;
    check_learned(&entry, 0);
    fill(table, &row);
    check_learned(&entry, 3); /* position 3 is none of the known beginnings */
    for (int i = 0; i < P * D; i++) table[i] = (float)i;
    check_learned(&entry, 2);
    check_learned(&entry, P - 1);
    entry.tensor.shape[0] = P * D / (D - 1); /* an odd width */
    entry.tensor.shape[1] = D - 1;
    ferry_weights_row_major(&entry);
    recognize(&entry, 0);
    assert_string_equal(plan.model.decoder.position.scheme->name, "learned");
}

TEST_WITH(test_refusals, set_up, tear_down)
{
    static float table[P * D];
    ferry_weights_entry entry = entry_of(FERRY_F32, table);
    recognize(&entry, 0);
    plan.model.d_model = D + 1;
    REFUSE(ferry_import_position_table(&plan, true, &entry, 0, &error), FERRY_ERROR_FORMAT,
           "test: tensor 't': expected shape [30, 13], found [30, 12]");
    plan.model.d_model = D;
    REFUSE(ferry_import_position_table(&plan, true, &entry, P, &error), FERRY_ERROR_FORMAT,
           "expected shape [31, 12], found [30, 12]");
}
