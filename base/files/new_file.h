/* A file that is complete when it appears under its name, or does not appear: its bytes go to a temporary file in the
 * same folder, which takes the name at the end.
 *
 *     open → write… → finish → close
 *
 * A name that is a link means the file that it points to: the link stays, and its target is replaced or created.
 * Everything else that is no regular file is refused, and so is a file that may not be written. The new file has the
 * permissions of the one that it replaces, less the umask if that belongs to somebody else, and otherwise what the
 * umask leaves. (Windows: what the folder gives.) Other names of the old file (hard links) keep its contents.
 *
 * The temporary file, ferry-RANDOM.part, is created by the first write, and is always a new one. ferry_new_file_close
 * removes it; what ends the process earlier leaves it behind. */
#ifndef FERRY_FILES_NEW_FILE_H
#define FERRY_FILES_NEW_FILE_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_temporary_name {
    char text[sizeof "ferry-0123456789abcdef.part"];
} ferry_temporary_name;
/* A random one. */
ferry_temporary_name ferry_temporary_name_create(void);
bool ferry_is_temporary_name(const char *name);

typedef struct ferry_new_file {
    const char *path; /* of the caller: names the file in messages, and lasts until ferry_new_file_close */
    int directory;    /* -1: nothing is open */
    char *place;      /* Windows: the path without links, instead of `directory` and `name` */
    int descriptor;   /* of the temporary file; -1: there is none */
    unsigned mode;    /* of the file that is replaced, or of a new one */
    bool owned;       /* the file that is replaced belongs to the user */
    uint64_t size;    /* written so far */
    char name[256];   /* in the folder */
    ferry_temporary_name temporary;
} ferry_new_file;

/* Finds the place for the file, and creates nothing yet. Errors: IO. */
ferry_status ferry_new_file_open(const char *path, ferry_new_file *file, ferry_error *error);
/* Writes at `offset`: replaces bytes that were written, or appends. The first call creates the temporary file. Errors:
 * IO. */
ferry_status ferry_new_file_write_at(ferry_new_file *file, uint64_t offset, const char *data, size_t size,
                                     ferry_error *error);
/* Appends. Errors: IO. */
ferry_status ferry_new_file_write(ferry_new_file *file, const void *data, size_t size, ferry_error *error);
/* Waits until the bytes are on the disk, and puts the file in place. Errors: IO. */
ferry_status ferry_new_file_finish(ferry_new_file *file, ferry_error *error);
/* Necessary after an open that succeeded; allowed after one that failed. */
void ferry_new_file_close(ferry_new_file *file);

#endif
