#include "memory.h"

#include <stdint.h>

bool ferry_account_take(ferry_account *account, size_t bytes)
{
    if (account == NULL || account->memory == NULL) return true;
    ferry_memory *memory = account->memory;
    const size_t limit = memory->limit > 0 ? memory->limit : SIZE_MAX;
    size_t held = atomic_load(&memory->held);
    do {
        if (bytes > limit || held > limit - bytes) {
            account->needed = held < SIZE_MAX - bytes ? held + bytes : SIZE_MAX;
            return false;
        }
    } while (!atomic_compare_exchange_weak(&memory->held, &held, held + bytes));
    size_t peak = atomic_load(&memory->peak);
    while (peak < held + bytes && !atomic_compare_exchange_weak(&memory->peak, &peak, held + bytes)) continue;
    return true;
}

void ferry_account_give(ferry_account *account, size_t bytes)
{
    if (account != NULL && account->memory != NULL) atomic_fetch_sub(&account->memory->held, bytes);
}
