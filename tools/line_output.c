#include "line_output.h"

#include <math.h>

#include "engine/ferry_inspect.h"
#include "line_alignment.h"
#include "line_json.h"
#include "output_file.h"

/* A hypothesis of a result; of a line that failed, past the last one, and so without text and tokens. */
typedef struct entry {
    ferry_aligned at;
    float sum, score;
} entry;

static entry entry_of(const ferry_result *result, size_t i, size_t h)
{
    const float *scores = ferry_inspect_result_token_scores(result, i, h);
    entry e = {.at = {result, i, h}, .score = ferry_result_score(result, i, h)};
    for (size_t t = 0; t < ferry_result_token_count(result, i, h); t++) e.sum += scores[t];
    return e;
}

static void write_ids(FILE *out, const ferry_aligned *at)
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
        written = ferry_alignment_write(out, &e->at, (ferry_alignment_form)form);
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
