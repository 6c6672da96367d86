/* Tokens of the net (net.h): what stands between blanks in a text. */
#ifndef FERRY_DOCUMENTS_NET_TOKENS_H
#define FERRY_DOCUMENTS_NET_TOKENS_H

#include "base/bytes.h"

/* A letter that needs no blank to be a word of its own. */
bool ferry_token_is_alone(uint32_t c);
/* Marks (FERRY_MARKS) in the text, but for `others`. */
size_t ferry_token_count_marks(ferry_view text, const char *others);
/* Whether it has a letter or a digit. */
bool ferry_token_has_word(ferry_view text);
/* Without sentence punctuation, quotes and parentheses at its ends. */
ferry_view ferry_token_trim(ferry_view token);
/* Without quotes and what ends a sentence or a clause: "!=" of "'!=',", and "=>" of "(=>)". */
ferry_view ferry_token_trim_marks(ferry_view token);
/* Bytes of marks around a word at the beginning, and at the end, of a token. */
size_t ferry_token_left_marks(ferry_view token);
size_t ferry_token_right_marks(ferry_view token);
/* "=x=" "~~x~~" "^x^" "++x++": the marks that both ends have. */
size_t ferry_token_same_marks(ferry_view token);
/* "==two" of "==two words==" */
size_t ferry_token_doubled_marks(ferry_view token);
/* Whether the model reads the word, without what came off: it has no mark inside, or is "and/or", "50%", "3:1", "EU:n";
 * it is no name with dots, and no abbreviation in capitals without a vowel. */
bool ferry_token_is_read(ferry_view word);
/* Bytes of a word that is kept, with the parentheses behind it that it opens; it is part of `token`. */
size_t ferry_token_kept_size(ferry_view word, ferry_view token);
/* ":)" ";-)" ":D" "<3" */
bool ferry_token_is_smiley(ferry_view token);

#endif
