#include "folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool ferry_folder_names(const char *path, bool (*keep)(const char *name), char ***names, size_t *count)
{
    ferry_folder *folder = ferry_folder_open(path);
    const char *name;
    size_t capacity = 0;
    *names = NULL;
    *count = 0;
    if (folder == NULL) return false;
    while ((name = ferry_folder_next(folder)) != NULL) { /* which sets errno */
        if (!keep(name)) continue;
        char *copy = ferry_text_copy(name), **added = NULL;
        if (copy != NULL) added = ferry_array_add(names, count, &capacity, sizeof *added);
        if (added == NULL) {
            free(copy);
            errno = ENOMEM;
            break;
        }
        *added = copy;
    }
    const int failure = errno;
    ferry_folder_close(folder);
    if (failure == 0 && *count > 0) qsort(*names, *count, sizeof **names, compare_texts);
    if (failure == 0) return true;
    while (*count > 0) free((*names)[--*count]);
    free(*names);
    *names = NULL;
    errno = failure;
    return false;
}
