/* The files of a model as somebody published them: a directory, a zip archive, or one file with those beside it.
 *
 * Names are relative to the model's directory; one folder deep is seen, too ("model/model.bin"). In an archive whose
 * members all lie in one top folder, that folder is left out of names. Gzip-compressed files are inflated (zlib) as
 * they are mapped; their names lose ".gz". */
#ifndef FERRY_PLAN_SOURCE_H
#define FERRY_PLAN_SOURCE_H

#include "base/memory.h"
#include "models/containers/reader.h"
#include "models/containers/zip.h"

enum { FERRY_SHA256_DIGITS = 64 };

typedef struct ferry_source_file {
    const char *name;      /* without ".gz" */
    const char *published; /* with it */
    const char *label;     /* NULL: not needed yet */
    size_t member;         /* of the archive, if there is one */
    bool counted;          /* in the budget's limit */
    bool noted;            /* among those that were read */
    bool mapped;
    ferry_mapped_file map;      /* of a file on disk */
    ferry_mapped_file inflated; /* of a temporary file */
    ferry_view original;        /* as published */
    ferry_view bytes;
    char hash[FERRY_SHA256_DIGITS + 1]; /* "": not computed yet */
} ferry_source_file;

/* Other files only read the members above the line. */
typedef struct ferry_source {
    const char *path; /* the caller's path, for messages */
    const char *base; /* its last part without slashes, for general.name */
    /* "snapshots/HASH", which is read in a folder of huggingface_hub (hub_cache.h); otherwise NULL or "". */
    const char *snapshot;
    const char *folder; /* of a file, the last part of the name of its folder; "" for a directory */
    /* The name in `files` of a file of weights that the caller named; NULL for a directory or archive. */
    const char *selected;
    ferry_source_file *files; /* [count] by name (strcmp) */
    size_t count;
    ferry_source_file **read; /* [read_count] that were read, in their order; room for all */
    size_t read_count;
    ferry_budget budget; /* its account is where the source's bytes are taken from */
    /* ---- */
    size_t capacity;
    char *real;            /* the path without links, "." and "/" at its end */
    const char *directory; /* of files on disk, and before names in messages */
    ferry_mapped_file map;
    ferry_zip *archive; /* NULL: files are on disk */
    const char *asked;  /* label of the last file that was looked for; at first, the path */
    bool out_of_memory; /* for a file */
    ferry_arena arena;  /* names */
} ferry_source;

/* `budget`: what reading and converting the source may take, in bytes; 0: the default (models/containers/reader.h).
 * Errors: IO, FORMAT, MEMORY, LIMIT (the budget). */
ferry_status ferry_source_open(const char *path, uint64_t budget, ferry_source **source, ferry_error *error);
/* NULL is allowed. */
void ferry_source_close(ferry_source *source);

bool ferry_source_has(const ferry_source *source, const char *name);

/* Bytes of a file; they stay until the source is closed. A file is noted as read (for the origin of the model file).
 * Errors: IO, FORMAT, UNSUPPORTED (a Git LFS pointer), MEMORY, LIMIT (the budget, from its first refusal on). */
ferry_status ferry_source_map(ferry_source *source, const char *name, ferry_view *bytes, ferry_error *error);
/* The same without that note, to find out whether a file is needed. */
ferry_status ferry_source_look(ferry_source *source, const char *name, ferry_view *bytes, ferry_error *error);
/* `status` of what was made of the source, unless memory or the budget did not suffice: MEMORY or LIMIT then, and a
 * message that names `file`, or the last file that was looked for (NULL). (A caller that only looks whether a file is a
 * model's takes such a failure for "no".) */
ferry_status ferry_source_check(const ferry_source *source, const char *file, ferry_status status, ferry_error *error);
/* "path/name" for messages, as long as the source lives; the name itself when out of memory. */
const char *ferry_source_label(ferry_source *source, const char *name);
/* Hint: a range of bytes from ferry_source_map will not be read again soon. */
void ferry_source_release(ferry_source *source, const void *data, size_t size);

/* The sum of the sizes of the files that were read, as they were published. */
uint64_t ferry_source_read_bytes(const ferry_source *source);
/* The SHA-256 of a file that was read, as it was published (hexadecimal; computed on the first call). */
const char *ferry_source_hash(ferry_source *source, ferry_source_file *file);

#endif
