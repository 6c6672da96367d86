#include "chrf.h"

#include "symbols.h"

static ferry_status take_characters(ferry_arena *arena, ferry_text text, ferry_symbols *characters, ferry_error *error)
{
    FERRY_TRY(ferry_symbols_of_text(arena, text, characters, error));
    size_t count = 0;
    for (size_t i = 0; i < characters->count; i++)
        if (!ferry_is_python_space(characters->at[i])) characters->at[count++] = characters->at[i];
    characters->count = count;
    return FERRY_OK;
}

static ferry_status count(ferry_arena *arena, ferry_text hypothesis, ferry_text reference, double *counts,
                          ferry_error *error)
{
    ferry_symbols a, b;
    double shared[FERRY_CHRF_ORDERS];
    FERRY_TRY(take_characters(arena, hypothesis, &a, error));
    FERRY_TRY(take_characters(arena, reference, &b, error));
    FERRY_TRY(ferry_shared_ngrams(arena, &a, &b, FERRY_CHRF_ORDERS, shared, error));
    for (size_t n = 1; n <= FERRY_CHRF_ORDERS; n++) {
        const double in_reference = ferry_ngram_count(b.count, n);
        *counts++ = in_reference > 0 ? ferry_ngram_count(a.count, n) : 0;
        *counts++ = in_reference;
        *counts++ = shared[n - 1];
    }
    return FERRY_OK;
}

ferry_status ferry_chrf_count(ferry_text hypothesis, ferry_text reference, double counts[FERRY_CHRF_COUNTS],
                              ferry_error *error)
{
    ferry_arena arena = {0};
    const ferry_status status = count(&arena, hypothesis, reference, counts, error);
    ferry_arena_destroy(&arena);
    return status;
}

/* (1 + β²) P R / (β² P + R), β = 2, of the means P and R over the orders that both sides have. */
double ferry_chrf_score(const double sums[FERRY_CHRF_COUNTS])
{
    double precision = 0, recall = 0, orders = 0;
    for (const double *c = sums; c < sums + FERRY_CHRF_COUNTS; c += 3) {
        if (c[0] == 0 || c[1] == 0) continue;
        precision += c[2] / c[0];
        recall += c[2] / c[1];
        orders++;
    }
    if (precision + recall == 0) return 0;
    precision /= orders;
    recall /= orders;
    return 100 * 5 * precision * recall / (4 * precision + recall);
}
