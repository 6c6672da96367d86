#include "budget.h"

#include <stdint.h>

enum { BASE = 256 << 20, FACTOR = 8 };

void ferry_budget_begin(ferry_budget *budget, uint64_t bytes)
{
    *budget = (ferry_budget){.follows_files = bytes == 0};
    budget->memory.limit = bytes == 0 ? BASE : bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
    budget->account.memory = &budget->memory;
}

void ferry_budget_add_file(ferry_budget *budget, uint64_t bytes)
{
    size_t *limit = &budget->memory.limit;
    if (!budget->follows_files) return;
    *limit = bytes < (SIZE_MAX - *limit) / FACTOR ? *limit + FACTOR * (size_t)bytes : SIZE_MAX;
}

ferry_status ferry_budget_check(const ferry_budget *budget, const char *file, ferry_status status, ferry_error *error)
{
    if (budget->account.needed == 0) return status;
    return ferry_fail(error, FERRY_ERROR_LIMIT,
                      "%s: would need %zu bytes of memory, temporary files and model file together; the budget of this "
                      "source is %zu bytes",
                      file, budget->account.needed, budget->memory.limit);
}
