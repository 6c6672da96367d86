/* What a ferry_moses is. */
#ifndef FERRY_TOKENIZER_MOSES_PRIVATE_H
#define FERRY_TOKENIZER_MOSES_PRIVATE_H

#include "moses.h"
#include "moses_rules.h"

/* An abbreviation. */
typedef struct ferry_moses_prefix {
    ferry_view word;
    bool numeric; /* before a number only */
} ferry_moses_prefix;

/* The rules of a language. */
typedef struct ferry_moses_language {
    char code[8];                 /* NUL-terminated; longer ones have no rules of their own: "" */
    uint32_t letters;             /* classes of characters that words consist of */
    ferry_moses_prefix *prefixes; /* [prefix_count], ascending */
    size_t prefix_count;
} ferry_moses_language;

struct ferry_moses {
    ferry_moses_config config;
    ferry_moses_language source, target;
};

bool ferry_moses_speaks(const ferry_moses_language *language, const char *code);
/* One of several, separated by blanks. */
bool ferry_moses_speaks_one_of(const ferry_moses_language *language, const char *codes);

/* Errors: LIMIT. */
ferry_status ferry_moses_check_size(ferry_view text, ferry_error *error);

/* MosesPunctNormalizer. */
void ferry_moses_normalize(const ferry_moses *moses, const ferry_moses_language *language, ferry_moses_text *text);
/* MosesTokenizer: words separated by white space. */
void ferry_moses_split(const ferry_moses *moses, const ferry_moses_language *language, ferry_moses_text *text);

#endif
