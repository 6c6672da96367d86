#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "plot.h"
#include "tools/open_model.h"
#include "tools/output_file.h"
#include "tools/translator_session.h"

/* The model that an encoding is drawn with: small, since only positions matter. */
static const ferry_inspect_shape shape = {
    .d_model = 256, .heads = 8, .ffn_width = 256, .encoder_layers = 1, .decoder_layers = 1, .vocab = 16};

static int32_t option_or_default(const ferry_call *call, ferry_option option)
{
    const ferry_option_value *value = &call->arguments.options[option];
    return value->given ? value->integer : -1;
}

/* ---- positions ---- */

/* An encoding's name, else a file. */
static ferry_model *open_subject(const ferry_call *call, const char *name, ferry_name *title)
{
    ferry_model *model;
    ferry_error error;
    const ferry_status status = ferry_inspect_untrained(name, &shape, getenv("FERRY_ISA"), &model, &error);
    if (status == FERRY_OK) {
        *title = ferry_name_format("%s with its usual parameters, untrained", name);
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
    *title = ferry_name_format("%s", slash != NULL ? slash + 1 : name);
    return ferry_open_model(call, name);
}

static bool plot_positions(const ferry_call *call, FILE *out)
{
    ferry_name title;
    ferry_model *model = open_subject(call, call->arguments.operands[0], &title);
    if (model == NULL) return false;
    const bool done = ferry_plot_positions(out, model, title.text, option_or_default(call, FERRY_OPTION_LAYER));
    ferry_model_close(model);
    return done;
}

/* ---- attention ---- */

static bool plot_attention(const ferry_call *call, FILE *out)
{
    static const ferry_inspect_attention_kind kinds[] = {
        FERRY_INSPECT_CROSS, FERRY_INSPECT_ENCODER_SELF,
        FERRY_INSPECT_DECODER_SELF}; /* in the order of the choices of --kind */
    const ferry_plot_request request = {
        .text = ferry_option_text(call, FERRY_OPTION_ATTENTION),
        .from = ferry_option_text(call, FERRY_OPTION_FROM),
        .to = ferry_option_text(call, FERRY_OPTION_TO),
        .kind = kinds[call->arguments.options[FERRY_OPTION_KIND].integer],
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
    static const ferry_option others[] = {FERRY_OPTION_MODEL, FERRY_OPTION_FROM, FERRY_OPTION_TO, FERRY_OPTION_HEAD,
                                          FERRY_OPTION_KIND};
    const bool attention = ferry_is_given(call, FERRY_OPTION_ATTENTION);
    if (attention == (call->arguments.operand_count > 0)) return "expected ENCODING, MODEL or --attention TEXT";
    for (size_t i = 0; !attention && i < sizeof others / sizeof *others; i++)
        if (ferry_is_given(call, others[i])) return "--model, --from, --to, --head and --kind require --attention";
    return ferry_is_given(call, FERRY_OPTION_OUTPUT) ? NULL : "expected --output FILE";
}

/* Draws into memory, so that an existing file is only replaced by a complete picture. */
static bool draw(const ferry_call *call, char **picture, size_t *size)
{
    FILE *out = open_memstream(picture, size);
    if (out == NULL) {
        ferry_complain("out of memory");
        return false;
    }
    const bool drawn =
        ferry_is_given(call, FERRY_OPTION_ATTENTION) ? plot_attention(call, out) : plot_positions(call, out);
    const bool kept = !ferror(out);
    if (fclose(out) == 0 && kept) return drawn;
    ferry_complain("out of memory");
    return false;
}

static bool save(const char *path, const char *picture, size_t size)
{
    FILE *out = ferry_output_open(path);
    if (out == NULL) return false;
    fwrite(picture, 1, size, out);
    return ferry_output_close(out, path);
}

static int run(const ferry_call *call)
{
    const char *mistake = find_mistake(call), *output = ferry_option_text(call, FERRY_OPTION_OUTPUT);
    if (mistake != NULL) {
        ferry_complain("plot: %s; try 'ferry help plot'", mistake);
        return FERRY_EXIT_USAGE;
    }
    const char *model =
        call->arguments.operand_count > 0 ? call->arguments.operands[0] : ferry_option_text(call, FERRY_OPTION_MODEL);
    if (ferry_output_is_input(output, model, "model")) return FERRY_EXIT_FAILED;
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
        "For an encoding (by its name in model files; before training) or a model, draws what applies of: what is\n"
        "added to embeddings, by position and dimension; what is added to scores, by distance and head; and the\n"
        "similarity of positions, by distance. With --attention: the attention weights over the pieces of TEXT and of\n"
        "its translation. Layers and heads are counted from 0; default: the last layer, the mean of its heads.\n",
    .options = {.own = FERRY_TAKES(OUTPUT) | FERRY_TAKES(ATTENTION) | FERRY_TAKES(MODEL) | FERRY_TAKES(FROM) |
                       FERRY_TAKES(TO) | FERRY_TAKES(KIND) | FERRY_TAKES(LAYER) | FERRY_TAKES(HEAD)},
    .least = 0,
    .most = 1,
    .run = run,
};
