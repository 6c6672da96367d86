/* A small model whose positional encodings have any parameters and tables: refused, or it computes, the same in one
 * pass as step by step. The first byte chooses the encoding and the second the sizes of the model; then come its
 * parameters, and the numbers that tables repeat. */
#include "fuzz.h"

#include <math.h>

#include "engine/lines/model.h"
#include "engine/ferry_inspect.h"

enum { TOKENS = 21, VOCAB = 4, MOST_TABLE = 1 << 18, MOST_WIDTH = 3 * 17 };

typedef struct maker {
    const ferry_position_scheme *scheme;
    ferry_view input; /* not used yet */
    ferry_arena arena;
} maker;

static bool take(maker *m, void *to, size_t size)
{
    if (size > m->input.size) return false;
    memcpy(to, m->input.data, size);
    m->input = (ferry_view){m->input.data + size, m->input.size - size};
    return true;
}

/* ---- what a model file would hold ---- */

static bool give_parameter(void *user, const ferry_position_parameter *declared, ferry_view *text, double *number)
{
    maker *m = user;
    uint8_t byte, count = 0;
    int64_t integer = 0;
    float real;
    switch (declared->kind) {
    case FERRY_POSITION_CHOICE:
        while (declared->choices[count] != NULL) count++;
        if (!take(m, &byte, 1) || byte > count) break;
        *text = ferry_text_view(byte < count ? declared->choices[byte] : "no such choice");
        return true;
    case FERRY_POSITION_INTEGER:
        if (!take(m, &byte, 1) || byte == 0 || !take(m, &integer, byte % 2 == 0 ? 1 : sizeof integer)) break;
        *number = (double)integer;
        return true;
    case FERRY_POSITION_REAL:
        if (!take(m, &real, sizeof real)) break;
        *number = (double)real;
        return true;
    }
    return m->input.size % 2 == 1; /* of another type, or missing */
}

static ferry_status give_tensor(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                                const int64_t *shape, const float **data, ferry_error *error)
{
    maker *m = user;
    uint8_t used = 0;
    float numbers[16] = {0.5f};
    const int64_t rows = shape[0], columns = dims > 1 ? shape[1] : 1;
    (void)layer;
    if (rows < 1 || columns < 1 || rows > MOST_TABLE || columns > MOST_TABLE / rows)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "tensor '%s' is missing", declared->name);
    const size_t count = (size_t)(rows * columns);
    if (take(m, &used, 1) && !take(m, numbers, used % 16 * sizeof *numbers)) used = 0;
    used = used % 16 > 0 ? used % 16 : 1;
    float *table = ferry_arena_alloc(&m->arena, count, sizeof *table);
    if (table == NULL) abort();
    for (size_t i = 0; i < count; i++) table[i] = numbers[i % used];
    *data = table;
    return FERRY_OK;
}

static bool bind(maker *m, const ferry_kernels *kernels, const ferry_transformer *model, ferry_stack *stack)
{
    const ferry_position_source source = {m, give_parameter, give_tensor};
    const ferry_position_stack sizes = ferry_position_stack_of(stack, model->d_model);
    ferry_error error;
    ferry_position_unbind(&stack->position);
    if (ferry_position_bind(ferry_text_view(m->scheme->name), &sizes, &source, kernels, &stack->position, &error) ==
        FERRY_OK)
        return true;
    if (strlen(error.message) < 10) abort();
    /* For ferry_model_close: a model is never seen without positions. */
    (void)ferry_position_bind(ferry_text_view("none"), &sizes, &source, kernels, &stack->position, NULL);
    return false;
}

/* ---- what is computed ---- */

static void probe(const ferry_model *model, ferry_inspect_stack stack)
{
    static float rows[TOKENS * MOST_WIDTH], scores[2 * TOKENS], ones[MOST_WIDTH];
    for (int i = 0; i < MOST_WIDTH; i++) ones[i] = 1;
    const ferry_inspect_scheme scheme = ferry_inspect_get_scheme(model, stack);
    read_all(ferry_text_view(scheme.parameters));
    (void)ferry_inspect_position_rows(model, stack, TOKENS, rows, NULL);
    (void)ferry_inspect_position_scores(model, stack, 0, 0, TOKENS, ones, ones, scores, NULL);
    (void)ferry_inspect_position_scores(model, stack, 0, 0, 1, NULL, NULL, scores, NULL);
}

/* A NaN at one position may reach earlier ones in one pass, where the mask multiplies it by 0. */
static bool are_finite(const float *logits)
{
    for (int i = 0; i < TOKENS * VOCAB; i++)
        if (!isfinite(logits[i])) return false;
    return true;
}

static void compute(const ferry_model *model)
{
    static const int32_t offsets[] = {0, TOKENS};
    static int32_t ids[TOKENS];
    static float logits[2][TOKENS * VOCAB];
    ferry_status status[2];
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    for (int pass = 0; pass < 2; pass++)
        status[pass] =
            ferry_inspect_logits(model, ids, offsets, 1, ids, offsets, (ferry_inspect_pass)pass, logits[pass], NULL);
    if (status[0] != status[1]) abort();
    if (status[0] == FERRY_OK && are_finite(logits[0]) && memcmp(logits[0], logits[1], sizeof logits[0]) != 0) abort();
    if (ferry_options_default(model, &options, sizeof options) != FERRY_OK) abort();
    options.beam = 2;
    options.max_length = 9;
    if (ferry_translator_create(model, &options, &translator, NULL) != FERRY_OK) return;
    if (ferry_inspect_generate(translator, ids, offsets, 1, &result, NULL) == FERRY_OK) ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    size_t schemes = 0;
    while (ferry_position_at(schemes) != NULL) schemes++;
    const int32_t heads = 1 + data[1] % 3, width = 1 + data[1] / 4 % 17, layers = 1 + data[1] / 128;
    const ferry_inspect_shape shape = {heads * width, heads, 8, layers, layers, VOCAB};
    maker m = {ferry_position_at(data[0] % schemes), {(const char *)data + 2, size - 2}, {0}};
    ferry_model *model;
    if (ferry_inspect_untrained("none", &shape, NULL, &model, NULL) != FERRY_OK) abort();
    ferry_transformer *transformer = &model->file.transformer;
    if (bind(&m, model->kernels, transformer, &transformer->encoder) &&
        bind(&m, model->kernels, transformer, &transformer->decoder)) {
        probe(model, FERRY_INSPECT_ENCODER);
        probe(model, FERRY_INSPECT_DECODER);
        compute(model);
    }
    ferry_model_close(model);
    ferry_arena_destroy(&m.arena);
    return 0;
}
