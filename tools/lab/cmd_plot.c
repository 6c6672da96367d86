#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file_system.h"
#include "plot.h"
#include "tools/near_miss.h"
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

static ferry_model *open_model(const ferry_call *call, const char *path, ferry_name *name)
{
    ferry_model *model = ferry_open_model(call, path);
    if (model == NULL) return NULL;
    const ferry_text text = ferry_inspect_name(model);
    *name = ferry_name_format("%.*s", text.size < 200 ? (int)text.size : 200, text.data);
    return model;
}

/* Neither an encoding nor a file. */
static void complain_about(const char *operand)
{
    const char *encoding;
    ferry_near_miss miss = ferry_near_miss_of(ferry_text_view(operand));
    for (size_t i = 0; (encoding = ferry_inspect_encoding(i)) != NULL; i++)
        ferry_near_miss_try(&miss, "", ferry_text_view(encoding));
    ferry_complain("%s: neither a positional encoding of this build nor a file; %s", operand,
                   ferry_near_miss_question(&miss, "'ferry plot --untrained' draws all encodings").text);
}

/* An encoding's name, else a file. */
static ferry_model *open_subject(const ferry_call *call, const char *operand, ferry_name *name)
{
    ferry_model *model;
    ferry_error error;
    ferry_file_info file;
    const ferry_status status = ferry_inspect_untrained(operand, &shape, getenv("FERRY_ISA"), &model, &error);
    *name = (ferry_name){""};
    if (status == FERRY_OK) return model;
    if (status == FERRY_ERROR_UNSUPPORTED && ferry_file_examine(operand, &file)) return open_model(call, operand, name);
    if (status == FERRY_ERROR_UNSUPPORTED)
        complain_about(operand);
    else
        ferry_complain("%s", error.message);
    return NULL;
}

/* What is to be drawn: operands and the model of -m, or all encodings. */
static size_t count_subjects(const ferry_call *call)
{
    size_t count = 0;
    if (!ferry_is_given(call, FERRY_OPTION_UNTRAINED))
        return call->arguments.operand_count + ferry_is_given(call, FERRY_OPTION_MODEL);
    while (ferry_inspect_encoding(count) != NULL) count++;
    return count;
}

static ferry_model *open_subject_at(const ferry_call *call, size_t index, ferry_name *name)
{
    if (ferry_is_given(call, FERRY_OPTION_UNTRAINED)) return open_subject(call, ferry_inspect_encoding(index), name);
    if (index < call->arguments.operand_count) return open_subject(call, call->arguments.operands[index], name);
    return open_model(call, ferry_option_text(call, FERRY_OPTION_MODEL), name);
}

static bool plot_positions(const ferry_call *call, FILE *out)
{
    const size_t count = count_subjects(call);
    const int32_t layer = option_or_default(call, FERRY_OPTION_LAYER);
    ferry_plot_subject *subjects = ferry_allocate(count, sizeof *subjects);
    ferry_model **models = ferry_allocate(count, sizeof *models);
    bool done = subjects != NULL && models != NULL;
    for (size_t i = 0; done && i < count; i++) {
        models[i] = open_subject_at(call, i, &subjects[i].name);
        subjects[i].model = models[i];
        done = models[i] != NULL;
    }
    if (done)
        done = count == 1 ? ferry_plot_positions(out, &subjects[0], layer)
                          : ferry_plot_overview(out, subjects, (int32_t)count, layer);
    for (size_t i = 0; models != NULL && i < count; i++) ferry_model_close(models[i]);
    free(models);
    free(subjects);
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
    if (!ferry_session_open(call, &(ferry_session_needs){.path = NULL}, &session)) return false;
    const bool done = ferry_plot_attention(out, session.model, session.translator, &request);
    ferry_session_close(&session);
    return done;
}

/* ---- the command ---- */

/* "": none. */
static ferry_name find_mistake(const ferry_call *call)
{
    static const ferry_option others[] = {FERRY_OPTION_FROM, FERRY_OPTION_TO, FERRY_OPTION_HEAD, FERRY_OPTION_KIND};
    const bool attention = ferry_is_given(call, FERRY_OPTION_ATTENTION), operands = call->arguments.operand_count > 0;
    const bool untrained = ferry_is_given(call, FERRY_OPTION_UNTRAINED),
               model = ferry_is_given(call, FERRY_OPTION_MODEL);
    if (attention + untrained + (operands || (model && !attention)) != 1)
        return ferry_name_format("expected ENCODING, MODEL, --untrained or --attention TEXT");
    for (size_t i = 0; !attention && i < sizeof others / sizeof *others; i++)
        if (ferry_is_given(call, others[i]))
            return ferry_name_format("%s: expected --attention with it",
                                     ferry_option_typed(&call->arguments, (int)others[i]).text);
    const char *output = ferry_option_text(call, FERRY_OPTION_OUTPUT);
    if (output == NULL) return ferry_name_format("expected --output FILE");
    return ferry_text_ends(output, ".svg")
               ? (ferry_name){""}
               : ferry_name_format("%s: expected a name that ends in .svg",
                                   ferry_option_typed(&call->arguments, FERRY_OPTION_OUTPUT).text);
}

static bool draw(FILE *out, const void *user)
{
    const ferry_call *call = user;
    return ferry_is_given(call, FERRY_OPTION_ATTENTION) ? plot_attention(call, out) : plot_positions(call, out);
}

static int run(const ferry_call *call)
{
    const ferry_name mistake = find_mistake(call);
    const char *output = ferry_option_text(call, FERRY_OPTION_OUTPUT);
    if (mistake.text[0] != '\0') {
        ferry_complain("plot: %s; try 'ferry help plot'", mistake.text);
        return FERRY_EXIT_USAGE;
    }
    return ferry_output_complete(output, draw, call) ? FERRY_EXIT_OK : FERRY_EXIT_FAILED;
}

const ferry_command ferry_command_plot = {
    .name = "plot",
    .synopsis = "[ENCODING|MODEL]...",
    .summary = "draw positional encodings, or attention weights, as SVG",
    .details =
        "For one encoding (by its name in model files; before training) or model, draws all that it does, in both\n"
        "stacks: rows that are added to embeddings; numbers that are added to scores, vectors that are multiplied "
        "with\n"
        "queries and keys, and rotations, by distance and head. For several, or with --untrained for all encodings of\n"
        "this build: an overview. With --attention: the attention weights over the pieces of TEXT and of its\n"
        "translation, of each head or of --head. Layers and heads are counted from 0; default: the last layer.\n",
    .examples = "ferry plot --untrained -o encodings.svg\n"
                "ferry plot en-fr.gguf -o positions.svg\n"
                "ferry plot --attention \"How do I get to the island?\" -o attention.svg\n",
    .options = {.own = FERRY_TAKES(OUTPUT) | FERRY_TAKES(UNTRAINED) | FERRY_TAKES(ATTENTION) | FERRY_TAKES(MODEL) |
                       FERRY_TAKES(FROM) | FERRY_TAKES(TO) | FERRY_TAKES(KIND) | FERRY_TAKES(LAYER) |
                       FERRY_TAKES(HEAD)},
    .least = 0,
    .most = SIZE_MAX,
    .run = run,
};
