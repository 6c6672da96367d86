/* Codes of steps by which inputs compensate for the errors of one another (models/plan/feedback.h). */
#include "plan_bench.h"

#include "engine/kernels/linear.h"
#include "models/plan/feedback.h"
#include "models/plan/steps.h"

static uint32_t seed;

static float noise(void)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += (float)((seed = seed * 1664525 + 1013904223) >> 8) * 0x1p-24f - 0.5f;
    return sum;
}

/* Numbers [N, K] along few directions: those of the rows and of the columns. */
static float *new_matrix(int N, int K)
{
    enum { DIRECTIONS = 5 };
    float *rows = kept_memory((size_t)N * DIRECTIONS * sizeof *rows);
    float *columns = kept_memory((size_t)K * DIRECTIONS * sizeof *columns);
    float *numbers = kept_memory((size_t)N * (size_t)K * sizeof *numbers);
    for (int i = 0; i < N * DIRECTIONS; i++) rows[i] = noise();
    for (int i = 0; i < K * DIRECTIONS; i++) columns[i] = noise();
    for (int i = 0; i < N * K; i++) {
        numbers[i] = 0.1f * noise();
        for (int d = 0; d < DIRECTIONS; d++)
            numbers[i] += rows[i / K * DIRECTIONS + d] * columns[i % K * DIRECTIONS + d];
    }
    return numbers;
}

/* ---- the factors ---- */

TEST(factors_multiply_to_the_matrix)
{
    enum { K = 70, COUNT = 90 };
    static float C[K * K], R[K * K];
    seed = 1;
    const float *A = new_matrix(COUNT, K + 3);
    ferry_feedback_add(C, K, A, 16, K + 3);
    ferry_feedback_add(C, K, A + 16 * (K + 3), COUNT - 16, K + 3);
    double mean = 0;
    for (int i = 0; i < K; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int r = 0; r < COUNT; r++) sum += (double)A[r * (K + 3) + i] * (double)A[r * (K + 3) + j];
            assert_true(fabs(sum - (double)C[i * K + j]) < 1e-3);
            mean += i == j ? sum / K : 0;
        }
    memcpy(R, C, sizeof R);
    ferry_feedback_solve(R, K);
    for (int i = 0; i < K; i++)
        for (int j = 0; j <= i; j++) { /* Σ R[i][k] · D[k] · R[j][k], D on the diagonal, where R has ones */
            double sum = 0;
            for (int k = i; k < K; k++)
                sum += (k == i ? 1 : (double)R[i * K + k]) * (double)R[k * K + k] * (k == j ? 1 : (double)R[j * K + k]);
            assert_true(fabs(sum - (double)C[i * K + j] - (i == j ? mean / 2 : 0)) < 1e-3);
        }
}

/* ---- the codes ---- */

static int code_of_steps(const ferry_tensor *tensor, int n, int k, int K)
{
    const uint8_t *panel = (const uint8_t *)tensor->data + n / 16 * tensor->shape[1] * 64;
    const int byte = panel[(K + 127) / 128 * 64 + k / 8 * 64 + n % 16 * 4 + k % 4];
    return (int8_t)panel[k / 32 * 16 + n % 16] * ((k % 8 < 4 ? byte & 15 : byte >> 4) - 8);
}

/* Σ over rows of e² + (A e)² · K / |A|² · 2, for errors e of codes: what the codes shall make small. A [count, K]. */
static double cost_of(const float *errors, int N, int K, const float *A, int count)
{
    double squares = 0, plain = 0, products = 0;
    for (int i = 0; i < count * K; i++) squares += (double)A[i] * (double)A[i];
    for (int n = 0; n < N; n++, errors += K) {
        for (int k = 0; k < K; k++) plain += (double)errors[k] * (double)errors[k];
        for (int r = 0; r < count; r++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += (double)A[r * K + k] * (double)errors[k];
            products += sum * sum;
        }
    }
    return plain + products * K / squares * 2;
}

/* What a written matrix costs, as a part of what the codes with the least squares would, where A stands for inputs. */
static double part_of_cost(const char *name, const float *W, int N, int K, const float *A, int count)
{
    char scale_name[64];
    snprintf(scale_name, sizeof scale_name, "%.*sscale", (int)strlen(name) - 6, name);
    const ferry_tensor *tensor = ferry_gguf_tensor(&file, name);
    const float *scales = ferry_gguf_tensor(&file, scale_name)->data;
    float *found = kept_memory((size_t)N * (size_t)K * sizeof *found), *x = kept_memory((size_t)K * sizeof *x);
    float *plain = kept_memory((size_t)N * (size_t)K * sizeof *plain);
    int8_t *steps = kept_memory((size_t)K / 32), *q = kept_memory((size_t)K);
    for (int n = 0; n < N; n++) {
        for (int k = 0; k < K; k++) x[k] = W[n * K + k] / scales[n];
        ferry_steps_quantize(x, K, NULL, steps, q);
        for (int k = 0; k < K; k++) {
            const int code = code_of_steps(tensor, n, k, K);
            assert_in_range(code + 127, 0, 254);
            found[n * K + k] = ((float)code - x[k]) * scales[n];
            plain[n * K + k] = ((float)(steps[k / 32] * q[k]) - x[k]) * scales[n];
        }
    }
    return cost_of(found, N, K, A, count) / cost_of(plain, N, K, A, count);
}

