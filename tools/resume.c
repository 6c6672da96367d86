#include "resume.h"

#include <errno.h>
#include <string.h>

#include "base/system.h"
#include "base/utf8.h"
#include "tools/system/terminal.h"
#include "command.h"

enum { MOST_CHECKED = 16 };

static size_t count_lines(ferry_view text)
{
    size_t count = 0;
    const char *end = text.data + text.size;
    for (const char *at = text.data; text.size > 0 && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        count++;
    return count;
}

/* Where the line begins that ends at `end`, after its '\n'. */
static size_t line_before(ferry_view text, size_t end)
{
    size_t begin = end - 1;
    while (begin > 0 && text.data[begin - 1] != '\n') begin--;
    return begin;
}

static size_t end_of_line(ferry_view text, size_t begin)
{
    const char *end = begin < text.size ? memchr(text.data + begin, '\n', text.size - begin) : NULL;
    return end != NULL ? (size_t)(end - text.data) : text.size;
}

static bool read_number(ferry_view text, size_t at, size_t *number)
{
    const size_t begin = at;
    *number = 0;
    for (; at < text.size && text.data[at] >= '0' && text.data[at] <= '9'; at++)
        if (!ferry_mul_size(*number, 10, number) || !ferry_add_size(*number, (size_t)(text.data[at] - '0'), number))
            return false;
    return at > begin && text.size - at >= 5 && memcmp(text.data + at, " ||| ", 5) == 0;
}

static bool refuse_number(const ferry_resume *resume, size_t begin)
{
    const ferry_view text = resume->file.bytes;
    const ferry_view line = {text.data + begin, end_of_line(text, begin) - begin};
    ferry_complain("%s: cannot be continued: expected NUMBER ||| …, as of --nbest, found '%s'", resume->path,
                   ferry_printable_view(line).text);
    return false;
}

/* The translations of the last line may be incomplete, even if each line of the file is. */
static bool find_numbered(ferry_resume *resume)
{
    const ferry_view text = resume->file.bytes;
    size_t number, at = resume->end;
    if (at == 0) return true;
    if (!read_number(text, line_before(text, at), &resume->complete))
        return refuse_number(resume, line_before(text, at));
    resume->checked = resume->complete < MOST_CHECKED ? resume->complete : MOST_CHECKED;
    for (resume->begin = at; at > 0; resume->begin = at) {
        at = line_before(text, at);
        if (!read_number(text, at, &number)) return refuse_number(resume, at);
        if (number == resume->complete) resume->end = at;
        if (number + resume->checked < resume->complete) break;
    }
    return true;
}

static void find_plain(ferry_resume *resume)
{
    const ferry_view text = resume->file.bytes;
    resume->complete = count_lines(text);
    resume->begin = resume->end;
    for (; resume->checked < MOST_CHECKED && resume->begin > 0; resume->checked++)
        resume->begin = line_before(text, resume->begin);
}

bool ferry_resume_open(ferry_resume *resume, FILE *out, const char *path, bool numbered)
{
    ferry_error error;
    *resume = (ferry_resume){.path = path};
    if (!ferry_succeeded(ferry_mapped_file_open_part(ferry_stream_descriptor(out), path, 0, 0, FERRY_FILE_MAPPED,
                                                     &resume->file, &error),
                         &error))
        return false;
    const ferry_view text = resume->file.bytes;
    resume->end = text.size;
    while (resume->end > 0 && text.data[resume->end - 1] != '\n') resume->end--;
    if (numbered) return find_numbered(resume);
    find_plain(resume);
    return true;
}

bool ferry_resume_matches(const ferry_resume *resume, ferry_view again)
{
    const ferry_view text = resume->file.bytes, before = {text.data + resume->begin, resume->end - resume->begin};
    if (ferry_view_equal(before, again)) return true;
    size_t same = 0;
    while (same < before.size && same < again.size && before.data[same] == again.data[same]) same++;
    while (same > 0 && before.data[same - 1] != '\n') same--;
    const size_t line = count_lines((ferry_view){text.data, resume->begin + same}) + 1;
    const ferry_view found = {before.data + same, end_of_line(before, same) - same};
    const ferry_view expected = {again.data + same, end_of_line(again, same) - same};
    ferry_complain("%s: cannot be continued: is it of other input, another model or other options? Line %zu: expected "
                   "'%s', found '%s'",
                   resume->path, line, ferry_printable_view(expected).text, ferry_printable_view(found).text);
    return false;
}

void ferry_resume_close(ferry_resume *resume)
{
    ferry_mapped_file_close(&resume->file);
}
