#include "line_output.h"

#include <math.h>

#include "engine/ferry_inspect.h"
#include "output_file.h"

/* What an entry of output contains. */
typedef struct entry {
    ferry_text text;
    float sum, score;
} entry;

static entry entry_of(const ferry_result *result, size_t i, size_t h)
{
    const float *scores = ferry_inspect_result_token_scores(result, i, h);
    entry e = {.text = ferry_result_text(result, i, h), .score = ferry_result_score(result, i, h)};
    for (size_t t = 0; t < ferry_result_tokens(result, i, h); t++) e.sum += scores[t];
    return e;
}

static void write_entry(const ferry_line_output *output, ferry_output_line line, const entry *e)
{
    FILE *out = output->out;
    const bool nbest = ferry_is_given(output->call, ferry_search_option("nbest")); /* Marian's format */
    if (nbest)
        fprintf(out, "%zu ||| ", line.number);
    else if (ferry_is_given(output->call, FERRY_OPTION_SCORES))
        fprintf(out, "%.6g\t", (double)e->score);
    ferry_output_text(out, e->text);
    if (nbest) fprintf(out, " ||| F0= %.6g ||| %.6g", (double)e->sum, (double)e->score);
    if (line.returned) fputc('\r', out);
    fputc('\n', out);
}

bool ferry_line_output_write(const ferry_line_output *output, ferry_output_line line, const ferry_result *result,
                             size_t index)
{
    const size_t hypotheses = ferry_result_hypotheses(result, index);
    if (hypotheses == 0) write_entry(output, line, &(entry){{"", 0}, -INFINITY, -INFINITY});
    for (size_t h = 0; h < hypotheses; h++) {
        const entry e = entry_of(result, index, h);
        write_entry(output, line, &e);
    }
    return hypotheses > 0;
}
