/* Arithmetic on rows and matrices, independent of any model.
 *
 * Panels. A weight matrix [N, K] is stored as panels of 16 outputs: panel p is [K][16], and its element (k, l) is
 * W[16 p + l][k]. The last panel is padded with zeros. One step along k reads 16 consecutive weights on every machine,
 * so a product reads its matrix once and in order. Model files have the same layout.
 *
 * Reproducibility. Every element of a product is one chain of additions in ascending k. On one ISA its rounding is the
 * same for any number of rows and any position of the row, so a row's result depends on that row alone. Row operations
 * sum in 16 lanes: lane l adds elements l, l + 16, …; then lanes l and l + 8, l + 4, l + 2, l + 1 are added. Only the
 * products of the table `openblas` depend on the number of rows: OpenBLAS has an order of its own.
 *
 * Each ISA fills one table (ferry_kernels) from the same sources (product.c, heads.c, rows.c and one of int8_*.c),
 * compiled with its flags; OpenBLAS has its own product (product_openblas.c), and otherwise the table of plain C. A
 * kernel's definition has its name in FERRY_KERNEL(): grep 'KERNEL(softmax)' finds that of `softmax`. */
#ifndef FERRY_KERNELS_KERNELS_H
#define FERRY_KERNELS_KERNELS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FERRY_LANES 16
/* Any panel is a list of lines. In a line, each of the 16 outputs has a cell: a float, 4 int8 numbers, or 8 nibbles. */
enum { FERRY_CELL_BYTES = 4, FERRY_LINE_BYTES = FERRY_CELL_BYTES * FERRY_LANES };
/* Consecutive inputs of an output in a cell of int8 numbers, or of nibbles. */
enum { FERRY_INT8_GROUP = FERRY_CELL_BYTES, FERRY_NIBBLE_GROUP = 2 * FERRY_CELL_BYTES };

typedef enum ferry_activation {
    FERRY_RELU,         /* max(x, 0) */
    FERRY_GELU,         /* x·Φ(x) = x/2·(1 + erf(x/√2)) */
    FERRY_SWISH,        /* x·sigmoid(x) */
    FERRY_GELU_TANH,    /* x/2·(1 + tanh(√(2/π)·(x + 0.044715 x³))) */
    FERRY_GELU_SIGMOID, /* x·sigmoid(1.702 x) */
} ferry_activation;

/* Maximum number of int8 products whose sum fits in an int32. */
enum { FERRY_INT8_MAX_K = 1 << 16 };

typedef enum ferry_matrix_kind {
    FERRY_MATRIX_FLOATS,
    FERRY_MATRIX_INT8,
    FERRY_MATRIX_NIBBLES, /* products are upper bounds (product_i8); scales and multipliers are as for int8 */
    FERRY_MATRIX_PLANES,  /* int8 in two planes of nibbles (join_planes) */
    FERRY_MATRIX_JOINED,  /* q + 128 in the panels of int8 (join_planes) */
    FERRY_MATRIX_STEPS    /* int8 in four bits: q = s·(u - 8), with a step s for every 32 inputs */
} ferry_matrix_kind;

/* Inputs with one step. A panel of steps [K/32][16] and nibbles u: its steps are padded with zeros to whole lines. */
enum { FERRY_STEP_INPUTS = 32 };
static inline size_t ferry_step_lines(size_t K)
{
    const size_t in_line = FERRY_STEP_INPUTS * FERRY_CELL_BYTES;
    return (K + in_line - 1) / in_line;
}

/* A linear layer y = W x + b, immutable, shared by threads. */
typedef struct ferry_matrix {
    ferry_matrix_kind kind;
    int32_t N; /* outputs */
    int32_t K; /* inputs; ≤ FERRY_INT8_MAX_K for int8 */
    union {    /* in panels of 16 outputs, 64-byte aligned; NULL: no matrix */
        const void *weights;
        const float *panels;    /* W, [⌈N/16⌉][K][16] */
        const int8_t *int8;     /* q, [⌈N/16⌉][⌈K/4⌉][16][4], padded with zeros */
        const uint8_t *nibbles; /* [⌈N/16⌉][K/8][16][4]; of planes, the upper one */
        const uint8_t *steps;   /* [⌈N/16⌉]: [K/32][16] steps in whole lines, [K/8][16][4] nibbles; 32 divides K */
    };
    const uint8_t *lower;   /* planes: the lower one, as nibbles */
    const int8_t *ahead;    /* int8: what a product prefetches, as many bytes; NULL: its own panels */
    float nibbles_error;    /* nibbles, planes: upper bound of |q[n] - q̂[n]| over all n whose scale is above 0 */
    const float *scales;    /* int8: [N]; NULL: one multiplier instead */
    float multiplier;       /* int8 without scales */
    float input_multiplier; /* int8: the inverse scale a of all inputs, from the file; 0: a depends on the inputs */
    const float *bias;      /* [N], or NULL */
    void *extra;            /* int8: additional data of the kernels (ferry_extra_i8), or NULL */
} ferry_matrix;

