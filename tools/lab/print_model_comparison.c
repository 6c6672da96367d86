#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "model_comparison.h"
#include "tools/json_writer.h"

/* Of those that differ. */
enum { SHOWN_LINES = 10 };

bool ferry_model_comparison_differs(const ferry_model_comparison *c, size_t line)
{
    const ferry_text a = ferry_result_text(c->models[0].result, line, 0),
                     b = ferry_result_text(c->models[1].result, line, 0);
    return !ferry_view_equal((ferry_view){a.data, a.size}, (ferry_view){b.data, b.size});
}

/* ---- the table ---- */

/* One measure of both models. */
typedef struct row {
    const char *name;
    double values[FERRY_COMPARED_PAIR];
    int decimals;
    bool ratio; /* models are compared by their ratio, not by their difference */
} row;

static void print_row(const row *r)
{
    const double a = r->values[0], b = r->values[1];
    if (isnan(a) || isnan(b)) return;
    printf("%-18s %12.*f %12.*f ", r->name, r->decimals, a, r->decimals, b);
    if (r->ratio)
        printf("%11.2fx\n", b / a);
    else
        printf("%+12.*f\n", r->decimals, b - a);
}

static void print_name(const char *label, const ferry_paired_model *model)
{
    printf("%s: ", label);
    ferry_printable_write(stdout, ferry_text_view(model->path));
    printf(", beam %d\n", (int)model->beam);
}

static void print_speed(const ferry_model_comparison *c)
{
    const ferry_race_speed *a = &c->models[0].speed, *b = &c->models[1].speed;
    char many[32];
    snprintf(many, sizeof many, "tokens/s, %d thread%s", (int)c->threads, c->threads == 1 ? "" : "s");
    print_row(&(row){"ms a line", {a->line_ms.value, b->line_ms.value}, 2, true});
    print_row(&(row){many, {a->tokens_per_s.value, b->tokens_per_s.value}, 0, true});
    if (!isnan(b->token_ratio.value))
        printf("%-18s %25s %11.2fx  (%.2f to %.2f)\n", "time for a token", "", b->token_ratio.value, b->token_ratio.low,
               b->token_ratio.high);
}

static void print_text(const char *label, ferry_text text)
{
    printf("  %-10s", label);
    ferry_printable_write(stdout, (ferry_view){text.data, text.size});
    putchar('\n');
}

static void print_line(const ferry_model_comparison *c, size_t line)
{
    printf("\nline %zu\n", line + 1);
    print_text("source", c->sources[line]);
    for (size_t m = 0; m < FERRY_COMPARED_PAIR; m++) {
        char label[16];
        snprintf(label, sizeof label, "%c %.4f", (char)('A' + m),
                 (double)ferry_result_score(c->models[m].result, line, 0));
        print_text(label, ferry_result_text(c->models[m].result, line, 0));
    }
}

void ferry_print_model_comparison(const ferry_model_comparison *c)
{
    const ferry_paired_model *a = &c->models[0], *b = &c->models[1];
    print_name("A", a);
    print_name("B", b);
    printf("%-18s %12s %12s %12s\n", "", "A", "B", "B to A");
    print_row(&(row){"size in MB", {strtod(a->bytes, NULL) / 1e6, strtod(b->bytes, NULL) / 1e6}, 1, true});
    print_speed(c);
    print_row(&(row){"score", {a->score, b->score}, 4, false});
    printf("lines that differ  %12zu of %zu (%.1f %%)\n", c->different, c->count,
           100 * (double)c->different / (double)c->count);
    size_t shown = 0;
    for (size_t i = 0; i < c->count && shown < SHOWN_LINES; i++)
        if (ferry_model_comparison_differs(c, i)) {
            print_line(c, i);
            shown++;
        }
    if (c->different > shown) printf("\nand %zu more lines, which --json lists\n", c->different - shown);
}

/* ---- JSON ---- */

static void put_interval(ferry_json_writer *json, const char *key, const ferry_interval *interval)
{
    ferry_put_begin(json, key, '[');
    ferry_put_number(json, NULL, interval->value);
    ferry_put_number(json, NULL, interval->low);
    ferry_put_number(json, NULL, interval->high);
    ferry_put_end(json, ']');
}

static void put_model(ferry_json_writer *json, const ferry_paired_model *m)
{
    ferry_put_begin(json, NULL, '{');
    ferry_put_string(json, "path", m->path);
    ferry_put_number(json, "beam", m->beam);
    ferry_put_number(json, "bytes", strtod(m->bytes, NULL));
    put_interval(json, "line_ms", &m->speed.line_ms);
    put_interval(json, "token_ms", &m->speed.token_ms);
    put_interval(json, "token_ratio", &m->speed.token_ratio);
    put_interval(json, "tokens_per_s", &m->speed.tokens_per_s);
    ferry_put_number(json, "score", m->score);
    ferry_put_end(json, '}');
}

static void put_difference(ferry_json_writer *json, const ferry_model_comparison *c, size_t line)
{
    ferry_put_begin(json, NULL, '{');
    ferry_put_number(json, "line", (double)line + 1);
    ferry_put_text(json, "source", c->sources[line]);
    ferry_put_begin(json, "texts", '[');
    for (size_t m = 0; m < FERRY_COMPARED_PAIR; m++)
        ferry_put_text(json, NULL, ferry_result_text(c->models[m].result, line, 0));
    ferry_put_end(json, ']');
    ferry_put_begin(json, "scores", '[');
    for (size_t m = 0; m < FERRY_COMPARED_PAIR; m++)
        ferry_put_float(json, NULL, ferry_result_score(c->models[m].result, line, 0));
    ferry_put_end(json, ']');
    ferry_put_end(json, '}');
}

void ferry_print_json_model_comparison(const ferry_model_comparison *c)
{
    ferry_json_writer json = {.out = stdout};
    ferry_put_begin(&json, NULL, '{');
    ferry_put_number(&json, "lines", (double)c->count);
    ferry_put_number(&json, "different", (double)c->different);
    ferry_put_begin(&json, "models", '[');
    for (size_t m = 0; m < FERRY_COMPARED_PAIR; m++) put_model(&json, &c->models[m]);
    ferry_put_end(&json, ']');
    ferry_put_begin(&json, "differences", '[');
    for (size_t i = 0; i < c->count; i++)
        if (ferry_model_comparison_differs(c, i)) put_difference(&json, c, i);
    ferry_put_end(&json, ']');
    ferry_put_end(&json, '}');
    putchar('\n');
}
