#include "arguments.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "engine/file/schema.h"

/* ---- what was probably meant ---- */

enum { LONGEST = 32, LEAST_BEGINNING = 3 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool differ(ferry_view a, size_t i, ferry_view b, size_t j)
{
    return ferry_compare_letters(a.data + i, b.data + j, 1) != 0;
}

/* Damerau and Levenshtein's distance of words of at most LONGEST letters: letters that were left out, added, replaced
 * or swapped with the next one (Damerau 1964), where none is touched twice. */
static size_t distance(ferry_view a, ferry_view b)
{
    size_t d[LONGEST + 1][LONGEST + 1]; /* d[i][j]: of the first i and j letters */
    for (size_t i = 0; i <= a.size; i++)
        for (size_t j = 0; j <= b.size; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const size_t replaced = d[i - 1][j - 1] + differ(a, i - 1, b, j - 1);
            d[i][j] = smaller(replaced, 1 + smaller(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && !differ(a, i - 1, b, j - 2) && !differ(a, i - 2, b, j - 1))
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size][b.size];
}

ferry_near_miss ferry_near_miss_of(ferry_view typed)
{
    /* One mistake, and another for every three letters from the sixth on. */
    return (ferry_near_miss){.typed = typed, .distance = 2 + (typed.size > 3 ? (typed.size - 3) / 3 : 0)};
}

void ferry_near_miss_try(ferry_near_miss *miss, const char *before, ferry_view word)
{
    if (miss->typed.size > LONGEST || word.size > LONGEST) return;
    size_t found = distance(miss->typed, word);
    if (miss->typed.size >= LEAST_BEGINNING && miss->typed.size < word.size &&
        distance(miss->typed, (ferry_view){word.data, miss->typed.size}) == 0)
        found = smaller(found, 1);
    const bool tie = found == miss->distance && miss->meant.text[0] != '\0';
    if (found >= smaller(word.size, miss->distance) && !tie) return;
    miss->distance = found;
    const ferry_short_text before_it = tie ? ferry_format("%s or ", miss->meant.text) : (ferry_short_text){""};
    miss->meant = ferry_format("%s'%s%.*s'", before_it.text, before, (int)word.size, word.data);
}

ferry_short_text ferry_near_miss_question(const ferry_near_miss *miss, const char *otherwise)
{
    return miss->meant.text[0] != '\0' ? ferry_format("did you mean %s?", miss->meant.text)
                                       : ferry_format("%s", otherwise);
}

/* ---- options ---- */

typedef enum kind { SWITCH, TEXT, INTEGER, NUMBER, CHOICE } kind;

typedef struct description {
    char name[32];
    char letter; /* 0: none */
    kind kind;
    char value[64];     /* its name in the help; the choices, separated by '|' */
    double least, most; /* of a number; a switch gives its field the value `most` */
    size_t field;       /* offset in ferry_decoding */
    const char *help;
} description;

#define FIELD(name) offsetof(ferry_decoding, options.name)
#define NO_FIELD FIELD(size)

/* All but the search options. */
static const description table[FERRY_OPTION_SEARCH] = {
    [FERRY_OPTION_MODEL] = {"model", 'm', TEXT, "FILE", 0, 0, NO_FIELD,
                            "the model; default: $FERRY_MODEL, else the one that ships"},
    [FERRY_OPTION_INPUT] = {"input", 'i', TEXT, "FILE", 0, 0, NO_FIELD,
                            "read lines from FILE instead of standard input"},
    [FERRY_OPTION_FORMAT] = {"format", 0, CHOICE, "lines|text|html|markdown|md|srt|vtt|po|json", 0, 0, NO_FIELD,
                             "what the input is; default: lines, or by FILE's ending"},
    [FERRY_OPTION_GLOSSARY] = {"glossary", 0, TEXT, "FILE", 0, 0, NO_FIELD,
                               "lines of words, a tab, and what they become"},
    [FERRY_OPTION_KEEP] = {"keep", 0, SWITCH, "", 0, 0, NO_FIELD,
                           "placeholders and addresses in lines stay as they are"},
    [FERRY_OPTION_OUTPUT] = {"output", 'o', TEXT, "FILE", 0, 0, NO_FIELD, "write to FILE"},
    [FERRY_OPTION_RESUME] = {"resume", 0, SWITCH, "", 0, 0, NO_FIELD,
                             "continue the FILE of --output where an earlier run ended"},
    [FERRY_OPTION_FORCE] = {"force", 0, SWITCH, "", 0, 0, NO_FIELD, "read the input as UTF-8, whatever it looks like"},
    [FERRY_OPTION_FROM] = {"from", 0, TEXT, "LANGUAGE", 0, 0, FIELD(from),
                           "translate from LANGUAGE (see 'ferry languages')"},
    [FERRY_OPTION_TO] = {"to", 0, TEXT, "LANGUAGE", 0, 0, FIELD(to), "translate into LANGUAGE"},
    [FERRY_OPTION_VIA] = {"via", 0, TEXT, "LANGUAGE", 0, 0, NO_FIELD, "between two models: the language of both"},
    [FERRY_OPTION_SCORES] = {"scores", 0, SWITCH, "", 0, 1, FIELD(scores),
                             "print the score and a tab before each translation"},
    [FERRY_OPTION_ALIGNMENT] = {"alignment", 0, CHOICE, "hard|soft", 0, 0, NO_FIELD,
                                "print which source tokens the target tokens come from, as Marian does"},
    [FERRY_OPTION_PREFIX] = {"prefix", 0, TEXT, "TEXT", 0, 0, NO_FIELD, "every translation begins with TEXT"},
    [FERRY_OPTION_PREFIXES] = {"prefixes", 0, TEXT, "FILE", 0, 0, NO_FIELD,
                               "each translation begins with its line of FILE"},
    [FERRY_OPTION_IDS] = {"ids", 0, SWITCH, "", 0, 0, NO_FIELD, "lines are ids of tokens, in and out"},
    [FERRY_OPTION_SEED] = {"seed", 0, INTEGER, "N", 0, INT32_MAX, NO_FIELD, "of --sample; default: 0"},
    [FERRY_OPTION_NO_SHORTLIST] = {"no-shortlist", 0, SWITCH, "", 0, 0, FIELD(shortlist),
                                   "ignore the model's shortlist of target words"},
    [FERRY_OPTION_TYPE] = {"type", 0, CHOICE, "f32|f16|int8|int4", 0, 0, NO_FIELD, "type of the matrices in the file"},
    [FERRY_OPTION_PAIR] = {"pair", 0, TEXT, "SOURCE-TARGET", 0, 0, NO_FIELD,
                           "the languages that the model translates by default: en-de"},
    [FERRY_OPTION_BUDGET] = {"budget", 0, INTEGER, "MB", 1, 1 << 24, NO_FIELD,
                             "what SOURCE may take at most; see above"},
    [FERRY_OPTION_TOLERANCE] = {"tolerance", 0, NUMBER, "X", 0, 1e6, NO_FIELD,
                                "largest difference that passes; default: 2e-4"},
    [FERRY_OPTION_RECORD] = {"record", 0, TEXT, "FILE", 0, 0, NO_FIELD, "write a golden file instead of comparing"},
    [FERRY_OPTION_SINGLE] = {"single", 0, SWITCH, "", 0, 0, NO_FIELD,
                             "one line at a time: latency instead of throughput"},
    [FERRY_OPTION_JSON] = {"json", 0, SWITCH, "", 0, 0, NO_FIELD, "print JSON"},
    [FERRY_OPTION_PROFILE] = {"profile", 0, SWITCH, "", 0, 0, NO_FIELD, "show where the time goes"},
    [FERRY_OPTION_LIMITS] = {"limits", 0, SWITCH, "", 0, 0, NO_FIELD,
                             "show the share of the machine's limits that was reached"},
    [FERRY_OPTION_VERBOSE] = {"verbose", 'v', SWITCH, "", 0, 0, NO_FIELD,
                              "print each matrix's rounding error, and what reading is refused"},
    [FERRY_OPTION_QUIET] = {"quiet", 'q', SWITCH, "", 0, 0, NO_FIELD, "print errors only"},
    [FERRY_OPTION_HELP] = {"help", 'h', SWITCH, "", 0, 0, NO_FIELD, "print this help"},
};

typedef enum clash {
    BOTH,      /* one of them at a time */
    ABOVE_ONE, /* the second one has to be 1 */
    MORE,      /* the first one is at most the second one (0: any), unless words are drawn, which needs no beam */
    ALONE,     /* the first one is of no use without the second one */
} clash;

/* Options that contradict each other, in all commands that take both. */
static const struct conflict {
    const char *first, *second; /* long names */
    clash clash;
} conflicts[] = {
    {"nbest", "beam", MORE},
    {"min-length", "max-length", MORE},
    {"sample", "beam", ABOVE_ONE},
    {"alternatives", "beam", ABOVE_ONE},
    {"sample", "alternatives", BOTH},
    {"alternatives", "nbest", ALONE},
    {"temperature", "sample", ALONE},
    {"top-k", "sample", ALONE},
    {"top-p", "sample", ALONE},
    {"seed", "sample", ALONE},
    {"prefix", "prefixes", BOTH},
    {"ids", "prefix", BOTH},
    {"ids", "prefixes", BOTH},
    {"ids", "json", BOTH},
    {"ids", "replace-unknowns", BOTH},
    {"json", "scores", BOTH},
    {"glossary", "ids", BOTH},
    {"glossary", "sample", BOTH},
    {"glossary", "alternatives", BOTH},
    {"glossary", "nbest", ABOVE_ONE},
    {"keep", "ids", BOTH},
    {"keep", "sample", BOTH},
    {"keep", "alternatives", BOTH},
    {"keep", "nbest", ABOVE_ONE},
    {"verbose", "quiet", BOTH},
};

/* Row `index` of those of the search's options that the command line has; NULL past the end. */
static const ferry_key *search_key(int index)
{
    const ferry_key_table search = ferry_schema_keys(FERRY_KEYS_DECODING);
    for (size_t i = 0; i < search.count; i++)
        if (search.keys[i].help != NULL && index-- == 0) return &search.keys[i];
    return NULL;
}

static description describe_key(const ferry_key *key)
{
    description option = {.least = key->min, .most = key->max, .field = key->offset, .help = key->help};
    for (size_t i = 0; key->name[i] != '\0' && i + 1 < sizeof option.name; i++)
        option.name[i] = key->name[i] == '_' ? '-' : key->name[i];
    option.kind = key->kind == FERRY_KEY_CHOICE ? CHOICE
                  : key->kind == FERRY_KEY_REAL ? NUMBER
                  : key->kind == FERRY_KEY_BOOL ? SWITCH
                                                : INTEGER;
    if (option.kind == SWITCH) option.most = 1;
    snprintf(option.value, sizeof option.value, "%s", option.kind == NUMBER ? "X" : option.kind == SWITCH ? "" : "N");
    for (size_t i = 0, size = 0; option.kind == CHOICE && key->choices[i] != NULL; i++)
        size += (size_t)snprintf(option.value + size, sizeof option.value - size, "%s%s", i > 0 ? "|" : "",
                                 key->choices[i]);
    return option;
}

/* Without a name where there is no such option. */
static description describe(int option)
{
    if (option < FERRY_OPTION_SEARCH) return table[option];
    const ferry_key *key = search_key(option - FERRY_OPTION_SEARCH);
    return key != NULL ? describe_key(key) : (description){.name = ""};
}

/* Whether `name` is one of the words of `list`. */
static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *word = list; word != NULL && *word != '\0';) {
        const size_t size = strcspn(word, " ");
        if (size == length && memcmp(word, name, size) == 0) return true;
        word += size + (word[size] == ' ');
    }
    return false;
}

