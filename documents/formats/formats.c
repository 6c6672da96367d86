#include "formats.h"

#include <string.h>

const ferry_document_format *const ferry_document_formats[] = {
    &ferry_format_text,     &ferry_format_html, &ferry_format_srt,  &ferry_format_vtt,
    &ferry_format_markdown, &ferry_format_po,   &ferry_format_json, NULL,
};

/* Of files with a structure that no reader knows. */
static const char *const other_endings[] = {".yml",  ".yaml", ".csv", ".tsv",        ".xml",  ".xliff",
                                            ".xlf",  ".ts",   ".mdx", ".strings",    ".ass",  ".ssa",
                                            ".ttml", ".rst",  ".tex", ".properties", ".adoc", NULL};

const ferry_document_format *ferry_document_format_named(const char *name)
{
    for (const ferry_document_format *const *format = ferry_document_formats; *format != NULL; format++) {
        if (strcmp((*format)->name, name) == 0) return *format;
        for (const char *const *ending = (*format)->endings; *ending != NULL; ending++)
            if (strcmp(*ending + 1, name) == 0) return *format;
    }
    return NULL;
}

static bool has_ending(const char *path, const char *const *endings)
{
    const size_t size = strlen(path);
    for (; *endings != NULL; endings++) {
        const size_t length = strlen(*endings);
        if (size > length && ferry_compare_letters(path + size - length, *endings, length) == 0) return true;
    }
    return false;
}

const ferry_document_format *ferry_document_format_of_file(const char *path)
{
    const ferry_document_format *const *format = ferry_document_formats;
    while (*format != NULL && !has_ending(path, (*format)->endings)) format++;
    return *format;
}

bool ferry_document_has_other_format(const char *path)
{
    return has_ending(path, other_endings);
}
