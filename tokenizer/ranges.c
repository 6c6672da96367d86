#include "ranges.h"

#include <string.h>

#include "base/utf8.h"

ferry_status ferry_ids_insert(ferry_ids *ids, size_t at, int32_t id, ferry_error *error)
{
    const int32_t *last = ferry_array_add(&ids->ids, &ids->count, &ids->capacity, sizeof *last);
    if (last == NULL) return ferry_fail_memory(error, "tokenizing", ids->count + 1, sizeof *last);
    memmove(ids->ids + at + 1, ids->ids + at, (ids->count - 1 - at) * sizeof *last);
    ids->ids[at] = id;
    return FERRY_OK;
}

ferry_status ferry_ranges_insert(ferry_ranges *ranges, size_t at, ferry_range range, ferry_error *error)
{
    const ferry_range *last = ferry_array_add(&ranges->ranges, &ranges->count, &ranges->capacity, sizeof *last);
    if (last == NULL) return ferry_fail_memory(error, "tokenizing", ranges->count + 1, sizeof *last);
    memmove(ranges->ranges + at + 1, ranges->ranges + at, (ranges->count - 1 - at) * sizeof *last);
    ranges->ranges[at] = range;
    return FERRY_OK;
}

/* The offset in `text` that corresponds to the offset `repaired` in its repaired copy. *from and *to are the offsets in
 * the copy and in `text` of the last call, whose `repaired` was not larger. */
static size_t unrepair(ferry_view text, size_t *from, size_t *to, size_t repaired)
{
    uint32_t code_point;
    while (*from < repaired && *to < text.size) {
        const size_t begin = *to;
        *from += ferry_utf8_next(text, to, &code_point) ? *to - begin : 3;
    }
    return *to;
}

void ferry_ranges_unrepair(ferry_view text, ferry_range *ranges, size_t count)
{
    ferry_range repaired = {0, 0}, original = {0, 0};
    for (size_t i = 0; i < count; i++)
        ranges[i] = (ferry_range){unrepair(text, &repaired.begin, &original.begin, ranges[i].begin),
                                  unrepair(text, &repaired.end, &original.end, ranges[i].end)};
}

ferry_range ferry_range_trim(ferry_view text, size_t begin, size_t end)
{
    if (begin == end) return (ferry_range){begin, begin};
    const ferry_view trimmed = ferry_utf8_trim((ferry_view){text.data + begin, end - begin});
    const size_t from = (size_t)(trimmed.data - text.data);
    return (ferry_range){from, from + trimmed.size};
}
