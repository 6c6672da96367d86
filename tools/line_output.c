#include "line_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "engine/ferry_inspect.h"
#include "json_writer.h"
#include "output_file.h"

/* ---- alignment ---- */

/* Which source tokens a translation's tokens come from, as the weights of a result say (ferry_result_weights), in the
 * two forms that Marian prints. */

/* A hypothesis of a result. */
typedef struct aligned_tokens {
    const ferry_result *result;
    size_t line, hypothesis;
} aligned_tokens;

/* The values of --alignment. */
typedef enum alignment_form {
    HARD, /* for each target token the source token with the largest weight: "0-0 2-1", by source */
    SOFT  /* for each target token the weights of all source tokens: "0.9,0.1 0.2,0.8" */
} alignment_form;

/* Weight of source token `source` for target token `target`; 0 for those of other parts of a line. */
static float weight(const aligned_tokens *a, size_t target, size_t source)
{
    size_t first, count;
    const float *weights = ferry_result_weights(a->result, a->line, a->hypothesis, target, &first, &count);
    return weights != NULL && source >= first && source - first < count ? weights[source - first] : 0;
}

/* The first of the source tokens with the largest weight. */
static size_t likeliest(const aligned_tokens *a, size_t target)
{
    size_t first, count, best = 0;
    const float *weights = ferry_result_weights(a->result, a->line, a->hypothesis, target, &first, &count);
    for (size_t s = 1; s < count; s++)
        if (weights[s] > weights[best]) best = s;
    return first + best;
}

typedef struct pair {
    size_t source, target;
} pair;

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

/* The pair of each target token, sorted; the caller frees it. NULL, after a message, if there is no memory. */
static pair *list_pairs(const aligned_tokens *a, size_t count)
{
    pair *pairs = ferry_allocate(count + 1, sizeof *pairs);
    if (pairs == NULL) return NULL;
    for (size_t t = 0; t < count; t++) pairs[t] = (pair){likeliest(a, t), t};
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    return pairs;
}

/* Both print a message and return false if there is no memory. */
static bool write_alignment(FILE *out, const aligned_tokens *aligned, alignment_form form)
{
    const size_t S = ferry_result_source_token_count(aligned->result, aligned->line);
    const size_t T = ferry_result_token_count(aligned->result, aligned->line, aligned->hypothesis);
    if (form == SOFT) {
        for (size_t t = 0; t < T; t++)
            for (size_t s = 0; s < S; s++)
                fprintf(out, "%s%.6g", s > 0 ? "," : t > 0 ? " " : "", (double)weight(aligned, t, s));
        return true;
    }
    pair *pairs = list_pairs(aligned, T);
    const bool listed = pairs != NULL;
    for (size_t t = 0; listed && t < T; t++)
        fprintf(out, "%s%zu-%zu", t > 0 ? " " : "", pairs[t].source, pairs[t].target);
    free(pairs);
    return listed;
}

/* An array for each target token: [[0, 0], [2, 1]]; [[0.9, 0.1], [0.2, 0.8]] */
static bool put_alignment(ferry_json_writer *json, const char *key, const aligned_tokens *aligned, alignment_form form)
{
    const size_t S = ferry_result_source_token_count(aligned->result, aligned->line);
    const size_t T = ferry_result_token_count(aligned->result, aligned->line, aligned->hypothesis);
    pair *pairs = form == HARD ? list_pairs(aligned, T) : NULL;
    const bool listed = form == SOFT || pairs != NULL;
    ferry_put_begin(json, key, '[');
    for (size_t t = 0; listed && t < T; t++) {
        ferry_put_begin(json, NULL, '[');
        for (size_t s = 0; form == SOFT && s < S; s++) ferry_put_float(json, NULL, weight(aligned, t, s));
        if (form == HARD) {
            ferry_put_number(json, NULL, (double)pairs[t].source);
            ferry_put_number(json, NULL, (double)pairs[t].target);
        }
        ferry_put_end(json, ']');
    }
    ferry_put_end(json, ']');
    free(pairs);
    return listed;
}

