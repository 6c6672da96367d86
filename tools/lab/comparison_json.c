#include <math.h>

#include "print_comparison.h"
#include "tools/json_writer.h"

static void put_interval(ferry_json_writer *json, const char *key, const ferry_interval *interval)
{
    ferry_put_begin(json, key, '[');
    ferry_put_number(json, NULL, interval->value);
    ferry_put_number(json, NULL, interval->low);
    ferry_put_number(json, NULL, interval->high);
    ferry_put_end(json, ']');
}

static void put_text(ferry_json_writer *json, const ferry_compared_text *text)
{
    ferry_put_begin(json, "text", '{');
    ferry_put_string(json, "source", text->source_name);
    ferry_put_string(json, "reference", text->reference_name);
    ferry_put_number(json, "lines", (double)text->count);
    ferry_put_number(json, "trained_pieces", text->trained_pieces > 0 ? (double)text->trained_pieces : NAN);
    ferry_put_begin(json, "buckets", '[');
    for (size_t b = 0; b < FERRY_BUCKETS; b++) {
        ferry_put_begin(json, NULL, '{');
        ferry_put_number(json, "least", ferry_buckets[b].least);
        ferry_put_number(json, "most", ferry_buckets[b].most < INT32_MAX ? (double)ferry_buckets[b].most : NAN);
        ferry_put_number(json, "lines", (double)text->lines[1 + b]);
        ferry_put_end(json, '}');
    }
    ferry_put_end(json, ']');
    ferry_put_end(json, '}');
}

static void put_curve(ferry_json_writer *json, const ferry_compared_cell *cell, size_t points)
{
    while (points > 0 && cell->curve[points - 1].pieces == 0) points--;
    ferry_put_begin(json, "curve", '[');
    for (size_t p = 0; p < points; p++) {
        ferry_put_begin(json, NULL, '{');
        ferry_put_number(json, "position", (double)(p * FERRY_CURVE_WIDTH));
        ferry_put_number(json, "pieces", (double)cell->curve[p].pieces);
        put_interval(json, "nats", &cell->curve[p].nats);
        ferry_put_end(json, '}');
    }
    ferry_put_end(json, ']');
}

/* Differences to each of the models before it. */
static void put_differences(ferry_json_writer *json, const ferry_comparison *c, size_t cell, size_t index)
{
    ferry_put_begin(json, "differences", '[');
    for (size_t other = 0; other < index; other++) {
        ferry_put_begin(json, NULL, '{');
        ferry_put_string(json, "to", c->models[other].name);
        for (size_t m = 0; m < FERRY_METRIC_COUNT; m++) {
            const ferry_difference *d = ferry_comparison_difference(c, cell, (ferry_metric)m, index, other);
            ferry_put_begin(json, ferry_metrics[m].key, '{');
            put_interval(json, "difference", &d->difference);
            ferry_put_number(json, "p", d->p);
            ferry_put_end(json, '}');
        }
        ferry_put_end(json, '}');
    }
    ferry_put_end(json, ']');
}

static void put_cell(ferry_json_writer *json, const ferry_comparison *c, size_t cell, size_t index)
{
    const ferry_compared_cell *found = &c->models[index].cells[cell];
    ferry_put_begin(json, NULL, '{');
    ferry_put_string(json, "name", ferry_cell_name(cell));
    ferry_put_number(json, "lines", (double)c->text.lines[cell]);
    ferry_put_number(json, "failed", (double)found->failed);
    ferry_put_number(json, "unscored", (double)found->unscored);
    for (size_t m = 0; m < FERRY_METRIC_COUNT; m++) put_interval(json, ferry_metrics[m].key, &found->metrics[m]);
    put_curve(json, found, c->text.curve_count);
    put_differences(json, c, cell, index);
    ferry_put_end(json, '}');
}

static void put_memory(ferry_json_writer *json, const ferry_inspect_memory *memory)
{
    ferry_put_number(json, "table_bytes", (double)memory->tables);
    ferry_put_number(json, "row_bytes", (double)memory->row);
    ferry_put_number(json, "cache_bytes", (double)memory->token);
}

static void put_failures(ferry_json_writer *json, const ferry_comparison *c, const ferry_compared_model *m)
{
    ferry_put_begin(json, "failures", '[');
    for (size_t i = 0; i < c->text.count; i++) {
        if (m->failures[i] == NULL) continue;
        ferry_put_begin(json, NULL, '{');
        ferry_put_number(json, "line", (double)(i + 1));
        ferry_put_string(json, "reason", m->failures[i]);
        ferry_put_end(json, '}');
    }
    ferry_put_end(json, ']');
}

