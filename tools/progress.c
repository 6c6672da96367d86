#include "progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/system.h"
#include "tools/system/terminal.h"

/* Seconds. */
static const double pause_between_updates = 0.1, first_estimate = 2;

/* The process has one standard error. */
static bool on_screen;

void ferry_progress_begin(ferry_progress *progress, bool wanted, uint64_t done, double share)
{
    const double now = ferry_clock();
    *progress = (ferry_progress){
        .wanted = wanted && ferry_is_terminal(stderr), .began = now, .shown = now, .first = done, .first_share = share};
}

bool ferry_progress_is_due(ferry_progress *progress)
{
    if (!progress->wanted) return false;
    const double now = ferry_clock();
    if (now - progress->shown < pause_between_updates) return false;
    progress->shown = now;
    return true;
}

void ferry_progress_line(const char *format, ...)
{
    char line[80];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\r%s\x1b[K", line);
    fflush(stderr);
    on_screen = true;
}

void ferry_progress_erase(void)
{
    if (on_screen) fputs("\r\x1b[K", stderr);
    on_screen = false;
}

ferry_grouped ferry_group_digits(uint64_t number)
{
    ferry_grouped grouped;
    char digits[24];
    const int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) grouped.text[size++] = ',';
        grouped.text[size++] = digits[i];
    }
    grouped.text[size] = '\0';
    return grouped;
}

/* ", 2:34 left"; nothing as long as that would be a guess. */
static void put_remaining(const ferry_progress *progress, double share, char *text, size_t size)
{
    const double seconds = ferry_clock() - progress->began, done = share - progress->first_share;
    const double left = done > 0 ? seconds / done * (1 - share) : 0;
    text[0] = '\0';
    if (share < 0 || done <= 0 || seconds < first_estimate || left > 1e8) return;
    const unsigned long all = (unsigned long)(left + 0.5), hours = all / 3600, minutes = all / 60 % 60;
    if (hours > 0)
        snprintf(text, size, ", %lu:%02lu:%02lu left", hours, minutes, all % 60);
    else
        snprintf(text, size, ", %lu:%02lu left", minutes, all % 60);
}

void ferry_progress_show(ferry_progress *progress, const char *unit, uint64_t done, double share)
{
    if (!ferry_progress_is_due(progress)) return;
    char part[16] = "", remaining[64];
    const double rate = (double)(done - progress->first) / (progress->shown - progress->began);
    if (share >= 0) snprintf(part, sizeof part, ", %.0f %%", 100 * share);
    put_remaining(progress, share, remaining, sizeof remaining);
    ferry_progress_line("%s %s%s, %.*f %s/s%s", ferry_group_digits(done).text, unit, part, rate < 10 ? 1 : 0, rate,
                        unit, remaining);
}

/* ---- signals ---- */

/* Read by the handler. */
static ferry_translator *volatile running;
static uint32_t job;
static volatile sig_atomic_t caught;

static void cancel(int number)
{
    caught = number;
    ferry_translator_cancel(running, job);
}

void ferry_interrupt_begin(ferry_translator *translator)
{
    job = ferry_translator_job(translator);
    running = translator;
    caught = 0;
    ferry_signals_catch(cancel, translator != NULL);
}

int ferry_interrupt_signal(void)
{
    return caught;
}

int ferry_interrupt_end(void)
{
    ferry_signals_release();
    return caught;
}
