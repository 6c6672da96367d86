/* Attention of heads over cached keys and values, of every ISA that runs here: against plain double-precision
 * arithmetic, and against the other ISAs. */
#include "tests/support/kernel_support.h"

enum { MAX_BLOCKS = 24, MAX_KEYS = 4 * MAX_BLOCKS, MAX_HEAD = 128, MAX_HEADS = 6, ATTENTION_ROWS = 40, OFFSET = 48 };

typedef struct attention_case {
    int32_t rows, width, heads, count;
    size_t ldq, lda, inner; /* inner: floats of all heads */
    ferry_past keys, values;
    const float *blocks[MAX_BLOCKS];
    float *memory[MAX_BLOCKS];
    float *q; /* [rows, ldq] */
    float *a; /* [heads, rows] with lda */
} attention_case;

static float *key_element(const attention_case *c, int32_t h, int32_t j, int32_t d)
{
    return c->memory[j / 4] + OFFSET + (size_t)h * c->keys.head + d / 4 * 16 + j % 4 * 4 + d % 4;
}

static float *value_element(const attention_case *c, int32_t h, int32_t j, int32_t d)
{
    return c->memory[j / 4] + c->values.offset + (size_t)h * c->values.head + (size_t)(j % 4) * c->values.stride + d;
}

/* What must not be read, or must not matter, is NaN. */
static void fill_past(attention_case *c)
{
    for (int32_t j = 0; j < (c->count + 3) / 4 * 4; j++) {
        for (int32_t h = 0; h < c->heads; h++) {
            for (int32_t d = 0; d < (c->width + 3) / 4 * 4; d++)
                *key_element(c, h, j, d) = j >= c->count ? NAN : d >= c->width ? 0.0f : random_between(-1.0f, 1.0f);
            for (int32_t d = 0; d < c->width; d++)
                *value_element(c, h, j, d) = j >= c->count ? NAN : random_between(-1.0f, 1.0f);
        }
    }
}

static attention_case new_attention(int32_t rows, int32_t heads, int32_t width, int32_t count)
{
    attention_case c = {.rows = rows, .width = width, .heads = heads, .count = count};
    size_t key = (size_t)((width + 3) / 4 * 16), value = (size_t)((width + 15) / 16 * 16), H = (size_t)heads;
    c.inner = H * (size_t)width;
    c.ldq = c.inner + 3;
    c.lda = (size_t)count + 1;
    c.keys = (ferry_past){.offset = OFFSET, .head = key, .heads = heads, .width = width, .count = count};
    c.values = c.keys;
    c.values.offset = OFFSET + H * key;
    c.values.head = value;
    c.values.stride = H * value;
    for (int b = 0; b < (count + 3) / 4; b++) { /* the others are NULL */
        size_t floats = c.values.offset + 4 * H * value;
        c.memory[b] = new_memory(floats * sizeof *c.memory[b]);
        fill(c.memory[b], floats, NAN);
        c.blocks[b] = c.memory[b];
    }
    c.q = new_floats((size_t)rows * c.ldq, -1.0f, 1.0f);
    c.a = new_floats(H * (size_t)rows * c.lda, 0.0f, 1.0f);
    fill_past(&c);
    return c;
}

/* The pasts of a case, which may have moved. */
static const ferry_past *keys_of(attention_case *c)
{
    c->keys.blocks = c->blocks;
    return &c->keys;
}

static const ferry_past *values_of(attention_case *c)
{
    c->values.blocks = c->blocks;
    return &c->values;
}

static void check_scores(const ferry_kernels *k, attention_case *c)
{
    size_t written = (size_t)((c->count + 15) / 16 * 16), ldy = written + 2, lines = (size_t)(c->heads * c->rows);
    float *y = new_memory((lines * ldy + 16) * sizeof *y);
    fill(y, lines * ldy + 16, GUARD);
    k->scores(y, ldy, c->q, c->ldq, c->rows, keys_of(c));
    for (size_t line = 0; line < lines; line++) {
        int32_t h = (int32_t)line / c->rows, i = (int32_t)line % c->rows;
        const float *q = c->q + (size_t)i * c->ldq + h * c->width;
        for (int32_t j = 0; j < c->count; j++) {
            double sum = 0;
            for (int32_t d = 0; d < c->width; d++) sum += (double)q[d] * (double)*key_element(c, h, j, d);
            assert_close((double)y[line * ldy + (size_t)j], sum, 1e-6 * sqrt((double)c->width) + 1e-6);
        }
        for (size_t j = written; j < ldy; j++) assert_true(y[line * ldy + j] == GUARD);
    }
    assert_true(y[lines * ldy] == GUARD);
}

