/* Probes, as a table and as JSON. */
#include <math.h>

#include "print_comparison.h"

static const char *const stacks[] = {"encoder", "decoder"};
static const char *const kinds[] = {"encoder", "decoder", "cross"};

static double lost(const ferry_probe_change *change)
{
    return change->sentences > 0 ? change->changed_nll - change->nll : NAN;
}

static void print_number(double value)
{
    if (isnan(value))
        printf("%8s", "-");
    else
        printf("%8.2f", value);
}

static void print_row(const ferry_compared_model *m)
{
    const ferry_probes *p = m->probes;
    for (int stack = 0; stack < 2; stack++)
        for (int32_t layer = 0; layer <= p->stacks[stack].layers; layer++) {
            const ferry_probe_position *position = &p->stacks[stack].positions[layer];
            ferry_print_name(layer == 0 && stack == 0 ? m->name : "");
            printf(" %s %-3d", stacks[stack], (int)layer);
            print_number(position->seen);
            print_number(position->beyond);
            print_number(position->beyond_refit);
            for (int32_t shift = 0; shift < FERRY_PROBE_SHIFTS; shift++)
                print_number(p->stacks[stack].similarity[layer * FERRY_PROBE_SHIFTS + shift]);
            putchar('\n');
        }
    printf("%20s %-35s", "", "nats that a shift costs");
    for (int32_t shift = 0; shift < FERRY_PROBE_SHIFTS; shift++) print_number(lost(&p->shifted[shift]));
    putchar('\n');
}

void ferry_print_probes(const ferry_comparison *c)
{
    bool any = false;
    for (size_t i = 0; i < c->count; i++) {
        if (c->models[i].probes == NULL) continue;
        if (!any) {
            printf("\n%-33s%8s%8s%8s", "R² of the position", "seen", "beyond", "refit");
            for (int32_t s = 0; s < FERRY_PROBE_SHIFTS; s++) printf("   ×%-4.3g", ferry_probe_shift_factor(s));
            putchar('\n');
        }
        print_row(&c->models[i]);
        any = true;
    }
    if (any)
        fputs("\nR²: how much of a token's position a linear regression finds in its state after each layer: in "
              "lengths seen\n"
              "in training; beyond them; beyond them, fitted there. ×: cosine of a token's state and that after a "
              "shift by\n"
              "so many times the longest length in training, and what it costs a piece of the reference.\n",
              stdout);
    fflush(stdout);
}

/* ---- JSON ---- */

static void put_change(ferry_json_writer *json, const char *key, const ferry_probe_change *change)
{
    ferry_put_begin(json, key, '{');
    ferry_put_number(json, "sentences", change->sentences);
    ferry_put_number(json, "shift", change->shift);
    ferry_put_number(json, "nats", change->nll);
    ferry_put_number(json, "changed_nats", change->changed_nll);
    ferry_put_number(json, "divergence", change->divergence);
    ferry_put_end(json, '}');
}

static void put_stack(ferry_json_writer *json, const char *key, const ferry_probe_stack *stack)
{
    ferry_put_begin(json, key, '[');
    for (int32_t layer = 0; layer <= stack->layers; layer++) {
        const ferry_probe_position *p = &stack->positions[layer];
        ferry_put_begin(json, NULL, '{');
        ferry_put_number(json, "r2_seen", p->seen);
        ferry_put_number(json, "r2_beyond", p->beyond);
        ferry_put_number(json, "r2_beyond_refit", p->beyond_refit);
        ferry_put_number(json, "error_seen", p->seen_error);
        ferry_put_number(json, "error_beyond", p->beyond_error);
        ferry_put_begin(json, "similarity", '[');
        for (int32_t s = 0; s < FERRY_PROBE_SHIFTS; s++)
            ferry_put_number(json, NULL, stack->similarity[layer * FERRY_PROBE_SHIFTS + s]);
        ferry_put_end(json, ']');
        ferry_put_end(json, '}');
    }
    ferry_put_end(json, ']');
}

/* [bucket][layer][head] */
static void put_heads(ferry_json_writer *json, const char *key, const ferry_probe_heads *kind, int32_t buckets)
{
    ferry_put_begin(json, key, '[');
    for (int32_t b = 0; kind->heads_of != NULL && b < buckets; b++) {
        ferry_put_begin(json, NULL, '[');
        for (int32_t layer = 0; layer < kind->layers; layer++) {
            ferry_put_begin(json, NULL, '[');
            for (int32_t head = 0; head < kind->heads; head++) {
                const ferry_probe_head *h = ferry_probe_head_at(kind, b, layer, head);
                ferry_put_begin(json, NULL, '{');
                ferry_put_number(json, "entropy", h->entropy);
                ferry_put_number(json, "relative_entropy", h->relative_entropy);
                ferry_put_number(json, "distance", h->distance);
                ferry_put_number(json, "relative_distance", h->relative_distance);
                ferry_put_end(json, '}');
            }
            ferry_put_end(json, ']');
        }
        ferry_put_end(json, ']');
    }
    ferry_put_end(json, ']');
}

void ferry_put_probes(ferry_json_writer *json, const ferry_probes *probes)
{
    ferry_put_begin(json, "probes", '{');
    for (int stack = 0; stack < 2; stack++) put_stack(json, stacks[stack], &probes->stacks[stack]);
    ferry_put_begin(json, "attention", '{');
    for (int kind = 0; kind < 3; kind++) put_heads(json, kinds[kind], &probes->attention[kind], probes->bucket_count);
    ferry_put_end(json, '}');
    ferry_put_begin(json, "shifted", '[');
    for (int32_t s = 0; s < FERRY_PROBE_SHIFTS; s++) put_change(json, NULL, &probes->shifted[s]);
    ferry_put_end(json, ']');
    ferry_put_begin(json, "shuffled", '[');
    for (int32_t b = 0; b < probes->bucket_count; b++) put_change(json, NULL, &probes->shuffled[b]);
    ferry_put_end(json, ']');
    ferry_put_end(json, '}');
}