/* Quantized inputs of products (linear.h). */
typedef struct ferry_rows_i8 {
    int32_t rows, K;
    float *inverse_scales; /* [rows] a: x̂ = clamp(round-to-nearest-even(x·a), -127, 127) */
    float *scales;         /* [rows] 1/a */
    int32_t *sums;         /* [rows] Σ x̂, or the start value of all products of the row */
    int8_t *int8; /* x̂, [rows, K rounded up to 64] bytes in the order of the ISA's tiles (int8.h); 64-byte aligned */
    bool nibbles; /* the matrix has nibbles */
    bool steps;   /* the matrix has steps, and the kernels multiply it without unpacking */
    int32_t *starts;     /* [rows, K/32] -8·Σ x̂ of 32 inputs, if steps */
    float nibbles_error; /* of the matrix */
    void *extra;         /* additional data of the kernels (ferry_extra_i8) */
} ferry_rows_i8;

/* Additional data of int8 products, beside int8 numbers and scales. Only the kernels know its contents. Callers
 * allocate blocks of these sizes, 64-byte aligned, and point to them. */
typedef struct ferry_extra_i8 {
    /* Of an int8 matrix, which must outlive it. Parts and selected rows of the matrix use the same block; threads share
     * it. matrix_begin initializes matrix->extra. */
    size_t (*matrix_size)(int32_t K);
    void (*matrix_begin)(const ferry_matrix *matrix);
    /* Of inputs. inputs_begin initializes inputs->extra before the first row is quantized, for products with `count`
     * matrices of one kind and K. */
    size_t (*inputs_size)(int32_t rows, int32_t K);
    void (*inputs_begin)(ferry_rows_i8 *inputs, const ferry_matrix *const *matrices, int32_t count);
} ferry_extra_i8;

/* Keys, or values, of `heads` heads at positions 0 … count - 1, in blocks of 4 (graph/cache.h): position j is slot j %
 * 4 of blocks[j / 4]. Blocks past the last position are not read. Blocks are 64-byte aligned; offset, head and stride
 * are multiples of 16.
 *
 * The keys of a head in a block are [⌈width/4⌉][4 slots][4 d]: 16 floats hold 4 elements of every slot. Writing a key
 * touches a quarter of the cache lines that it would in a panel. Elements past `width` are 0; unused slots are
 * undefined. A value is a row [width]. */
#define FERRY_BLOCK_POSITIONS 4
#define FERRY_LINE_ELEMENTS (FERRY_LANES / FERRY_BLOCK_POSITIONS) /* elements of one slot in 16 floats of keys */
typedef struct ferry_kv_view {
    const float *const *blocks;
    size_t offset; /* of the first head in a block, floats */
    size_t head;   /* floats from head to head */
    size_t stride; /* floats from value to value; unused for keys */
    int32_t heads, width, count;
} ferry_kv_view;

/* Σ exp(x) of the elements so far is sum·exp(largest): no term overflows. */
typedef struct ferry_log_sum {
    float largest;
    double sum;
} ferry_log_sum;
#define FERRY_LOG_SUM_ZERO ((ferry_log_sum){-INFINITY, 0})
#define FERRY_LOG_SUM_BLOCK 512

/* The logarithm of the sum, of which at least one element is finite. */
static inline float ferry_log_of_sum(const ferry_log_sum *total)
{
    /* In double precision: the rounding to float removes the differences between math libraries. */
    return (float)((double)total->largest + log(total->sum));
}

/* The `limit` largest elements so far, in descending order; equal elements by ascending index. */
typedef struct ferry_top {
    float *values;    /* [limit] */
    int32_t *indices; /* [limit] */
    int32_t limit, count;
} ferry_top;

