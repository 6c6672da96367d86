/* What the tests of texts and their pieces share. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_TOKENIZER_SUPPORT_H
#define FERRY_SUPPORT_TOKENIZER_SUPPORT_H

#include "files.h"

#include "tokenizer/sentencepiece_c.h"
#include "tokenizer/tokenizer.h"

/* A SentencePiece model with a piece for every byte. */
#define BYTE_FALLBACK FERRY_TEST_DATA "/tokenizer/byte_fallback.model"

/* A view of a string literal, NUL bytes inside counted. */
#define VIEW(literal) ((ferry_view){literal, sizeof(literal) - 1})

/* A copy of the whole file in memory of exactly its size, kept. */
ferry_view read_file(const char *path);

/* A file of the test data that ends with a NUL, to be taken apart, kept. */
char *read_lines(const char *name);

/* From hexadecimal digits, in their place, up to another character; *at moves past it. */
ferry_view read_digits(char **at);

/* Both sides have these pieces, the first of which is unknown; the rest is zero. */
ferry_tokenizer_config one_vocabulary(const ferry_view *pieces, size_t count);
/* Destroyed when the program ends. */
ferry_tokenizer *create_tokenizer(const ferry_tokenizer_config *config);
void encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids);
/* The text's ids are these. */
void check_ids(const ferry_tokenizer *tokenizer, ferry_view text, const int32_t *expected, size_t count);
#define CHECK_IDS(tokenizer, text, ...)                                                                                \
    check_ids(tokenizer, text, (const int32_t[]){__VA_ARGS__}, COUNT(((const int32_t[]){__VA_ARGS__})))
void assert_text(const ferry_string *text, ferry_view expected);

/* A tokenizer whose ids are a SentencePiece model's own; the unknown one is special. Kept. */
typedef struct own_ids {
    ferry_spm *spm;
    int32_t unknown;
    ferry_tokenizer_config config;
    ferry_tokenizer *tokenizer;
    ferry_ids ids; /* of the last text */
    ferry_ranges ranges;
} own_ids;

own_ids *load_own_ids(const char *path);

/* The ranges are as ferry_ranges has them. */
void assert_sound(ferry_view text, const ferry_range *ranges, size_t count);
typedef struct encoded_row {
    ferry_view text;
    const char *parts;
} encoded_row;

typedef enum encoded_side { SOURCE, SOURCE_PARTS, TARGET } encoded_side;

/* The parts of texts of a side, with their ids but for SOURCE_PARTS. */
void check_encoded(const ferry_tokenizer_config *config, encoded_side side, const encoded_row *rows, size_t count);

typedef struct decoded_row {
    int32_t ids[8]; /* [count] */
    size_t count;
    const ferry_word *words; /* NULL: none */
    ferry_view text;
    const char *parts;
} decoded_row;

/* What ids become, and their parts. */
void check_translations(const ferry_tokenizer_config *config, const decoded_row *rows, size_t count);
/* Whatever texts of these bytes and whatever ids are: their ranges are as ferry_ranges has them, and ids without ranges
 * are the same. */
void check_any_texts(const ferry_tokenizer_config *config, ferry_view bytes, int rounds);

#endif
