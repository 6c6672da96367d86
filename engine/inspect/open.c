#include "engine/api/model.h"
#include "engine/ferry_inspect.h"

ferry_status ferry_inspect_open(const char *path, const char *isa, ferry_model **model, ferry_error *error)
{
    return ferry_model_open_on(path, isa, model, error);
}