typedef struct ferry_kernels {
    const char *isa;      /* a name of the list below */
    bool fast_i8;         /* int8 products are faster than float products */
    int32_t nibbles_rows; /* largest number of rows for which nibble products are faster than int8 ones; 0: no nibble
                             products */
    int32_t planes_rows;  /* largest number of rows for which product_i8 takes planes, which it joins in registers */
    bool joined;          /* of more rows it takes joined panels, q + 128; else panels of int8 */
    int32_t steps_rows;   /* largest number of rows for which product_i8 takes steps; of more rows, panels of int8 */
    const ferry_extra_i8 *extra; /* NULL: int8 products need no additional data */

    /* y[i, n] = bias[n] + Σ_k x[i, k]·W[n, k] for n < N; bias may be NULL.
     * x [rows, K] with ldx ≥ K floats from row to row, y [rows, N] with ldy ≥ N; panels [⌈N/16⌉][K][16], 64-byte
     * aligned. */
    void (*product)(float *y, size_t ldy, const float *x, size_t ldx, int32_t rows, const float *panels, int32_t K,
                    int32_t N, const float *bias);

    /* max |x[i]| of x[0..n); NaN if any is a NaN; 0 when n is 0. */
    float (*largest)(const float *x, size_t n);
    /* Quantizes row x [K] by its inverse scale a, which the caller has set: fills in int8 numbers, scale and sum. a
     * becomes a NaN if x has one. Rows come in ascending order. */
    void (*quantize)(ferry_rows_i8 *inputs, const float *x, int32_t row);
    /* y [rows, N] with ldy ≥ N = x̂·qᵀ, scaled, + bias (linear.h), of an int8 matrix.
     *
     * Of a matrix of nibbles, and at most nibbles_rows rows: upper bounds of the same, from half of the bytes. Nibble u
     * = ⌊(q + 128) / 16⌋ stands for q̂ = 16 u - 120.5, the mean of its 16 codes, and exactly
     * Σ x̂·q ≤ Σ x̂·q̂ + |x̂|·|q - q̂| (Cauchy and Schwarz). Scaling and bias are monotonic, as scales and multiplier
     * are not negative. A bound exceeds its y by at most twice |x̂|·nibbles_error, scaled, and one for its rounding.
     *
     * Of planes, and at most planes_rows rows, or of steps, and at most steps_rows rows: the bytes of the int8 matrix
     * with the same codes. */
    void (*product_i8)(float *y, size_t ldy, const ferry_rows_i8 *inputs, const ferry_matrix *matrix);

    /* int8 [2·lines][16][4], q or joined q + 128, of planes of `lines` lines: q + 128 = 16·upper + lower. A line of
     * nibbles has two groups of inputs: the first in its bytes' lower halves, the second in their upper ones. 64-byte
     * aligned. */
    void (*join_planes)(int8_t *int8, const uint8_t *upper, const uint8_t *lower, size_t lines, bool joined);

    /* Attention over the past of some heads; score and context of a row depend on that row alone and are the same bytes
     * on every ISA. y [heads, rows] with ldy, q row i of head h at q + i·ldq + h·width: y[h, i, j] = Σ_d q·k[j, d];
     * columns up to 16·⌈count/16⌉ ≤ ldy are written; those past the keys are undefined. */
    void (*scores)(float *y, size_t ldy, const float *q, size_t ldq, int32_t rows, const ferry_kv_view *keys);
    /* a [heads, rows] with lda, y row i of head h at y + i·ldy + h·width: y[d] = Σ_j a[h, i, j]·v[j, d] for d < width,
     * in ascending j < count; other values are not read. */
    void (*context)(float *y, size_t ldy, const float *a, size_t lda, int32_t rows, const ferry_kv_view *values);

    /* y = (x - mean) / sqrt(variance + eps) · weight + bias, row by row; x, y [rows, n]; y may be x. Biased variance,
     * two passes (mean first). residual [rows, n] is added to x first when it is not NULL (the sum is not stored). */
    void (*layer_norm)(float *y, const float *x, const float *residual, const float *weight, const float *bias,
                       float eps, int32_t rows, int32_t n);
    /* y = x / sqrt(mean(x²) + eps) · weight, otherwise as layer_norm. */
    void (*rms_norm)(float *y, const float *x, const float *residual, const float *weight, float eps, int32_t rows,
                     int32_t n);
    /* Each row of x [rows, n] with ld ≥ n: x = exp(x - max)·(1 / Σ exp(x - max)); -INFINITY gives 0; at least one
     * element of a row is finite. */
    void (*softmax)(float *x, size_t ld, int32_t rows, int32_t n);
    /* Adds x[0..n) to a sum initialized with FERRY_LOG_SUM_ZERO; a NaN makes it a NaN. A row may be added in parts: the
     * same parts give the same bytes, and so do others if all but the last are multiples of FERRY_LOG_SUM_BLOCK. */
    void (*add_exp)(ferry_log_sum *total, const float *x, int32_t n);
    /* Index of the largest element, the lowest index among equals; n ≥ 1. -1 if one is a NaN. */
    int32_t (*argmax)(const float *x, int32_t n);
    /* Adds x[0..n), whose indices are first, first + 1, …, all above those added before. -INFINITY is an element like
     * any other. */
    void (*add_top)(ferry_top *top, const float *x, int32_t n, int32_t first);
    /* y[⌈n/16⌉] = the largest of every 16 elements of x [n], of which none is a NaN. */
    void (*panel_maxima)(float *y, const float *x, size_t n);
    void (*activate)(ferry_activation activation, float *x, size_t n);
    /* One row of an SSRU (graph/transformer.h): with g = sigmoid(f), c = g·c + (1 - g)·w and y = relu(c); y may be w or
     * f. */
    void (*ssru)(float *y, float *c, const float *f, const float *w, int32_t n);
    void (*add)(float *y, const float *x, size_t n);      /* y += x */
    void (*multiply)(float *y, const float *x, size_t n); /* y *= x */
    void (*scale)(float *y, float factor, size_t n);      /* y *= factor */
    void (*widen_f16)(float *y, const uint16_t *x, size_t n);
    /* A panel of steps → the int8 panel [K/4][16][4]. A code beyond int8, which no importer writes, loses bits. */
    void (*unpack_steps)(int8_t *int8, const uint8_t *panel, int32_t K);
} ferry_kernels;

