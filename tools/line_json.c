#include "line_json.h"

#include <string.h>

#include "engine/ferry_inspect.h"
#include "json_writer.h"
#include "line_alignment.h"

/* What is being written. */
typedef struct object {
    ferry_json_writer json;
    const ferry_line_output *output;
    const ferry_result *result;
    size_t index;
    bool failed; /* there was no memory */
} object;

/* `begin` and `end` are bytes of the text; tokens that stand for no text have none. */
static void put_token(object *o, ferry_inspect_stack side, const ferry_token *token, bool placed)
{
    ferry_json_writer *json = &o->json;
    ferry_put_begin(json, NULL, '{');
    ferry_put_number(json, "id", token->id);
    ferry_put_text(json, "piece", ferry_inspect_piece(o->output->model, side, token->id));
    if (side == FERRY_INSPECT_DECODER) ferry_put_float(json, "log_probability", token->log_probability);
    if (placed) {
        ferry_put_number(json, "begin", (double)token->begin);
        ferry_put_number(json, "end", (double)token->end);
    }
    ferry_put_end(json, '}');
}

static void put_tokens(object *o, size_t hypothesis)
{
    const size_t count = ferry_result_token_count(o->result, o->index, hypothesis);
    const int32_t *ids = ferry_inspect_result_ids(o->result, o->index, hypothesis);
    const float *scores = ferry_inspect_result_token_scores(o->result, o->index, hypothesis);
    if (count == 0) return;
    ferry_put_begin(&o->json, "tokens", '[');
    for (size_t t = 0; t < count; t++) {
        ferry_token token;
        const bool placed = ferry_result_token(o->result, o->index, hypothesis, t, &token, sizeof token) == FERRY_OK;
        if (!placed) token = (ferry_token){.id = ids[t], .log_probability = scores[t]};
        put_token(o, FERRY_INSPECT_DECODER, &token, placed);
    }
    ferry_put_end(&o->json, ']');
}

static void put_source_tokens(object *o)
{
    const size_t count = ferry_result_source_token_count(o->result, o->index);
    if (count == 0) return;
    ferry_put_begin(&o->json, "source_tokens", '[');
    for (size_t s = 0; s < count; s++) {
        ferry_token token;
        if (ferry_result_source_token(o->result, o->index, s, &token, sizeof token) == FERRY_OK)
            put_token(o, FERRY_INSPECT_ENCODER, &token, true);
    }
    ferry_put_end(&o->json, ']');
}

static void put_hypothesis(object *o, size_t hypothesis)
{
    const ferry_call *call = o->output->call;
    const ferry_aligned aligned = {o->result, o->index, hypothesis};
    ferry_put_text(&o->json, "text", ferry_result_text(o->result, o->index, hypothesis));
    ferry_put_float(&o->json, "score", ferry_result_score(o->result, o->index, hypothesis));
    put_tokens(o, hypothesis);
    if (!ferry_is_given(call, FERRY_OPTION_ALIGNMENT) || ferry_result_token_count(o->result, o->index, hypothesis) == 0)
        return;
    const int32_t form = call->arguments.options[FERRY_OPTION_ALIGNMENT].integer;
    if (!ferry_alignment_put(&o->json, "alignment", &aligned, (ferry_alignment_form)form)) o->failed = true;
}

static void put_hypotheses(object *o)
{
    if (!ferry_is_given(o->output->call, ferry_search_option("nbest"))) {
        put_hypothesis(o, 0);
        return;
    }
    ferry_put_begin(&o->json, "hypotheses", '[');
    for (size_t h = 0; h < ferry_result_hypothesis_count(o->result, o->index); h++) {
        ferry_put_begin(&o->json, NULL, '{');
        put_hypothesis(o, h);
        ferry_put_end(&o->json, '}');
    }
    ferry_put_end(&o->json, ']');
}

/* The warnings that a program may want to act on. */
static void put_quality(object *o)
{
    static const struct {
        ferry_quality flag;
        const char *name;
    } names[] = {{FERRY_QUALITY_CUT, "cut"},
                 {FERRY_QUALITY_LOOP, "loop"},
                 {FERRY_QUALITY_SHORT, "short"},
                 {FERRY_QUALITY_UNKNOWN, "unknown"}};
    const int quality = ferry_result_outcome(o->result, o->index)->quality;
    if (quality == 0) return;
    ferry_put_begin(&o->json, "quality", '[');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((quality & (int)names[i].flag) != 0) ferry_put_string(&o->json, NULL, names[i].name);
    ferry_put_end(&o->json, ']');
}

/* The library separates warnings by "; ". */
static void put_warnings(object *o)
{
    static const char separator[] = "; ";
    const char *warning = ferry_result_outcome(o->result, o->index)->warning;
    if (warning == NULL) return;
    ferry_put_begin(&o->json, "warnings", '[');
    while (warning != NULL) {
        const char *end = strstr(warning, separator);
        ferry_put_text(&o->json, NULL, (ferry_text){warning, end != NULL ? (size_t)(end - warning) : strlen(warning)});
        warning = end != NULL ? end + strlen(separator) : NULL;
    }
    ferry_put_end(&o->json, ']');
}

bool ferry_line_json_write(const ferry_line_output *output, const ferry_output_line *line, const ferry_result *result,
                           size_t index)
{
    object o = {.json = {.out = output->out}, .output = output, .result = result, .index = index};
    ferry_put_begin(&o.json, NULL, '{');
    ferry_put_number(&o.json, "line", (double)line->number + 1);
    ferry_put_text(&o.json, "source", line->source);
    if (ferry_result_hypothesis_count(result, index) > 0) put_hypotheses(&o);
    put_source_tokens(&o);
    put_quality(&o);
    put_warnings(&o);
    if (line->error != NULL) ferry_put_string(&o.json, "error", line->error);
    ferry_put_end(&o.json, '}');
    fputc('\n', output->out);
    return !o.failed;
}
