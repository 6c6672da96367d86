#define _POSIX_C_SOURCE 200809L
#include "output_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.h"
#include "command.h"

bool ferry_output_is_input(const char *path, const char *input, const char *role)
{
    struct stat a, b;
    if (input == NULL || stat(path, &a) != 0 || stat(input, &b) != 0) return false;
    if (a.st_dev != b.st_dev || a.st_ino != b.st_ino) return false;
    ferry_complain("%s: is the %s, too", path, role);
    return true;
}

FILE *ferry_output_open(const char *path)
{
    FILE *out = fopen(path, "wb");
    if (out == NULL) ferry_complain("%s: cannot open: %s", path, strerror(errno));
    return out;
}

bool ferry_output_close(FILE *out, const char *path)
{
    if (out == NULL) return true;
    const bool lost = ferror(out) != 0;
    if ((out == stdout ? fflush(out) : fclose(out)) == 0 && !lost) return true;
    ferry_complain("%s: cannot write: %s", path, strerror(errno));
    return false;
}

/* Leaves errno alone, which may still have to explain a failed write. */
static bool is_terminal(FILE *out)
{
    const int before = errno;
    const bool terminal = isatty(fileno(out)) == 1;
    errno = before;
    return terminal;
}

void ferry_output_text(FILE *out, ferry_text text)
{
    const bool terminal = is_terminal(out);
    while (text.size > 0) {
        const char *newline = memchr(text.data, '\n', text.size);
        const size_t part = newline != NULL ? (size_t)(newline - text.data) : text.size;
        if (terminal)
            ferry_printable_write(out, (ferry_view){text.data, part});
        else
            fwrite(text.data, 1, part, out);
        if (newline == NULL) return;
        fputc(' ', out);
        text.data += part + 1;
        text.size -= part + 1;
    }
}
