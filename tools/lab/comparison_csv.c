#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "print_comparison.h"

/* In quotes where RFC 4180 wants them. */
static void put_text(const char *text)
{
    const ferry_view view = ferry_text_view(text);
    const bool plain = strpbrk(text, "\",") == NULL;
    char shown[FERRY_SHOWN_SIZE];
    if (!plain) putchar('"');
    for (size_t at = 0; at < view.size;) {
        ferry_printable_next(view, &at, shown);
        if (shown[0] == '"') putchar('"');
        fputs(shown, stdout);
    }
    if (!plain) putchar('"');
}

/* Empty: unknown. */
static void put_number(double value)
{
    putchar(',');
    if (!isnan(value)) printf("%.10g", value);
}

static void put_row(const ferry_comparison *c, size_t index, size_t cell)
{
    const ferry_compared_model *m = &c->models[index];
    put_text(m->name);
    printf(",%s,%s,%s", m->encodings[0], m->encodings[1], ferry_cell_name(cell));
    put_number((double)c->text.lines[cell]);
    put_number((double)m->cells[cell].failed);
    put_number((double)m->cells[cell].unscored);
    for (size_t k = 0; k < FERRY_METRIC_COUNT; k++) {
        const ferry_interval *found = &m->cells[cell].metrics[k];
        put_number(found->value);
        put_number(found->low);
        put_number(found->high);
        put_number(index > 0 ? ferry_comparison_difference(c, cell, (ferry_metric)k, index, 0)->p : NAN);
    }
    put_number(m->speed.line_ms.value);
    put_number(m->speed.token_ms.value);
    put_number(m->speed.tokens_per_s.value);
    fputs("\n", stdout);
}

void ferry_print_csv(const ferry_comparison *c)
{
    fputs("model,encoder,decoder,bucket,lines,failed,unscored", stdout);
    for (size_t k = 0; k < FERRY_METRIC_COUNT; k++) {
        const char *key = ferry_metrics[k].key;
        printf(",%s,%s_low,%s_high,%s_p", key, key, key, key);
    }
    fputs(",line_ms,token_ms,tokens_per_s\n", stdout);
    for (size_t i = 0; i < c->count; i++)
        for (size_t cell = 0; cell < FERRY_CELLS; cell++)
            if (c->text.lines[cell] > 0) put_row(c, i, cell);
}
