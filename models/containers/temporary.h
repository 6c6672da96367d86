/* A file without a name, for what archives inflate to: mapped, it costs no anonymous memory. */
#ifndef FERRY_CONTAINERS_TEMPORARY_H
#define FERRY_CONTAINERS_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

/* Its descriptor, which the caller closes; in the folder that TMPDIR names, else the system's usual one. -1 and errno
 * when there is none. */
int ferry_temporary_open(void);
/* false and errno when not all of it could be written. */
bool ferry_temporary_append(int descriptor, const unsigned char *bytes, size_t size);

#endif
