#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file_system.h"
#include "base/printable.h"
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

void ferry_warn_of_line(const ferry_call *call, int *shown, size_t line, const char *warning)
{
    enum { MOST = 10 };
    if (*shown == MOST || ferry_is_given(call, FERRY_OPTION_QUIET)) return;
    const bool last = ++*shown == MOST;
    ferry_complain("line %zu: %s%s", line, warning, last ? " (further warnings are not shown)" : "");
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
