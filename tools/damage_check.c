#include "damage_check.h"

#include "command.h"

void ferry_damage_check(ferry_damage *damage, const ferry_model *model, const ferry_result *result, size_t line)
{
    ferry_error error;
    const bool odd = ferry_result_outcome(result, line)->status == FERRY_ERROR_FORMAT ||
                     ferry_result_outcome(result, line)->quality != 0;
    if (!odd || damage->looked) return;
    damage->looked = true;
    damage->found = ferry_model_verify(model, &error) == FERRY_ERROR_FORMAT;
    if (damage->found) ferry_complain("%s; translations cannot be trusted", error.message);
}