/* The best table that this CPU and its operating system can run, or the one that `isa` names (NULL or "": best).
 * NULL if `isa` is unknown or cannot run here. If it uses AMX tiles, Linux's permission for the process is requested.
 * Thread-safe; tables are static. */
const ferry_kernels *ferry_kernels_find(const char *isa);
/* The best of those that use no tiles; nothing is requested. */
const ferry_kernels *ferry_kernels_find_without_tiles(void);
/* Tables that run here, best first; NULL-terminated. Requests the permission for tiles. For tests and benchmarks. */
const ferry_kernels *const *ferry_kernels_available(void);

/* ---- the ISAs that have kernels, and what this CPU can run ---- */

/* Ascending: each one includes those before it of its architecture. (Only AVX-VNNI may be missing.)
 *     ISA(name, LEVEL, product, i8, rest, fast, extra, rows, planes, joined, steps)
 * product, i8, rest: the ISAs whose kernels it uses for products of floats, for int8, and for the rest (kernels.cmake
 * compiles no others); fast, rows, planes, joined, steps: ferry_kernels.fast_i8, nibbles_rows, planes_rows,
 * joined, steps_rows; extra: whether the int8 kernels define an ferry_extra_i8.
 */
#define FERRY_ALL_ROWS INT32_MAX
#if defined(__wasm__)
#define FERRY_PLAIN_STEPS                                                                                              \
    16 /* with relaxed vectors they are faster than int8; without, a little slower than unpacking */
#else
#define FERRY_PLAIN_STEPS 3
#endif
#define FERRY_ISAS_PLAIN(ISA) ISA(plain, PLAIN, plain, plain, plain, false, false, 0, 0, false, FERRY_PLAIN_STEPS)
#define FERRY_ISAS_X86_64(ISA)                                                                                         \
    /* with FMA and F16C */                                                                                            \
    ISA(avx2, AVX2, avx2, avx2, avx2, true, true, FERRY_ALL_ROWS, 2, true, FERRY_ALL_ROWS)                             \
    /* dot products of int8 in AVX2's registers */                                                                     \
    ISA(avxvnni, AVX_VNNI, avx2, avxvnni, avx2, true, false, 8, FERRY_ALL_ROWS, false, 56)                             \
    /* F, BW, DQ and VL */                                                                                             \
    ISA(avx512, AVX512, avx512, avx512, avx512, true, true, FERRY_ALL_ROWS, 7, false, FERRY_ALL_ROWS)                  \
    ISA(avx512vnni, AVX512_VNNI, avx512, avx512vnni, avx512, true, false, 8, FERRY_ALL_ROWS, false, 56)                \
    /* tiles of int8, which the process is permitted to use */                                                         \
    ISA(amx, AMX, avx512, amx, avx512, true, false, 8, 3, false, 8)
#define FERRY_ISAS_AARCH64(ISA)                                                                                        \
    ISA(neon, NEON, neon, neon, neon, false, false, 0, 0, false, 32)                                                   \
    ISA(neon_dotprod, NEON_DOTPROD, neon, neon_dotprod, neon, true, false, 4, FERRY_ALL_ROWS, false, 32)               \
    /* products of matrices of int8 */                                                                                 \
    ISA(neon_i8mm, NEON_I8MM, neon, neon_i8mm, neon, true, false, 1, 1, false, 1)
