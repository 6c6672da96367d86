/* Writes JSON. The caller nests objects and arrays correctly; commas, escapes and numbers are taken care of. */
#ifndef FERRY_TOOLS_JSON_WRITER_H
#define FERRY_TOOLS_JSON_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/ferry.h"

typedef struct ferry_json_writer {
    FILE *out;
    bool follows; /* a comma comes before the next element */
} ferry_json_writer;

/* `key` NULL: an element of an array, or the root. Keys are plain ASCII words. */
void ferry_put_begin(ferry_json_writer *json, const char *key, char bracket);
/* `bracket`: '{' or '[' above, '}' or ']' here. */
void ferry_put_end(ferry_json_writer *json, char bracket);
/* Not a number and infinities become null. */
void ferry_put_number(ferry_json_writer *json, const char *key, double value);
/* The shortest decimal number that reads as the same float. */
void ferry_put_float(ferry_json_writer *json, const char *key, float value);
/* Characters that are not printable (base/utf8.h) are escaped. What is not UTF-8 becomes U+FFFD. */
void ferry_put_text(ferry_json_writer *json, const char *key, ferry_text text);
/* The same of a NUL-terminated text; NULL becomes null. */
void ferry_put_string(ferry_json_writer *json, const char *key, const char *text);

#endif
