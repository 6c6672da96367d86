#include "cmd_bench.h"

#include <string.h>

#define TRANSLATE_OPTIONS                                                                                              \
    (FERRY_TAKES(MODEL) | FERRY_TAKES(FROM) | FERRY_TAKES(TO) | FERRY_TAKES(INPUT) | FERRY_TAKES(OUTPUT) |             \
     FERRY_TAKES(SINGLE) | FERRY_TAKES(JSON) | FERRY_TAKES(PROFILE) | FERRY_TAKES(LIMITS))
#define TRANSLATE_SEARCH "beam threads batch"
#define ENCODINGS_OPTIONS (FERRY_TAKES(UNTRAINED) | FERRY_TAKES(ENCODINGS) | FERRY_TAKES(JSON))
#define ENCODINGS_SEARCH "max-length"

/* What `ferry bench NAME` measures. */
typedef struct subject {
    const char *name;
    ferry_taken options;
    int (*run)(const ferry_call *call);
} subject;

static const subject subjects[] = {
    {"translate", {TRANSLATE_OPTIONS, TRANSLATE_SEARCH}, ferry_bench_translate},
    {"encodings", {ENCODINGS_OPTIONS, ENCODINGS_SEARCH}, ferry_bench_encodings},
};
enum { SUBJECT_COUNT = sizeof subjects / sizeof *subjects };

static int run(const ferry_call *call)
{
    const char *name = call->arguments.operands[0];
    size_t s = 0;
    while (s < SUBJECT_COUNT && strcmp(name, subjects[s].name) != 0) s++;
    if (s == SUBJECT_COUNT) {
        ferry_complain("bench: expected 'translate' or 'encodings', found '%s'", name);
        return FERRY_EXIT_USAGE;
    }
    for (int i = 0; i < FERRY_OPTION_COUNT; i++)
        if (ferry_is_given(call, (ferry_option)i) && !ferry_option_is_taken(&subjects[s].options, i)) {
            ferry_complain("bench %s: does not take all of the given options; try 'ferry help bench'", name);
            return FERRY_EXIT_USAGE;
        }
    return subjects[s].run(call);
}

const ferry_command ferry_command_bench = {
    .name = "bench",
    .synopsis = "translate|encodings",
    .summary = "measure the speed of translation, or the cost of positional encodings",
    .details =
        "translate: measures loading, the first line, then all lines in one call, or with --single one by one.\n"
        "--json: load_s first_s translate_s lines target_tokens peak_rss_mb; with --single mean_ms p50_ms p95_ms;\n"
        "with --profile profile: for each phase ms share calls; with --limits limits: for int8 and float32\n"
        "multiply_adds per_s peaks, for weights bytes bytes_per_s steps reading.\n"
        "--profile: where the time for all lines went, by phase, summed over the threads.\n"
        "--limits: the work of all products with weights, and its share of what the machine can multiply and read.\n"
        "Options: --model, --from, --to, --input, --output, --beam, --threads, --batch, --single, --profile,\n"
        "--limits, --json.\n"
        "encodings: measures the encoder with sentences of 32, 512 and 2,000 tokens, a decoder step at 1, 64 and 512\n"
        "target tokens, and memory, on one thread, for models with random weights that differ only by their encoding.\n"
        "--max-length: only lengths up to it. --json: for each encoding name encoder_s step_s step_ratio table_bytes\n"
        "row_bytes cache_bytes thread_bytes. Options: --untrained (required), --encodings, --max-length, --json.\n",
    .options = {TRANSLATE_OPTIONS | ENCODINGS_OPTIONS, TRANSLATE_SEARCH " " ENCODINGS_SEARCH},
    .least = 1,
    .most = 1,
    .run = run,
};
