#define _POSIX_C_SOURCE 200809L /* stat, open_memstream */
#include "output_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"
#include "base/printable.h"
#include "command.h"
#include "interrupt.h"

/* ---- streams ---- */

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

/* ---- complete files ---- */

bool ferry_output_check(const char *path)
{
    ferry_error error;
    ferry_new_file file;
    const ferry_status status = ferry_new_file_open(path, &file, &error);
    ferry_new_file_close(&file);
    return ferry_succeeded(status, &error);
}

static bool save(const char *path, const char *data, size_t size)
{
    ferry_error error;
    ferry_new_file file;
    ferry_interrupt_begin(NULL);
    ferry_status status = ferry_new_file_open(path, &file, &error);
    if (status == FERRY_OK) status = ferry_new_file_write(&file, data, size, &error);
    if (status == FERRY_OK) status = ferry_new_file_finish(&file, &error);
    ferry_new_file_close(&file);
    const int interrupted = ferry_interrupt_end();
    if (interrupted != 0) raise(interrupted);
    return ferry_succeeded(status, &error);
}

bool ferry_output_complete(const char *path, ferry_output_writer *write, const void *user)
{
    char *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    const bool written = out != NULL && write(out, user);
    bool kept = out != NULL && !ferror(out);
    if (out != NULL && fclose(out) != 0) kept = false;
    if (!kept) ferry_complain("out of memory");
    const bool saved = written && kept && save(path, data, size);
    free(data);
    return saved;
}

/* ---- text ---- */

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
