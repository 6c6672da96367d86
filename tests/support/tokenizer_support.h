/* What the tests of texts and their pieces share. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_TOKENIZER_SUPPORT_H
#define FERRY_SUPPORT_TOKENIZER_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer/tokenizer.h"
#include "test.h"

/* A SentencePiece model with a piece for every byte. */
#define BYTE_FALLBACK FERRY_TEST_DATA "/tokenizer/byte_fallback.model"

/* A view of a string literal, NUL bytes inside counted. */
#define VIEW(literal) ((ferry_view){literal, sizeof(literal) - 1})
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* A whole file; free_view it. */
ferry_view read_file(const char *path);
void free_view(ferry_view view);

ferry_tokenizer *create_tokenizer(const ferry_tokenizer_config *config);
void encode(const ferry_tokenizer *tokenizer, ferry_view text, ferry_ids *ids);
void assert_text(const ferry_string *text, ferry_view expected);

#endif
