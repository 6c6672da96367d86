/* The files of a model as somebody published them: a directory, a zip archive, or one file with those beside it.
 *
 * Names are relative to the model's directory; one folder deep is seen, too ("model/model.bin"). In an archive whose
 * members all lie in one top folder, that folder is left out of names. Gzip-compressed files are inflated (zlib) as
 * they are mapped; their names lose ".gz". */
#ifndef FERRY_PLAN_SOURCE_H
#define FERRY_PLAN_SOURCE_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct ferry_import_source ferry_import_source;

/* Errors: IO, FORMAT, MEMORY. */
ferry_status ferry_import_source_open(const char *path, ferry_import_source **source, ferry_error *error);
/* NULL is allowed. */
void ferry_import_source_close(ferry_import_source *source);

/* What the user named, for messages; its last part without slashes, for general.name; and, if the user named a file of
 * weights rather than a directory or an archive, that file's name among the others, or NULL. */
const char *ferry_import_source_path(const ferry_import_source *source);
const char *ferry_import_source_base(const ferry_import_source *source);
const char *ferry_import_source_selected(const ferry_import_source *source);

/* Names, in the order of strcmp. */
size_t ferry_import_source_count(const ferry_import_source *source);
const char *ferry_import_source_name(const ferry_import_source *source, size_t index);
bool ferry_import_source_has(const ferry_import_source *source, const char *name);

/* Bytes of a file; they stay until the source is closed. A file is noted as read (for the origin of the model file).
 * Errors: IO, FORMAT, UNSUPPORTED (a Git LFS pointer), MEMORY. */
ferry_status ferry_import_source_map(ferry_import_source *source, const char *name, ferry_view *bytes,
                                     ferry_error *error);
/* Whether memory did not suffice for a file: who only looked whether it is a model's took it for something else. */
bool ferry_import_source_out_of_memory(const ferry_import_source *source);
/* "path/name" for messages, as long as the source lives; the name itself when out of memory. */
const char *ferry_import_source_label(ferry_import_source *source, const char *name);
/* A range inside bytes that ferry_import_source_map gave was read for the last time for now. */
void ferry_import_source_release(ferry_import_source *source, const void *data, size_t size);

/* Files that were read: name, size and SHA-256 (hexadecimal, computed on the first call) of each as it was published.
 */
size_t ferry_import_source_read_count(const ferry_import_source *source);
ferry_status ferry_import_source_read(ferry_import_source *source, size_t index, const char **name, uint64_t *size,
                                      const char **hash, ferry_error *error);

#endif
