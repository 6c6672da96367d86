#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h> /* after windows.h */

#include "base/system.h"
#include "base/wide_windows.h"

void ferry_program_begin(int *count, char ***arguments)
{
    int found = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &found);
    char **narrow = wide != NULL ? calloc((size_t)found + 1, sizeof *narrow) : NULL;
    bool complete = narrow != NULL;
    for (int i = 0; complete && i < found; i++) complete = (narrow[i] = ferry_narrow(wide[i])) != NULL;
    if (complete) {
        *count = found;
        *arguments = narrow; /* until the program ends */
    }
    LocalFree(wide);
    SetConsoleOutputCP(CP_UTF8);
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
}

bool ferry_program_path(char *path, size_t size)
{
    wchar_t wide[MAX_PATH + 1];
    const DWORD length = GetModuleFileNameW(NULL, wide, MAX_PATH + 1);
    char *narrow = length > 0 && length <= MAX_PATH ? ferry_narrow(wide) : NULL;
    const bool fits = narrow != NULL && (size_t)snprintf(path, size, "%s", narrow) < size;
    free(narrow);
    for (char *at = path; fits && *at != '\0'; at++)
        if (*at == '\\') *at = '/';
    return fits;
}

const char *ferry_environment(const char *name)
{
    wchar_t *wide = ferry_wide(name);
    const wchar_t *value = wide != NULL ? _wgetenv(wide) : NULL;
    free(wide);
    return value != NULL ? ferry_narrow(value) : NULL; /* until the program ends */
}

bool ferry_is_terminal(FILE *stream)
{
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(_fileno(stream)), &mode);
}

/* ---- input ---- */

const char *const ferry_end_of_input = "Ctrl-Z and Return";

int ferry_input_open(const char *path)
{
    return ferry_descriptor_open(path);
}

/* A console gives UTF-16, of which a character takes at most 3 bytes for each unit; Ctrl-Z at the start of a line ends
 * it. */
static int64_t read_console(HANDLE console, char *data, size_t size)
{
    wchar_t line[1024];
    DWORD count = 0;
    const DWORD most = size / 3 < 1024 ? (DWORD)(size / 3) : 1024;
    if (!ReadConsoleW(console, line, most, &count, NULL)) {
        ferry_set_errno();
        return -1;
    }
    if (count == 0 || line[0] == L'\x1A') return 0;
    return WideCharToMultiByte(CP_UTF8, 0, line, (int)count, data, (int)size, NULL, NULL);
}

int64_t ferry_input_read(int descriptor, char *data, size_t size)
{
    const HANDLE handle = (HANDLE)_get_osfhandle(descriptor);
    DWORD mode;
    if (GetConsoleMode(handle, &mode)) return read_console(handle, data, size);
    return _read(descriptor, data, size < 1 << 30 ? (unsigned)size : 1 << 30);
}

bool ferry_input_would_wait(int descriptor)
{
    const HANDLE handle = (HANDLE)_get_osfhandle(descriptor);
    DWORD available = 0, mode;
    if (GetConsoleMode(handle, &mode)) return true; /* lines come one by one */
    return GetFileType(handle) == FILE_TYPE_PIPE && PeekNamedPipe(handle, NULL, 0, NULL, &available, NULL) &&
           available == 0;
}

/* ---- output ---- */

FILE *ferry_stream_open(const char *path, const char *mode)
{
    wchar_t *wide = ferry_wide(path), *wide_mode = ferry_wide(mode);
    FILE *file = wide != NULL && wide_mode != NULL ? _wfopen(wide, wide_mode) : NULL;
    free(wide);
    free(wide_mode);
    return file;
}

int ferry_stream_descriptor(FILE *stream)
{
    return _fileno(stream);
}

/* The lock is of a byte behind all files: those within one could not be read by others. */
bool ferry_stream_lock(FILE *stream, int64_t *holder)
{
    OVERLAPPED place = {.Offset = MAXDWORD, .OffsetHigh = MAXLONG};
    const HANDLE handle = (HANDLE)_get_osfhandle(_fileno(stream));
    *holder = 0;
    return GetFileType(handle) != FILE_TYPE_DISK ||
           LockFileEx(handle, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) ||
           GetLastError() != ERROR_LOCK_VIOLATION;
}

bool ferry_stream_cut(FILE *stream, uint64_t size)
{
    return fflush(stream) == 0 && _chsize_s(_fileno(stream), (__int64)size) == 0 && fseek(stream, 0, SEEK_END) == 0;
}

/* ---- signals ---- */

static const int signals[] = {SIGINT, SIGTERM, SIGBREAK};
enum { SIGNALS = sizeof signals / sizeof *signals };
static void (*before[SIGNALS])(int);
static void (*caught_by)(int);
static bool first_only;

/* Windows resets a signal's handler when it calls it. */
static void handle_and_stay(int number)
{
    if (!first_only) signal(number, handle_and_stay);
    caught_by(number);
}

void ferry_signals_catch(void (*handle)(int number), bool once)
{
    caught_by = handle;
    first_only = once;
    for (size_t i = 0; i < SIGNALS; i++) {
        before[i] = signal(signals[i], handle_and_stay);
        if (before[i] == SIG_IGN) signal(signals[i], SIG_IGN);
    }
}

void ferry_signals_release(void)
{
    for (size_t i = 0; i < SIGNALS; i++) signal(signals[i], before[i]);
}

void ferry_signals_ignore_size(void)
{
    /* there is no such signal */
}