/* ---- a line as an object of JSON ---- */

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
    const aligned_tokens aligned = {o->result, o->index, hypothesis};
    ferry_put_text(&o->json, "text", ferry_result_text(o->result, o->index, hypothesis));
    ferry_put_float(&o->json, "score", ferry_result_score(o->result, o->index, hypothesis));
    put_tokens(o, hypothesis);
    if (!ferry_is_given(call, FERRY_OPTION_ALIGNMENT) || ferry_result_token_count(o->result, o->index, hypothesis) == 0)
        return;
    const int32_t form = call->arguments.options[FERRY_OPTION_ALIGNMENT].integer;
    if (!put_alignment(&o->json, "alignment", &aligned, (alignment_form)form)) o->failed = true;
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
                 {FERRY_QUALITY_UNKNOWN, "unknown"},
                 {FERRY_QUALITY_NUMBER, "number"}};
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

/* ---- lines as text ---- */

/* A hypothesis of a result; of a line that failed, past the last one, and so without text and tokens. */
typedef struct entry {
    aligned_tokens at;
    float sum, score;
} entry;

static entry entry_of(const ferry_result *result, size_t i, size_t h)
{
    const float *scores = ferry_inspect_result_token_scores(result, i, h);
    entry e = {.at = {result, i, h}, .score = ferry_result_score(result, i, h)};
    for (size_t t = 0; t < ferry_result_token_count(result, i, h); t++) e.sum += scores[t];
    return e;
}

static void write_ids(FILE *out, const aligned_tokens *at)
{
    const int32_t *ids = ferry_inspect_result_ids(at->result, at->line, at->hypothesis);
    for (size_t t = 0; t < ferry_result_token_count(at->result, at->line, at->hypothesis); t++)
        fprintf(out, t > 0 ? " %d" : "%d", (int)ids[t]);
}

/* As Marian places the fields of a line. */
static bool write_entry(const ferry_line_output *output, const ferry_output_line *line, const entry *e)
{
    FILE *out = output->out;
    bool written = true;
    const ferry_call *call = output->call;
    const bool nbest = ferry_is_given(call, ferry_search_option("nbest"));
    if (nbest)
        fprintf(out, "%zu ||| ", line->number);
    else if (ferry_is_given(call, FERRY_OPTION_SCORES))
        fprintf(out, "%.6g\t", (double)e->score);
    if (ferry_is_given(call, FERRY_OPTION_IDS))
        write_ids(out, &e->at);
    else
        ferry_output_text(out, ferry_result_text(e->at.result, e->at.line, e->at.hypothesis));
    if (ferry_is_given(call, FERRY_OPTION_ALIGNMENT)) {
        const int32_t form = call->arguments.options[FERRY_OPTION_ALIGNMENT].integer;
        fputs(" ||| ", out);
        written = write_alignment(out, &e->at, (alignment_form)form);
    }
    if (nbest) fprintf(out, " ||| F0= %.6g ||| %.6g", (double)e->sum, (double)e->score);
    if (line->returned) fputc('\r', out);
    fputc('\n', out);
    return written;
}

ferry_session_scores ferry_line_output_scores(const ferry_call *call)
{
    const bool scores = ferry_is_given(call, FERRY_OPTION_SCORES) || ferry_is_given(call, FERRY_OPTION_JSON) ||
                        ferry_is_given(call, ferry_search_option("nbest"));
    return scores ? FERRY_SCORES_MODEL : FERRY_SCORES_NONE;
}

bool ferry_line_output_write(const ferry_line_output *output, const ferry_output_line *line, const ferry_result *result,
                             size_t index)
{
    const size_t hypotheses = ferry_result_hypothesis_count(result, index);
    bool written = true;
    if (ferry_is_given(output->call, FERRY_OPTION_JSON))
        return ferry_line_json_write(output, line, result, index) && hypotheses > 0;
    if (hypotheses == 0) write_entry(output, line, &(entry){{result, index, 0}, -INFINITY, -INFINITY});
    for (size_t h = 0; h < hypotheses; h++) {
        const entry e = entry_of(result, index, h);
        if (!write_entry(output, line, &e)) written = false;
    }
    return written && hypotheses > 0;
}
