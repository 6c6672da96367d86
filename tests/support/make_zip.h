/* Small zip archives of stored members, for the tests of what reads archives, and compressed data for them. */
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
/* Bytes that compress well: `start`, `unit` so many times, `end`. */
typedef struct repeated {
    const char *start;
    ferry_view unit;
    size_t times;
    const char *end;
} repeated;

/* Appends them as a gzip file. */
void put_gzip(made_file *file, const repeated *bytes);
/* An archive of one member, deflated; returns its size. */
size_t write_deflated(const char *path, const char *name, const repeated *bytes);

#endif
