#include <stdio.h>

#include "base/utf8.h"
#include "translator_session.h"

static void print_role(int roles, ferry_language_role role, ferry_language_role by_default, const char *name)
{
    if ((roles & (int)role) != 0) printf("%s%s", name, (roles & (int)by_default) != 0 ? "*" : "");
}

static void print_language(const ferry_model *model, size_t index)
{
    const int roles = ferry_model_language(model, index)->roles;
    const int both = FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET;
    ferry_printable_write(stdout, ferry_text_view(ferry_model_language(model, index)->tag));
    putchar('\t');
    ferry_printable_write(stdout, ferry_text_view(ferry_model_language(model, index)->names));
    putchar('\t');
    print_role(roles, FERRY_LANGUAGE_SOURCE, FERRY_LANGUAGE_DEFAULT_SOURCE, "from");
    if ((roles & both) == both) putchar(' ');
    print_role(roles, FERRY_LANGUAGE_TARGET, FERRY_LANGUAGE_DEFAULT_TARGET, "to");
    printf("\t%s\n", ferry_model_language(model, index)->english);
}

static int run(const ferry_call *call)
{
    ferry_model *model = ferry_open_wanted_model(call);
    if (model == NULL) return FERRY_EXIT_FAILED;
    const size_t count = ferry_model_language_count(model);
    for (size_t i = 0; i < count; i++) print_language(model, i);
    if (count == 0 && !ferry_is_given(call, FERRY_OPTION_QUIET))
        ferry_complain("the model does not say which languages it translates");
    ferry_model_close(model);
    return ferry_finish_output(FERRY_EXIT_OK);
}

const ferry_command ferry_command_languages = {
    .name = "languages",
    .synopsis = "",
    .summary = "list the languages that --from and --to accept",
    .details = "Prints one language per line: its tag, a tab, other names for it separated by blanks, a tab, and "
               "'from', 'to'\n"
               "or both: the model translates from or into it. A * marks the default of --from or --to. After another\n"
               "tab comes its English name, which --from and --to accept, too.\n",
    .examples = "ferry languages\n"
                "ferry languages -m nllb.gguf\n"
                "ferry languages -m nllb.gguf | grep deu\n",
    .options = {.own = FERRY_TAKES(MODEL) | FERRY_TAKES(QUIET)},
    .least = 0,
    .most = 0,
    .run = run,
};