static void put_model(ferry_json_writer *json, const ferry_comparison *c, size_t index)
{
    const ferry_compared_model *m = &c->models[index];
    ferry_put_begin(json, NULL, '{');
    ferry_put_string(json, "name", m->name);
    ferry_put_string(json, "path", m->path);
    ferry_put_string(json, "encoder_encoding", m->encodings[0]);
    ferry_put_string(json, "decoder_encoding", m->encodings[1]);
    ferry_put_string(json, "training", m->training);
    ferry_put_number(json, "trained_pieces", m->trained_pieces > 0 ? (double)m->trained_pieces : NAN);
    ferry_put_number(json, "file_bytes", m->file_bytes > 0 ? (double)m->file_bytes : NAN);
    put_memory(json, &m->memory);
    ferry_put_number(json, "thread_bytes", (double)m->memory.thread);
    ferry_put_number(json, "memory_tokens", m->memory_tokens);
    put_interval(json, "line_ms", &m->speed.line_ms);
    put_interval(json, "token_ms", &m->speed.token_ms);
    put_interval(json, "token_ratio", &m->speed.token_ratio);
    put_interval(json, "tokens_per_s", &m->speed.tokens_per_s);
    put_failures(json, c, m);
    if (m->probes != NULL) ferry_put_probes(json, m->probes);
    ferry_put_begin(json, "cells", '[');
    for (size_t cell = 0; cell < FERRY_CELLS; cell++)
        if (c->text.lines[cell] > 0) put_cell(json, c, cell, index);
    ferry_put_end(json, ']');
    ferry_put_end(json, '}');
}

/* ---- cost ---- */

static void put_cases(ferry_json_writer *json, const char *key, size_t first, size_t end, const ferry_interval *values)
{
    ferry_put_begin(json, key, '{');
    for (size_t i = first; i < end; i++) {
        const ferry_cost_case *one = &ferry_cost_cases[i];
        char name[32];
        snprintf(name, sizeof name, "%d", (int)(one->target > 0 ? one->target : one->source));
        put_interval(json, name, &values[i]);
    }
    ferry_put_end(json, '}');
}

static void put_cost(ferry_json_writer *json, const ferry_cost *cost)
{
    ferry_put_begin(json, NULL, '{');
    ferry_put_string(json, "name", cost->encoding);
    put_cases(json, "encoder_s", 0, FERRY_COST_FIRST_STEP, cost->seconds);
    put_cases(json, "encoder_ratio", 0, FERRY_COST_FIRST_STEP, cost->ratio);
    put_cases(json, "step_s", FERRY_COST_FIRST_STEP, FERRY_COST_CASES, cost->seconds);
    put_cases(json, "step_ratio", FERRY_COST_FIRST_STEP, FERRY_COST_CASES, cost->ratio);
    put_memory(json, &cost->memory);
    ferry_put_number(json, "thread_bytes", cost->longest_bytes > 0 ? (double)cost->longest_bytes : NAN);
    ferry_put_end(json, '}');
}

void ferry_print_json(const ferry_comparison *c)
{
    ferry_json_writer json = {.out = stdout};
    ferry_put_begin(&json, NULL, '{');
    if (c->count > 0) {
        ferry_put_string(&json, "isa", c->isa);
        ferry_put_number(&json, "beam", c->beam);
        ferry_put_number(&json, "threads", c->threads);
        ferry_put_number(&json, "resamples", c->resamples);
        put_text(&json, &c->text);
        ferry_put_begin(&json, "models", '[');
        for (size_t i = 0; i < c->count; i++) put_model(&json, c, i);
        ferry_put_end(&json, ']');
    }
    if (c->cost.count > 0) {
        ferry_put_begin(&json, "cost", '{');
        ferry_put_string(&json, "isa", c->cost.isa);
        ferry_put_begin(&json, "encodings", '[');
        for (size_t i = 0; i < c->cost.count; i++) put_cost(&json, &c->cost.costs[i]);
        ferry_put_end(&json, ']');
        ferry_put_end(&json, '}');
    }
    ferry_put_end(&json, '}');
    putchar('\n');
}
