#define _POSIX_C_SOURCE 200809L
#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

void ferry_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("ferry: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

int ferry_finish_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    ferry_complain("standard output: cannot write: %s", strerror(errno));
    return FERRY_EXIT_FAILED;
}

double ferry_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool ferry_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}
