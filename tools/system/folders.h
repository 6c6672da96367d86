/* What the program needs of files and folders, beyond base/files/file_system.h: folders that are held open, private
 * files, streams that are locked or cut. Functions that fail leave the reason in errno. */
#ifndef FERRY_TOOLS_FOLDERS_H
#define FERRY_TOOLS_FOLDERS_H

#include <stdio.h>

#include "base/files/file_system.h"

/* Of a path, and of a name in it, with NUL. */
enum { FERRY_PATH_MAX = 4096, FERRY_NAME_MAX = 256 };

/* The effective user, where users have numbers. */
uint64_t ferry_user(void);

bool ferry_path_is_absolute(const char *path);

/* ---- folders ---- */

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

#endif
