#define _XOPEN_SOURCE 700 /* mkstemp */
#include "temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int ferry_temporary_open(void)
{
    char path[4096];
    const char *place = getenv("TMPDIR");
    const int length = snprintf(path, sizeof path, "%s/ferry-XXXXXX", place != NULL && place[0] != 0 ? place : "/tmp");
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int descriptor = mkstemp(path);
    if (descriptor >= 0) unlink(path);
    return descriptor;
}

bool ferry_temporary_append(int descriptor, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}
