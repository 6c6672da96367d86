#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "command.h"
#include "conversion_cache.h"

static double megabytes(uint64_t bytes)
{
    return (double)bytes / 1e6;
}

/* "\tSIZE\tTIME", after the name, which begins with that of a source. */
static void print_file(const ferry_cache_file *file)
{
    char used[32] = "";
    const struct tm *local = localtime(&file->used);
    if (local != NULL) strftime(used, sizeof used, "%Y-%m-%d %H:%M", local);
    ferry_printable_write(stdout, ferry_text_view(file->name.text));
    printf("\t%.1f MB\t%s\n", megabytes(file->size), used);
}

/* Lists the files, or removes them. */
static int go_through(const ferry_cache *cache, bool clear)
{
    ferry_cache_file *files;
    size_t count, done = 0, in_use = 0;
    uint64_t bytes = 0;
    if (!ferry_cache_list(cache, &files, &count)) return FERRY_EXIT_FAILED;
    for (size_t i = 0; i < count; i++) {
        const bool stays = clear && files[i].in_use;
        if (stays) in_use++;
        if (stays || (clear && !ferry_cache_remove(cache, files[i].name.text))) continue;
        if (!clear) print_file(&files[i]);
        done++;
        bytes += files[i].size;
    }
    free(files);
    printf("%zu file%s%s, %.1f MB%s, in ", done, done == 1 ? "" : "s", clear ? " removed" : "", megabytes(bytes),
           clear ? " freed" : "");
    ferry_printable_write(stdout, ferry_text_view(cache->path));
    putchar('\n');
    if (in_use > 0) ferry_complain("files stay: %zu, younger than a day: another process may be writing", in_use);
    return ferry_finish_output(done + in_use == count ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}

static int run(const ferry_call *call)
{
    const char *action = call->arguments.operands[0];
    const bool clear = strcmp(action, "clear") == 0;
    ferry_cache cache;
    ferry_error error;
    if (!clear && strcmp(action, "list") != 0) {
        ferry_near_miss miss = ferry_near_miss_of(ferry_text_view(action));
        ferry_near_miss_try(&miss, "", ferry_text_view("list"));
        ferry_near_miss_try(&miss, "", ferry_text_view("clear"));
        ferry_complain("cache: expected 'list' or 'clear', found '%s'; %s", action,
                       ferry_near_miss_question(&miss, "try 'ferry help cache'").text);
        return FERRY_EXIT_USAGE;
    }
    if (!ferry_succeeded(ferry_cache_open(&cache, false, &error), &error)) return FERRY_EXIT_FAILED;
    return go_through(&cache, clear);
}

const ferry_command ferry_command_cache = {
    .name = "cache",
    .synopsis = "list|clear",
    .summary = "list or remove converted models that are kept for the next time",
    .details =
        "A model of another system that is named with -m is converted once, and kept in $XDG_CACHE_HOME/ferry or\n"
        "~/.cache/ferry. 'list' prints one line per file: its name, which begins with that of the source, a tab,\n"
        "its size, a tab, and when it was last used; then their number, size and folder. 'clear' removes them.\n"
        "What was not used for 90 days, or exceeds 20 GB, is removed when another model is converted.\n",
    .examples = "ferry cache list\n"
                "ferry cache list | tail -n 1\n"
                "ferry cache clear\n",
    .least = 1,
    .most = 1,
    .run = run,
};
