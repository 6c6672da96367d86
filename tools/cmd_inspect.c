#include <stdio.h>

#include "engine/ferry_inspect.h"
#include "translator_session.h"

static int run(const ferry_call *call)
{
    ferry_text text;
    ferry_error error;
    const bool named = call->arguments.operand_count > 0;
    if (named && ferry_is_given(call, FERRY_OPTION_MODEL)) {
        ferry_complain("inspect: expected MODEL or %s, found both",
                       ferry_option_typed(&call->arguments, FERRY_OPTION_MODEL).text);
        return FERRY_EXIT_USAGE;
    }
    ferry_model *model = named ? ferry_open_model(call, call->arguments.operands[0]) : ferry_open_wanted_model(call);
    if (model == NULL) return FERRY_EXIT_FAILED;
    bool intact = ferry_succeeded(ferry_inspect_describe(model, &text, &error), &error);
    if (intact) {
        fwrite(text.data, 1, text.size, stdout);
        /* Whether the file is what its content hash says, if it has one. */
        const ferry_status status = ferry_model_verify(model, &error);
        if (status == FERRY_OK) puts("content: intact");
        if (status == FERRY_ERROR_FORMAT) puts("content: damaged");
        intact = status == FERRY_ERROR_UNSUPPORTED || ferry_succeeded(status, &error);
    }
    ferry_inspect_free(text.data);
    ferry_model_close(model);
    return ferry_finish_output(intact ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}

const ferry_command ferry_command_inspect = {
    .name = "inspect",
    .synopsis = "[MODEL]",
    .summary = "describe a model",
    .details = "Prints its sizes, positional encodings, vocabulary, memory, decoding defaults, origin and content "
               "hash, with which\n"
               "the whole file is compared: if it differs, the file is damaged, and the exit status is 1.\n",
    .examples = "ferry inspect\n"
                "ferry inspect en-fr.gguf\n"
                "ferry inspect -m opus-mt-en-fr\n",
    .options = {.own = FERRY_TAKES(MODEL)},
    .least = 0,
    .most = 1,
    .run = run,
};
