/* What reading one source may take, whatever lies inside what: the bytes that are inflated into temporary files, the
 * memory of what is parsed, and the bytes of the model file that is written. Whoever needs some takes them from the
 * account first (base/memory.h). What was inflated is never given back, so that a source cannot make Ferry inflate
 * again and again, either.
 *
 * The limit is the caller's, or else 256 MiB and 8 times the bytes of the files that are read, as they were published.
 * The most that a large model needs is an int8 model, compressed to 3/4, that is written as float32: 4/3 of its bytes
 * inflated and 16/3 in the model file. */
#ifndef FERRY_CONTAINERS_BUDGET_H
#define FERRY_CONTAINERS_BUDGET_H

#include "base/memory.h"
#include "base/status.h"

/* Stays where it began: the account refers to it. */
typedef struct ferry_budget {
    ferry_memory memory;
    ferry_account account;
    bool follows_files; /* the limit grows with the files */
} ferry_budget;

/* `bytes`: the limit; 0: the one above. */
void ferry_budget_begin(ferry_budget *budget, uint64_t bytes);
/* A file of so many bytes is about to be read. */
void ferry_budget_add_file(ferry_budget *budget, uint64_t bytes);
/* `status`, unless the account has refused something: LIMIT then, with a message that names `file` in place of what
 * *error says. */
ferry_status ferry_budget_check(const ferry_budget *budget, const char *file, ferry_status status, ferry_error *error);

#endif
