#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "plot.h"
#include "tools/command.h"

/* Measured positions, and distances of scores. Maps show the first MAP_CELLS positions. */
enum { POSITIONS = 128, MAP_CELLS = 64, MAX_PANELS = 8 };
enum { LEFT = 80, TOP = 76, PLOT_WIDTH = 520, PLOT_HEIGHT = 280, PANEL_HEIGHT = 380, PICTURE_WIDTH = 740 };

typedef struct panel {
    ferry_name title;
    const char *across, *up; /* labels; `up` of a map: of its colors */
    bool is_map;
    bool by_head;       /* rows are heads; one row: all heads are equal */
    double first, last; /* across */
    float *values;      /* [rows, columns] a map, or one line for each row */
    int32_t rows, columns;
} panel;

typedef struct figure {
    const ferry_model *model;
    int32_t layer; /* negative: the last */
    panel panels[MAX_PANELS];
    int32_t count;
} figure;

/* The stack that is being measured. */
typedef struct subject {
    figure *figure;
    ferry_inspect_stack stack;
    const char *name;
    int32_t D, heads, width, layers, layer;
} subject;

static float *reserve(int32_t rows, int32_t columns)
{
    return ferry_allocate((size_t)rows, (size_t)columns * sizeof(float));
}

/* ---- panels ---- */

/* The panel of the encoder that shows the same as panel `p` of the decoder, whose keys end at the query; NULL if there
 * is none. */
static panel *find_same(figure *f, const panel *p)
{
    for (int32_t i = 0; i < f->count; i++) {
        panel *other = &f->panels[i];
        bool same =
            other->up == p->up && other->is_map == p->is_map && other->rows == p->rows && other->columns >= p->columns;
        for (int32_t row = 0; same && row < p->rows; row++)
            same = memcmp(other->values + (size_t)row * (size_t)other->columns,
                          p->values + (size_t)row * (size_t)p->columns, (size_t)p->columns * sizeof *p->values) == 0;
        if (same) return other;
    }
    return NULL;
}

/* Takes ownership of p.values. */
static void add_panel(const subject *s, panel p, const char *title)
{
    figure *f = s->figure;
    ferry_name layer = {""};
    panel *same = s->stack == FERRY_INSPECT_DECODER ? find_same(f, &p) : NULL;
    if (p.by_head && s->layers > 1) layer = ferry_name_format(", layer %d", (int)s->layer);
    if (same == NULL) {
        p.title = ferry_name_format("%s, %s%s", title, s->name, layer.text);
        f->panels[f->count++] = p;
        return;
    }
    same->title = ferry_name_format("%s, encoder and decoder%s%s", title,
                                    same->columns > p.columns ? " (left half)" : "", layer.text);
    free(p.values);
}

/* Draws one line for all heads if they are equal. */
static void merge_rows(panel *p)
{
    float worst = 0;
    for (int32_t i = p->columns; i < p->rows * p->columns; i++)
        worst = fmaxf(worst, fabsf(p->values[i] - p->values[i % p->columns]));
    if (worst <= 1e-5f) p->rows = 1;
}

/* ---- what is added to embeddings ---- */

/* Cosine similarity of rows a, b [D]; 0 if one of them is zero. */
static double cosine(const float *a, const float *b, int32_t D)
{
    double product = 0, aa = 0, bb = 0;
    for (int32_t d = 0; d < D; d++) {
        product += (double)a[d] * (double)b[d];
        aa += (double)a[d] * (double)a[d];
        bb += (double)b[d] * (double)b[d];
    }
    return aa > 0 && bb > 0 ? product / sqrt(aa * bb) : 0;
}

