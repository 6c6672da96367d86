/* Writes a file that appears under its name complete, or not at all: the bytes go to a temporary file in the same
 * folder, which is renamed at the end.
 *
 *     open → write… → finish → close
 *
 * If the name is a symbolic link, the link stays, and its target is replaced or created. Folders, devices, pipes and
 * sockets are refused, and a file that the user may not write. A file that replaces one of the user's has its
 * permissions; one that replaces somebody else's has its permissions less the umask; a new one has 0666 less the umask.
 * (Windows: the folder decides.) Hard links to the old file keep the old contents.
 *
 * The first write creates the temporary file, ferry-RANDOM.part. ferry_new_file_close removes it; it stays if the
 * process is killed before. */
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
    const char *path; /* for messages; the caller keeps it until ferry_new_file_close */
    int directory;    /* descriptor of the folder; -1: none */
    char *place;      /* Windows: the path without links, instead of `directory` and `name` */
    int descriptor;   /* of the temporary file; -1: none */
    unsigned mode;    /* permissions of the file that is replaced, or 0666 */
    bool owned;       /* the file that is replaced belongs to the user */
    uint64_t size;    /* bytes written */
    char name[256];   /* in the folder */
    ferry_temporary_name temporary;
} ferry_new_file;

/* Finds the folder and the name for `path`. Creates nothing. Errors: IO. */
ferry_status ferry_new_file_open(const char *path, ferry_new_file *file, ferry_error *error);
/* Writes at `offset`: replaces bytes that were written, or appends. The first call creates the temporary file. Errors:
 * IO. */
ferry_status ferry_new_file_write_at(ferry_new_file *file, uint64_t offset, const char *data, size_t size,
                                     ferry_error *error);
/* Appends. Errors: IO. */
ferry_status ferry_new_file_write(ferry_new_file *file, const void *data, size_t size, ferry_error *error);
/* Waits until the bytes are on the disk, then renames the file. Errors: IO. */
ferry_status ferry_new_file_finish(ferry_new_file *file, ferry_error *error);
/* Required after ferry_new_file_open succeeded, allowed after it failed. */
void ferry_new_file_close(ferry_new_file *file);

#endif
