/* The folder in which huggingface_hub keeps a model that it downloaded, "models--OWNER--NAME":
 *
 *     refs/main          the name of the snapshot that the branch `main` is at
 *     snapshots/NAME/    the files, which are links into blobs (where links are not allowed, files)
 *     blobs/             contents; "….incomplete" while they are downloaded */
#ifndef FERRY_FILES_HUB_CACHE_H
#define FERRY_FILES_HUB_CACHE_H

#include "base/bytes.h"
#include "base/status.h"

/* *snapshot: "snapshots/NAME", that of refs/main, or the only one; "" if `path` is no such folder. Never an older one:
 * IO if that of refs/main is not complete, or if it is not known which of several is meant. */
ferry_status ferry_hub_snapshot(const char *path, ferry_short_text *snapshot, ferry_error *error);
/* NAME of "models--OWNER--NAME", which `real` or, of a snapshot, the folder two above it is called; size 0: no such
 * folder. */
ferry_view ferry_hub_name(const char *real);

#endif