static bool add_row_similarity(const subject *s, const float *rows, int32_t count)
{
    const int32_t distances = (count + 1) / 2; /* so that each is a mean over many pairs */
    float *values = reserve(1, distances);
    if (values == NULL) return false;
    for (int32_t d = 0; d < distances; d++) {
        double sum = 0;
        for (int32_t p = 0; p + d < count; p++)
            sum += cosine(rows + (size_t)p * (size_t)s->D, rows + (size_t)(p + d) * (size_t)s->D, s->D);
        values[d] = (float)(sum / (count - d));
    }
    const panel p = {.across = "distance |i - j| (positions)",
                     .up = "mean cosine of rows i and j",
                     .last = distances > 1 ? distances - 1 : 1,
                     .values = values,
                     .rows = 1,
                     .columns = distances};
    add_panel(s, p, "Similarity of positions by distance");
    return true;
}

/* Of a wide model, only some pairs of dimensions are drawn. (Sine and cosine may be neighbors.) */
static bool add_map(const subject *s, const float *rows, int32_t count)
{
    const int32_t shown = count < MAP_CELLS ? count : MAP_CELLS, columns = s->D < MAP_CELLS ? s->D : MAP_CELLS;
    float *values = reserve(shown, columns);
    if (values == NULL) return false;
    for (int32_t p = 0; p < shown; p++)
        for (int32_t c = 0; c < columns; c++) {
            const int32_t thinned = c / 2 * (s->D / 2) / (MAP_CELLS / 2) * 2 + c % 2;
            const int32_t dimension = columns < s->D ? thinned : c;
            values[p * columns + c] = rows[(size_t)p * (size_t)s->D + (size_t)dimension];
        }
    const panel p = {.across = columns < s->D ? "dimension (pairs at equal distances)" : "dimension",
                     .up = "added to the embedding",
                     .is_map = true,
                     .last = s->D,
                     .values = values,
                     .rows = shown,
                     .columns = columns};
    add_panel(s, p, "Position by dimension");
    return true;
}

static bool measure_rows(const subject *s)
{
    ferry_error error;
    int32_t count = POSITIONS;
    float *rows = reserve(count, s->D);
    if (rows == NULL) return false;
    ferry_status status = ferry_inspect_position_rows(s->figure->model, s->stack, count, rows, &error);
    while (status == FERRY_ERROR_LIMIT && count > 1) {
        count /= 2;
        status = ferry_inspect_position_rows(s->figure->model, s->stack, count, rows, &error);
    }
    bool done = status == FERRY_ERROR_UNSUPPORTED || ferry_succeeded(status, &error);
    if (status == FERRY_OK) done = add_map(s, rows, count) && add_row_similarity(s, rows, count);
    free(rows);
    return done;
}

/* ---- what is done to scores ---- */

/* Scores of one query at position count - 1, by distance. */
typedef struct probe {
    const subject *subject;
    int32_t count; /* positions up to the query */
    int32_t keys;
    float *unit;                      /* [K] all zero except one */
    float *scores;                    /* [keys] */
    double *product, *square, *trace; /* [keys] sums over the unit vectors */
} probe;

static bool ask(const probe *p, int32_t head, const float *q, const float *k, float *scores)
{
    ferry_error error;
    const subject *s = p->subject;
    return ferry_succeeded(ferry_inspect_position_scores(s->figure->model, s->stack, s->layer, head, p->count, q, k,
                                                         scores, &error),
                           &error);
}

/* Sums over q = e_i, the vectors of the standard basis: of what the encoding adds to the bias for the query alone, and
 * of the score of the same vector as key. */
static bool sum_over_units(const probe *p, int32_t head, const float *bias /* [keys] */)
{
    const int32_t at = p->count - 1;
    memset(p->product, 0, 3 * (size_t)p->keys * sizeof *p->product);
    for (int32_t i = 0; i < p->subject->width; i++) {
        p->unit[i] = 1;
        bool done = ask(p, head, p->unit, NULL, p->scores);
        for (int32_t j = 0; done && j < p->keys; j++) {
            const double here = (double)(p->scores[at] - bias[at]), there = (double)(p->scores[j] - bias[j]);
            p->product[j] += here * there;
            p->square[j] += there * there;
        }
        done = done && ask(p, head, p->unit, p->unit, p->scores);
        for (int32_t j = 0; done && j < p->keys; j++) p->trace[j] += (double)(p->scores[j] - bias[j]);
        p->unit[i] = 0;
        if (!done) return false;
    }
    return true;
}

