/* The files of a model as somebody published them: a directory, a zip archive, or one file with those beside it.
 *
 * Names are relative to the model's directory; one folder deep is seen, too ("model/model.bin"). In an archive whose
 * members all lie in one top folder, that folder is left out of names. Gzip-compressed files are inflated (zlib) as
 * they are mapped; their names lose ".gz". */
#ifndef FERRY_PLAN_SOURCE_H
#define FERRY_PLAN_SOURCE_H

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"

typedef struct ferry_import_source ferry_import_source;

/* `budget`: what reading and converting the source may take, in bytes; 0: the default (models/containers/reader.h).
 * Errors: IO, FORMAT, MEMORY, LIMIT (the budget). */
ferry_status ferry_import_source_open(const char *path, uint64_t budget, ferry_import_source **source,
                                      ferry_error *error);
/* NULL is allowed. */
void ferry_import_source_close(ferry_import_source *source);

/* What the user named, for messages; its last part without slashes, for general.name; and, if the user named a file of
 * weights rather than a directory or an archive, that file's name among the others, or NULL. */
const char *ferry_import_source_path(const ferry_import_source *source);
const char *ferry_import_source_base(const ferry_import_source *source);
/* The last part of the name of the folder that a file, which the user named, lies in; "" for a directory. */
const char *ferry_import_source_folder(const ferry_import_source *source);
const char *ferry_import_source_selected(const ferry_import_source *source);

/* Names, in the order of strcmp. */
size_t ferry_import_source_count(const ferry_import_source *source);
const char *ferry_import_source_name(const ferry_import_source *source, size_t index);
bool ferry_import_source_has(const ferry_import_source *source, const char *name);

/* Bytes of a file; they stay until the source is closed. A file is noted as read (for the origin of the model file).
 * Errors: IO, FORMAT, UNSUPPORTED (a Git LFS pointer), MEMORY, LIMIT (the budget, from its first refusal on). */
ferry_status ferry_import_source_map(ferry_import_source *source, const char *name, ferry_view *bytes,
                                     ferry_error *error);
/* The same without that note: to look whether a file is the one that is needed. */
ferry_status ferry_import_source_look(ferry_import_source *source, const char *name, ferry_view *bytes,
                                      ferry_error *error);
/* Where the budget's bytes are taken from; stays until the source is closed. */
ferry_account *ferry_import_source_account(ferry_import_source *source);
/* `status` of what was made of the source, unless memory or the budget did not suffice: MEMORY or LIMIT then, and a
 * message that names `file`, or the file that was asked for last (NULL). Whoever only looked whether a file is a
 * model's took it for something else. */
ferry_status ferry_import_source_check(const ferry_import_source *source, const char *file, ferry_status status,
                                       ferry_error *error);
/* "path/name" for messages, as long as the source lives; the name itself when out of memory. */
const char *ferry_import_source_label(ferry_import_source *source, const char *name);
/* A range inside bytes that ferry_import_source_map gave was read for the last time for now. */
void ferry_import_source_release(ferry_import_source *source, const void *data, size_t size);

/* Files that were read: name, size and SHA-256 (hexadecimal, computed on the first call) of each as it was published.
 */
size_t ferry_import_source_read_count(const ferry_import_source *source);
/* The sum of their sizes. */
uint64_t ferry_import_source_read_bytes(const ferry_import_source *source);
ferry_status ferry_import_source_read(ferry_import_source *source, size_t index, const char **name, uint64_t *size,
                                      const char **hash, ferry_error *error);

#endif
