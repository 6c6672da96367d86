#include "confined_import.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/files/new_file.h"
#include "tools/system/confined.h"
#include "command.h"
#include "progress.h"

enum { PATIENCE = 100 }; /* milliseconds between two looks for a signal */

/* ---- what the child sends: the calls of ferry_import_options, how it is confined, and the end ---- */

typedef enum kind { CONFINED, PROGRESS, QUANTIZED, COMPLETE, NOTE, END } kind;

typedef struct message {
    kind kind;
    uint64_t numbers[2];
    double reals[3];
    ferry_error error; /* its message: a tensor's name, a note, or why there is no model */
} message;

static message named(kind what, const char *text)
{
    message m;
    memset(&m, 0, sizeof m); /* with its padding, which is sent */
    m.kind = what;
    snprintf(m.error.message, sizeof m.error.message, "%s", text);
    return m;
}

static void send(const void *channel, message m)
{
    ferry_child_send(*(const int *)channel, &m, sizeof m);
}

static int send_progress(void *channel, uint64_t done, uint64_t total)
{
    message m = named(PROGRESS, "");
    m.numbers[0] = done;
    m.numbers[1] = total;
    send(channel, m);
    return 0;
}

static void send_quantized(void *channel, const char *tensor, double largest, double rms, double rms_error)
{
    message m = named(QUANTIZED, tensor);
    m.reals[0] = largest;
    m.reals[1] = rms;
    m.reals[2] = rms_error;
    send(channel, m);
}

static void send_complete(void *channel, uint64_t bytes_read)
{
    message m = named(COMPLETE, "");
    m.numbers[0] = bytes_read;
    send(channel, m);
}

static void send_note(void *channel, const char *note)
{
    send(channel, named(NOTE, note));
}

typedef struct job {
    const char *source, *output;
    const ferry_import_options *options;
    ferry_new_file file;
    bool verbose;
} job;

/* In the child. */
static void import(void *user, unsigned refused, int channel)
{
    job *j = user;
    message end = named(CONFINED, "");
    ferry_import_options options = *j->options;
    ferry_interrupt_end(); /* signals end the child */
    end.numbers[0] = refused;
    send(&channel, end);
    options.file = &j->file;
    options.progress = send_progress;
    options.quantized = send_quantized;
    options.complete = send_complete;
    options.noted = send_note;
    options.user = &channel;
    end.kind = END;
    end.error.status = ferry_import(j->source, j->output, &options, &end.error);
    send(&channel, end);
}

/* ---- this process: what comes from the child may be anything ---- */

static void report(const job *j, const message *m)
{
    static const char *const words[] = {"not refused", "refused"};
    const ferry_import_options *options = j->options;
    switch (m->kind) {
    case CONFINED:
        if (j->verbose)
            ferry_complain("%s is read by a child process: other files are %s, sockets are %s", j->source,
                           words[(m->numbers[0] & FERRY_REFUSED_FILES) != 0],
                           words[(m->numbers[0] & FERRY_REFUSED_SOCKETS) != 0]);
        break;
    case QUANTIZED: options->quantized(options->user, m->error.message, m->reals[0], m->reals[1], m->reals[2]); break;
    case COMPLETE: options->complete(options->user, m->numbers[0]); break;
    case NOTE: options->noted(options->user, m->error.message); break;
    default: break;
    }
}

/* Until the child's last message, *end, or until there are no more: *end stays. False: cancelled. */
static bool listen(const job *j, ferry_child *child, message *end)
{
    uint64_t done = 0, total = 0;
    int received;
    message m;
    while ((received = ferry_child_receive(child, &m, sizeof m, PATIENCE)) >= 0) {
        if (received > 0 && m.kind == PROGRESS) {
            done = m.numbers[0];
            total = m.numbers[1];
        }
        if (j->options->progress(j->options->user, done, total) != 0) return false;
        if (received == 0) continue;
        m.error.message[sizeof m.error.message - 1] = '\0';
        if (m.kind == END) {
            *end = m;
            return true;
        }
        report(j, &m);
    }
    return true;
}

static ferry_status run_child(job *j, ferry_error *error)
{
    ferry_child child;
    message end = named(CONFINED, "");
    ferry_status status = FERRY_OK;
    bool heard = false;
    if (!ferry_child_start(&child, j->source, j->file.descriptor, import, j))
        status =
            ferry_fail(error, FERRY_ERROR_IO, "%s: cannot start a process to read it: %s", j->source, strerror(errno));
    else
        heard = listen(j, &child, &end);
    const char *signal = ferry_child_end(&child);
    if (status != FERRY_OK) return status;
    if (!heard || j->options->progress(j->options->user, 0, 0) != 0) /* the signal may have ended the child, too */
        return ferry_fail(error, FERRY_ERROR_CANCELLED, "converting was cancelled");
    if (end.kind != END)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: the process that read it ended early: %s", j->source,
                          signal != NULL ? signal : "without a signal");
    status = end.error.status;
    if (status == FERRY_OK) return FERRY_OK;
    if ((unsigned)status > FERRY_ERROR_CANCELLED) status = FERRY_ERROR_FORMAT;
    if (status != FERRY_ERROR_IO || child.folder[0] != '\0' ||
        strstr(end.error.message, strerror(child.failure)) != NULL)
        return ferry_fail(error, status, "%s", end.error.message);
    return ferry_fail(error, status, "%s (without a folder for temporary files: %s)", end.error.message,
                      strerror(child.failure));
}

ferry_status ferry_import_confined(const char *source, const char *output, const ferry_import_options *options,
                                   bool verbose, ferry_error *error)
{
    job j = {.source = source, .output = output, .options = options, .verbose = verbose};
    if (!ferry_has_children) {
        const ferry_status read = ferry_import(source, output, options, error);
        if (verbose && read == FERRY_OK) ferry_complain("%s is read by this process, which is not confined", source);
        return read;
    }
    if (options->progress(options->user, 0, 0) != 0)
        return ferry_fail(error, FERRY_ERROR_CANCELLED, "converting was cancelled");
    FERRY_TRY(ferry_new_file_open(output, &j.file, error));
    ferry_status status = ferry_new_file_write_at(&j.file, 0, NULL, 0, error); /* creates it */
    if (status == FERRY_OK) status = run_child(&j, error);
    if (status == FERRY_OK) status = ferry_new_file_finish(&j.file, error);
    ferry_new_file_close(&j.file);
    return status;
}