bool ferry_option_is_taken(const ferry_taken *taken, int option)
{
    const description found = describe(option);
    if (option < FERRY_OPTION_SEARCH) return option == FERRY_OPTION_HELP || (taken->own >> option & 1) != 0;
    return found.name[0] != '\0' && taken->search != NULL &&
           (strcmp(taken->search, "*") == 0 || is_listed(taken->search, found.name));
}

ferry_option ferry_search_option(const char *name)
{
    int option = FERRY_OPTION_SEARCH;
    while (option + 1 < FERRY_OPTION_COUNT && strcmp(describe(option).name, name) != 0) option++;
    return (ferry_option)option;
}

/* ---- names ---- */

ferry_short_text ferry_option_typed(const ferry_arguments *arguments, int option)
{
    const description found = describe(option);
    return arguments->options[option].by_letter ? ferry_format("-%c", found.letter) : ferry_format("--%s", found.name);
}

/* ---- values ---- */

/* Whether all of `text` is a number, where strtol or strtod stopped at `end`. (They skip leading blanks.) */
static bool is_number(const char *text, const char *end)
{
    return end != text && *end == '\0' && !isspace((unsigned char)text[0]);
}

/* `typed`: the option, as it was. */
static bool parse_integer(const description *option, const char *typed, ferry_option_value *value)
{
    char *end;
    errno = 0;
    const long number = strtol(value->text, &end, 10);
    if (!is_number(value->text, end) || errno != 0 || number < (long)option->least || number > (long)option->most) {
        ferry_complain("%s: expected a whole number from %ld to %ld, found '%s'", typed, (long)option->least,
                       (long)option->most, value->text);
        return false;
    }
    value->integer = (int32_t)number;
    return true;
}

