/* Small zip archives of stored members, for the tests of what reads archives. */
#ifndef FERRY_SUPPORT_MAKE_ZIP_H
#define FERRY_SUPPORT_MAKE_ZIP_H

#include "files.h"

typedef struct zip_part {
    const char *name;
    const void *data;
    size_t size;
} zip_part;

ferry_view make_zip(const zip_part *parts, size_t count);
void write_zip(const char *path, const zip_part *parts, size_t count);

#endif
