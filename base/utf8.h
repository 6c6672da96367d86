/* UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef FERRY_BASE_UTF8_H
#define FERRY_BASE_UTF8_H

#include "bytes.h"

/* Reads the character at *at < text.size and moves *at past it. If the bytes are ill-formed, moves *at past their
 * maximal subpart (the longest prefix of a well-formed sequence, at least one byte) and returns false. */
bool ferry_utf8_next(ferry_view text, size_t *at, uint32_t *code_point);

/* The same of the character before *at: moves *at to where it begins. False if none is before it. */
bool ferry_utf8_previous(ferry_view text, size_t *at, uint32_t *code_point);
/* Writes a character, at most U+10FFFF and no surrogate, to `output` [4]. Returns its bytes. */
size_t ferry_utf8_put(uint32_t code_point, char *output);

bool ferry_utf8_is_valid(ferry_view text);
/* Unicode's property White_Space. */
bool ferry_utf8_is_space(uint32_t code_point);

/* Copies `text`, each maximal ill-formed subpart replaced by U+FFFD (The Unicode Standard 15.0, section 3.9, "U+FFFD
 * Substitution of Maximal Subparts"). `output` [3 × text.size] does not overlap `text`. Returns
 * the bytes written; *replaced says whether anything was ill-formed. */
size_t ferry_utf8_repair(ferry_view text, char *output, bool *replaced);

/* The part of `text` between leading and trailing white space. Ill-formed bytes are not white space. */
ferry_view ferry_utf8_trim(ferry_view text);

/* Bytes of the white space with which `text` begins. */
size_t ferry_utf8_leading_space(ferry_view text);

/* Nothing but white space, or empty. */
bool ferry_utf8_is_blank(ferry_view text);

#endif
