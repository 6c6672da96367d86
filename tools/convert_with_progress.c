#include "convert_with_progress.h"

#include <signal.h>
#include <stdio.h>

#include "command.h"
#include "interrupt.h"
#include "progress.h"

typedef struct watch {
    bool quiet;
    bool writing; /* there may be a file that is not complete */
    ferry_progress progress;
} watch;

static int show_progress(void *user, uint64_t done, uint64_t total)
{
    watch *w = user;
    if (!w->writing) ferry_interrupt_begin(NULL);
    w->writing = true;
    if (ferry_interrupt_signal() != 0) return 1;
    if (ferry_progress_is_due(&w->progress))
        ferry_progress_line("converting: %.0f %% of %.1f MB", total > 0 ? 100 * (double)done / (double)total : 100.0,
                            (double)total / 1e6);
    return 0;
}

static void report_quantized(void *user, const char *tensor, double largest, double rms, double rms_error)
{
    watch *w = user;
    if (w->quiet) return;
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
    watch w = {.quiet = quiet};
    ferry_import_options watched = *options;
    watched.progress = show_progress;
    watched.quantized = report_quantized;
    watched.noted = report_note;
    watched.user = &w;
    ferry_progress_begin(&w.progress, !quiet, 0, 0);
    w.progress.shown = 0; /* the first report is shown at once: the next one may take long */
    const ferry_status status = ferry_import(source, output, &watched, error);
    const int interrupted = w.writing ? ferry_interrupt_end() : 0;
    ferry_progress_erase();
    if (interrupted != 0) raise(interrupted);
    return status;
}
