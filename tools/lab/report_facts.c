#include "report_facts.h"

#include <math.h>
#include <string.h>

/* ---- lengths ---- */

bool ferry_cell_is_seen(const ferry_facts *facts, size_t cell)
{
    const ferry_compared_text *text = &facts->c->text;
    return cell > 0 && text->lines[cell] > 0 && ferry_buckets[cell - 1].most <= text->trained_pieces;
}

bool ferry_cell_is_beyond(const ferry_facts *facts, size_t cell)
{
    const ferry_compared_text *text = &facts->c->text;
    return cell > 0 && text->trained_pieces > 0 && text->lines[cell] > 0 &&
           ferry_buckets[cell - 1].least > text->trained_pieces;
}

ferry_facts ferry_facts_of(const ferry_comparison *comparison)
{
    ferry_facts facts = {.c = comparison};
    for (size_t cell = 1; cell < FERRY_CELLS; cell++) {
        const bool beyond = ferry_cell_is_beyond(&facts, cell);
        if (ferry_cell_is_seen(&facts, cell)) facts.last_seen = cell;
        if (beyond && ferry_buckets[cell - 1].least <= 2 * comparison->text.trained_pieces) facts.doubled = cell;
        if (beyond) facts.farthest = cell;
    }
    return facts;
}

/* ---- kinds ---- */

static bool are(const ferry_compared_model *model, ferry_inspect_scheme_kind kind)
{
    return model->schemes[0].kind == kind && model->schemes[1].kind == kind;
}

bool ferry_is_absolute(const ferry_compared_model *model)
{
    return are(model, FERRY_INSPECT_ABSOLUTE);
}

bool ferry_is_relative(const ferry_compared_model *model)
{
    return are(model, FERRY_INSPECT_RELATIVE);
}

bool ferry_has_positions(const ferry_compared_model *model)
{
    return model->schemes[0].kind != FERRY_INSPECT_NO_POSITIONS && model->schemes[1].kind != FERRY_INSPECT_NO_POSITIONS;
}

bool ferry_lacks_positions(const ferry_compared_model *model)
{
    return are(model, FERRY_INSPECT_NO_POSITIONS);
}

bool ferry_encoder_lacks_positions(const ferry_compared_model *model)
{
    return model->schemes[0].kind == FERRY_INSPECT_NO_POSITIONS;
}

bool ferry_is_for_long_texts(const ferry_compared_model *model)
{
    return model->schemes[0].for_long_texts && model->schemes[1].for_long_texts;
}

bool ferry_is_not_for_long_texts(const ferry_compared_model *model)
{
    return !model->schemes[0].for_long_texts && !model->schemes[1].for_long_texts;
}

bool ferry_same_encoding(const ferry_compared_model *a, const ferry_compared_model *b)
{
    for (int stack = 0; stack < 2; stack++)
        if (strcmp(a->encodings[stack], b->encodings[stack]) != 0 ||
            strcmp(a->schemes[stack].parameters, b->schemes[stack].parameters) != 0)
            return false;
    return true;
}

bool ferry_is_first_of_encoding(const ferry_comparison *comparison, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (ferry_same_encoding(&comparison->models[i], &comparison->models[index])) return false;
    return true;
}

size_t ferry_seeds(const ferry_comparison *comparison, size_t index)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->count; i++)
        count += ferry_same_encoding(&comparison->models[i], &comparison->models[index]);
    return count;
}

/* ---- numbers ---- */

size_t ferry_most_states(const ferry_comparison *comparison, int stack)
{
    int32_t most = -1;
    for (size_t i = 0; i < comparison->count; i++) {
        const ferry_probes *probes = comparison->models[i].probes;
        if (probes != NULL && probes->stacks[stack].layers > most) most = probes->stacks[stack].layers;
    }
    return (size_t)(most + 1);
}

int ferry_better(const ferry_facts *facts, size_t cell, ferry_metric metric, size_t a, size_t b)
{
    const ferry_difference *d = ferry_comparison_difference(facts->c, cell, metric, a, b);
    if (a == b || !(d->p < FERRY_SIGNIFICANT)) return 0;
    return d->difference.value > 0 ? ferry_metrics[metric].better : -ferry_metrics[metric].better;
}

ferry_interval ferry_ratio(ferry_interval a, ferry_interval b)
{
    const double value = a.value / b.value;
    const double spread = hypot((a.high - a.low) / (2 * a.value), (b.high - b.low) / (2 * b.value));
    return (ferry_interval){value, value * exp(-spread), value * exp(spread)};
}

ferry_interval ferry_kept(const ferry_facts *facts, const ferry_compared_model *model, size_t cell)
{
    return ferry_ratio(model->cells[cell].metrics[FERRY_METRIC_BLEU],
                       model->cells[facts->last_seen].metrics[FERRY_METRIC_BLEU]);
}

/* ---- text ---- */

void ferry_put_escaped(FILE *out, const char *text)
{
    ferry_svg_escape(out, ferry_svg_literal(text));
}

ferry_name ferry_fitting_name(const char *name, ferry_svg_font font, double width)
{
    ferry_name fitting = ferry_name_format("%s", name);
    size_t size = strlen(fitting.text);
    while (size > 1 && ferry_svg_text_width(font, (ferry_text){fitting.text, size}) > width) do
            size--;
        while (size > 1 && ((unsigned char)fitting.text[size] & 0xC0) == 0x80);
    return name[size] != '\0' ? ferry_name_format("%.*s…", (int)size, name) : fitting;
}

void ferry_put_names(FILE *out, const ferry_comparison *comparison, const bool *wanted)
{
    size_t left = 0, written = 0;
    for (size_t i = 0; i < comparison->count; i++) left += wanted[i];
    for (size_t i = 0; i < comparison->count; i++) {
        if (!wanted[i]) continue;
        if (written++ > 0) fputs(left == 1 ? " and " : ", ", out);
        left--;
        fputs("<b>", out);
        ferry_put_escaped(out, comparison->models[i].name);
        fputs("</b>", out);
    }
}