static bool parse_number(const description *option, const char *typed, ferry_option_value *value)
{
    char *end;
    const double number = strtod(value->text, &end);
    if (!is_number(value->text, end) || !(number >= option->least && number <= option->most)) {
        ferry_complain("%s: expected a number from %g to %g, found '%s'", typed, option->least, option->most,
                       value->text);
        return false;
    }
    value->number = (float)number;
    return true;
}

static bool parse_choice(const description *option, const char *typed, ferry_option_value *value)
{
    const ferry_view text = ferry_text_view(value->text);
    ferry_near_miss miss = ferry_near_miss_of(text);
    const char *choice = option->value;
    for (int32_t index = 0; choice != NULL; index++) {
        const ferry_view word = {choice, strcspn(choice, "|")};
        if (ferry_view_equal(word, text)) {
            value->integer = index;
            return true;
        }
        ferry_near_miss_try(&miss, "", word);
        choice = choice[word.size] == '|' ? choice + word.size + 1 : NULL;
    }
    const ferry_short_text question = ferry_near_miss_question(&miss, "");
    ferry_complain("%s: expected %s, found '%s'%s%s", typed, option->value, value->text,
                   question.text[0] != '\0' ? "; " : "", question.text);
    return false;
}

/* "-" among file names: a standard stream, where the command takes one. */
static bool parse_text(const description *option, const char *typed, bool stream, ferry_option_value *value)
{
    if (strcmp(option->value, "FILE") != 0 || strcmp(value->text, "-") != 0) return true;
    if (!stream)
        ferry_complain("%s: expected the name of a file, found '-': a standard stream cannot take its place", typed);
    value->text = NULL;
    return stream;
}

