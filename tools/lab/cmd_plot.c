#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plot.h"
#include "tools/session.h"

/* What an encoding without a model is drawn with: as usual, but small, since only positions are looked at. */
static const ferry_inspect_shape shape = {
    .d_model = 256, .heads = 8, .ffn_width = 256, .encoder_layers = 1, .decoder_layers = 1, .vocab = 16};

static int32_t option_or_default(const ferry_call *call, ferry_option option)
{
    const ferry_option_value *value = &call->arguments.options[option];
    return value->given ? value->integer : -1;
}

/* ---- positions ---- */

/* An encoding's name, else a file. */
static ferry_model *open_subject(const ferry_call *call, const char *name, char *title, size_t size)
{
    ferry_model *model;
    ferry_error error;
    const ferry_status status = ferry_inspect_untrained(name, &shape, getenv("FERRY_ISA"), &model, &error);
    if (status == FERRY_OK) {
        snprintf(title, size, "%s with its usual parameters, untrained", name);
        return model;
    }
    if (status != FERRY_ERROR_UNSUPPORTED) {
        ferry_complain("%s", error.message);
        return NULL;
    }
    if (access(name, F_OK) != 0) {
        ferry_complain("%s: neither a positional encoding of this build nor a file", name);
        return NULL;
    }
    const char *slash = strrchr(name, '/');
    snprintf(title, size, "%s", slash != NULL ? slash + 1 : name);
    return ferry_open_model(call, name);
}

static bool plot_positions(const ferry_call *call, FILE *out)
{
    char title[160];
    ferry_model *model = open_subject(call, call->arguments.operands[0], title, sizeof title);
    if (model == NULL) return false;
    const bool done = ferry_plot_positions(out, model, title, option_or_default(call, FERRY_OPTION_LAYER));
    ferry_model_close(model);
    return done;
}

/* ---- attention ---- */

static bool plot_attention(const ferry_call *call, FILE *out)
{
    static const ferry_inspect_attention_kind kinds[] = {FERRY_INSPECT_CROSS, FERRY_INSPECT_ENCODER_SELF,
                                                         FERRY_INSPECT_DECODER_SELF}; /* as --kind's choices */
    const ferry_option_value *options = call->arguments.options;
    const ferry_plot_request request = {
        .text = options[FERRY_OPTION_ATTENTION].text,
        .from = options[FERRY_OPTION_FROM].text,
        .to = options[FERRY_OPTION_TO].text,
        .kind = kinds[options[FERRY_OPTION_KIND].integer],
        .layer = option_or_default(call, FERRY_OPTION_LAYER),
        .head = option_or_default(call, FERRY_OPTION_HEAD),
    };
    ferry_session session;
    if (!ferry_session_open(call, &session)) return false;
    const bool done = ferry_plot_attention(out, session.model, session.translator, &request);
    ferry_session_close(&session);
    return done;
}

/* ---- the command ---- */

static const char *find_mistake(const ferry_call *call)
{
    const ferry_option_value *options = call->arguments.options;
    const bool attention = options[FERRY_OPTION_ATTENTION].given;
    if (attention == (call->arguments.operand_count > 0)) return "expected ENCODING, MODEL or --attention TEXT";
    if (!attention &&
        (options[FERRY_OPTION_HEAD].given || options[FERRY_OPTION_KIND].given || options[FERRY_OPTION_MODEL].given ||
         options[FERRY_OPTION_FROM].given || options[FERRY_OPTION_TO].given))
        return "--model, --from, --to, --head and --kind go with --attention";
    return options[FERRY_OPTION_OUTPUT].given ? NULL : "expected --output FILE";
}

/* The picture as a whole, or a message: a file that exists is replaced only by a picture. */
static bool draw(const ferry_call *call, char **picture, size_t *size)
{
    FILE *out = open_memstream(picture, size);
    if (out == NULL) {
        ferry_complain("out of memory");
        return false;
    }
    const bool drawn =
        call->arguments.options[FERRY_OPTION_ATTENTION].given ? plot_attention(call, out) : plot_positions(call, out);
    const bool kept = !ferror(out);
    if (fclose(out) == 0 && kept) return drawn;
    ferry_complain("out of memory");
    return false;
}

static bool save(const char *path, const char *picture, size_t size)
{
    FILE *out = fopen(path, "wb");
    if (out == NULL) {
        ferry_complain("%s: cannot open: %s", path, strerror(errno));
        return false;
    }
    const bool written = fwrite(picture, 1, size, out) == size;
    if (fclose(out) == 0 && written) return true;
    ferry_complain("%s: cannot write: %s", path, strerror(errno));
    return false;
}

static int run(const ferry_call *call)
{
    const char *mistake = find_mistake(call), *output = call->arguments.options[FERRY_OPTION_OUTPUT].text;
    if (mistake != NULL) {
        ferry_complain("plot: %s; try 'ferry help plot'", mistake);
        return FERRY_EXIT_USAGE;
    }
    const char *model = call->arguments.operand_count > 0 ? call->arguments.operands[0]
                                                          : call->arguments.options[FERRY_OPTION_MODEL].text;
    if (model != NULL && ferry_same_file(model, output)) {
        ferry_complain("%s: is the model, too", output);
        return FERRY_EXIT_FAILED;
    }
    char *picture = NULL;
    size_t size = 0;
    const bool done = draw(call, &picture, &size) && save(output, picture, size);
    free(picture);
    return done ? FERRY_EXIT_OK : FERRY_EXIT_FAILED;
}

const ferry_command ferry_command_plot = {
    .name = "plot",
    .synopsis = "[ENCODING|MODEL]",
    .summary = "draw positional encodings, or attention weights, as SVG",
    .details =
        "Of an encoding (its name in model files; as it is before training) or of a model file, what applies: what is\n"
        "added to embeddings by position and dimension, what is added to scores by distance and head, and how alike\n"
        "positions are by distance. With --attention, the weights over the pieces of TEXT and of its translation\n"
        "by the model. Layers and heads count from 0; default: the last layer, the mean of its heads.\n",
    .options = FERRY_TAKES(FERRY_OPTION_OUTPUT) | FERRY_TAKES(FERRY_OPTION_ATTENTION) |
               FERRY_TAKES(FERRY_OPTION_MODEL) | FERRY_TAKES(FERRY_OPTION_FROM) | FERRY_TAKES(FERRY_OPTION_TO) |
               FERRY_TAKES(FERRY_OPTION_KIND) | FERRY_TAKES(FERRY_OPTION_LAYER) | FERRY_TAKES(FERRY_OPTION_HEAD),
    .least = 0,
    .most = 1,
    .run = run,
};
