/* Small zip archives, sound and others, for the tests of what reads archives, and compressed data for them. */
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

/* ---- what no archiver writes ---- */

/* A member, and how it departs from a sound one; zeros: not at all. */
typedef struct zip_member {
    const char *name;
    const void *data;
    size_t bytes;             /* 0: a text */
    size_t times;             /* the data so many times, if deflated */
    const repeated *repeated; /* instead of data */
    bool deflate;
    const char *local_name;    /* instead of `name` */
    int32_t method, flags;     /* added */
    uint32_t crc;              /* xor */
    int64_t size, stored_size; /* added to the true ones in the directory */
    int64_t moved;             /* added to the offset of the local header */
    bool zip64;                /* sizes and offset in an extra field */
} zip_member;

typedef struct made_zip {
    made_file file;
    size_t directory, end; /* offsets; the end's record */
    uint64_t shift;        /* added to what end_zip64 says of offsets */
} made_zip;

/* Members and directory; sizes stand in the directory only, as PyTorch has them. */
made_zip begin_zip(const zip_member *members, size_t count);
void end_zip(made_zip *zip, size_t count, const char *comment);
void end_zip64(made_zip *zip, uint64_t count);
made_zip whole_zip(const zip_member *members, size_t count);

#endif
