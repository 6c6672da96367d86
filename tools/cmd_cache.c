#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cache_folder.h"
#include "command.h"
#include "arguments.h"

static double megabytes(uint64_t bytes)
{
    return (double)bytes / 1e6;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* The end of the last line. */
static void print_folder(const ferry_cache_folder *folder)
{
    fputs(", in ", stdout);
    ferry_printable_write(stdout, ferry_text_view(folder->path));
    putchar('\n');
}

static int list(const ferry_cache_folder *folder, const ferry_cache_file *files, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        char used[32] = "";
        const struct tm *local = localtime(&files[i].used);
        if (local != NULL) strftime(used, sizeof used, "%Y-%m-%d %H:%M", local);
        ferry_printable_write(stdout, ferry_text_view(files[i].name.text)); /* it begins with the name of a source */
        printf("\t%.1f MB\t%s\n", megabytes(files[i].size), used);
        total += files[i].size;
    }
    printf("%zu file%s, %.1f MB", count, plural(count), megabytes(total));
    print_folder(folder);
    return FERRY_EXIT_OK;
}

static int clear(const ferry_cache_folder *folder, const ferry_cache_file *files, size_t count)
{
    uint64_t freed = 0;
    size_t removed = 0, in_use = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (files[i].in_use) {
            in_use++;
        } else if (ferry_cache_remove(folder, files[i].name.text)) {
            removed++;
            freed += files[i].size;
        } else {
            failed++;
        }
    }
    printf("%zu file%s removed, %.1f MB freed", removed, plural(removed), megabytes(freed));
    print_folder(folder);
    if (in_use > 0) ferry_complain("files stay: %zu, younger than a day: another process may be writing", in_use);
    return failed == 0 ? FERRY_EXIT_OK : FERRY_EXIT_FAILED;
}

static int run(const ferry_call *call)
{
    static const struct {
        const char *name;
        int (*run)(const ferry_cache_folder *folder, const ferry_cache_file *files, size_t count);
    } actions[] = {{"list", list}, {"clear", clear}};
    ferry_cache_folder folder;
    ferry_cache_file *files;
    size_t count, action = 0;
    while (action < 2 && strcmp(call->arguments.operands[0], actions[action].name) != 0) action++;
    if (action == 2) {
        ferry_near_miss miss = ferry_near_miss_of(ferry_text_view(call->arguments.operands[0]));
        for (action = 0; action < 2; action++) ferry_near_miss_try(&miss, "", ferry_text_view(actions[action].name));
        ferry_complain("cache: expected 'list' or 'clear', found '%s'; %s", call->arguments.operands[0],
                       ferry_near_miss_question(&miss, "try 'ferry help cache'").text);
        return FERRY_EXIT_USAGE;
    }
    ferry_error error;
    if (!ferry_succeeded(ferry_cache_folder_open(&folder, false, &error), &error)) return FERRY_EXIT_FAILED;
    int status = FERRY_EXIT_FAILED;
    if (ferry_cache_list(&folder, &files, &count)) {
        status = actions[action].run(&folder, files, count);
        free(files);
    }
    ferry_cache_folder_close(&folder);
    return ferry_finish_output(status);
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
