/* Tables of quality and speed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "print_comparison.h"

enum { CELL_WIDTH = 11 };

/* Metrics for which models are compared. */
static const ferry_metric compared[] = {FERRY_METRIC_BLEU, FERRY_METRIC_CHRF, FERRY_METRIC_LIKELIHOOD};
enum { COMPARED = sizeof compared / sizeof *compared };
/* The others in the table of all lines. */
static const ferry_metric others[] = {FERRY_METRIC_END, FERRY_METRIC_LENGTH_RATIO, FERRY_METRIC_EARLY_STOP,
                                      FERRY_METRIC_REPETITION};
enum { OTHERS = sizeof others / sizeof *others };

void ferry_print_name(const char *name)
{
    const int width = (int)ferry_printable_write(stdout, ferry_text_view(name));
    printf("%*s", width < FERRY_NAME_COLUMN ? FERRY_NAME_COLUMN - width : 1, "");
}

static void print_right(const char *text, int width)
{
    int found = 0;
    for (const char *c = text; *c != '\0'; c++) found += ((unsigned char)*c & 0xC0) != 0x80;
    printf(" %*s%s", found < width ? width - found : 0, "", text);
}

static void print_number(double value, int decimals, int width)
{
    char text[64] = "-";
    if (!isnan(value)) snprintf(text, sizeof text, "%.*f", decimals, value);
    print_right(text, width);
}

/* "24.7±3.1", the half width of the interval, and a mark. */
static void print_interval(const ferry_interval *i, int decimals, const char *mark, int width)
{
    char text[96] = "-";
    if (!isnan(i->value))
        snprintf(text, sizeof text, "%.*f±%.*f%s", decimals, i->value, decimals, (i->high - i->low) / 2, mark);
    print_right(text, width);
}

/* ---- all lines ---- */

void ferry_print_head(const ferry_comparison *c)
{
    static const char *const titles[] = {"BLEU", "p", "chrF", "p", "nats", "p", "end", "length", "early", "repeated"};
    static const int widths[] = {CELL_WIDTH, 5, CELL_WIDTH, 5, CELL_WIDTH, 5, 6, 6, 6, 8};
    ferry_printable_write(stdout, ferry_text_view(c->text.source_name));
    fputs(", ", stdout);
    ferry_printable_write(stdout, ferry_text_view(c->text.reference_name));
    printf(": %zu lines; beam %d; kernels %s; ± and p: %d resamples of the lines, 95 %%\n\n", c->text.count,
           (int)c->beam, c->isa, (int)c->resamples);
    ferry_print_name("all lines");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) print_right(titles[i], widths[i]);
    putchar('\n');
    fflush(stdout);
}

/* p against the first model. */
static void print_p(const ferry_comparison *c, size_t index, ferry_metric metric)
{
    char text[32] = "";
    const double p = ferry_comparison_difference(c, 0, metric, index, 0)->p;
    if (index > 0 && !isnan(p)) snprintf(text, sizeof text, p < 0.01 ? "<.01" : "%.2f", p);
    print_right(text, 5);
}

void ferry_print_model(const ferry_comparison *c, size_t index)
{
    const ferry_compared_model *m = &c->models[index];
    const ferry_compared_cell *all = &m->cells[0];
    ferry_print_name(m->name);
    for (size_t i = 0; i < COMPARED; i++) {
        print_interval(&all->metrics[compared[i]], ferry_metrics[compared[i]].decimals, "", CELL_WIDTH);
        print_p(c, index, compared[i]);
    }
    for (size_t i = 0; i < OTHERS; i++)
        print_number(all->metrics[others[i]].value, ferry_metrics[others[i]].decimals, i + 1 < OTHERS ? 6 : 8);
    putchar('\n');
    for (size_t line = 0; all->failed > 0 && line < c->text.count; line++) {
        if (m->failures[line] == NULL) continue;
        printf("  %zu lines not translated, the first is %zu: ", all->failed, line + 1);
        ferry_printable_write(stdout, ferry_text_view(m->failures[line]));
        putchar('\n');
        break;
    }
    if (all->unscored > 0) printf("  %zu lines too long for a likelihood\n", all->unscored);
    fflush(stdout);
}

/* ---- by bucket ---- */

/* "*" for the best model and those that do not differ from it significantly. */
static const char *mark_of(const ferry_comparison *c, size_t cell, ferry_metric metric, size_t index)
{
    const size_t best = ferry_comparison_best(c, cell, metric);
    if (c->count < 2 || best == c->count) return "";
    if (best == index) return "*";
    return ferry_comparison_difference(c, cell, metric, index, best)->p >= FERRY_SIGNIFICANT ? "*" : "";
}

static void print_cell_names(const ferry_comparison *c, const char *title)
{
    putchar('\n');
    printf("%-*s", FERRY_NAME_COLUMN, title);
    for (size_t cell = 0; cell < FERRY_CELLS; cell++)
        if (c->text.lines[cell] > 0) print_right(ferry_cell_name(cell), CELL_WIDTH);
    putchar('\n');
}

