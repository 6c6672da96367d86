#include <stdio.h>

#include "engine/ferry_inspect.h"
#include "open_model.h"

static int run(const ferry_call *call)
{
    ferry_text text;
    ferry_error error;
    ferry_model *model = ferry_open_model(call, call->arguments.operands[0]);
    if (model == NULL) return FERRY_EXIT_FAILED;
    const ferry_status status = ferry_inspect_describe(model, &text, &error);
    if (ferry_succeeded(status, &error)) fwrite(text.data, 1, text.size, stdout);
    ferry_inspect_free(text.data);
    ferry_model_close(model);
    return ferry_finish_output(status == FERRY_OK ? FERRY_EXIT_OK : FERRY_EXIT_FAILED);
}

const ferry_command ferry_command_inspect = {
    .name = "inspect",
    .synopsis = "FILE",
    .summary = "describe a model",
    .details =
        "Prints its sizes, positional encodings, vocabulary, memory, decoding defaults, origin and content hash.\n",
    .least = 1,
    .most = 1,
    .run = run,
};
