#include "folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool ferry_path_is_absolute(const char *path)
{
#if defined(_WIN32)
    return path[0] != '\0' && path[1] == ':' && (path[2] == '/' || path[2] == '\\');
#else
    return path[0] == '/';
#endif
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_name(char ***names, size_t *capacity, size_t *count, const char *name)
{
    char *copy = ferry_text_copy(name), **added = NULL;
    if (copy != NULL) added = ferry_array_add(names, count, capacity, sizeof *added);
    if (added != NULL) {
        *added = copy;
        return true;
    }
    free(copy);
    errno = ENOMEM;
    return false;
}

bool ferry_folder_names(const char *path, bool (*keep)(const char *name), char ***names, size_t *count)
{
    ferry_folder *folder = ferry_folder_open(path);
    const char *name;
    size_t capacity = 0;
    bool added = true;
    *names = NULL;
    *count = 0;
    if (folder == NULL) return false;
    while (added && (name = ferry_folder_next(folder)) != NULL)
        if (keep(name)) added = add_name(names, &capacity, count, name);
    const int failure = errno;
    ferry_folder_close(folder);
    if (!added || failure != 0) {
        for (size_t i = 0; i < *count; i++) free((*names)[i]);
        free(*names);
        *names = NULL;
        *count = 0;
        errno = failure;
        return false;
    }
    if (*count > 0) qsort(*names, *count, sizeof **names, compare_texts);
    return true;
}
