/* One new file at a time, in memory (files_wasm.h). */
#include "new_file.h"

#include <string.h>

#include "base/files_wasm.h"
#include "file_system.h"

static ferry_spool spool;

ferry_status ferry_new_file_open(const char *path, ferry_new_file *file, ferry_error *error)
{
    (void)error;
    *file = (ferry_new_file){.path = path, .directory = -1, .descriptor = -1};
    ferry_spool_open(&spool);
    return FERRY_OK;
}

ferry_status ferry_new_file_write_at(ferry_new_file *file, uint64_t offset, const char *data, size_t size,
                                     ferry_error *error)
{
    if (offset < spool.size) { /* within the bytes that were written */
        memcpy(spool.memory + offset, data, size);
        return FERRY_OK;
    }
    if (ferry_spool_append(&spool, data, size)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_MEMORY, "%s: out of memory: %zu bytes", file->path, spool.size + size);
}

ferry_status ferry_new_file_finish(ferry_new_file *file, ferry_error *error)
{
    if (!ferry_memory_file_add(file->path, spool.memory, spool.size))
        return ferry_fail(error, FERRY_ERROR_MEMORY, "%s: out of memory: one more file", file->path);
    spool = (ferry_spool){.descriptor = -1};
    return FERRY_OK;
}

void ferry_new_file_close(ferry_new_file *file)
{
    (void)file;
    ferry_spool_discard(&spool);
    spool = (ferry_spool){.descriptor = -1};
}
