/* The program: finds the command and parses its options. Without one, it translates. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engine/ferry.h"
#include "engine/kernels/kernels.h"
#include "base/files/file_system.h"
#include "tools/system/terminal.h"
#include "command.h"
#include "arguments.h"
#include "output_file.h"

static int help(const ferry_call *call);

static const ferry_command command_help = {
    .name = "help",
    .synopsis = "[COMMAND]",
    .summary = "list the commands, or explain one",
    .details = "Prints the options of COMMAND, and examples. 'ferry COMMAND --help' prints the same.\n",
    .examples = "ferry help\n"
                "ferry help translate\n"
                "ferry translate --help\n",
    .least = 0,
    .most = 1,
    .run = help,
};

static const ferry_command *const commands[] = {
    &ferry_command_translate, &ferry_command_score,   &ferry_command_compare, &ferry_command_languages,
    &ferry_command_convert,   &ferry_command_inspect, &ferry_command_verify,  &ferry_command_bench,
    &ferry_command_cache,     &command_help,
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* NULL if there is none of this name. */
static const ferry_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static int refuse_command(const char *name)
{
    ferry_near_miss miss = ferry_near_miss_of(ferry_text_view(name));
    for (size_t i = 0; i < COMMAND_COUNT; i++) ferry_near_miss_try(&miss, "", ferry_text_view(commands[i]->name));
    ferry_file_info file;
    const char *advice = ferry_file_examine(name, &file) ? "to translate the file: ferry translate -i FILE"
                                                         : "try 'ferry help', or 'ferry translate TEXT'";
    ferry_complain("unknown command '%s'; %s", name, ferry_near_miss_question(&miss, advice).text);
    return FERRY_EXIT_USAGE;
}

/* ---- help ---- */

static void print_overview(FILE *out)
{
    fputs("usage: ferry COMMAND [OPTION…] [ARGUMENT…]\n"
          "       ferry [OPTION…] \"TEXT…\"    translates it\n\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n"
          "-V, --version print the version. Exit status: 0 success, 1 failure, 2 wrong usage.\n"
          "FERRY_MODEL names the model to use without -m, FERRY_ISA the kernels:\n" FERRY_ISA_NAMES ".\n",
          out);
}

static void print_examples(const char *examples)
{
    puts("\nExamples:");
    for (size_t size; *examples != '\0'; examples += size) {
        size = strcspn(examples, "\n") + 1;
        printf("  %.*s", (int)size, examples);
    }
}

static int print_help(const ferry_command *command)
{
    printf("usage: ferry %s [OPTION…] %s\n\n%s.\n%s\n", command->name, command->synopsis, command->summary,
           command->details);
    ferry_options_print(&command->options);
    print_examples(command->examples);
    return ferry_finish_output(FERRY_EXIT_OK);
}

static int help(const ferry_call *call)
{
    if (call->arguments.operand_count == 0) {
        print_overview(stdout);
        return ferry_finish_output(FERRY_EXIT_OK);
    }
    const ferry_command *command = find_command(call->arguments.operands[0]);
    return command != NULL ? print_help(command) : refuse_command(call->arguments.operands[0]);
}

/* ---- commands ---- */

/* Whether the command would write a text that it reads. (Models: translator_session.c.) */
static bool writes_its_input(const ferry_command *command, const ferry_call *call)
{
    static const ferry_option inputs[] = {FERRY_OPTION_INPUT, FERRY_OPTION_PREFIXES, FERRY_OPTION_GLOSSARY};
    const bool texts = command == &ferry_command_translate && call->arguments.operand_count > 0;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const char *path = ferry_option_text(call, inputs[i]);
        const ferry_short_text typed = ferry_option_typed(&call->arguments, (int)inputs[i]);
        if (path != NULL && ferry_input_is_output(call, path, typed.text)) return true;
    }
    return (command->options.streams & FERRY_TAKES(INPUT)) != 0 && !texts &&
           ferry_option_text(call, FERRY_OPTION_INPUT) == NULL && ferry_input_is_output(call, NULL, "standard input");
}

static int run_parsed(const ferry_command *command, ferry_call *call)
{
    ferry_arguments *arguments = &call->arguments;
    if (ferry_is_given(call, FERRY_OPTION_HELP)) return print_help(command);
    if (arguments->operand_count < command->least || arguments->operand_count > command->most) {
        ferry_complain("%s: expected %s, found %zu argument%s; try 'ferry help %s'", command->name,
                       command->synopsis[0] != '\0' ? command->synopsis : "no arguments", arguments->operand_count,
                       arguments->operand_count == 1 ? "" : "s", command->name);
        return FERRY_EXIT_USAGE;
    }
    if (command == &ferry_command_translate && arguments->operand_count == 1 &&
        strcmp(arguments->operands[0], "-") == 0 && !ferry_is_given(call, FERRY_OPTION_INPUT))
        arguments->operand_count = 0; /* standard input, as without TEXT */
    const int status = writes_its_input(command, call) ? FERRY_EXIT_FAILED : command->run(call);
    ferry_count_unprinted();
    return status;
}

/* ---- without a command ---- */

/* Whether an argument can be nothing but text: no command, however mistyped, has a blank or a letter beyond ASCII. */
static bool is_text(const char *argument)
{
    for (; *argument != '\0'; argument++)
        if (isspace((unsigned char)*argument) || (unsigned char)*argument > 0x7f) return true;
    return false;
}

/* Translates text, and files that options name. */
static int run_without_command(ferry_call *call, char **argv, int count)
{
    const ferry_command *translate = &ferry_command_translate;
    ferry_near_miss version = ferry_near_miss_of(ferry_text_view(argv[0]));
    ferry_near_miss_try(&version, "", ferry_text_view("--version"));
    if (version.meant.text[0] != '\0') {
        ferry_complain("unknown option '%s'; %s", argv[0], ferry_near_miss_question(&version, "").text);
        return FERRY_EXIT_USAGE;
    }
    if (argv[0][0] != '-' && !is_text(argv[0])) return refuse_command(argv[0]);
    if (!ferry_arguments_parse(translate->name, &translate->options, argv, count, &call->arguments))
        return FERRY_EXIT_USAGE;
    const char *first = call->arguments.operands[0];
    if (call->arguments.operand_count == 0 || is_text(first)) return run_parsed(translate, call);
    if (find_command(first) == NULL) return refuse_command(first);
    ferry_complain("the command is the first argument: ferry %s [OPTION…]", first);
    return FERRY_EXIT_USAGE;
}

static bool is_one_of(const char *argument, const char *name, const char *letter)
{
    return strcmp(argument, name) == 0 || strcmp(argument, letter) == 0;
}

int main(int argc, char **argv)
{
    const double started = ferry_clock();
    ferry_program_begin(&argc, &argv);
    ferry_call call = {.started = started, .program = argc > 0 ? argv[0] : ""};
    ferry_signals_ignore_size(); /* a file that exceeds the process's limit is an error of write, which is reported */
    if (argc < 2) {
        print_overview(stderr);
        return FERRY_EXIT_USAGE;
    }
    if (is_one_of(argv[1], "--version", "-V")) {
        printf("ferry %s\n", ferry_version());
        return ferry_finish_output(FERRY_EXIT_OK);
    }
    if (is_one_of(argv[1], "--help", "-h")) return help(&call);
    const ferry_command *command = find_command(argv[1]);
    if (command == NULL) return run_without_command(&call, argv + 1, argc - 1);
    return ferry_arguments_parse(command->name, &command->options, argv + 2, argc - 2, &call.arguments)
               ? run_parsed(command, &call)
               : FERRY_EXIT_USAGE;
}
