#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/system.h"
#include "base/utf8.h"
#include "tools/system/folders.h"
#include "output_file.h"
#include "progress.h"

bool ferry_is_given(const ferry_call *call, ferry_option option)
{
    return call->arguments.options[option].given;
}

const char *ferry_option_text(const ferry_call *call, ferry_option option)
{
    return call->arguments.options[option].text;
}

void ferry_complain(const char *format, ...)
{
    char message[2 * FERRY_PATH_MAX + 1024];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ferry_progress_erase();
    fputs("ferry: ", stderr);
    ferry_printable_write(stderr, ferry_text_view(message));
    fputs(size < (int)sizeof message ? "\n" : "...\n", stderr);
}

/* ---- messages about lines ---- */

enum { WARNINGS, FAILURES, KINDS, MOST_PRINTED = 10 };

/* The process has one standard error. */
static size_t printed[KINDS], more[KINDS];

static void tell_of_lines(int kind, size_t first, size_t count, const char *message)
{
    if (printed[kind] == MOST_PRINTED)
        more[kind] += count;
    else if (count == 1)
        ferry_complain("line %zu: %s", first, message);
    else
        ferry_complain("lines %zu to %zu: %s", first, first + count - 1, message);
    if (printed[kind] < MOST_PRINTED) printed[kind]++;
}

void ferry_warn_of_line(const ferry_call *call, size_t line, const char *warning)
{
    if (!ferry_is_given(call, FERRY_OPTION_QUIET)) tell_of_lines(WARNINGS, line, 1, warning);
}

void ferry_fail_lines(size_t first, size_t count, const char *reason)
{
    tell_of_lines(FAILURES, first, count, reason);
}

void ferry_count_unprinted(void)
{
    if (more[WARNINGS] > 0) ferry_complain("… and %zu more of these warnings", more[WARNINGS]);
    if (more[FAILURES] > 0) ferry_complain("… and %zu more lines failed", more[FAILURES]);
    more[WARNINGS] = more[FAILURES] = 0;
}

bool ferry_succeeded(ferry_status status, const ferry_error *error)
{
    if (status != FERRY_OK) ferry_complain("%s", error->message);
    return status == FERRY_OK;
}

void *ferry_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) ferry_complain("out of memory");
    return memory;
}

int ferry_finish_output(int status)
{
    return ferry_output_close(stdout, "standard output") ? status : FERRY_EXIT_FAILED;
}