/* The encoding changes the score at distance d by a vector r_d (terms of the query: q·r_d) or by a rotation M_d
 * (q·M_d k). The similarity is the cosine between distances d and 0: r_d·r_0 / |r_d||r_0|, or tr(M_d) / tr(M_0). */
static void fill_similarity(const probe *p, float *similarity /* [keys] */)
{
    const int32_t at = p->count - 1;
    const bool has_terms = p->square[at] > 0;
    for (int32_t j = 0; j < p->keys; j++) {
        const double length = sqrt(p->square[j] * p->square[at]);
        similarity[j] = (float)(has_terms ? (length > 0 ? p->product[j] / length : 0) : p->trace[j] / p->trace[at]);
    }
}

/* Adds a panel of `values` [heads, keys], and takes ownership; none if all values are near `nothing`. */
static void add_scores(const probe *p, float *values, float nothing, const char *up, const char *title)
{
    const subject *s = p->subject;
    panel result = {.across = "distance j - i of key j from query i (positions)",
                    .up = up,
                    .first = 1 - p->count,
                    .last = p->keys > p->count ? p->count - 1 : 0,
                    .by_head = true,
                    .values = values,
                    .rows = s->heads,
                    .columns = p->keys};
    float most = 0;
    for (int32_t i = 0; i < s->heads * p->keys; i++) most = fmaxf(most, fabsf(values[i] - nothing));
    if (most <= 1e-4f) {
        free(values);
        return;
    }
    merge_rows(&result);
    add_panel(s, result, title);
}

static bool fill_scores(const probe *p, float *bias, float *similarity)
{
    for (int32_t head = 0; head < p->subject->heads; head++) {
        float *row = bias + head * p->keys;
        if (!ask(p, head, NULL, NULL, row) || !sum_over_units(p, head, row)) return false;
        fill_similarity(p, similarity + head * p->keys);
    }
    return true;
}

/* The number of positions that the encoding has, up to POSITIONS; prints a message and returns 0 on failure. */
static int32_t find_positions(const subject *s, float *scores)
{
    ferry_error error;
    for (int32_t count = POSITIONS;; count /= 2) {
        const ferry_status status =
            ferry_inspect_position_scores(s->figure->model, s->stack, s->layer, 0, count, NULL, NULL, scores, &error);
        if (status == FERRY_OK) return count;
        if (status != FERRY_ERROR_LIMIT || count == 1) return ferry_succeeded(status, &error) ? count : 0;
    }
}

static bool measure_scores(const subject *s)
{
    const int32_t most = 2 * POSITIONS - 1;
    float *bias = reserve(s->heads, most), *similarity = reserve(s->heads, most);
    double *sums = ferry_allocate(3 * (size_t)most, sizeof *sums);
    probe p = {.subject = s, .unit = reserve(1, s->width), .scores = reserve(1, most)};
    bool done = false;
    if (bias == NULL || similarity == NULL || sums == NULL || p.unit == NULL || p.scores == NULL) goto fail;
    p.count = find_positions(s, p.scores);
    if (p.count == 0) goto fail;
    p.keys = s->stack == FERRY_INSPECT_DECODER ? p.count : 2 * p.count - 1;
    p.product = sums;
    p.square = sums + p.keys;
    p.trace = sums + 2 * p.keys;
    if (!fill_scores(&p, bias, similarity)) goto fail;
    add_scores(&p, bias, 0, "added to the score before softmax", "Score bias by distance and head");
    add_scores(&p, similarity, 1, "similarity to distance 0", "Similarity of scores by distance");
    bias = similarity = NULL;
    done = true;
fail:
    free(bias);
    free(similarity);
    free(sums);
    free(p.unit);
    free(p.scores);
    return done;
}