static float *transposed(const float *A, int N, int K)
{
    float *turned = kept_memory((size_t)N * (size_t)K * sizeof *turned);
    for (int i = 0; i < N * K; i++) turned[i % K * N + i / K] = A[i];
    return turned;
}

static void add_matrix(const char *name, const float *numbers, int N, int K)
{
    ferry_weights_entry *entry = kept_memory(sizeof *entry);
    *entry = entry_of("m", FERRY_F32, N, K, numbers);
    CHECK(ferry_import_add(&plan, entry, FERRY_IMPORT_MATRIX, &error, "%s", name));
}

static const ferry_import_options i4 = {.type = FERRY_I8, .four_bits = true};

enum { D = 96, WIDE = 1120 /* more than FERRY_FEEDBACK_INPUTS */, LARGE = 2 * D };

/* Each matrix is rounded for the inputs that its neighbor tells of. */
TEST_WITH(neighbors_tell_of_inputs, set_up, tear_down)
{
    seed = 2;
    const float *up = new_matrix(WIDE, D), *last = new_matrix(LARGE, D), *v = new_matrix(LARGE, D);
    const float *q = new_matrix(50, D), *o = new_matrix(50, LARGE), *down = new_matrix(50, WIDE);
    plan.model.encoder.layer_count = 2;
    add_matrix("dec.blk.0.attn_q.weight", q, 50, D);
    add_matrix("dec.blk.0.cross_attn_k.weight", q, 50, D);
    add_matrix("dec.blk.0.cross_attn_v.weight", v, LARGE, D);
    add_matrix("dec.blk.0.cross_attn_o.weight", o, 50, LARGE);
    add_matrix("dec.blk.0.ffn_down.weight", down, 50, WIDE);
    add_matrix("dec.blk.0.ffn_up.weight", up, WIDE, D);
    add_matrix("enc.blk.0.ffn_up.weight", new_matrix(LARGE, D), LARGE, D);
    add_matrix("enc.blk.1.ffn_up.weight", last, LARGE, D);
    write_plan(&i4);
    const double parts[] = {part_of_cost("dec.blk.0.attn_q.weight", q, 50, D, up, WIDE),
                            part_of_cost("dec.blk.0.ffn_up.weight", up, WIDE, D, up, WIDE),
                            part_of_cost("dec.blk.0.cross_attn_k.weight", q, 50, D, last, LARGE),
                            part_of_cost("dec.blk.0.cross_attn_o.weight", o, 50, LARGE, transposed(v, LARGE, D), D),
                            part_of_cost("dec.blk.0.ffn_down.weight", down, 50, WIDE, transposed(up, WIDE, D), D)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) assert_true(parts[i] < 0.9);
}

static void check_least_squares(const char *name, const float *W, int N, int K, const float *A, int count)
{
    assert_true(part_of_cost(name, W, N, K, A, count) == 1);
}

/* Without a neighbor, with one of another size or of zeros, squares are least; huge numbers become codes, too. */
TEST_WITH(other_matrices_have_the_least_squares, set_up, tear_down)
{
    seed = 3;
    float *q = new_matrix(50, D), *zeros = kept_memory(LARGE * D * sizeof *zeros), *huge = new_matrix(50, D);
    for (int i = 0; i < LARGE * D; i++) zeros[i] = 0;
    for (int i = 0; i < 50 * D; i++) huge[i] *= 1e30f;
    add_matrix("enc.blk.0.attn_q.weight", q, 50, D);
    add_matrix("enc.blk.1.attn_q.weight", q, 50, D);
    add_matrix("enc.blk.1.ffn_up.weight", zeros, LARGE, D);
    add_matrix("enc.blk.2.attn_q.weight", q, 50, D);
    add_matrix("enc.blk.2.ffn_up.weight", new_matrix(50, D + 32), 50, D + 32);
    add_matrix("enc.blk.3.ffn_up.weight", huge, 50, D);
    write_plan(&i4);
    for (int layer = 0; layer < 3; layer++) {
        char name[40];
        snprintf(name, sizeof name, "enc.blk.%d.attn_q.weight", layer);
        check_least_squares(name, q, 50, D, q, 50);
    }
    for (int i = 0; i < 50 * D; i++)
        assert_in_range(code_of_steps(ferry_gguf_tensor(&file, "enc.blk.3.ffn_up.weight"), i / D, i % D, D) + 127, 0,
                        254);
}
