#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

ferry_status ferry_symbols_of_text(ferry_arena *arena, ferry_text text, ferry_symbols *symbols, ferry_error *error)
{
    const ferry_view view = {text.data, text.size};
    symbols->count = 0;
    symbols->at = ferry_arena_alloc(arena, text.size, sizeof *symbols->at);
    if (symbols->at == NULL) return ferry_fail_memory(error, "the characters of a text", text.size);
    for (size_t at = 0; at < view.size;) {
        uint32_t code_point;
        if (!ferry_utf8_next(view, &at, &code_point)) code_point = 0xFFFD;
        symbols->at[symbols->count++] = code_point;
    }
    return FERRY_OK;
}

bool ferry_is_python_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/* ---- n-grams ---- */

double ferry_ngram_count(size_t count, size_t n)
{
    return count >= n ? (double)(count - n + 1) : 0;
}

static const uint32_t END = UINT32_MAX;

static int compare(const uint32_t *a, const uint32_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_longest(const void *a, const void *b)
{
    return compare(*(const uint32_t *const *)a, *(const uint32_t *const *)b, FERRY_NGRAM_MAX);
}

/* Where the n-grams of a sequence begin, in the order of their symbols; END follows the sequence. */
static const uint32_t **sort_starts(ferry_arena *arena, const ferry_symbols *symbols)
{
    bool failed = false;
    const size_t count = symbols->count;
    uint32_t *copy = ferry_arena_take(arena, count + FERRY_NGRAM_MAX, sizeof *copy, &failed);
    const uint32_t **starts = ferry_arena_take(arena, count + 1, sizeof *starts, &failed);
    if (failed) return NULL;
    if (count > 0) memcpy(copy, symbols->at, count * sizeof *copy);
    for (size_t i = 0; i < FERRY_NGRAM_MAX; i++) copy[count + i] = END;
    for (size_t i = 0; i < count; i++) starts[i] = copy + i;
    qsort(starts, count, sizeof *starts, compare_longest);
    return starts;
}

/* How many of the sorted starts from `first` on have the n-gram of the first one. */
static size_t count_equal(const uint32_t *const *starts, size_t first, size_t count, size_t n)
{
    size_t end = first + 1;
    while (end < count && compare(starts[end], starts[first], n) == 0) end++;
    return end - first;
}

static double count_shared(const uint32_t *const *a, size_t a_count, const uint32_t *const *b, size_t b_count, size_t n)
{
    size_t shared = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        const int order = compare(a[i], b[j], n);
        const size_t left = order <= 0 ? count_equal(a, i, a_count, n) : 0;
        const size_t right = order >= 0 ? count_equal(b, j, b_count, n) : 0;
        /* Shorter than n if END is in it, which then comes last. */
        if (order == 0 && a[i][n - 1] != END) shared += left < right ? left : right;
        i += left;
        j += right;
    }
    return (double)shared;
}

ferry_status ferry_shared_ngrams(ferry_arena *arena, const ferry_symbols *a, const ferry_symbols *b, size_t orders,
                                 double *shared, ferry_error *error)
{
    const uint32_t **a_starts = sort_starts(arena, a), **b_starts = sort_starts(arena, b);
    if (a_starts == NULL || b_starts == NULL) return ferry_fail_memory(error, "n-grams", a->count + b->count);
    for (size_t n = 1; n <= orders; n++) shared[n - 1] = count_shared(a_starts, a->count, b_starts, b->count, n);
    return FERRY_OK;
}
