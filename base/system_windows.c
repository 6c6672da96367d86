#include "system.h"

#include <errno.h>
#include <io.h>
#include <locale.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <bcrypt.h> /* needs windows.h, as the next one */
#include <psapi.h>

#include "pages.h"
#include "wide_windows.h"

enum { CACHE_LINE = 64, FIRST_SPOOL = 1 << 20 };

/* ---- pages ---- */

const char *ferry_pages_map(int descriptor, uint64_t offset, size_t length)
{
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    const size_t before = (size_t)(offset % system.dwAllocationGranularity);
    const uint64_t first = offset - before;
    const char *data = NULL;
    const HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(descriptor), NULL, PAGE_READONLY, 0, 0, NULL);
    if (mapping != NULL)
        data = MapViewOfFile(mapping, FILE_MAP_READ, (DWORD)(first >> 32), (DWORD)first, before + length);
    if (data == NULL) ferry_set_errno();
    if (mapping != NULL) CloseHandle(mapping); /* the view keeps it */
    return data != NULL ? data + before : NULL;
}

char *ferry_pages_allocate(size_t size)
{
    char *data = VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (data == NULL) errno = ENOMEM;
    return data;
}

void ferry_pages_release(const char *data, size_t size, bool mapped)
{
    MEMORY_BASIC_INFORMATION all;
    (void)size;
    if (VirtualQuery(data, &all, sizeof all) == 0) return;
    if (mapped)
        UnmapViewOfFile(all.AllocationBase);
    else
        VirtualFree(all.AllocationBase, 0, MEM_RELEASE);
}

void ferry_pages_forget(const char *data, size_t size)
{
    VirtualUnlock((void *)(uintptr_t)data, size); /* of pages that are not locked: they leave the working set */
}

/* ---- spools ---- */

bool ferry_spool_open(ferry_spool *spool)
{
    *spool = (ferry_spool){.descriptor = -1};
    return true;
}

bool ferry_spool_append(ferry_spool *spool, const void *bytes, size_t size)
{
    size_t needed;
    if (size == 0) return true;
    if (!ferry_add_size(spool->size, size, &needed)) needed = SIZE_MAX;
    if (needed > spool->capacity) {
        const size_t doubled = spool->capacity < SIZE_MAX / 2 ? 2 * spool->capacity : SIZE_MAX,
                     capacity = needed > doubled ? ferry_round_up(needed, FIRST_SPOOL) : doubled;
        char *grown = ferry_pages_allocate(capacity);
        if (grown == NULL) return false;
        if (spool->size > 0) memcpy(grown, spool->memory, spool->size);
        ferry_spool_discard(spool);
        spool->memory = grown;
        spool->capacity = capacity;
    }
    memcpy(spool->memory + spool->size, bytes, size);
    spool->size = needed;
    return true;
}

bool ferry_spool_finish(ferry_spool *spool, ferry_mapped_file *file)
{
    *file =
        (ferry_mapped_file){.bytes = {spool->size > 0 ? spool->memory : "", spool->size}, .hold = FERRY_FILE_COPIED};
    return true;
}

void ferry_spool_discard(ferry_spool *spool)
{
    if (spool->memory != NULL) ferry_pages_release(spool->memory, spool->capacity, false);
}

/* ---- memory ---- */

void *ferry_aligned_alloc(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

void ferry_aligned_free(void *memory)
{
    _aligned_free(memory);
}

void ferry_large_free(void *memory, size_t size)
{
    (void)size;
    _aligned_free(memory);
}

size_t ferry_large_size(size_t size)
{
    size_t padded;
    return ferry_add_size(size, CACHE_LINE - 1, &padded) ? padded / CACHE_LINE * CACHE_LINE : 0;
}

/* Huge pages need a privilege that users do not have. */
void *ferry_large_alloc(size_t size)
{
    return size > 0 ? _aligned_malloc(size, CACHE_LINE) : NULL;
}

void ferry_large_touch(void *memory, size_t size, double patience)
{
    (void)memory, (void)size, (void)patience;
}

/* The heap returns large parts that are free by itself. */
void ferry_heap_trim(void)
{
}

size_t ferry_peak_memory(void)
{
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.PeakWorkingSetSize : 0;
}

/* What is committed, of which not all needs to have been written. */
size_t ferry_own_memory(void)
{
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.PagefileUsage : 0;
}

/* ---- the processor ---- */

bool ferry_permit_tiles(void)
{
    return false; /* nobody has tried */
}

bool ferry_has_dot_products(void)
{
    enum { DOT_PRODUCTS = 43 }; /* PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE, which headers may lack */
    return IsProcessorFeaturePresent(DOT_PRODUCTS);
}

bool ferry_has_matrix_products(void)
{
    enum { MATRIX_PRODUCTS = 66 }; /* PF_ARM_V82_I8MM_INSTRUCTIONS_AVAILABLE, likewise */
    return IsProcessorFeaturePresent(MATRIX_PRODUCTS);
}

/* ---- libraries ---- */

ferry_function *ferry_library_function(const char *library, const char *name)
{
    ferry_function *function = NULL;
    wchar_t *wide = ferry_wide(library);
    const HMODULE module = wide != NULL ? LoadLibraryW(wide) : NULL;
    const FARPROC found = module != NULL ? GetProcAddress(module, name) : NULL;
    free(wide);
    memcpy(&function, &found, sizeof found);
    return function;
}

/* ---- clocks ---- */

double ferry_clock(void)
{
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    return (double)ticks.QuadPart / (double)frequency.QuadPart;
}

/* Of hundreds of nanoseconds. */
static double seconds_of(FILETIME time)
{
    return 1e-7 * ((double)time.dwHighDateTime * 4294967296.0 + (double)time.dwLowDateTime);
}

double ferry_thread_clock(void)
{
    FILETIME begin, end, system, user;
    return GetThreadTimes(GetCurrentThread(), &begin, &end, &system, &user) ? seconds_of(system) + seconds_of(user) : 0;
}

/* ---- random numbers ---- */

bool ferry_entropy(void *bytes, size_t size)
{
    return BCryptGenRandom(NULL, bytes, (ULONG)size, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

/* ---- numbers ---- */

double ferry_parse_double(const char *text, char **end)
{
    /* MinGW-w64's strtod, which rounds correctly, knows the process's locale alone. */
    const char *point = localeconv()->decimal_point;
    char *copy = ferry_text_copy(text), *found;
    double value = 0;
    *end = (char *)(uintptr_t)text;
    if (copy == NULL) return 0;
    for (char *at = copy; *at != '\0'; at++)
        if (*at == '.') *at = point[0];
    value = strtod(copy, &found);
    *end += found - copy;
    free(copy);
    return value;
}
