#include "formats.h"

#include <string.h>

const ferry_document_format *const ferry_document_formats[] = {
    &ferry_format_text,
    &ferry_format_html,
    &ferry_format_srt,
    &ferry_format_vtt,
    &ferry_format_markdown,
    &ferry_format_po,
    NULL,
};

const ferry_document_format *ferry_document_format_named(const char *name)
{
    const ferry_document_format *const *format = ferry_document_formats;
    while (*format != NULL && strcmp((*format)->name, name) != 0) format++;
    return *format;
}

static bool has_ending(const ferry_document_format *format, const char *path)
{
    const size_t size = strlen(path);
    for (const char *const *ending = format->endings; *ending != NULL; ending++) {
        const size_t length = strlen(*ending);
        if (size > length && ferry_compare_letters(path + size - length, *ending, length) == 0) return true;
    }
    return false;
}

const ferry_document_format *ferry_document_format_of_file(const char *path)
{
    const ferry_document_format *const *format = ferry_document_formats;
    while (*format != NULL && !has_ending(*format, path)) format++;
    return *format;
}
