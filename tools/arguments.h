/* The command line: GNU-style options (--name VALUE, --name=VALUE, -n VALUE, -nVALUE, `--` ends them) among operands.
 * One table describes all options of all commands; a command says which of them it takes. */
#ifndef FERRY_TOOLS_ARGUMENTS_H
#define FERRY_TOOLS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ferry_option {
    FERRY_OPTION_MODEL,
    FERRY_OPTION_INPUT,
    FERRY_OPTION_OUTPUT,
    FERRY_OPTION_FROM,
    FERRY_OPTION_TO,
    FERRY_OPTION_POLICY,
    FERRY_OPTION_BEAM,
    FERRY_OPTION_NBEST,
    FERRY_OPTION_SCORES,
    FERRY_OPTION_MAX_LENGTH,
    FERRY_OPTION_MIN_LENGTH,
    FERRY_OPTION_LENGTH_PENALTY,
    FERRY_OPTION_WORD_PENALTY,
    FERRY_OPTION_EARLY_STOPPING,
    FERRY_OPTION_REPETITION_PENALTY,
    FERRY_OPTION_NO_REPEAT_NGRAM,
    FERRY_OPTION_NO_SHORTLIST,
    FERRY_OPTION_THREADS,
    FERRY_OPTION_BATCH,
    FERRY_OPTION_TYPE,
    FERRY_OPTION_TOLERANCE,
    FERRY_OPTION_SINGLE,
    FERRY_OPTION_UNTRAINED,
    FERRY_OPTION_ENCODINGS,
    FERRY_OPTION_JSON,
    FERRY_OPTION_PROFILE,
    FERRY_OPTION_LIMITS,
    FERRY_OPTION_ATTENTION,
    FERRY_OPTION_KIND,
    FERRY_OPTION_LAYER,
    FERRY_OPTION_HEAD,
    FERRY_OPTION_QUIET,
    FERRY_OPTION_HELP,
    FERRY_OPTION_COUNT
} ferry_option;

#define FERRY_TAKES(option) (UINT64_C(1) << (option))

typedef struct ferry_option_value {
    bool given;
    const char *text; /* as it was written; NULL for a switch */
    int32_t integer;  /* of a whole number; of a choice, its index in the help's order */
    float number;
} ferry_option_value;

typedef struct ferry_arguments {
    ferry_option_value options[FERRY_OPTION_COUNT];
    char **operands; /* [operand_count], in the order in which they were given */
    size_t operand_count;
} ferry_arguments;

/* Parses argv[0] … argv[count - 1], which it reorders: *operands points into it. `takes`: options of the command
 * `command`. On a mistake (an option that is unknown, lacks its value, or has one that is out of range) prints a
 * message that names option and value, and returns false. */
bool ferry_arguments_parse(const char *command, uint64_t takes, char **argv, int count, ferry_arguments *arguments);

/* One line for each of the options, on standard output. */
void ferry_options_print(uint64_t takes);

#endif
