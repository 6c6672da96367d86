#include "charsmap.h"

#include <stdlib.h>
#include <string.h>

#include "sentencepiece_check.h"

ferry_status ferry_charsmap_create(ferry_view bytes, const char *name, ferry_charsmap *charsmap, ferry_error *error)
{
    ferry_cursor cursor = {(const uint8_t *)bytes.data, bytes.size, 0};
    uint32_t size = 0;
    *charsmap = (ferry_charsmap){0};
    FERRY_TRY(ferry_spm_check_charsmap(bytes, name, error));
    if (!ferry_read_u32(&cursor, &size)) return FERRY_OK;
    charsmap->count = size / sizeof *charsmap->units;
    charsmap->units = calloc(charsmap->count, sizeof *charsmap->units);
    if (charsmap->units == NULL) return ferry_fail_memory(error, "a normalization table", size);
    for (size_t i = 0; i < charsmap->count; i++) ferry_read_u32(&cursor, &charsmap->units[i]);
    charsmap->replacements = (ferry_view){bytes.data + cursor.at, ferry_cursor_left(&cursor)};
    return FERRY_OK;
}

void ferry_charsmap_destroy(ferry_charsmap *charsmap)
{
    free(charsmap->units);
    *charsmap = (ferry_charsmap){0};
}

static size_t base_of(size_t at, uint32_t unit)
{
    return at ^ (size_t)((unit >> 10) << ((unit & 1u << 9) >> 6));
}

bool ferry_charsmap_find(const ferry_charsmap *charsmap, ferry_view text, ferry_view *replacement)
{
    const uint32_t label_bits = 1u << 31 | 0xFF, leaf_bit = 1u << 8, value_bits = (1u << 31) - 1;
    if (charsmap->count == 0) return false;
    size_t at = base_of(0, charsmap->units[0]);
    for (size_t i = 0; i < text.size && text.data[i] != '\0'; i++) {
        at ^= (uint8_t)text.data[i];
        const uint32_t unit = charsmap->units[at];
        if ((unit & label_bits) != (uint8_t)text.data[i]) return false;
        at = base_of(at, unit);
        if ((unit & leaf_bit) == 0) continue;
        const char *found = charsmap->replacements.data + (charsmap->units[at] & value_bits);
        *replacement = (ferry_view){found, strlen(found)};
        return true;
    }
    return false;
}