static bool parse_value(const description *option, const char *typed, bool stream, ferry_option_value *value)
{
    switch (option->kind) {
    case INTEGER: return parse_integer(option, typed, value);
    case NUMBER: return parse_number(option, typed, value);
    case CHOICE: return parse_choice(option, typed, value);
    case TEXT: return parse_text(option, typed, stream, value);
    case SWITCH: break;
    }
    return true;
}

/* ---- arguments ---- */

/* The option of this name, or of this letter if it is not 0; -1: there is none. */
static int find_option(const ferry_taken *taken, ferry_view name, char letter)
{
    for (int i = 0; i < FERRY_OPTION_COUNT; i++) {
        const description option = describe(i);
        if (!ferry_option_is_taken(taken, i)) continue;
        if (letter != 0 ? option.letter == letter : ferry_view_is(name, option.name)) return i;
    }
    return -1;
}

typedef struct parser {
    const char *command;
    const ferry_taken *taken;
    char **argv;
    int count, at; /* argv[at] is the argument after the current one */
    ferry_arguments *arguments;
} parser;

static bool usage_mistake(const parser *p, const char *problem, const char *argument)
{
    ferry_complain("%s: %s '%s'; try 'ferry help %s'", p->command, problem, argument, p->command);
    return false;
}

/* No option is called `name`. */
static bool unknown_option(const parser *p, const char *argument, ferry_view name)
{
    ferry_near_miss miss = ferry_near_miss_of(name);
    for (int i = 0; i < FERRY_OPTION_COUNT; i++) {
        const description option = describe(i);
        if (ferry_option_is_taken(p->taken, i)) ferry_near_miss_try(&miss, "--", ferry_text_view(option.name));
    }
    const ferry_short_text help = ferry_format("try 'ferry help %s'", p->command);
    ferry_complain("%s: unknown option '%s'; %s", p->command, argument,
                   ferry_near_miss_question(&miss, help.text).text);
    return false;
}