/* ---- the picture ---- */

static void draw_lines(FILE *out, const panel *p, ferry_svg_plot *plot)
{
    float least = 0, most = 0;
    ferry_svg_line *lines = calloc((size_t)p->rows, sizeof *lines);
    if (lines == NULL) return;
    for (int32_t i = 0; i < p->rows * p->columns; i++) {
        least = fminf(least, p->values[i]);
        most = fmaxf(most, p->values[i]);
    }
    const double margin = 0.04 * (double)(most - least);
    plot->up = (ferry_svg_axis){.label = p->up, .first = (double)least - margin, .last = (double)most + margin};
    for (int32_t i = 0; i < p->rows; i++) {
        lines[i].values = p->values + i * p->columns;
        if (p->rows > 1)
            lines[i].name = ferry_name_format("head %d", (int)i);
        else if (p->by_head)
            lines[i].name = ferry_name_format("every head");
    }
    ferry_svg_frame(out, plot, true);
    ferry_svg_lines(out, plot, lines, p->rows, p->columns, p->first);
    free(lines);
}

static void draw_map(FILE *out, const panel *p, ferry_svg_plot *plot)
{
    float most = 0;
    for (int32_t i = 0; i < p->rows * p->columns; i++) most = fmaxf(most, fabsf(p->values[i]));
    plot->up = (ferry_svg_axis){.label = "position", .first = p->rows, .last = 0, .whole = true};
    ferry_svg_heat(out, plot, p->values, p->rows, p->columns, FERRY_SVG_DIVERGING, most > 0 ? (double)most : 1, p->up);
    ferry_svg_frame(out, plot, false);
}

static void draw(FILE *out, const figure *f, const char *title)
{
    ferry_svg_begin(out, PICTURE_WIDTH, 40 + PANEL_HEIGHT * f->count, title);
    ferry_svg_text(out, LEFT + PLOT_WIDTH / 2.0, 28, 16, FERRY_SVG_MIDDLE, 0, (ferry_text){title, strlen(title)});
    for (int32_t i = 0; i < f->count; i++) {
        const panel *p = &f->panels[i];
        ferry_svg_plot plot = {.x = LEFT,
                               .y = TOP + i * PANEL_HEIGHT,
                               .width = PLOT_WIDTH,
                               .height = PLOT_HEIGHT,
                               .title = p->title.text,
                               .across = {.label = p->across, .first = p->first, .last = p->last, .whole = true}};
        if (p->is_map)
            draw_map(out, p, &plot);
        else
            draw_lines(out, p, &plot);
    }
    ferry_svg_end(out);
}

static bool measure(figure *f)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(f->model);
    for (int i = 0; i < 2; i++) {
        const bool decoder = i == 1;
        const int32_t heads = decoder ? sizes.decoder_heads : sizes.encoder_heads;
        const int32_t layers = decoder ? sizes.decoder_layers : sizes.encoder_layers;
        const subject s = {.figure = f,
                           .stack = decoder ? FERRY_INSPECT_DECODER : FERRY_INSPECT_ENCODER,
                           .name = decoder ? "decoder" : "encoder",
                           .D = sizes.d_model,
                           .heads = heads,
                           .width = sizes.d_model / heads,
                           .layers = layers,
                           .layer = f->layer < 0 ? layers - 1 : f->layer};
        if (!measure_rows(&s) || !measure_scores(&s)) return false;
    }
    return true;
}

bool ferry_plot_positions(FILE *out, const ferry_model *model, const char *title, int32_t layer)
{
    figure f = {.model = model, .layer = layer};
    bool done = measure(&f);
    if (done && f.count == 0) {
        ferry_complain("%s: positions have no effect that could be drawn", title);
        done = false;
    }
    if (done) draw(out, &f, title);
    for (int32_t i = 0; i < f.count; i++) free(f.panels[i].values);
    return done;
}
