/* Keys of a configuration file in JSON as a table: what each is called and where its value goes. */
#ifndef FERRY_PLAN_JSON_KEYS_H
#define FERRY_PLAN_JSON_KEYS_H

#include "models/containers/json.h"

/* One of the pointers is set; what it points to holds the default. */
typedef struct ferry_json_key {
    const char *name;
    int32_t *integer, least, most; /* and its range */
    float *real;
    bool *flag;
    const char **text; /* becomes a pointer into the JSON tree */
    const char *other; /* another name of an integer; where both are there, they must agree; NULL: none */
} ferry_json_key;

/* Reads keys [count] in their order. A key that is absent keeps its default or, if all are required, is an error.
 * Errors: FORMAT; UNSUPPORTED for two names that disagree. */
ferry_status ferry_json_read(ferry_json json, const ferry_json_key *keys, size_t count, bool required,
                             ferry_error *error);

#endif
