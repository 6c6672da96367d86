/* CTranslate2 directories of random weights, made for tests: one layer in each stack, six tokens. A test takes the base
 * model, changes its variables, and converts it or sees it refused. */
#ifndef FERRY_SUPPORT_CTRANSLATE2_MADE_H
#define FERRY_SUPPORT_CTRANSLATE2_MADE_H

#include "import_support.h"

enum { MADE_D = 8, MADE_H = 2, MADE_F = 12, MADE_V = 6, MADE_MOST = 120 };

typedef struct made_variable {
    char name[96];
    uint8_t type; /* 0 float32, 1 int8, 2 int16, 3 int32 */
    uint8_t dims;
    uint32_t shape[2];
    float value;       /* of every element; NAN: random ones by the name */
    float step;        /* by which each is more than the one before */
    const char *bytes; /* instead, of an int8 vector */
} made_variable;

typedef struct made {
    made_variable variables[MADE_MOST];
    size_t count;
    uint32_t version, revision;
    const char *specification, *config, *vocabulary, *vocabulary_name; /* config NULL: no config.json */
} made;

/* Version 6, revision 7, layer norms before each block and after each stack, every bias, source end of sentence. */
made made_base(void);
/* A tensor [N, K], or [N] for K = 0, of random numbers. */
void made_add(made *m, const char *name, uint32_t N, uint32_t K);
void made_add_number(made *m, const char *name, uint8_t type, float value);
/* scope/gamma and scope/beta; scope/weight and scope/bias. */
void made_add_norm(made *m, const char *scope);
void made_add_linear(made *m, const char *scope, uint32_t N, uint32_t K);
made_variable *made_find(made *m, const char *name);

/* A directory of its own for each call. */
char *made_write(const made *m);

#endif
