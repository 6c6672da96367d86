/* Pages of memory, from the operating system. Functions that fail leave the reason in errno. */
#ifndef FERRY_BASE_PAGES_H
#define FERRY_BASE_PAGES_H

#include "bytes.h"

/* `length` > 0 bytes of a file, mapped; NULL on failure. */
const char *ferry_pages_map(int descriptor, uint64_t offset, size_t length);
/* `size` > 0 bytes of memory; NULL on failure. */
char *ferry_pages_allocate(size_t size);
/* What one of both returned. */
void ferry_pages_release(const char *data, size_t size, bool mapped);
/* These bytes need not stay resident: those of a file are read again, what is in other memory may be lost. */
void ferry_pages_forget(const char *data, size_t size);

#endif
