/* Tables of the cost of encodings. */
#include <math.h>
#include <stdio.h>

#include "print_comparison.h"

void ferry_print_cost_head(const ferry_comparison *c)
{
    const ferry_inspect_shape *s = &c->cost.shape;
    printf("cost of encodings: random weights, d_model %d, ffn %d, %d heads, %d+%d layers; one thread; kernels %s\n"
           "time / none: median of the rounds and its 95 %% interval (of 3 rounds, with %d tokens: all); ~: no "
           "different\n",
           (int)s->d_model, (int)s->ffn_width, (int)s->heads, (int)s->encoder_layers, (int)s->decoder_layers,
           c->cost.isa, FERRY_COST_LONGEST);
    fflush(stdout);
}

void ferry_print_cost_case(const ferry_comparison *c, size_t index)
{
    const ferry_cost_case *one = &ferry_cost_cases[index];
    const bool encoder = index < FERRY_COST_FIRST_STEP;
    char title[64];
    if (isnan(c->cost.costs[0].seconds[index].value)) return; /* left out */
    snprintf(title, sizeof title, encoder ? "encoder, %d tokens" : "decoder, step %d",
             (int)(encoder ? one->source : one->target));
    printf("\n%-22s %10s %12s\n", title, encoder ? "tokens/s" : "ms", "time / none");
    for (size_t i = 0; i < c->cost.count; i++) {
        const ferry_cost *cost = &c->cost.costs[i];
        const ferry_interval *ratio = &cost->ratio[index];
        const double seconds = cost->seconds[index].value;
        if (isnan(seconds)) {
            printf("%-22s %10s %12s\n", cost->encoding, "-", "-");
            continue;
        }
        printf("%-22s %10.*f %12.3f", cost->encoding, encoder ? 0 : 2, encoder ? one->source / seconds : 1e3 * seconds,
               ratio->value);
        if (i > 0)
            printf("  %.3f to %.3f%s", ratio->low, ratio->high, ratio->low <= 1 && ratio->high >= 1 ? "  ~" : "");
        putchar('\n');
    }
    fflush(stdout);
}

void ferry_print_cost_memory(const ferry_comparison *c)
{
    printf("\n%-22s %10s %8s %8s %8s\n%-22s %10s %8s %8s %8s\n", "memory", "tables", "row", "cache", "thread", "", "kB",
           "kB", "kB", "MB");
    for (size_t i = 0; i < c->cost.count; i++) {
        const ferry_cost *cost = &c->cost.costs[i];
        printf("%-22s %10.1f %8.1f %8.1f ", cost->encoding, (double)cost->memory.tables / 1e3,
               (double)cost->memory.row / 1e3, (double)cost->memory.token / 1e3);
        if (cost->longest_bytes > 0)
            printf("%8.1f\n", (double)cost->longest_bytes / 1e6);
        else
            printf("%8s\n", "-");
    }
    printf(
        "\nencoder: one sentence of that many tokens. step: one row at that target position, without the output\n"
        "matrix, over a source of %d tokens. tables: of the model; row: for each position that a thread has\n"
        "prepared; cache: keys and values of a target token; thread: all memory of one that encodes %d tokens, with\n"
        "its rows and the tables.\n",
        (int)ferry_cost_cases[FERRY_COST_FIRST_STEP].source, FERRY_COST_LONGEST);
}
