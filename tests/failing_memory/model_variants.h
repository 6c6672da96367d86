/* A model file damaged in every way that its format offers, one place at a time. Failures are cmocka's. */
#ifndef FERRY_TESTS_MODEL_VARIANTS_H
#define FERRY_TESTS_MODEL_VARIANTS_H

#include "tests/support/model_damage.h"

/* What may come of it. */
typedef enum outcome {
    ANY_MODEL,  /* it says something else, which no reader can tell: refused or opened */
    SAME_MODEL, /* its form alone was damaged: refused, or the same model */
    NO_MODEL    /* refused */
} outcome;

typedef struct variant {
    const unsigned char *data;
    size_t size;
    const char *what; /* was damaged */
    outcome permitted;
} variant;

/* Passes each variant to `visit`: header fields, lengths and counts, types of keys, values of keys, keys left out,
 * twice or of another type, each entry of the table of tensors, what is cut off or appended, each byte before the
 * tensors, and some of the tensors' own; of layers, only the first. `part`: only keys and tensors with this in their
 * names, and nothing else; NULL: all. Returns how many there were. */
size_t visit_variants(const sample *model, const char *part, void (*visit)(void *user, const variant *damaged),
                      void *user);

#endif
