/* What mapped_file.c asks of the operating system. Functions that fail leave the reason in errno. */
#ifndef FERRY_BASE_PAGES_H
#define FERRY_BASE_PAGES_H

#include "bytes.h"

/* `length` > 0 bytes of a file, mapped; NULL on failure. */
const char *ferry_pages_map(int descriptor, uint64_t offset, size_t length);
/* `size` > 0 bytes of memory; NULL on failure. */
char *ferry_pages_allocate(size_t size);
/* What one of both returned. */
void ferry_pages_release(const char *data, size_t size, bool mapped);
/* Mapped bytes need not stay resident. */
void ferry_pages_forget(const char *data, size_t size);

#endif
