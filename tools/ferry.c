/* The program: finds the command and parses its options. */
#include <stdio.h>
#include <string.h>

#include "engine/ferry.h"
#include "engine/kernels/cpu.h"
#include "base/system.h"
#include "base/terminal.h"
#include "command.h"

static const ferry_command *const commands[] = {
    &ferry_command_translate, &ferry_command_score,   &ferry_command_compare, &ferry_command_languages,
    &ferry_command_convert,   &ferry_command_inspect, &ferry_command_verify,  &ferry_command_bench,
    &ferry_command_plot,      &ferry_command_cache,
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const ferry_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    ferry_complain("unknown command '%s'; try 'ferry help'", name);
    return NULL;
}

/* ---- help ---- */

static void print_overview(FILE *out)
{
    fputs("usage: ferry COMMAND [OPTION…] [ARGUMENT…]\n\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help         explain a command: ferry help COMMAND\n"
          "\n"
          "ferry --version prints the version. Exit status: 0 success, 1 failure, 2 wrong usage.\n"
          "FERRY_MODEL names the model to use without -m, FERRY_ISA the kernels:\n" FERRY_ISA_NAMES ".\n",
          out);
}

static int print_help(const ferry_command *command)
{
    printf("usage: ferry %s [OPTION…] %s\n\n%s.\n%s\n", command->name, command->synopsis, command->summary,
           command->details);
    ferry_options_print(&command->options);
    return ferry_finish_output(FERRY_EXIT_OK);
}

static int help(int count, char **names)
{
    if (count == 0) {
        print_overview(stdout);
        return ferry_finish_output(FERRY_EXIT_OK);
    }
    const ferry_command *command = find_command(names[0]);
    return command != NULL ? print_help(command) : FERRY_EXIT_USAGE;
}

/* ---- commands ---- */

static int run_command(const ferry_command *command, ferry_call *call, char **argv, int count)
{
    ferry_arguments *arguments = &call->arguments;
    if (!ferry_arguments_parse(command->name, &command->options, argv, count, arguments)) return FERRY_EXIT_USAGE;
    if (ferry_is_given(call, FERRY_OPTION_HELP)) return print_help(command);
    if (arguments->operand_count < command->least || arguments->operand_count > command->most) {
        ferry_complain("%s: expected %s, found %zu arguments; try 'ferry help %s'", command->name,
                       command->synopsis[0] != '\0' ? command->synopsis : "no arguments", arguments->operand_count,
                       command->name);
        return FERRY_EXIT_USAGE;
    }
    return command->run(call);
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
    if (strcmp(argv[1], "--version") == 0) {
        printf("ferry %s\n", ferry_version());
        return ferry_finish_output(FERRY_EXIT_OK);
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(argc - 2, argv + 2);
    const ferry_command *command = find_command(argv[1]);
    return command != NULL ? run_command(command, &call, argv + 2, argc - 2) : FERRY_EXIT_USAGE;
}
