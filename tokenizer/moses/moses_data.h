/* Moses' data, as sacremoses has it: what characters are, and abbreviations. */
#ifndef FERRY_TOKENIZER_MOSES_DATA_H
#define FERRY_TOKENIZER_MOSES_DATA_H

#include <stddef.h>
#include <stdint.h>

enum {
    FERRY_MOSES_ALNUM = 1 << 0,
    FERRY_MOSES_ALPHA = 1 << 1,
    FERRY_MOSES_DETOKENIZER_ALPHA = 1 << 2, /* without viramas and nuktas */
    FERRY_MOSES_NUMBER = 1 << 3,
    FERRY_MOSES_LOWER = 1 << 4,
    FERRY_MOSES_CURRENCY = 1 << 5,
    FERRY_MOSES_CHINESE = 1 << 6, /* of these languages, letters too */
    FERRY_MOSES_JAPANESE = 1 << 7,
    FERRY_MOSES_KOREAN = 1 << 8
};

typedef struct ferry_moses_range {
    uint32_t first, last;
    uint32_t classes;
} ferry_moses_range;

/* [ferry_moses_range_count], ascending. */
extern const ferry_moses_range ferry_moses_ranges[];
extern const size_t ferry_moses_range_count;

/* Words that a full stop does not end a sentence after, ascending by their bytes, each followed by "\n"; after "#"
 * those that are such only before a number. */
typedef struct ferry_moses_prefix_list {
    const char *language;
    const char *words;
} ferry_moses_prefix_list;

/* [ferry_moses_prefix_count]; a language that is not listed has those of English. */
extern const ferry_moses_prefix_list ferry_moses_prefixes[];
extern const size_t ferry_moses_prefix_count;

#endif
