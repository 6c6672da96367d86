#include "near_miss.h"

#include <string.h>

enum { LONGEST = 32, LEAST_BEGINNING = 3 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool differ(ferry_view a, size_t i, ferry_view b, size_t j)
{
    return lower(a.data[i]) != lower(b.data[j]);
}

/* Damerau and Levenshtein's distance of words of at most LONGEST letters: letters that were left out, added, replaced
 * or swapped with the next one (Damerau 1964), where none is touched twice. */
static size_t distance(ferry_view a, ferry_view b)
{
    size_t d[LONGEST + 1][LONGEST + 1]; /* d[i][j]: of the first i and j letters */
    for (size_t i = 0; i <= a.size; i++)
        for (size_t j = 0; j <= b.size; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const size_t replaced = d[i - 1][j - 1] + differ(a, i - 1, b, j - 1);
            d[i][j] = smaller(replaced, 1 + smaller(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && !differ(a, i - 1, b, j - 2) && !differ(a, i - 2, b, j - 1))
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size][b.size];
}

ferry_near_miss ferry_near_miss_of(ferry_view typed)
{
    /* One mistake, and another for every three letters from the sixth on. */
    return (ferry_near_miss){.typed = typed, .distance = 2 + (typed.size > 3 ? (typed.size - 3) / 3 : 0)};
}

void ferry_near_miss_try(ferry_near_miss *miss, const char *before, ferry_view word)
{
    if (miss->typed.size > LONGEST || word.size > LONGEST) return;
    size_t found = distance(miss->typed, word);
    if (miss->typed.size >= LEAST_BEGINNING && miss->typed.size < word.size &&
        distance(miss->typed, (ferry_view){word.data, miss->typed.size}) == 0)
        found = smaller(found, 1);
    const bool tie = found == miss->distance && miss->meant.text[0] != '\0';
    if (found >= smaller(word.size, miss->distance) && !tie) return;
    miss->distance = found;
    const ferry_name before_it = tie ? ferry_name_format("%s or ", miss->meant.text) : (ferry_name){""};
    miss->meant = ferry_name_format("%s'%s%.*s'", before_it.text, before, (int)word.size, word.data);
}

ferry_name ferry_near_miss_question(const ferry_near_miss *miss, const char *otherwise)
{
    return miss->meant.text[0] != '\0' ? ferry_name_format("did you mean %s?", miss->meant.text)
                                       : ferry_name_format("%s", otherwise);
}
