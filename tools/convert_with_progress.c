#include "convert_with_progress.h"

#include <signal.h>
#include <stdio.h>

#include "command.h"
#include "interrupt.h"
#include "progress.h"

typedef struct watch {
    ferry_conversion *conversion;
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
    ferry_conversion *conversion = ((const watch *)user)->conversion;
    const double relative = rms > 0 ? rms_error / rms : 0.0;
    conversion->errors += relative;
    if (conversion->quantized++ == 0 || relative > conversion->worst_error) {
        conversion->worst_error = relative;
        conversion->worst = ferry_name_format("%s", tensor);
    }
    if (conversion->verbose)
        ferry_complain("%s: rms error %.2e, %.2f %% of the weights' %.2e; largest weight %.3g", tensor, rms_error,
                       100 * relative, rms, largest);
}

static void report_complete(void *user, uint64_t bytes_read)
{
    ((const watch *)user)->conversion->bytes_read = bytes_read;
}

static void report_note(void *user, const char *message)
{
    const watch *w = user;
    if (!w->conversion->quiet) ferry_complain("%s", message);
}

ferry_status ferry_convert(const char *source, const char *output, const ferry_import_options *options,
                           ferry_conversion *conversion, ferry_error *error)
{
    watch w = {.conversion = conversion};
    ferry_import_options watched = *options;
    watched.progress = show_progress;
    watched.quantized = report_quantized;
    watched.complete = report_complete;
    watched.noted = report_note;
    watched.user = &w;
    ferry_progress_begin(&w.progress, !conversion->quiet, 0, 0);
    w.progress.shown = 0; /* the first report is shown at once: the next one may take long */
    const ferry_status status = ferry_import(source, output, &watched, error);
    const int interrupted = w.writing ? ferry_interrupt_end() : 0;
    ferry_progress_erase();
    if (interrupted != 0) raise(interrupted);
    return status;
}
