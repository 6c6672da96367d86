#include "glossary_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "command.h"
#include "line_reader.h"

/* Where an entry comes from, and its targets among those of all. */
typedef struct place {
    size_t line, first_target;
} place;

typedef struct reader {
    ferry_lines lines; /* all of the file; fields lose their quotes in place */
    char separator;
    size_t at, line;               /* the next byte, and the number of its line */
    ferry_glossary_entry *entries; /* [count] */
    place *places;                 /* [count] */
    ferry_text *targets;           /* [target_count] of all entries */
    size_t count, target_count;
    size_t entries_capacity, places_capacity, targets_capacity;
} reader;

static bool fail(const reader *r, size_t line, const char *why)
{
    ferry_complain("%s: line %zu: %s", r->lines.name, line, why);
    return false;
}

/* ---- fields ---- */

/* Moves to the end of a line, or to the separator before it. */
static void skip_field(reader *r)
{
    const char *data = r->lines.data;
    while (r->at < r->lines.taken && data[r->at] != '\n' && data[r->at] != r->separator) r->at++;
}

/* Reads a field from its opening quote on; moves behind the closing one. */
static bool read_quoted(reader *r, ferry_view *field)
{
    char *data = r->lines.data;
    const size_t begin = ++r->at, line = r->line, size = r->lines.taken;
    size_t to = begin;
    for (; r->at < size; r->at++) {
        if (data[r->at] == '"' && !(r->at + 1 < size && data[r->at + 1] == '"')) break;
        r->at += data[r->at] == '"';
        r->line += data[r->at] == '\n';
        data[to++] = data[r->at];
    }
    if (r->at++ == size) return fail(r, line, "expected a closing quote, found the end of the file");
    *field = (ferry_view){data + begin, to - begin};
    const size_t behind = r->at;
    skip_field(r);
    return ferry_utf8_is_blank((ferry_view){data + behind, r->at - behind}) ||
           fail(r, r->line, "expected a comma or the end of the line behind a quote, found other text");
}

/* Reads a field, without white space at its ends; what is before the next one stays. */
static bool read_field(reader *r, ferry_view *field)
{
    const char *data = r->lines.data;
    size_t begin = r->at;
    while (r->separator == ',' && begin < r->lines.taken && data[begin] == ' ') begin++;
    if (r->separator == ',' && begin < r->lines.taken && data[begin] == '"') {
        r->at = begin;
        if (!read_quoted(r, field)) return false;
    } else {
        skip_field(r);
        *field = (ferry_view){data + begin, r->at - begin};
    }
    *field = ferry_utf8_trim(*field);
    return true;
}

/* ---- entries ---- */

static bool add_targets(reader *r, ferry_view field, size_t *count)
{
    for (size_t begin = 0; field.size > 0 && begin <= field.size; ++*count) {
        const char *bar = memchr(field.data + begin, '|', field.size - begin);
        const size_t end = bar != NULL ? (size_t)(bar - field.data) : field.size;
        const ferry_view target = ferry_utf8_trim((ferry_view){field.data + begin, end - begin});
        ferry_text *added = ferry_array_add(&r->targets, &r->target_count, &r->targets_capacity, sizeof *added);
        if (added == NULL) return fail(r, r->line, "out of memory");
        if (target.size == 0) return fail(r, r->line, "expected a target before and behind '|', found none");
        *added = (ferry_text){target.data, target.size};
        begin = end + 1;
    }
    return true;
}

static bool add_entry(reader *r, size_t line, ferry_view source, ferry_view targets)
{
    size_t places = r->count;
    ferry_glossary_entry *entry = ferry_array_add(&r->entries, &r->count, &r->entries_capacity, sizeof *entry);
    place *from = entry != NULL ? ferry_array_add(&r->places, &places, &r->places_capacity, sizeof *from) : NULL;
    if (from == NULL) return fail(r, line, "out of memory");
    *from = (place){line, r->target_count};
    *entry = (ferry_glossary_entry){.source = {source.data, source.size}};
    return add_targets(r, targets, &entry->target_count);
}

/* Reads a line; in quotes, it goes on in the next ones. */
static bool read_entry(reader *r)
{
    const size_t line = r->line;
    ferry_view source, targets = {"", 0};
    if (r->lines.data[r->at] == '#') {
        const char *end = memchr(r->lines.data + r->at, '\n', r->lines.taken - r->at);
        r->at = end != NULL ? (size_t)(end - r->lines.data) : r->lines.taken;
        return true;
    }
    if (!read_field(r, &source)) return false;
    const bool alone = r->at == r->lines.taken || r->lines.data[r->at] == '\n';
    if (alone && source.size == 0) return true;
    if (!alone) r->at++;
    if (!alone && !read_field(r, &targets)) return false;
    if (r->at < r->lines.taken && r->lines.data[r->at] != '\n')
        return fail(r, line, "expected a source and its targets, found a third field");
    if (source.size == 0) return fail(r, line, "expected a source, found none");
    return add_entry(r, line, source, targets);
}

static bool read_entries(reader *r)
{
    for (r->line = 1; r->at < r->lines.taken; r->at++, r->line++)
        if (!read_entry(r)) return false;
    for (size_t i = 0; i < r->count; i++)
        if (r->entries[i].target_count > 0) r->entries[i].targets = r->targets + r->places[i].first_target;
    return true;
}

/* Tells the line of the first entry with which those before it make no glossary. */
static bool make_glossary(const reader *r, ferry_glossary **glossary)
{
    ferry_error error;
    size_t good = 0, bad = r->count;
    ferry_status status = ferry_glossary_create(r->entries, sizeof *r->entries, bad, glossary, &error);
    if (status != FERRY_ERROR_ARGUMENT) return ferry_succeeded(status, &error);
    while (good + 1 < bad) {
        const size_t middle = good + (bad - good) / 2;
        status = ferry_glossary_create(r->entries, sizeof *r->entries, middle, glossary, NULL);
        ferry_glossary_destroy(*glossary);
        *(status == FERRY_OK ? &good : &bad) = middle;
    }
    ferry_glossary_create(r->entries, sizeof *r->entries, bad, glossary, &error);
    return fail(r, r->places[bad - 1].line, strchr(error.message, ':') + 2);
}

bool ferry_glossary_file_read(const char *path, ferry_glossary **glossary)
{
    const size_t size = strlen(path);
    const bool csv = size >= 4 && ferry_compare_letters(path + size - 4, ".csv", 4) == 0;
    reader r = {.separator = csv ? ',' : '\t'};
    *glossary = NULL;
    bool done = ferry_lines_open(&r.lines, path);
    if (done) done = (ferry_lines_rest(&r.lines) || !r.lines.failed) && read_entries(&r) && make_glossary(&r, glossary);
    ferry_lines_close(&r.lines);
    free(r.entries);
    free(r.places);
    free(r.targets);
    return done;
}
