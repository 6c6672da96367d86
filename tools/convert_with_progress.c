#include "convert_with_progress.h"

#include <signal.h>
#include <stdio.h>

#include "base/system.h"
#include "base/terminal.h"
#include "command.h"
#include "interrupt.h"

/* Seconds. */
static const double pause_between_updates = 0.1;

typedef struct watch {
    bool quiet, terminal;
    bool shown;   /* the line is on the screen */
    bool writing; /* there may be a file that is not complete */
    double last;
} watch;

static void clear_line(watch *w)
{
    if (w->shown) fputs("\r\x1b[K", stderr);
    w->shown = false;
}

static int show_progress(void *user, uint64_t done, uint64_t total)
{
    watch *w = user;
    const double now = ferry_clock();
    if (!w->writing) ferry_interrupt_begin(NULL);
    w->writing = true;
    if (ferry_interrupt_signal() != 0) return 1;
    if (!w->terminal || now - w->last < pause_between_updates) return 0;
    w->last = now;
    w->shown = true;
    fprintf(stderr, "\rconverting: %.0f %% of %.1f MB\x1b[K", total > 0 ? 100 * (double)done / (double)total : 100.0,
            (double)total / 1e6);
    return 0;
}

static void report_quantized(void *user, const char *tensor, double largest, double rms, double rms_error)
{
    watch *w = user;
    if (w->quiet) return;
    clear_line(w);
    ferry_complain("%s: rms error %.2e, %.2f %% of the weights' %.2e; largest weight %.3g", tensor, rms_error,
                   rms > 0 ? 100 * rms_error / rms : 0.0, rms, largest);
}

static void report_note(void *user, const char *message)
{
    const watch *w = user;
    if (!w->quiet) ferry_complain("%s", message);
}

ferry_status ferry_convert(const char *source, const char *output, const ferry_import_options *options, bool quiet,
                           ferry_error *error)
{
    watch w = {.quiet = quiet, .terminal = !quiet && ferry_is_terminal(stderr)};
    ferry_import_options watched = *options;
    watched.progress = show_progress;
    watched.quantized = report_quantized;
    watched.noted = report_note;
    watched.user = &w;
    const ferry_status status = ferry_import(source, output, &watched, error);
    const int interrupted = w.writing ? ferry_interrupt_end() : 0;
    clear_line(&w);
    if (interrupted != 0) raise(interrupted);
    return status;
}
