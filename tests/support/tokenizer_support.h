/* What the tests of texts and their pieces share. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_TOKENIZER_SUPPORT_H
#define FERRY_SUPPORT_TOKENIZER_SUPPORT_H

#include "files.h"

#include "tokenizer/tokenizer.h"

/* A SentencePiece model with a piece for every byte. */
#define BYTE_FALLBACK FERRY_TEST_DATA "/tokenizer/byte_fallback.model"

/* A view of a string literal, NUL bytes inside counted. */
#define VIEW(literal) ((ferry_view){literal, sizeof(literal) - 1})

/* A copy of the whole file in memory of exactly its size, kept. */
ferry_view read_file(const char *path);

ferry_tokenizer *create_tokenizer(const ferry_tokenizer_config *config);
void encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids);
void assert_text(const ferry_string *text, ferry_view expected);

#endif
