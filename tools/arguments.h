/* The command line: GNU-style options (--name VALUE, --name=VALUE, -n VALUE, -nVALUE; `--` ends them) mixed with
 * operands. One table describes the options of all commands; a command says which of them it takes. */
#ifndef FERRY_TOOLS_ARGUMENTS_H
#define FERRY_TOOLS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "engine/ferry.h"

typedef enum ferry_option {
    FERRY_OPTION_MODEL,
    FERRY_OPTION_INPUT,
    FERRY_OPTION_FORMAT,
    FERRY_OPTION_GLOSSARY,
    FERRY_OPTION_KEEP,
    FERRY_OPTION_OUTPUT,
    FERRY_OPTION_RESUME,
    FERRY_OPTION_FORCE,
    FERRY_OPTION_FROM,
    FERRY_OPTION_TO,
    FERRY_OPTION_VIA,
    FERRY_OPTION_SCORES,
    FERRY_OPTION_ALIGNMENT,
    FERRY_OPTION_PREFIX,
    FERRY_OPTION_PREFIXES,
    FERRY_OPTION_IDS,
    FERRY_OPTION_SEED,
    FERRY_OPTION_NO_SHORTLIST,
    FERRY_OPTION_TYPE,
    FERRY_OPTION_PAIR,
    FERRY_OPTION_BUDGET,
    FERRY_OPTION_TOLERANCE,
    FERRY_OPTION_RECORD,
    FERRY_OPTION_SINGLE,
    FERRY_OPTION_JSON,
    FERRY_OPTION_PROFILE,
    FERRY_OPTION_LIMITS,
    FERRY_OPTION_VERBOSE,
    FERRY_OPTION_QUIET, /* this and the next are the last ones of every help text */
    FERRY_OPTION_HELP,
    FERRY_OPTION_SEARCH, /* the first of the search options, which the schema of the model file lists */
    FERRY_OPTION_COUNT = FERRY_OPTION_SEARCH + 32
} ferry_option;

_Static_assert(FERRY_OPTION_SEARCH <= 64, "each of the others has a bit");

/* The options of a command. */
typedef struct ferry_taken {
    uint64_t own;       /* FERRY_TAKES(MODEL) | FERRY_TAKES(INPUT) … */
    const char *search; /* search options by their names, separated by blanks; "*": all; NULL: none */
    uint64_t streams;   /* of its own, those that also take "-": standard input or output */
} ferry_taken;
#define FERRY_TAKES(name) (UINT64_C(1) << FERRY_OPTION_##name)

bool ferry_option_is_taken(const ferry_taken *taken, int option);
/* The search option `name`, which exists: "max-length". */
ferry_option ferry_search_option(const char *name);

typedef struct ferry_option_value {
    bool given;
    bool by_letter;   /* "-m", not "--model" */
    const char *text; /* as it was written; NULL: a switch, not given, or "-" for a standard stream */
    int32_t integer;  /* of a whole number; of a choice: its index, in the order of the help */
    float number;
} ferry_option_value;

typedef struct ferry_arguments {
    const ferry_taken *taken; /* by the command */
    ferry_option_value options[FERRY_OPTION_COUNT];
    const char *second_model; /* of --model, which a command that takes --via takes twice; NULL: it was not given */
    char **operands;          /* [operand_count], in the order given */
    size_t operand_count;
} ferry_arguments;

/* Parses argv[0] … argv[count - 1], and reorders it: arguments->operands points into it. `taken`: the options of
 * `command`; --help is always one. On a mistake (an unknown option, a missing value, a value out of range, options that
 * contradict each other) prints a message that names the option, as it was typed, and the value, and returns false. */
bool ferry_arguments_parse(const char *command, const ferry_taken *taken, char **argv, int count,
                           ferry_arguments *arguments);

/* The option as it was typed: "-m", else "--model". */
ferry_short_text ferry_option_typed(const ferry_arguments *arguments, int option);

/* Sets the fields of both structs that given options name; the others stay as they are. */
void ferry_arguments_apply(const ferry_arguments *arguments, ferry_options *options, ferry_search_options *search);

/* Prints the message of an error; one about a field of ferry_options ("option max_length: …") names the option as it
 * was typed. */
void ferry_arguments_complain(const ferry_arguments *arguments, const ferry_error *error);

/* Prints one line for each option. */
void ferry_options_print(const ferry_taken *taken);

/* ---- what a mistyped word was probably meant to be ----
 *
 * Of the words that are tried, those that differ least from it, by few enough letters. Cases do not differ; the
 * beginning of a word, of 3 letters or more, counts as one mistake. */

typedef struct ferry_near_miss {
    ferry_view typed;
    size_t distance;        /* of those found; at first, what is too much */
    ferry_short_text meant; /* 'one' or 'other'; "": nothing is near */
} ferry_near_miss;

ferry_near_miss ferry_near_miss_of(ferry_view typed);
/* `before`: what a message writes before the word, such as "--". */
void ferry_near_miss_try(ferry_near_miss *miss, const char *before, ferry_view word);
/* "did you mean 'translate'?", or `otherwise`. */
ferry_short_text ferry_near_miss_question(const ferry_near_miss *miss, const char *otherwise);

#endif
