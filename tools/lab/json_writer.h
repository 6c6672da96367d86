/* Writes JSON. The caller nests objects and arrays correctly; commas, escapes and numbers are taken care of. */
#ifndef FERRY_LAB_JSON_WRITER_H
#define FERRY_LAB_JSON_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/ferry.h"

typedef struct ferry_json {
    FILE *out;
    bool follows; /* a comma comes before the next element */
} ferry_json;

/* `key` NULL: an element of an array, or the root. Keys are plain ASCII words. */
void ferry_json_begin(ferry_json *json, const char *key, char bracket);
/* `bracket`: '{' or '[' above, '}' or ']' here. */
void ferry_json_end(ferry_json *json, char bracket);
/* Not a number and infinities become null. */
void ferry_json_number(ferry_json *json, const char *key, double value);
/* What is not UTF-8 becomes U+FFFD. */
void ferry_json_text(ferry_json *json, const char *key, ferry_text text);
/* The same of a NUL-terminated text; NULL becomes null. */
void ferry_json_string(ferry_json *json, const char *key, const char *text);

#endif
