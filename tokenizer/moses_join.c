/* Moses' words of a translation → its text, and the ranges of ids in it. */
#include <stdlib.h>

#include "base/utf8.h"
#include "ranges.h"
#include "tokenizer_private.h"

/* A walk through the text: characters before `at` end, in the words, before a place. */
typedef struct walk {
    const size_t *places; /* of the text's bytes, in the words */
    ferry_view text;
    size_t at;
} walk;

/* `place` is no smaller than that of the last call. */
static size_t walk_to(walk *w, size_t place)
{
    while (w->at < w->text.size) {
        size_t next = w->at;
        uint32_t c;
        ferry_utf8_next(w->text, &next, &c);
        if (w->places[next] > place) break;
        w->at = next;
    }
    return w->at;
}

/* An id that ends within what has become one character ("&", "apos", ";") has the range of the last such id. */
static void follow(ferry_view words, ferry_view text, const size_t *places, ferry_range *ranges, size_t count)
{
    walk begin = {places, text, 0}, end = begin;
    size_t parts = 0;
    for (size_t i = 0; i < count; i++) {
        const ferry_range range = ranges[i];
        size_t last = range.end;
        while (last < words.size && words.data[last] == ' ') last++;
        const size_t from = walk_to(&begin, range.begin), to = walk_to(&end, last);
        ranges[i] = range.begin < range.end ? ferry_range_trim(text, from, to) : (ferry_range){from, from};
        if (range.begin == range.end) {
            parts = 0;
            continue;
        }
        if (ranges[i].begin == ranges[i].end) {
            parts++;
            continue;
        }
        for (; parts > 0; parts--) ranges[i - parts] = ranges[i];
    }
}

ferry_status ferry_tokenizer_join_words(const ferry_moses *moses, ferry_string *words, ferry_range *ranges,
                                        size_t count, ferry_error *error)
{
    ferry_string text = {0};
    size_t *places = NULL;
    const ferry_view view = {words->data, words->size};
    const ferry_status status = ferry_moses_detokenize(moses, view, &text, ranges != NULL ? &places : NULL, error);
    if (status == FERRY_OK && ranges != NULL) follow(view, (ferry_view){text.data, text.size}, places, ranges, count);
    free(places);
    if (status == FERRY_OK) {
        free(words->data);
        *words = text;
    } else {
        free(text.data);
    }
    return status;
}
