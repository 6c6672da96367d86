#include "output_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/new_file.h"
#include "base/files/file_system.h"
#include "base/utf8.h"
#include "tools/system/terminal.h"
#include "conversion_cache.h"
#include "progress.h"
#include "source_state.h"

/* ---- what is read, too ---- */

typedef struct reader {
    const ferry_call *call;
    const char *role;
    bool found;
} reader;

static bool is_same(const ferry_file_info *a, const ferry_file_info *b)
{
    return a->kind == FERRY_KIND_FILE && a->device == b->device && a->number == b->number;
}

/* Looks for a file that is read among those that are written. */
static void look(void *user, const char *path, const ferry_file_info *file)
{
    static const ferry_option outputs[] = {FERRY_OPTION_OUTPUT, FERRY_OPTION_RECORD};
    reader *r = user;
    ferry_file_info output;
    ferry_short_text name = {""};
    (void)path;
    if (ferry_file_examine_open(ferry_stream_descriptor(stdout), &output) && is_same(&output, file))
        name = ferry_format("standard output");
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *text = ferry_option_text(r->call, outputs[i]);
        if (text != NULL && ferry_file_examine(text, &output) && is_same(&output, file))
            name = ferry_format("%s %s", ferry_option_typed(&r->call->arguments, (int)outputs[i]).text, text);
    }
    if (name.text[0] == '\0' || r->found) return;
    ferry_complain("%s: expected a file of its own, found one that is read as %s", name.text, r->role);
    r->found = true;
}

bool ferry_input_is_output(const ferry_call *call, const char *path, const char *role)
{
    reader r = {.call = call, .role = role};
    ferry_file_info file;
    if (path != NULL ? ferry_file_examine(path, &file) : ferry_file_examine_open(ferry_stream_descriptor(stdin), &file))
        look(&r, path, &file);
    return r.found;
}

bool ferry_model_is_output(const ferry_call *call, const char *path, const char *role)
{
    reader r = {.call = call, .role = role};
    char real[FERRY_PATH_MAX];
    if (!ferry_is_converted(path)) return ferry_input_is_output(call, path, role);
    ferry_source_visit(path, look, &r, real);
    return r.found;
}

/* ---- streams ---- */

/* The standard stream that is open on the file `path`: opened once more, it would be written at another place. */
static FILE *find_standard(const char *path)
{
    FILE *const streams[] = {stdout, stderr};
    ferry_file_info file, open;
    if (!ferry_file_examine(path, &file)) return NULL;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        if (ferry_file_examine_open(ferry_stream_descriptor(streams[i]), &open) && is_same(&file, &open))
            return streams[i];
    return NULL;
}

bool ferry_output_is_standard(const char *path)
{
    return find_standard(path) != NULL;
}

static bool empty(FILE *out)
{
    ferry_file_info info;
    return !ferry_file_examine_open(ferry_stream_descriptor(out), &info) || info.kind != FERRY_KIND_FILE ||
           ferry_stream_cut(out, 0);
}

FILE *ferry_output_open(const char *path, bool resumed)
{
    int64_t holder;
    FILE *out = find_standard(path);
    if (out != NULL) {
        if (!resumed) return out;
        ferry_complain("--resume: expected a file as --output, found standard %s", out == stdout ? "output" : "error");
        return NULL;
    }
    out = ferry_stream_open(path, resumed ? "ab+" : "ab"); /* "wb" would empty it before it is locked */
    if (out == NULL)
        ferry_complain("%s: cannot open: %s", path, strerror(errno));
    else if (!ferry_stream_lock(out, &holder))
        ferry_complain("%s: %s is writing this file", path,
                       holder > 0 ? ferry_format("process %lld", (long long)holder).text : "another process");
    else if (resumed || empty(out))
        return out;
    else
        ferry_complain("%s: cannot write: %s", path, strerror(errno));
    if (out != NULL) fclose(out);
    return NULL;
}

static bool is_standard(const FILE *out)
{
    return out == stdout || out == stderr;
}

/* A file without a name is lost when it is closed, unless `path` leads to it nevertheless (/dev/fd/3). */
const char *ferry_output_loss(FILE *out, const char *path)
{
    ferry_file_info info, named;
    if (ferror(out) || fflush(out) != 0) return strerror(errno);
    if (is_standard(out) || !ferry_file_examine_open(ferry_stream_descriptor(out), &info) ||
        info.kind != FERRY_KIND_FILE || info.links > 0)
        return NULL;
    return ferry_file_examine(path, &named) && is_same(&named, &info) ? NULL : "the file was removed meanwhile";
}

bool ferry_output_close(FILE *out, const char *path)
{
    if (out == NULL) return true;
    const char *loss = ferry_output_loss(out, path);
    if (!is_standard(out) && fclose(out) != 0 && loss == NULL) loss = strerror(errno);
    if (loss != NULL) ferry_complain("%s: cannot write: %s", path, loss);
    return loss == NULL;
}

/* ---- complete files ---- */

/* Whether `path` is written as a stream: nothing can take the place of a pipe, a device, a standard stream. */
static bool is_stream(const char *path)
{
    ferry_file_info info;
    if (!ferry_file_examine(path, &info)) return false;
    return info.kind == FERRY_KIND_PIPE || info.kind == FERRY_KIND_DEVICE || ferry_output_is_standard(path);
}

bool ferry_output_check(const char *path)
{
    if (is_stream(path)) return true;
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

static bool write_stream(const char *path, ferry_output_writer *write, const void *user)
{
    FILE *out = ferry_output_open(path, false);
    const bool written = out != NULL && write(out, user);
    return ferry_output_close(out, path) && written;
}

bool ferry_output_complete(const char *path, ferry_output_writer *write, const void *user)
{
    if (is_stream(path)) return write_stream(path, write, user);
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
