#include "cmd_bench.h"

#include <string.h>

#include "tools/arguments.h"

#define TRANSLATE_OPTIONS                                                                                              \
    (FERRY_TAKES(MODEL) | FERRY_TAKES(FROM) | FERRY_TAKES(TO) | FERRY_TAKES(INPUT) | FERRY_TAKES(OUTPUT) |             \
     FERRY_TAKES(SINGLE) | FERRY_TAKES(JSON) | FERRY_TAKES(PROFILE) | FERRY_TAKES(LIMITS))
#define TRANSLATE_SEARCH "beam threads batch"
#define CANCEL_OPTIONS (FERRY_TAKES(MODEL) | FERRY_TAKES(FROM) | FERRY_TAKES(TO) | FERRY_TAKES(INPUT))
#define STREAMS FERRY_TAKES(INPUT) /* standard output is for what was measured */

/* What `ferry bench NAME` measures. */
typedef struct subject {
    const char *name;
    ferry_taken options;
    int (*run)(const ferry_call *call);
} subject;

static const subject subjects[] = {
    {"translate", {TRANSLATE_OPTIONS, TRANSLATE_SEARCH, STREAMS}, ferry_bench_translate},
    {"cancel", {CANCEL_OPTIONS, TRANSLATE_SEARCH, STREAMS}, ferry_bench_cancel},
    {"service", {CANCEL_OPTIONS, TRANSLATE_SEARCH, STREAMS}, ferry_bench_service},
};
enum { SUBJECT_COUNT = sizeof subjects / sizeof *subjects };

static int run(const ferry_call *call)
{
    const char *name = call->arguments.operands[0];
    size_t s = 0;
    while (s < SUBJECT_COUNT && strcmp(name, subjects[s].name) != 0) s++;
    if (s == SUBJECT_COUNT) {
        ferry_near_miss miss = ferry_near_miss_of(ferry_text_view(name));
        for (s = 0; s < SUBJECT_COUNT; s++) ferry_near_miss_try(&miss, "", ferry_text_view(subjects[s].name));
        ferry_complain("bench: expected 'translate', 'cancel' or 'service', found '%s'; %s", name,
                       ferry_near_miss_question(&miss, "try 'ferry help bench'").text);
        return FERRY_EXIT_USAGE;
    }
    for (int i = 0; i < FERRY_OPTION_COUNT; i++)
        if (ferry_is_given(call, (ferry_option)i) && !ferry_option_is_taken(&subjects[s].options, i)) {
            ferry_complain("bench %s: does not take %s; try 'ferry help bench'", name,
                           ferry_option_typed(&call->arguments, i).text);
            return FERRY_EXIT_USAGE;
        }
    return subjects[s].run(call);
}

const ferry_command ferry_command_bench = {
    .name = "bench",
    .synopsis = "translate|cancel|service",
    .summary = "measure the speed of translation, of cancelling or of a service",
    .details =
        "translate: measures loading, the first line, then all lines in one call, or with --single one by one.\n"
        "--json: load_s first_s translate_s lines target_tokens peak_rss_mb peak_own_mb (without pages of files);\n"
        "with --single mean_ms p50_ms p95_ms; with --profile profile: for each phase ms share calls; with --limits\n"
        "limits: for int8 and float32 multiply_adds per_s peaks, for weights bytes bytes_per_s steps reading.\n"
        "--profile: where the time for all lines went, by phase, summed over the threads.\n"
        "--limits: the work of all products with weights, and its share of what the machine can multiply and read.\n"
        "Options: --model, --from, --to, --input, --output, --beam, --threads, --batch, --single, --profile,\n"
        "--limits, --json.\n"
        "cancel: the milliseconds until a call that is cancelled at a random moment returns: median and maximum, for "
        "the\n"
        "first 32 lines of the text, and for 20 kB and 100 kB of it as one line. Options: --model, --from, --to,\n"
        "--input, --beam, --threads, --batch.\n"
        "service: the lines of the text by a translator, in calls of one line and in one call, and by a service from "
        "16\n"
        "threads; then the wait for an urgent line alone, and beside 400 of a lower priority. Options as of cancel.\n",
    .examples = "ferry bench translate -i letter.txt --single\n"
                "ferry bench translate -m en-fr.gguf -i letter.txt --profile --limits\n"
                "ferry bench service -i letter.txt --threads 2\n",
    .options = {TRANSLATE_OPTIONS, TRANSLATE_SEARCH, STREAMS},
    .least = 1,
    .most = 1,
    .run = run,
};