/* Another model, after one. */
static bool take_second_model(parser *p, const char *argument, const char *path)
{
    if (!ferry_option_is_taken(p->taken, FERRY_OPTION_VIA))
        return usage_mistake(p, "expected one model, found another in", argument);
    if (p->arguments->second_model != NULL) return usage_mistake(p, "expected at most two models, found", path);
    p->arguments->second_model = path;
    return true;
}

/* `attached`: the value in the same argument; NULL if there is none. */
static bool take_option(parser *p, int index, const char *argument, const char *attached)
{
    ferry_option_value *value = &p->arguments->options[index];
    const description option = describe(index);
    const ferry_option_value before = *value;
    *value = (ferry_option_value){.given = true, .by_letter = argument[1] != '-', .text = attached};
    if (option.kind == SWITCH) return attached == NULL || usage_mistake(p, "no value is expected in", argument);
    if (attached == NULL) {
        if (p->at == p->count) return usage_mistake(p, "a value is missing after", argument);
        value->text = p->argv[p->at++];
    }
    const bool stream = index < FERRY_OPTION_SEARCH && (p->taken->streams >> index & 1) != 0;
    if (!parse_value(&option, ferry_option_typed(p->arguments, index).text, stream, value)) return false;
    if (index != FERRY_OPTION_MODEL || !before.given) return true;
    const char *path = value->text;
    *value = before;
    return take_second_model(p, argument, path);
}

static bool parse_long(parser *p, const char *argument)
{
    const char *name = argument + 2, *equals = strchr(name, '=');
    const ferry_view view = {name, equals != NULL ? (size_t)(equals - name) : strlen(name)};
    const int index = find_option(p->taken, view, 0);
    if (index < 0) return unknown_option(p, argument, view);
    return take_option(p, index, argument, equals != NULL ? equals + 1 : NULL);
}

static bool parse_letters(parser *p, const char *argument)
{
    for (const char *letter = argument + 1; *letter != '\0'; letter++) {
        const int index = find_option(p->taken, (ferry_view){NULL, 0}, *letter);
        if (index < 0) return unknown_option(p, argument, ferry_text_view(argument + 1)); /* -beam */
        const bool alone = describe(index).kind == SWITCH || letter[1] == '\0';
        if (!take_option(p, index, argument, alone ? NULL : letter + 1)) return false;
        if (!alone) break;
    }
    return true;
}

/* Of an option that was given; NULL if it was not. */
static const ferry_option_value *find_given(const ferry_arguments *arguments, const char *name, ferry_short_text *typed)
{
    for (int i = 0; i < FERRY_OPTION_COUNT; i++) {
        if (!arguments->options[i].given || strcmp(describe(i).name, name) != 0) continue;
        *typed = ferry_option_typed(arguments, i);
        return &arguments->options[i];
    }
    return NULL;
}

static bool check_conflicts(const parser *p)
{
    ferry_short_text unused;
    const bool is_drawn = find_given(p->arguments, "sample", &unused) != NULL ||
                          find_given(p->arguments, "alternatives", &unused) != NULL;
    for (const struct conflict *c = conflicts; c < conflicts + sizeof conflicts / sizeof *conflicts; c++) {
        ferry_short_text names[2];
        const ferry_option_value *first = find_given(p->arguments, c->first, &names[0]),
                                 *second = find_given(p->arguments, c->second, &names[1]);
        if (first == NULL || (second == NULL) != (c->clash == ALONE)) continue;
        if (c->clash == ALONE)
            ferry_complain("%s: %s: expected --%s with it", p->command, names[0].text, c->second);
        else if (c->clash == MORE && first->integer > second->integer && second->integer > 0 && !is_drawn)
            ferry_complain("%s: %s: expected at most %s, which is %d, found %d", p->command, names[0].text,
                           names[1].text, (int)second->integer, (int)first->integer);
        else if (c->clash == ABOVE_ONE && second->integer > 1)
            ferry_complain("%s: %s: expected %s 1 with it, found %d", p->command, names[0].text, names[1].text,
                           (int)second->integer);
        else if (c->clash == BOTH)
            ferry_complain("%s: expected %s or %s, found both", p->command, names[0].text, names[1].text);
        else
            continue;
        return false;
    }
    return true;
}