static void print_metric(const ferry_comparison *c, ferry_metric metric)
{
    print_cell_names(c, ferry_metrics[metric].title);
    for (size_t i = 0; i < c->count; i++) {
        ferry_print_name(c->models[i].name);
        for (size_t cell = 0; cell < FERRY_CELLS; cell++) {
            const ferry_compared_cell *found = &c->models[i].cells[cell];
            const bool partial = metric >= FERRY_METRIC_LENGTH_RATIO || metric < FERRY_METRIC_LIKELIHOOD
                                     ? found->failed > 0
                                     : found->unscored > 0;
            if (c->text.lines[cell] > 0)
                print_interval(&found->metrics[metric], ferry_metrics[metric].decimals,
                               partial ? "!" : mark_of(c, cell, metric, i), CELL_WIDTH);
        }
        putchar('\n');
    }
}

/* Points at some positions, further apart as they become larger. */
static void print_curves(const ferry_comparison *c)
{
    static const size_t points[] = {0, 1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 36, 44, 60};
    const size_t count = sizeof points / sizeof *points;
    printf("\n%-*s", FERRY_NAME_COLUMN, "nats at positions");
    for (size_t p = 0; p < count && points[p] < c->text.curve_count; p++) {
        char name[32];
        const size_t first = points[p] * FERRY_CURVE_WIDTH;
        snprintf(name, sizeof name, "%zu-%zu", first, first + FERRY_CURVE_WIDTH - 1);
        print_right(name, 7);
    }
    putchar('\n');
    for (size_t i = 0; i < c->count; i++) {
        ferry_print_name(c->models[i].name);
        for (size_t p = 0; p < count && points[p] < c->text.curve_count; p++)
            print_number(c->models[i].cells[0].curve[points[p]].nats.value, 2, 7);
        putchar('\n');
    }
}

void ferry_print_buckets(const ferry_comparison *c)
{
    printf("\nnats: -log p of a piece of the reference, given those before it; end: of its end. length: pieces of the\n"
           "translations / of the references. early: share of translations that end with fewer than %.1f times the\n"
           "reference's pieces; repeated: that repeat pieces three times in a row or reach the limit. p: that the\n"
           "difference to the first model is chance. Below, by pieces of the source; *: the best, or no different\n"
           "from it (p at least %.2f); !: without, or with empty translations of, lines too long for the model.\n",
           FERRY_EARLY, FERRY_SIGNIFICANT);
    if (c->text.trained_pieces > 0)
        printf("The models were trained on examples of up to %d pieces.\n", (int)c->text.trained_pieces);
    print_cell_names(c, "");
    printf("%-*s", FERRY_NAME_COLUMN, "lines");
    for (size_t cell = 0; cell < FERRY_CELLS; cell++)
        if (c->text.lines[cell] > 0) print_number((double)c->text.lines[cell], 0, CELL_WIDTH);
    putchar('\n');
    for (size_t m = 0; m < FERRY_METRIC_COUNT; m++) print_metric(c, (ferry_metric)m);
    print_curves(c);
    fflush(stdout);
}

/* ---- speed and memory ---- */

static const char *noise_mark(const ferry_interval *ratio)
{
    return ratio->low <= 1 && ratio->high >= 1 ? "~" : "";
}

void ferry_print_speed(const ferry_comparison *c)
{
    static const char *const titles[] = {"ms/line", "ms/token", "/ first", "tokens/s", "file",
                                         "tables",  "row",      "cache",   "thread"};
    static const char *const units[] = {"", "", "", "", "MB", "kB", "kB", "kB", "MB"};
    static const int widths[] = {12, 13, 12, 12, 7, 8, 6, 6, 7};
    const size_t count = sizeof titles / sizeof *titles;
    putchar('\n');
    ferry_print_name("");
    for (size_t i = 0; i < count; i++) print_right(titles[i], widths[i]);
    putchar('\n');
    ferry_print_name("");
    for (size_t i = 0; i < count; i++) print_right(units[i], widths[i]);
    putchar('\n');
    for (size_t i = 0; i < c->count; i++) {
        const ferry_compared_model *m = &c->models[i];
        ferry_print_name(m->name);
        print_interval(&m->speed.line_ms, 2, "", widths[0]);
        print_interval(&m->speed.token_ms, 3, "", widths[1]);
        print_interval(&m->speed.token_ratio, 2, i > 0 ? noise_mark(&m->speed.token_ratio) : "", widths[2]);
        print_interval(&m->speed.tokens_per_s, 0, "", widths[3]);
        print_number(m->file_bytes > 0 ? (double)m->file_bytes / 1e6 : NAN, 1, widths[4]);
        print_number((double)m->memory.tables / 1e3, 1, widths[5]);
        print_number((double)m->memory.row / 1e3, 1, widths[6]);
        print_number((double)m->memory.token / 1e3, 1, widths[7]);
        print_number((double)m->memory.thread / 1e6, 1, widths[8]);
        putchar('\n');
    }
    printf(
        "\nms/line, ms/token: one line at a time, one thread; / first: ms/token of each line compared with the first\n"
        "model; ~: no different. tokens/s: target tokens, many lines in one call, threads: %d. Medians of lines or\n"
        "rounds in which the models took turns. tables: of the encodings, in the model; row: of the encodings, for\n"
        "each position that a thread has prepared; cache: keys and values of a target token; thread: of one that\n"
        "translated %d tokens into as many.\n",
        (int)c->threads, c->count > 0 ? (int)c->models[0].memory_tokens : 0);
    fflush(stdout);
}
