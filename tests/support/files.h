/* Files that tests read, make and damage. Paths and what is read from them last until the program ends. Failures are
 * cmocka's. */
#ifndef FERRY_SUPPORT_FILES_H
#define FERRY_SUPPORT_FILES_H

#include "support.h"
#include "test.h"

#include "models/containers/weights.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Memory that lasts until the program ends. */
void *kept_memory(size_t size);

/* ---- paths ---- */

/* "directory/name" */
char *in_directory(const char *directory, const char *name);
/* In the test data, `name` being a format of printf. */
__attribute__((format(printf, 1, 2))) char *data_file(const char *name, ...);
/* In the large golden data; where there is none, the test ends here as not run. */
__attribute__((format(printf, 1, 2))) char *shared_file(const char *name, ...);
/* In the directory of scratch files. */
char *scratch_file(const char *name);
/* A new directory there. */
char *scratch_directory(const char *name);

/* ---- reading, writing ---- */

/* The whole file. */
ferry_view mapped_bytes(const char *path);
/* Replaces a file, or a link to one. */
void write_bytes(const char *path, const void *data, size_t size);
void write_text(const char *directory, const char *name, const char *text);
/* directory/name as a link to `target`. */
void link_file(const char *target, const char *directory, const char *name);
ferry_view text_view(const char *text);
bool has_text(ferry_view view, const char *text);

/* ---- small files made byte by byte ---- */

typedef struct made_file {
    unsigned char *data; /* [capacity] */
    size_t size, capacity;
} made_file;

/* A little-endian number, its higher bytes zero beyond 8. */
void put(made_file *file, uint64_t value, size_t size);
void put_bytes(made_file *file, const void *data, size_t size);
/* Without the NUL. */
void put_text(made_file *file, const char *text);
/* A copy of the first `size` bytes in memory of exactly that size, so that the sanitizers see a read past the end. */
ferry_view cut_to(const made_file *file, size_t size);
ferry_view whole(const made_file *file);
/* A copy with another byte at `at`. */
made_file with_byte(const made_file *file, size_t at, unsigned char byte);

/* ---- refusals ---- */

/* `found` and its message are `status` and a text that contains `what`, or the test fails. */
void check_refusal(ferry_status found, const ferry_error *error, ferry_status status, const char *what);

typedef ferry_status weights_reader(ferry_view bytes, const char *file, ferry_weights *weights, ferry_error *error);

/* Read as the file "damaged.bin": refused by that name, and without tensors. */
void refuse_weights(weights_reader *read, ferry_view bytes, ferry_status status, const char *what);
/* The tensor, which must exist. */
ferry_weights_entry *find_weights(const ferry_weights *weights, const char *name);

/* One byte of a file that is changed, and what is said to it. */
typedef struct damage {
    size_t at;
    unsigned char byte;
    ferry_status status;
    const char *what;
} damage;

void refuse_damage(weights_reader *read, const made_file *file, const damage *rows, size_t count);

#endif
