#include "engine/api/argument_checks.h"
#include "engine/api/model.h"
#include "engine/ferry_inspect.h"

ferry_status ferry_inspect_open(const char *path, const char *isa, ferry_model **model, ferry_error *error)
{
    const ferry_kernels *kernels;
    ferry_mapped_file map;
    FERRY_NEEDS(model);
    *model = NULL;
    FERRY_NEEDS(path);
    FERRY_TRY(ferry_model_find_kernels(isa, &kernels, error));
    FERRY_TRY(ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &map, error));
    return ferry_model_create(map, path, kernels, model, error);
}

ferry_status ferry_inspect_open_fd(int fd, const char *name, const char *isa, ferry_model **model, ferry_error *error)
{
    const ferry_kernels *kernels;
    ferry_mapped_file map;
    FERRY_NEEDS(model);
    *model = NULL;
    FERRY_NEEDS(name);
    if (fd < 0) return ferry_fail(error, FERRY_ERROR_ARGUMENT, "fd: expected an open file, found %d", fd);
    FERRY_TRY(ferry_model_find_kernels(isa, &kernels, error));
    FERRY_TRY(ferry_mapped_file_open_part(fd, name, 0, 0, FERRY_FILE_MAPPED, &map, error));
    return ferry_model_create(map, name, kernels, model, error);
}
