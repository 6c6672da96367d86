/* Prints a hash of the results of every ISA that runs here on inputs that are the same on every machine: hashes of
 * different machines must agree (tests/cross.sh). A line for each ISA and kind: "amx int8 0123456789abcdef". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/linear.h"
#include "tests/support/random.h"

enum { MOST = 1 << 17 };

typedef struct material {
    float x[MOST], y[MOST], weight[MOST], panels[MOST], bias[MOST];
    int8_t codes[MOST];
    int32_t indices[64];
} material;

typedef struct hash {
    uint64_t value;
} hash;

/* FNV-1a of 64 bits. */
static void add_to_hash(hash *h, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) h->value = (h->value ^ bytes[i]) * 0x100000001b3u;
}

static void fill_random(float *x, size_t n, float low, float high)
{
    uint32_t state = (uint32_t)n;
    for (size_t i = 0; i < n; i++) x[i] = low + (high - low) * ((float)next_random(&state) * 0x1p-24f);
}

static void die(const char *what)
{
    fprintf(stderr, "kernel_hash: %s\n", what);
    exit(1);
}

/* ---- kinds of kernels ---- */

static const struct {
    int32_t rows, N, K;
} shapes[] = {{1, 70, 300}, {2, 16, 8}, {3, 33, 64}, {5, 17, 515}, {14, 48, 130}, {29, 100, 77}, {64, 130, 40}};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void run_product(const ferry_kernels *k, material *m, hash *h)
{
    for (size_t s = 0; s < SHAPES; s++) {
        const int32_t rows = shapes[s].rows, N = shapes[s].N, K = shapes[s].K;
        ferry_panels_pack(m->panels, m->weight, N, K);
        k->product(m->y, (size_t)N, m->x, (size_t)K, rows, m->panels, K, N, m->bias);
        add_to_hash(h, m->y, (size_t)(rows * N) * sizeof *m->y);
    }
}

static void run_int8(const ferry_kernels *k, material *m, hash *h)
{
    ferry_context context = {.kernels = k};
    for (size_t s = 0; s < SHAPES; s++) {
        const int32_t rows = shapes[s].rows, N = shapes[s].N, K = shapes[s].K;
        ferry_matrix matrix = {FERRY_MATRIX_INT8, .N = N, .K = K, .int8 = m->codes, .bias = m->bias};
        for (size_t i = 0; i < ferry_int8_size(N, K); i++) m->codes[i] = (int8_t)(m->weight[i] * 127.9f);
        for (int form = 0; form < 2; form++) {
            matrix.scales = form == 0 ? m->weight : NULL;
            matrix.multiplier = form == 0 ? 0.0f : 97.3f;
            if (ferry_linear(&context, m->y, &(ferry_rows){m->x, rows, NULL}, &matrix, NULL) != FERRY_OK)
                die("out of memory");
            add_to_hash(h, m->y, (size_t)(rows * N) * sizeof *m->y);
        }
    }
    ferry_arena_destroy(&context.arena);
}

static void run_attention(const ferry_kernels *k, material *m, hash *h)
{
    enum { HEADS = 3, ROWS = 5, WIDTH = 80, MAX_COUNT = 96, INNER = HEADS * WIDTH };
    for (int32_t width = 4; width <= WIDTH; width += 11) {
        for (int32_t count = 1; count <= MAX_COUNT; count += 7) {
            const size_t key = (size_t)((width + 3) / 4 * 16), value = (size_t)((width + 15) / 16 * 16);
            const size_t lda = MAX_COUNT, ldy = (size_t)(HEADS * width);
            const float *blocks[MAX_COUNT / 4];
            /* The same numbers are keys and values. Keys past a width would have to be 0: their width is a multiple
             * of 4.
             */
            for (size_t b = 0; b < MAX_COUNT / 4; b++) blocks[b] = m->weight + b * 4 * HEADS * WIDTH;
            ferry_past past = {.blocks = blocks, .head = key, .heads = HEADS, .width = width / 4 * 4, .count = count};
            k->scores(m->y, lda, m->x, INNER, ROWS, &past);
            for (size_t line = 0; line < (size_t)(HEADS * ROWS); line++)
                add_to_hash(h, m->y + line * lda, (size_t)count * sizeof *m->y);
            past.head = value;
            past.stride = HEADS * value;
            past.width = width;
            k->context(m->y, ldy, m->x, lda, ROWS, &past);
            add_to_hash(h, m->y, ROWS * ldy * sizeof *m->y);
        }
    }
}

/* What one row operation makes of x [n], in y. */
static void run_row(const ferry_kernels *k, material *m, int operation, int32_t n)
{
    const size_t count = (size_t)n;
    float *y = m->y;
    memcpy(y, m->x, count * sizeof *y);
    switch (operation) {
    case 0: k->layer_norm(y, y, m->weight, m->weight, m->bias, 1e-5f, 1, n); break;
    case 1: k->layer_norm(y, y, NULL, m->weight, m->bias, 1e-6f, 1, n); break;
    case 2: k->rms_norm(y, y, m->weight, m->bias, 1e-5f, 1, n); break;
    case 3: k->softmax(y, count, 1, n); break;
    case 4: {
        ferry_log_sum total = FERRY_LOG_SUM_ZERO;
        k->add_exp(&total, m->x, n);
        y[0] = ferry_log_of_sum(&total);
        break;
    }
    case 5: y[0] = (float)k->argmax(m->x, n); break;
    case 6: k->add_top(&(ferry_top){.values = y, .indices = m->indices, .limit = 32}, m->x, n, 0); break;
    case 7: k->ssru(y, y, m->weight, m->bias, n); break;
    case 8: k->add(y, m->weight, count); break;
    case 9: k->multiply(y, m->weight, count); break;
    case 10: k->scale(y, 0.37f, count); break;
    case 11: y[0] = k->largest(m->x, count); break;
    default: k->activate((ferry_activation)(operation - 12), y, count); break;
    }
}

static void run_rows(const ferry_kernels *k, material *m, hash *h)
{
    enum { OPERATIONS = 12 + FERRY_GELU_SIGMOID + 1 };
    for (int32_t n = 1; n < 3000; n += n < 40 ? 1 : 311) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            memset(m->indices, 0, sizeof m->indices);
            run_row(k, m, operation, n);
            add_to_hash(h, m->y, (size_t)n * sizeof *m->y);
            add_to_hash(h, m->indices, sizeof m->indices);
        }
    }
    uint16_t halves[0x7c00]; /* all finite ones that are not negative */
    for (size_t i = 0; i < 0x7c00; i++) halves[i] = (uint16_t)i;
    k->widen_f16(m->y, halves, 0x7c00);
    add_to_hash(h, m->y, 0x7c00 * sizeof *m->y);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(const ferry_kernels *k, material *m, hash *h);
    } kinds[] = {{"product", run_product}, {"int8", run_int8}, {"attention", run_attention}, {"rows", run_rows}};
    material *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
    if (m == NULL) die("out of memory");
    fill_random(m->x, MOST, -5.0f, 4.0f);
    fill_random(m->weight, MOST, -1.0f, 1.0f);
    fill_random(m->bias, MOST, -0.5f, 0.7f);
    for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++) {
        if (strcmp((*k)->isa, "openblas") == 0) continue; /* plain C's, but for products that differ */
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            hash h = {0xcbf29ce484222325u};
            kinds[i].run(*k, m, &h);
            printf("%s %s %016" PRIx64 "\n", (*k)->isa, kinds[i].name, h.value);
        }
    }
    free(m);
    return 0;
}