static void check_context(const ferry_kernels *k, attention_case *c)
{
    size_t ldy = c->inner + 3;
    float *y = new_memory(((size_t)c->rows * ldy + 16) * sizeof *y);
    fill(y, (size_t)c->rows * ldy + 16, GUARD);
    k->context(y, ldy, c->a, c->lda, c->rows, values_of(c));
    for (int32_t i = 0; i < c->rows; i++) {
        const float *row = y + (size_t)i * ldy;
        for (int32_t e = 0; e < (int32_t)c->inner; e++) {
            int32_t h = e / c->width, d = e % c->width;
            const float *a = c->a + (size_t)(h * c->rows + i) * c->lda;
            double sum = 0;
            for (int32_t j = 0; j < c->count; j++) sum += (double)a[j] * (double)*value_element(c, h, j, d);
            assert_close((double)row[e], sum, 1e-6 * sqrt((double)c->count) + 1e-6);
        }
        for (size_t e = c->inner; e < ldy; e++) assert_true(row[e] == GUARD);
    }
    assert_true(y[(size_t)c->rows * ldy] == GUARD);
}

/* A row and a head among many are what they are alone, byte for byte. */
static void check_attention_rows(const ferry_kernels *k, attention_case *c)
{
    size_t columns = (size_t)((c->count + 15) / 16 * 16), lines = (size_t)(c->heads * c->rows);
    float *all = new_memory(lines * columns * sizeof *all);
    float *context = new_memory((size_t)c->rows * c->inner * sizeof *context);
    float alone[MAX_KEYS + MAX_HEAD];
    k->scores(all, columns, c->q, c->ldq, c->rows, keys_of(c));
    k->context(context, c->inner, c->a, c->lda, c->rows, values_of(c));
    for (size_t line = 0; line < lines; line++) {
        size_t h = line / (size_t)c->rows, i = line % (size_t)c->rows, width = (size_t)c->width;
        ferry_past keys = c->keys, values = c->values;
        keys.heads = values.heads = 1;
        keys.offset += h * keys.head;
        values.offset += h * values.head;
        k->scores(alone, columns, c->q + i * c->ldq + h * width, c->ldq, 1, &keys);
        assert_same_bytes(alone, all + line * columns, (size_t)c->count);
        k->context(alone, width, c->a + line * c->lda, c->lda, 1, &values);
        assert_same_bytes(alone, context + i * c->inner + h * width, width);
    }
}

RANDOM_TEST(attention_matches_double_precision)
{
    static const int32_t widths[] = {1, 8, 15, 16, 32, 40, 64, 80, 100, 128};
    static const int32_t rows[] = {1, 2, 3, 5, 7, ATTENTION_ROWS};
    for (int32_t w = 0; w < COUNT(widths); w++) {
        for (int32_t keys = 1; keys <= MAX_KEYS; keys += keys < 34 ? 1 : 7) {
            attention_case c = new_attention(rows[(w + keys) % COUNT(rows)], keys % MAX_HEADS + 1, widths[w], keys);
            EACH_ISA(k)
            {
                check_scores(*k, &c);
                check_context(*k, &c);
                check_attention_rows(*k, &c);
            }
            release_memory();
        }
    }
}

/* Scores [heads, rows, count], one after the other, and contexts [rows, heads·width]. Returns how many floats. */
static size_t run_attention(const ferry_kernels *k, attention_case *c, float *results)
{
    size_t columns = (size_t)((c->count + 15) / 16 * 16), lines = (size_t)(c->heads * c->rows), at = 0;
    float *y = new_memory(lines * columns * sizeof *y);
    k->scores(y, columns, c->q, c->ldq, c->rows, keys_of(c));
    for (size_t line = 0; line < lines; line++, at += (size_t)c->count)
        memcpy(results + at, y + line * columns, (size_t)c->count * sizeof *y);
    k->context(results + at, c->inner, c->a, c->lda, c->rows, values_of(c));
    return at + (size_t)c->rows * c->inner;
}

RANDOM_TEST(all_isas_agree_on_attention)
{
    static float expected[9 * MAX_HEADS * (MAX_KEYS + MAX_HEAD)], results[9 * MAX_HEADS * (MAX_KEYS + MAX_HEAD)];
    for (int32_t i = 1; i < 70; i++) {
        attention_case c = new_attention(i % 9 + 1, i % MAX_HEADS + 1, i, i + 3);
        size_t count = run_attention(ferry_kernels_find("plain"), &c, expected);
        EACH_ISA(k)
        {
            assert_int_equal(run_attention(*k, &c, results), count);
            assert_same_bytes(results, expected, count);
        }
        release_memory();
    }
}
