/* Files and folders: what they are, what a file or a folder holds; streams. Functions that fail leave the reason in
 * errno. */
#ifndef FERRY_BASE_FILE_SYSTEM_H
#define FERRY_BASE_FILE_SYSTEM_H

#include <stdio.h>

#include "bytes.h"
#include "status.h"

/* ---- what they are ---- */

typedef enum ferry_file_kind {
    FERRY_KIND_FILE,
    FERRY_KIND_FOLDER,
    FERRY_KIND_LINK, /* symbolic */
    FERRY_KIND_PIPE,
    FERRY_KIND_SOCKET,
    FERRY_KIND_DEVICE
} ferry_file_kind;

typedef struct ferry_file_time {
    int64_t seconds, nanoseconds; /* since 1970 */
} ferry_file_time;

/* The effective user, where users have numbers. */
uint64_t ferry_user(void);

typedef struct ferry_file_info {
    ferry_file_kind kind;
    uint64_t size;
    uint64_t device, number; /* both together: of no other file */
    uint64_t links;          /* its names */
    ferry_file_time written; /* which anybody can set */
    ferry_file_time changed; /* the contents or the properties */
    uint64_t owner;
    unsigned permissions; /* POSIX's */
    bool private_to_user; /* the effective user is the owner, and nobody else may write */
} ferry_file_info;

/* Of what the path leads to; of the last part itself, even if that is a link; of an open file. */
bool ferry_file_examine(const char *path, ferry_file_info *info);
bool ferry_file_examine_link(const char *path, ferry_file_info *info);
bool ferry_file_examine_open(int descriptor, ferry_file_info *info);

/* IO, and the message says what `name` is instead. */
ferry_status ferry_expect_regular_file(const char *name, ferry_file_kind kind, ferry_error *error);

/* ---- paths ---- */

/* Of a path, and of a name in it, with NUL. */
enum { FERRY_PATH_MAX = 4096, FERRY_NAME_MAX = 256 };

bool ferry_path_is_absolute(const char *path);
/* What follows the last separator; all of it if there is none. */
const char *ferry_path_base(const char *path);
/* The absolute path without links, "." and "..", with '/' as its separator. The caller frees it. */
char *ferry_path_real(const char *path);

/* ---- descriptors ---- */

/* A descriptor for reading, or -1; does not wait for a pipe's other end, nor make a terminal the process's own. */
int ferry_descriptor_open(const char *path);
void ferry_descriptor_close(int descriptor);
/* How many bytes were read, which are fewer than `size` at the end of the file alone; -1 on failure. */
int64_t ferry_descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset);

/* ---- folders ---- */

typedef struct ferry_folder ferry_folder;

ferry_folder *ferry_folder_open(const char *path);
/* The next name, "." and ".." included, until the next call. NULL at the end, with errno 0, or on failure. */
const char *ferry_folder_next(ferry_folder *folder);
void ferry_folder_close(ferry_folder *folder);

/* The names that `keep` accepts, in the order of strcmp; the caller frees each one and *names. None on failure. */
bool ferry_folder_names(const char *path, bool (*keep)(const char *name), char ***names, size_t *count);

/* A folder that is opened once: its files are reached through it, wherever its path leads later. (Windows: through its
 * path.) */
typedef struct ferry_held_folder {
    int descriptor;   /* -1: none */
    const char *path; /* of the caller */
} ferry_held_folder;

/* Refuses a link: ENOTDIR or ELOOP. */
bool ferry_held_folder_open(ferry_held_folder *folder, const char *path);
void ferry_held_folder_close(ferry_held_folder *folder);
bool ferry_held_folder_examine(const ferry_held_folder *folder, ferry_file_info *info);
/* What has this name, even if it is a link. */
bool ferry_held_folder_examine_file(const ferry_held_folder *folder, const char *name, ferry_file_info *info);
/* A descriptor for reading, or -1; neither follows a link nor waits for a pipe. */
int ferry_held_folder_open_file(const ferry_held_folder *folder, const char *name);
bool ferry_held_folder_rename(const ferry_held_folder *folder, const char *name, const char *new_name);
/* A file, a link, or an empty folder. */
bool ferry_held_folder_remove(const ferry_held_folder *folder, const char *name);
ferry_folder *ferry_held_folder_list(const ferry_held_folder *folder);

bool ferry_folder_create_private(const char *path);
/* Sets the time of writing to now, if the system permits. */
void ferry_file_touch(int descriptor);
/* From now on, files are created for the user alone; returns what ferry_creation_restore needs. */
unsigned ferry_creation_private(void);
void ferry_creation_restore(unsigned before);

/* ---- streams ---- */

/* fopen(). */
FILE *ferry_stream_open(const char *path, const char *mode);
int ferry_stream_descriptor(FILE *stream);
/* Keeps other processes that ask for the same from writing the file, until this one closes any descriptor of it or
 * ends. False: another one has it, *holder (0: its number is not known). What is no file, or on a disk without locks,
 * may have several writers. */
bool ferry_stream_lock(FILE *stream, int64_t *holder);
/* Cuts off what is behind the first `size` bytes of the file, and continues there. */
bool ferry_stream_cut(FILE *stream, uint64_t size);

/* A stream into memory. */
typedef struct ferry_memory_stream {
    FILE *file;
    char *data; /* set by ferry_memory_stream_close; the caller frees it */
    size_t size;
} ferry_memory_stream;
bool ferry_memory_stream_open(ferry_memory_stream *stream);
/* False, with data NULL, if anything was lost. */
bool ferry_memory_stream_close(ferry_memory_stream *stream);

#endif