bool ferry_arguments_parse(const char *command, const ferry_taken *taken, char **argv, int count,
                           ferry_arguments *arguments)
{
    parser p = {.command = command, .taken = taken, .argv = argv, .count = count, .arguments = arguments};
    memset(arguments, 0, sizeof *arguments);
    arguments->taken = taken;
    arguments->operands = argv;
    bool options_ended = false;
    while (p.at < p.count) {
        char *argument = argv[p.at++];
        if (options_ended || argument[0] != '-' || argument[1] == '\0')
            argv[arguments->operand_count++] = argument;
        else if (strcmp(argument, "--") == 0)
            options_ended = true;
        else if (!(argument[1] == '-' ? parse_long(&p, argument) : parse_letters(&p, argument)))
            return false;
    }
    return check_conflicts(&p);
}

/* ---- results ---- */

static void set_field(const description *option, const ferry_option_value *value, void *field)
{
    switch (option->kind) {
    case SWITCH: memcpy(field, &(int32_t){(int32_t)option->most}, sizeof(int32_t)); break;
    case TEXT: memcpy(field, &value->text, sizeof value->text); break;
    case INTEGER:
    case CHOICE: memcpy(field, &value->integer, sizeof value->integer); break;
    case NUMBER: memcpy(field, &value->number, sizeof value->number); break;
    }
}

_Static_assert(sizeof(ferry_policy) == sizeof(int32_t) && sizeof(ferry_early_stopping) == sizeof(int32_t),
               "choices are copied as int32_t");

void ferry_arguments_apply(const ferry_arguments *arguments, ferry_options *options, ferry_search_options *search)
{
    static const size_t in_search = offsetof(ferry_decoding, search);
    for (int i = 0; i < FERRY_OPTION_COUNT; i++) {
        const description option = describe(i);
        if (!arguments->options[i].given || option.field == NO_FIELD) continue;
        set_field(&option, &arguments->options[i],
                  option.field < in_search ? (char *)options + option.field
                                           : (char *)search + (option.field - in_search));
    }
}

/* Whether `name`, "max-length", is the option of the field "max_length". */
static bool is_option_of(const char *name, const char *field)
{
    for (; *name != '\0' && *field == (*name == '-' ? '_' : *name); name++) field++;
    return *name == *field;
}

void ferry_arguments_complain(const ferry_arguments *arguments, const ferry_error *error)
{
    for (int i = 0; i < FERRY_OPTION_COUNT; i++) {
        const description option = describe(i);
        if (option.field == NO_FIELD || error->argument == NULL || !is_option_of(option.name, error->argument))
            continue;
        ferry_complain("%s%s", ferry_option_typed(arguments, i).text, strchr(error->message, ':'));
        return;
    }
    ferry_complain("%s", error->message);
}

static void print_options(const ferry_taken *taken, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        const description option = describe(i);
        if (!ferry_option_is_taken(taken, i)) continue;
        char left[128], letter[8] = "";
        if (option.letter != 0) snprintf(letter, sizeof letter, "-%c,", option.letter);
        snprintf(left, sizeof left, "%-3s --%s %s", letter, option.name, option.value);
        printf("  %-46s %s\n", left, option.help);
    }
}

void ferry_options_print(const ferry_taken *taken)
{
    print_options(taken, 0, FERRY_OPTION_QUIET);
    print_options(taken, FERRY_OPTION_SEARCH, FERRY_OPTION_COUNT);
    print_options(taken, FERRY_OPTION_QUIET, FERRY_OPTION_SEARCH);
}
