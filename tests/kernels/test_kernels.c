/* Float products of every ISA that runs here, against plain double-precision arithmetic and one chain of additions; the
 * panels they read; and which ISAs there are. */
#include "engine/kernels/linear.h"
#include "tests/support/kernel_support.h"

#if !defined(FERRY_WITHOUT_OPENBLAS) /* tests/cross.sh */
#include "tools/lab/bench_openblas.h"
#endif

/* ---- product ---- */

typedef struct product_case {
    int32_t rows, K, N;
    size_t ldx, ldy;
    float *x;      /* [rows, ldx], not aligned */
    float *weight; /* [N, K] */
    float *panels;
    float *bias;
    float *y; /* one guard before, [rows, ldy], guards after */
    float *memory[5];
} product_case;

static product_case new_product(int32_t rows, int32_t K, int32_t N, size_t more_x, size_t more_y)
{
    product_case c = {.rows = rows, .K = K, .N = N, .ldx = (size_t)K + more_x, .ldy = (size_t)N + more_y};
    size_t sizes[] = {(size_t)rows * c.ldx + 1, (size_t)N * (size_t)K, ferry_panels_count(N, K), (size_t)N,
                      (size_t)rows * c.ldy + 18};
    for (int i = 0; i < 5; i++) c.memory[i] = new_floats(sizes[i], -1.0f, 1.0f);
    c.x = c.memory[0] + 1;
    c.weight = c.memory[1];
    c.panels = c.memory[2];
    c.bias = c.memory[3];
    c.y = c.memory[4] + 1;
    ferry_panels_pack(c.panels, c.weight, N, K);
    return c;
}

/* Σ_k x·W + bias in double precision; *bound receives what a chain of K float additions may be off by. */
static double product_oracle(const product_case *c, int32_t i, int32_t n, const float *bias, double *bound)
{
    double sum = 0, size = 1;
    for (int32_t k = 0; k < c->K; k++) {
        double term = (double)c->x[(size_t)i * c->ldx + (size_t)k] * (double)c->weight[n * c->K + k];
        sum += term;
        size += fabs(term);
    }
    *bound = size * 0x1p-24 * (4.0 + sqrt((double)c->K));
    return bias == NULL ? sum : sum + (double)bias[n];
}

/* Nothing but [rows, N] was written. */
static void check_guards(const product_case *c)
{
    assert_true(c->y[-1] == GUARD);
    for (int32_t i = 0; i < c->rows; i++)
        for (size_t n = (size_t)c->N; n < c->ldy; n++) assert_true(c->y[(size_t)i * c->ldy + n] == GUARD);
    for (size_t n = 0; n < 16; n++) assert_true(c->y[(size_t)c->rows * c->ldy + n] == GUARD);
}

/* One chain in ascending order, whose multiply-adds round once where the ISA fuses them, and the bias in the end. */
static float product_chain(const product_case *c, int32_t i, int32_t n, const float *bias, bool fused)
{
    const float *x = c->x + (size_t)i * c->ldx, *w = c->weight + n * c->K;
    float sum = 0;
    for (int32_t k = 0; k < c->K; k++) sum = fused ? fmaf(x[k], w[k], sum) : sum + x[k] * w[k];
    return bias != NULL ? sum + bias[n] : sum;
}

static void check_product(const ferry_kernels *k, product_case *c, const float *bias)
{
#if defined(_WIN32)
    const bool exact = false; /* MinGW-w64's fmaf() rounds twice */
#else
    const bool exact = has_exact_rows(k);
#endif
    const bool fused = strcmp(k->isa, "plain") != 0;
    fill(c->y - 1, (size_t)c->rows * c->ldy + 18, GUARD);
    k->product(c->y, c->ldy, c->x, c->ldx, c->rows, c->panels, c->K, c->N, bias);
    check_guards(c);
    for (int32_t i = 0; i < c->rows; i++) {
        for (int32_t n = 0; n < c->N; n++) {
            const float found = c->y[(size_t)i * c->ldy + (size_t)n];
            const float chain = exact ? product_chain(c, i, n, bias, fused) : found;
            double bound, expected = product_oracle(c, i, n, bias, &bound);
            assert_close((double)found, expected, bound);
            assert_same_bytes(&found, &chain, 1);
        }
    }
}

static void check_product_shape(int32_t rows, int32_t K, int32_t N, size_t more_x, size_t more_y)
{
    product_case c = new_product(rows, K, N, more_x, more_y);
    EACH_ISA(k)
    {
        check_product(*k, &c, c.bias);
        check_product(*k, &c, NULL);
    }
    release_memory();
}

