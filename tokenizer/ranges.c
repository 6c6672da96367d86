#include "ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

ferry_status ferry_ranges_insert(ferry_ranges *ranges, size_t at, ferry_range range, ferry_error *error)
{
    ferry_range *grown = ferry_array_grow(ranges->ranges, &ranges->capacity, ranges->count + 1, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "tokenizing", ranges->count + 1);
    ranges->ranges = grown;
    memmove(grown + at + 1, grown + at, (ranges->count - at) * sizeof *grown);
    grown[at] = range;
    ranges->count++;
    return FERRY_OK;
}

ferry_range ferry_range_trim(ferry_view text, size_t begin, size_t end)
{
    if (begin == end) return (ferry_range){begin, begin};
    const ferry_view trimmed = ferry_utf8_trim((ferry_view){text.data + begin, end - begin});
    const size_t from = (size_t)(trimmed.data - text.data);
    return (ferry_range){from, from + trimmed.size};
}

/* The first border that is not before `place`; or the last one that was found, if that is later. */
static size_t next_border(ferry_borders *borders, size_t place)
{
    uint32_t code_point;
    while (borders->at < place && borders->at < borders->text.size) {
        const size_t begin = borders->at;
        if (!ferry_utf8_next(borders->text, &borders->at, &code_point)) borders->at = begin + 1;
    }
    return borders->at;
}

ferry_range ferry_borders_range(ferry_borders *borders, size_t begin, size_t end)
{
    const size_t first = next_border(borders, begin), last = next_border(borders, end);
    return ferry_range_trim(borders->text, first, last);
}

/* A place in the repaired copy of a text, and in the text. */
typedef struct repair_place {
    size_t repaired, original;
} repair_place;

/* `place` is no smaller than that of the last call. */
static size_t unrepair(ferry_view text, repair_place *at, size_t place)
{
    uint32_t code_point;
    while (at->repaired < place && at->original < text.size) {
        const size_t begin = at->original;
        const bool valid = ferry_utf8_next(text, &at->original, &code_point);
        at->repaired += valid ? at->original - begin : 3;
    }
    return at->original;
}

void ferry_ranges_unrepair(ferry_view text, ferry_range *ranges, size_t count)
{
    repair_place begin = {0, 0}, end = {0, 0};
    for (size_t i = 0; i < count; i++)
        ranges[i] = (ferry_range){unrepair(text, &begin, ranges[i].begin), unrepair(text, &end, ranges[i].end)};
}
