#include "cmd_bench.h"

#include <string.h>

#include "tools/near_miss.h"

#define TRANSLATE_OPTIONS                                                                                              \
    (FERRY_TAKES(MODEL) | FERRY_TAKES(FROM) | FERRY_TAKES(TO) | FERRY_TAKES(INPUT) | FERRY_TAKES(OUTPUT) |             \
     FERRY_TAKES(SINGLE) | FERRY_TAKES(JSON) | FERRY_TAKES(PROFILE) | FERRY_TAKES(LIMITS))
#define TRANSLATE_SEARCH "beam threads batch"
#define CANCEL_OPTIONS (FERRY_TAKES(MODEL) | FERRY_TAKES(FROM) | FERRY_TAKES(TO) | FERRY_TAKES(INPUT))
#define ENCODINGS_OPTIONS                                                                                              \
    (FERRY_TAKES(INPUT) | FERRY_TAKES(REFERENCE) | FERRY_TAKES(JSON) | FERRY_TAKES(CSV) | FERRY_TAKES(REPORT) |        \
     FERRY_TAKES(UNTRAINED) | FERRY_TAKES(ENCODINGS) | FERRY_TAKES(QUIET))
#define ENCODINGS_SEARCH "beam threads batch max-length"
#define STREAMS FERRY_TAKES(INPUT) /* standard output is for what was measured */

/* What `ferry bench NAME` measures. */
typedef struct subject {
    const char *name;
    ferry_taken options;
    size_t most; /* operands after its name */
    int (*run)(const ferry_call *call);
} subject;

static const subject subjects[] = {
    {"translate", {TRANSLATE_OPTIONS, TRANSLATE_SEARCH, STREAMS}, 0, ferry_bench_translate},
    {"cancel", {CANCEL_OPTIONS, TRANSLATE_SEARCH, STREAMS}, 0, ferry_bench_cancel},
    {"service", {CANCEL_OPTIONS, TRANSLATE_SEARCH, STREAMS}, 0, ferry_bench_service},
    {"encodings", {ENCODINGS_OPTIONS, ENCODINGS_SEARCH, STREAMS}, SIZE_MAX - 1, ferry_bench_encodings},
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
        ferry_complain("bench: expected 'translate', 'cancel', 'service' or 'encodings', found '%s'; %s", name,
                       ferry_near_miss_question(&miss, "try 'ferry help bench'").text);
        return FERRY_EXIT_USAGE;
    }
    for (int i = 0; i < FERRY_OPTION_COUNT; i++)
        if (ferry_is_given(call, (ferry_option)i) && !ferry_option_is_taken(&subjects[s].options, i)) {
            ferry_complain("bench %s: does not take %s; try 'ferry help bench'", name,
                           ferry_option_typed(&call->arguments, i).text);
            return FERRY_EXIT_USAGE;
        }
    if (call->arguments.operand_count - 1 > subjects[s].most) {
        ferry_complain("bench %s: unexpected '%s'; try 'ferry help bench'", name, call->arguments.operands[1]);
        return FERRY_EXIT_USAGE;
    }
    return subjects[s].run(call);
}

const ferry_command ferry_command_bench = {
    .name = "bench",
    .synopsis = "translate|cancel|service|encodings [MODEL…]",
    .summary = "measure the speed of translation, of cancelling or of a service, or compare positional encodings",
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
        "threads; then the wait for an urgent line alone, and beside 400 of a lower priority. Options as of cancel.\n"
        "encodings: compares trained models on a text with its translation. Default: the models that ship, which "
        "differ\n"
        "only by their positional encoding, with their text; then the cost of all encodings, as --untrained. BLEU and\n"
        "chrF as sacrebleu's; nats: -log p of a piece of the reference, by position, too, and of its end; lengths, "
        "early\n"
        "stops, repetition; by pieces of the source; 95 % intervals and p from 1,000 resamples of the lines; then "
        "speed\n"
        "and memory. Greedy search unless --beam says otherwise. --json: text, models: for each name path\n"
        "encoder_encoding decoder_encoding training trained_pieces file_bytes table_bytes row_bytes cache_bytes\n"
        "thread_bytes memory_tokens line_ms token_ms token_ratio tokens_per_s failures cells: for each name lines "
        "failed\n"
        "unscored bleu chrf nats end_nats length_ratio early_stop repetition curve differences; and cost. [value, "
        "low,\n"
        "high]: an interval.\n"
        "Models whose files record the longest example of their training are probed: what their states and attention\n"
        "tell about positions (probes). --report: all of it as a page of HTML with figures, advice, and what it says\n"
        "about common claims. --csv: a row for each model and bucket. Options: --input and --reference (lines of text "
        "and their\n"
        "translations), --beam, --threads, --batch, --json, --csv, --report, --quiet.\n"
        "encodings --untrained: measures the encoder with sentences of 32, 512 and 2,000 tokens, a decoder step at 1, "
        "64\n"
        "and 512 target tokens, and memory, on one thread, for models with random weights that differ only by their\n"
        "encoding. --max-length: only lengths up to it. --json: cost: for each encoding name encoder_s encoder_ratio\n"
        "step_s step_ratio table_bytes row_bytes cache_bytes thread_bytes. Options: --encodings, --max-length, "
        "--json.\n",
    .examples = "ferry bench translate -i letter.txt --single\n"
                "ferry bench translate -m en-fr.gguf -i letter.txt --profile --limits\n"
                "ferry bench encodings --report encodings.html\n",
    .options = {TRANSLATE_OPTIONS | ENCODINGS_OPTIONS, TRANSLATE_SEARCH " " ENCODINGS_SEARCH, STREAMS},
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
