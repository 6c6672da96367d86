#include "output_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_system.h"
#include "base/new_file.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "command.h"
#include "interrupt.h"

/* ---- streams ---- */

bool ferry_output_is_input(const char *path, const char *input, const char *role)
{
    ferry_file_info a, b;
    if (input == NULL || !ferry_file_examine(path, &a) || !ferry_file_examine(input, &b)) return false;
    if (a.device != b.device || a.number != b.number) return false;
    ferry_complain("%s: is the %s, too", path, role);
    return true;
}

static FILE *open_stream(const char *path, const char *mode)
{
    FILE *out = ferry_stream_open(path, mode);
    if (out == NULL) ferry_complain("%s: cannot open: %s", path, strerror(errno));
    return out;
}

FILE *ferry_output_open(const char *path)
{
    return open_stream(path, "wb");
}

FILE *ferry_output_continue(const char *path)
{
    return open_stream(path, "ab");
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
    ferry_memory_stream stream;
    const bool opened = ferry_memory_stream_open(&stream), written = opened && write(stream.file, user);
    const bool kept = opened && ferry_memory_stream_close(&stream);
    if (!kept) ferry_complain("out of memory");
    const bool saved = written && kept && save(path, stream.data, stream.size);
    if (kept) free(stream.data);
    return saved;
}

/* ---- text ---- */

void ferry_output_text(FILE *out, ferry_text text)
{
    const bool terminal = ferry_is_terminal(out);
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
