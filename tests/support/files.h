/* Files that tests read, make and damage. Paths and what is read from them last until the program ends. Failures are
 * cmocka's. */
#ifndef FERRY_SUPPORT_FILES_H
#define FERRY_SUPPORT_FILES_H

#include "support.h"

#include "engine/file/model_file.h"
#include "models/containers/weights.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- reading, writing ---- */

typedef struct made_file {
    unsigned char *data; /* [capacity] */
    size_t size, capacity;
} made_file;

/* The whole file. */
ferry_view mapped_bytes(const char *path);
/* A model file, mapped, on the best kernels. */
ferry_status open_model_file(const char *path, ferry_model_file *file, ferry_error *error);
/* A copy of it in memory of exactly its size. */
made_file file_copy(const char *path);
/* Replaces a file, or a link to one. */
void write_bytes(const char *path, const void *data, size_t size);
void write_text(const char *directory, const char *name, const char *text);
/* directory/name as a link to `target`, or on Windows as a copy. */
void link_file(const char *target, const char *directory, const char *name);
/* Where `part` first occurs, or NULL. */
const char *find_text(ferry_view text, const char *part);
ferry_view text_view(const char *text);
bool has_text(ferry_view view, const char *text);

/* ---- small files made byte by byte ---- */

/* A little-endian number, its higher bytes zero beyond 8. */
void put(made_file *file, uint64_t value, size_t size);
typedef struct sized_number {
    uint64_t value;
    size_t size;
} sized_number;
void put_numbers(made_file *file, const sized_number *numbers, size_t count);
#define PUT(file, ...)                                                                                                 \
    put_numbers(file, (const sized_number[]){__VA_ARGS__}, COUNT(((const sized_number[]){__VA_ARGS__})))
void put_bytes(made_file *file, const void *data, size_t size);
/* Without the NUL. */
void put_text(made_file *file, const char *text);
/* `unit` so many times, in which # becomes 0, 1, 2, … */
ferry_view repeated_text(const char *start, const char *unit, size_t times, const char *end);
/* A file of safetensors from its header's text and its data. */
made_file made_safetensors(ferry_view header, const void *data, size_t size);
/* A copy of the first `size` bytes in memory of exactly that size, so that the sanitizers see a read past the end. */
ferry_view cut_to(const made_file *file, size_t size);
ferry_view whole(const made_file *file);

#endif
