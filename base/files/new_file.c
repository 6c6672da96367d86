#include "new_file.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/system.h"

#define TEMPORARY_START "ferry-"
#define TEMPORARY_ENDING ".part"

ferry_temporary_name ferry_temporary_name_create(void)
{
    ferry_temporary_name name;
    uint64_t random;
    ferry_random_bytes(&random, sizeof random);
    snprintf(name.text, sizeof name.text, TEMPORARY_START "%016" PRIx64 TEMPORARY_ENDING, random);
    return name;
}

bool ferry_is_temporary_name(const char *name)
{
    return ferry_text_begins(name, TEMPORARY_START) && ferry_text_ends(name, TEMPORARY_ENDING);
}

ferry_status ferry_new_file_write(ferry_new_file *file, const void *data, size_t size, ferry_error *error)
{
    const ferry_status status = ferry_new_file_write_at(file, file->size, data, size, error);
    file->size += size;
    return status;
}