/* And that, where rows are exact, byte for byte, however long the chain is. */
RANDOM_TEST(product_matches_double_precision)
{
    static const int32_t short_K[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 40};
    for (int32_t rows = 1; rows <= 17; rows++) {
        for (int32_t N = 1; N <= 50; N++)
            check_product_shape(rows, short_K[(rows + N) % COUNT(short_K)], N, (size_t)(N % 3), (size_t)(rows % 4));
        for (int32_t K = 1; K <= 40; K++) check_product_shape(rows, K, 33 + K % 16, 1, 5);
    }
    static const int32_t large[][3] = {{1, 64, 64},   {5, 256, 130},  {14, 512, 48}, {15, 513, 70},  {29, 511, 100},
                                       {57, 600, 35}, {113, 64, 200}, {7, 2048, 40}, {64, 2048, 33}, {200, 40, 17}};
    static const int32_t lengths[] = {1, 2, 3, 17, 511, 512, 513, 1024, 1300};
    static const int32_t many[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17, 29, 40, 65, 130};
    for (int32_t i = 0; i < COUNT(lengths) * COUNT(many); i++)
        check_product_shape(many[i % COUNT(many)], lengths[i / COUNT(many)], 37, 1, 0);
    for (int32_t i = 0; i < COUNT(large); i++) check_product_shape(large[i][0], large[i][1], large[i][2], 3, 2);
}

/* ---- tables and panels ---- */

RANDOM_TEST(tables_are_found_by_name)
{
    assert_ptr_equal(ferry_kernels_find(NULL), ferry_kernels_available()[0]);
    assert_ptr_equal(ferry_kernels_find(""), ferry_kernels_available()[0]);
    assert_null(ferry_kernels_find("sse9"));
    assert_string_equal(ferry_kernels_find("plain")->isa, "plain");
    EACH_ISA(k) assert_ptr_equal(ferry_kernels_find((*k)->isa), *k);
#if defined(FERRY_KNOWN_FEATURES)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    assert_int_equal(ferry_kernels_find("avx2") != NULL, avx2);
    assert_int_equal(ferry_kernels_find("avx512") != NULL, avx512);
#elif defined(__aarch64__)
    assert_non_null(ferry_kernels_find("neon"));
    const int others = (ferry_kernels_find("neon_dotprod") != NULL) + (ferry_kernels_find("neon_i8mm") != NULL);
    assert_string_equal(ferry_kernels_available()[1 + others]->isa, "plain");
#endif
}

/* The best ones first, on this machine and in the list of all. */
RANDOM_TEST(tables_are_in_order)
{
#if defined(__x86_64__) || defined(__aarch64__)
    static const char *const worst[] = {"plain", "openblas"};
#else
    static const char *const worst[] = {"openblas", "plain"};
#endif
    const char *const best_first[] = {"neon_i8mm", "neon_dotprod", "neon", "amx",    "avx512vnni",
                                      "avx512",    "avxvnni",      "avx2", worst[0], worst[1]};
    const ferry_kernels *const *available = ferry_kernels_available();
    for (int32_t i = 0; i < COUNT(best_first); i++)
        if (*available != NULL && strcmp((*available)->isa, best_first[i]) == 0) available++;
    assert_null(*available);
    assert_string_equal(FERRY_ISA_NAMES,
                        "plain, openblas, avx2, avxvnni, avx512, avx512vnni, amx, neon, neon_dotprod, neon_i8mm");
#if defined(__x86_64__)
    assert_true(FERRY_CPU_PLAIN < FERRY_CPU_AVX2 && FERRY_CPU_AVX2 < FERRY_CPU_AVX_VNNI &&
                FERRY_CPU_AVX_VNNI < FERRY_CPU_AVX512 && FERRY_CPU_AVX512 < FERRY_CPU_AVX512_VNNI &&
                FERRY_CPU_AVX512_VNNI < FERRY_CPU_AMX);
#elif defined(__aarch64__)
    assert_true(FERRY_CPU_PLAIN < FERRY_CPU_NEON && FERRY_CPU_NEON < FERRY_CPU_NEON_DOTPROD &&
                FERRY_CPU_NEON_DOTPROD < FERRY_CPU_NEON_I8MM);
#endif
}

#if !defined(FERRY_WITHOUT_OPENBLAS)
RANDOM_TEST(openblas_names_its_core)
{
    const char *core = ferry_openblas_core();
    assert_true(strlen(core) > 0);
    if (strcmp(core, "Prescott") == 0)
        assert_int_equal(ferry_openblas_matches_cpu(), ferry_cpu_detect() == FERRY_CPU_PLAIN);
    if (strcmp(core, "SkylakeX") == 0) assert_true(ferry_openblas_matches_cpu());
}

#endif

RANDOM_TEST(panels_hold_the_matrix)
{
    for (int32_t N = 1; N < 40; N++) {
        int32_t K = N % 7 + 1;
        product_case c = new_product(1, K, N, 0, 0);
        assert_int_equal(ferry_panels_count(N, K), (N + 15) / 16 * 16 * K);
        for (int32_t n = 0; n < N; n++) {
            float row[8];
            ferry_matrix_row(&(ferry_matrix){.N = N, .K = K, .panels = c.panels}, n, row);
            assert_same_bytes(row, c.weight + n * K, (size_t)K);
        }
        for (int32_t n = N; n < (N + 15) / 16 * 16; n++)
            for (int32_t i = 0; i < K; i++) assert_true(c.panels[n / 16 * K * 16 + i * 16 + n % 16] == 0.0f);
        release_memory();
    }
}