/* Only in builds with OpenBLAS, which chooses among kernels of its own. */
#define FERRY_ISAS_OPENBLAS(ISA)                                                                                       \
    ISA(openblas, PLAIN, openblas, plain, plain, false, false, 0, 0, false, FERRY_PLAIN_STEPS)

/* The kernels of an ISA: `product`, those for int8, and the rest. */
#define FERRY_KERNEL_LIST_I8(KERNEL, isa)                                                                              \
    KERNEL(isa, quantize)                                                                                              \
    KERNEL(isa, product_i8)

/* All others except `product`. */
#define FERRY_KERNEL_LIST_REST(KERNEL, isa)                                                                            \
    KERNEL(isa, scores)                                                                                                \
    KERNEL(isa, context)                                                                                               \
    KERNEL(isa, join_planes)                                                                                           \
    KERNEL(isa, largest)                                                                                               \
    KERNEL(isa, layer_norm)                                                                                            \
    KERNEL(isa, rms_norm)                                                                                              \
    KERNEL(isa, softmax)                                                                                               \
    KERNEL(isa, add_exp)                                                                                               \
    KERNEL(isa, argmax)                                                                                                \
    KERNEL(isa, add_top)                                                                                               \
    KERNEL(isa, panel_maxima)                                                                                          \
    KERNEL(isa, activate)                                                                                              \
    KERNEL(isa, ssru)                                                                                                  \
    KERNEL(isa, add)                                                                                                   \
    KERNEL(isa, multiply)                                                                                              \
    KERNEL(isa, scale)                                                                                                 \
    KERNEL(isa, widen_f16)                                                                                             \
    KERNEL(isa, unpack_steps)

/* The ISAs of this architecture, in ascending order. OpenBLAS comes after plain C only on architectures without other
 * kernels. */
#if defined(FERRY_OPENBLAS)
#define FERRY_ISAS_BLAS(ISA) FERRY_ISAS_OPENBLAS(ISA)
#else
#define FERRY_ISAS_BLAS(ISA)
#endif
#if defined(__x86_64__)
#define FERRY_ISAS(ISA) FERRY_ISAS_BLAS(ISA) FERRY_ISAS_PLAIN(ISA) FERRY_ISAS_X86_64(ISA)
#elif defined(__aarch64__)
#define FERRY_ISAS(ISA) FERRY_ISAS_BLAS(ISA) FERRY_ISAS_PLAIN(ISA) FERRY_ISAS_AARCH64(ISA)
#else
#define FERRY_ISAS(ISA) FERRY_ISAS_PLAIN(ISA) FERRY_ISAS_BLAS(ISA)
#endif

#define FERRY_DECLARE_KERNEL(isa, kernel) __typeof__(*((ferry_kernels *)0)->kernel) ferry_##kernel##_##isa;
#define FERRY_DECLARE_KERNELS(name, LEVEL, product_isa, i8_isa, rest_isa, fast, extra, rows, planes, joined, steps)    \
    extern const ferry_extra_i8 ferry_extra_##i8_isa;                                                                  \
    FERRY_DECLARE_KERNEL(product_isa, product)                                                                         \
    FERRY_KERNEL_LIST_I8(FERRY_DECLARE_KERNEL, i8_isa)                                                                 \
    FERRY_KERNEL_LIST_REST(FERRY_DECLARE_KERNEL, rest_isa)
FERRY_ISAS(FERRY_DECLARE_KERNELS)

/* "plain, openblas, avx2, …" */
#define FERRY_ISA_NEXT_NAME(name, LEVEL, product, i8, rest, fast, extra, rows, planes, joined, steps) ", " #name
#define FERRY_ISA_NAMES                                                                                                \
    "plain" FERRY_ISAS_OPENBLAS(FERRY_ISA_NEXT_NAME) FERRY_ISAS_X86_64(FERRY_ISA_NEXT_NAME)                            \
        FERRY_ISAS_AARCH64(FERRY_ISA_NEXT_NAME)

#define FERRY_ISA_LEVEL(name, LEVEL, product, i8, rest, fast, extra, rows, planes, joined, steps) FERRY_CPU_##LEVEL,
typedef enum ferry_cpu_level {
    FERRY_ISAS_PLAIN(FERRY_ISA_LEVEL) FERRY_ISAS_X86_64(FERRY_ISA_LEVEL) FERRY_ISAS_AARCH64(FERRY_ISA_LEVEL)
} ferry_cpu_level;

/* The highest level that both the CPU and its operating system support; AVX-VNNI does not count. Thread-safe. */
ferry_cpu_level ferry_cpu_detect(void);

#endif
