#include "glossary_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "command.h"

/* The text without white space at its ends, as lists of other programs have it. */
static ferry_text trim(const char *begin, const char *end)
{
    const ferry_view trimmed = ferry_utf8_trim((ferry_view){begin, (size_t)(end - begin)});
    return (ferry_text){trimmed.data, trimmed.size};
}

static bool read_entry(ferry_glossary_file *file, size_t line)
{
    const ferry_text text = file->lines.texts[line];
    const char *end = text.data + text.size, *tab = text.size > 0 ? memchr(text.data, '\t', text.size) : NULL;
    if (ferry_utf8_is_blank((ferry_view){text.data, text.size})) return true;
    if (tab != NULL && memchr(tab + 1, '\t', (size_t)(end - tab - 1)) != NULL) {
        ferry_complain("%s: line %zu: expected a source, a tab and a target, found two tabs", file->lines.name,
                       line + 1);
        return false;
    }
    ferry_document_term entry = {.source = trim(text.data, tab != NULL ? tab : end)};
    if (tab != NULL) entry.target = trim(tab + 1, end);
    file->entries[file->count++] = entry;
    return true;
}

bool ferry_glossary_file_open(ferry_glossary_file *file, const char *path)
{
    *file = (ferry_glossary_file){.lines = {.descriptor = -1}};
    if (path == NULL) return true;
    if (!ferry_lines_open(&file->lines, path)) return false;
    if (!ferry_lines_rest(&file->lines) && file->lines.failed) return false;
    file->entries = ferry_allocate(file->lines.count + 1, sizeof *file->entries);
    if (file->entries == NULL) return false;
    for (size_t i = 0; i < file->lines.count; i++)
        if (!read_entry(file, i)) return false;
    return true;
}

void ferry_glossary_file_close(ferry_glossary_file *file)
{
    free(file->entries);
    ferry_lines_close(&file->lines);
}
