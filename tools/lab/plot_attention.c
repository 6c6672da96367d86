#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "plot.h"
#include "plot_page.h"
#include "tools/command.h"

/* Pixels: of a cell; of a picture with several heads, if they fit; around and between the maps. */
enum { LEAST_CELL = 12, MOST_CELL = 24, WIDTH = 1000, MARGIN = 24, BETWEEN = 20, TITLE = 22 };

typedef struct scene {
    const ferry_model *model;
    const ferry_plot_request *request;
    ferry_result *result;
    int32_t layer, layers, heads;
    int32_t *source;        /* [S] */
    int32_t *inputs;        /* [T] of the decoder: the start token, then the translation without its last token */
    const int32_t *outputs; /* [T] the token that follows each input */
    int32_t S, T;
} scene;

/* ---- the sentence ---- */

static bool translate(scene *s, ferry_translator *translator)
{
    ferry_error error;
    size_t count;
    const ferry_text text = {s->request->text, strlen(s->request->text)};
    if (!ferry_succeeded(ferry_inspect_tokenize(s->model, text, s->request->from, s->request->to, &s->source, &count,
                                                &error),
                         &error))
        return false;
    if (count == 0) {
        ferry_complain("--attention: the text has no pieces");
        return false;
    }
    s->S = (int32_t)count;
    if (!ferry_succeeded(ferry_translate(translator, &text, 1, &s->result, &error), &error)) return false;
    if (ferry_result_hypothesis_count(s->result, 0) == 0) {
        ferry_complain("--attention: %s", ferry_result_outcome(s->result, 0)->error);
        return false;
    }
    s->outputs = ferry_inspect_result_ids(s->result, 0, 0);
    s->T = (int32_t)ferry_result_token_count(s->result, 0, 0);
    if (s->T == 0) {
        ferry_complain("--attention: the model knows nothing of the text");
        return false;
    }
    s->inputs = ferry_allocate((size_t)s->T + 1, sizeof *s->inputs);
    if (s->inputs == NULL) return false;
    s->inputs[0] = ferry_inspect_get_sizes(s->model).start_id;
    memcpy(s->inputs + 1, s->outputs, (size_t)s->T * sizeof *s->inputs);
    return true;
}

/* ---- the weights ---- */

/* Adds the weights of a head to `sum`. */
static bool add_head(const scene *s, int32_t head, float *weights, float *sum, size_t count)
{
    ferry_error error;
    const ferry_status status = ferry_inspect_attention(s->model, s->request->kind, s->layer, head, s->source, s->S,
                                                        s->inputs, s->T, weights, &error);
    if (!ferry_plot_succeeded(status, &error)) return false;
    for (size_t i = 0; i < count; i++) sum[i] += weights[i];
    return true;
}

/* [maps, rows, columns]: one head, or the mean of all heads, and each of them. NULL after a message. */
static float *measure(const scene *s, int32_t maps, size_t count)
{
    float *weights = ferry_allocate((size_t)maps + 1, count * sizeof *weights);
    if (weights == NULL) return NULL;
    float *unused = weights + (size_t)maps * count;
    bool done = true;
    if (maps == 1) done = add_head(s, s->request->head, weights, unused, count);
    for (int32_t head = 0; done && maps > 1 && head < s->heads; head++)
        done = add_head(s, head, weights + (size_t)(head + 1) * count, weights, count);
    for (size_t i = 0; done && maps > 1 && i < count; i++) weights[i] /= (float)s->heads;
    if (done) return weights;
    free(weights);
    return NULL;
}

/* ---- the picture ---- */

typedef struct axis {
    const char *label;
    ferry_inspect_stack side;
    const int32_t *ids; /* [count] */
    int32_t count;
} axis;

/* The piece, or "#ID" in `number` if the vocabulary has none. */
static ferry_text piece_of(const scene *s, const axis *a, int32_t i, char number[16])
{
    const ferry_text piece = ferry_inspect_piece(s->model, a->side, a->ids[i]);
    if (piece.size > 0) return piece;
    return (ferry_text){number, (size_t)snprintf(number, 16, "#%d", (int)a->ids[i])};
}

/* Pixels for the longest piece. */
static double label_size(const scene *s, const axis *a)
{
    char number[16];
    double most = 0;
    for (int32_t i = 0; i < a->count; i++)
        most = fmax(most, ferry_svg_text_width(FERRY_SVG_LABEL, piece_of(s, a, i, number)));
    return most + 10;
}

static void draw_pieces(FILE *out, const scene *s, const axis *a, const ferry_svg_plot *plot, double cell, bool rows)
{
    for (int32_t i = 0; i < a->count; i++) {
        char number[16];
        const ferry_text piece = piece_of(s, a, i, number);
        const double middle = (i + 0.5) * cell + 4;
        if (rows)
            ferry_svg_text(out, plot->x - 6, plot->y + middle, FERRY_SVG_LABEL, FERRY_SVG_END, 0, piece);
        else
            ferry_svg_text(out, plot->x + middle, plot->y - 6, FERRY_SVG_LABEL, FERRY_SVG_START, -90, piece);
    }
}

/* Where the maps are. */
typedef struct layout {
    double cell, left, above; /* labels of rows and columns */
    int32_t maps, columns;    /* in a row */
    double width, top;        /* of the picture; below its head */
} layout;

static layout arrange(const scene *s, const axis *rows, const axis *columns)
{
    const int32_t most = rows->count > columns->count ? rows->count : columns->count;
    const int32_t maps = s->request->head < 0 && s->heads > 1 ? s->heads + 1 : 1;
    const double wanted = (maps > 1 ? 280.0 : 560.0) / most;
    layout l = {.cell = fmin(fmax(wanted, LEAST_CELL), MOST_CELL),
                .left = MARGIN + label_size(s, rows),
                .above = TITLE + label_size(s, columns),
                .maps = maps};
    const double map = l.cell * columns->count + BETWEEN;
    l.columns = (int32_t)fmax(1, floor((WIDTH - l.left - MARGIN + BETWEEN) / map));
    if (l.columns > maps) l.columns = maps;
    l.width = fmax(l.left + l.columns * map - BETWEEN + MARGIN, 560);
    return l;
}

static void draw_map(FILE *out, const scene *s, const layout *l, const axis *rows, const axis *columns, int32_t map,
                     const float *weights)
{
    static const ferry_svg_colors colors = {FERRY_SVG_SEQUENTIAL, .low = 0, .high = 1};
    const int32_t head = l->maps == 1 ? s->request->head : map - 1;
    const ferry_name title =
        head < 0 ? ferry_name_format("mean of the heads") : ferry_name_format("head %d", (int)head);
    const double height = l->cell * rows->count, width = l->cell * columns->count;
    const ferry_svg_plot plot = {.x = l->left + map % l->columns * (width + BETWEEN),
                                 .y = l->top + l->above + map / l->columns * (l->above + height + BETWEEN),
                                 .width = width,
                                 .height = height,
                                 .across = {.bare = true},
                                 .up = {.bare = true}};
    ferry_svg_text(out, plot.x, plot.y - l->above + 14, FERRY_SVG_HEADING, FERRY_SVG_START, 0,
                   ferry_svg_literal(title.text));
    draw_pieces(out, s, columns, &plot, l->cell, false);
    if (map % l->columns == 0) draw_pieces(out, s, rows, &plot, l->cell, true);
    ferry_svg_heat(out, &plot, weights, rows->count, columns->count, &colors, NULL);
}

/* Returns the y below. `out` NULL: measures only. */
static double draw_head(FILE *out, const scene *s, const axis *rows, const axis *columns, double width)
{
    static const char *const kinds[] = {"Encoder self-attention", "Decoder self-attention", "Cross-attention"};
    const ferry_text model = ferry_inspect_name(s->model), translation = ferry_result_text(s->result, 0, 0);
    const ferry_name lines[] = {
        ferry_name_format("%s, layer %d of 0 \u2026 %d", kinds[s->request->kind], (int)s->layer, (int)s->layers - 1),
        ferry_name_format("Model %.*s. Rows: %s; columns: %s; each row sums to 1.",
                          model.size < 100 ? (int)model.size : 100, model.data, rows->label, columns->label),
    };
    const double inside = width - 2 * MARGIN;
    double y = 36;
    y = ferry_svg_paragraph(out, MARGIN, y, inside, FERRY_SVG_TITLE, ferry_svg_literal(lines[0].text));
    y = ferry_svg_paragraph(out, MARGIN, y, inside, FERRY_SVG_BODY, ferry_svg_literal(lines[1].text)) + 6;
    y = ferry_svg_paragraph(out, MARGIN, y, inside, FERRY_SVG_HEADING, ferry_svg_literal(s->request->text));
    y = ferry_svg_paragraph(out, MARGIN, y, inside, FERRY_SVG_HEADING, translation);
    return y;
}

static void draw(FILE *out, const scene *s, const axis *rows, const axis *columns, const float *weights, layout *l)
{
    static const ferry_svg_colors colors = {FERRY_SVG_SEQUENTIAL, .low = 0, .high = 1};
    const double bar = draw_head(NULL, s, rows, columns, l->width);
    const int32_t lines = (l->maps + l->columns - 1) / l->columns;
    l->top = bar + 40;
    ferry_svg_begin(out, l->width, l->top + lines * (l->above + l->cell * rows->count + BETWEEN) + MARGIN - BETWEEN,
                    "Attention weights");
    (void)draw_head(out, s, rows, columns, l->width);
    ferry_svg_color_bar(out, MARGIN + 110, bar - 4, 180, &colors, "attention weight");
    for (int32_t map = 0; map < l->maps; map++)
        draw_map(out, s, l, rows, columns, map, weights + (size_t)map * (size_t)rows->count * (size_t)columns->count);
    ferry_svg_end(out);
}

bool ferry_plot_attention(FILE *out, const ferry_model *model, ferry_translator *translator,
                          const ferry_plot_request *request)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    const bool encoder = request->kind == FERRY_INSPECT_ENCODER_SELF;
    scene s = {.model = model,
               .request = request,
               .layers = encoder ? sizes.encoder_layers : sizes.decoder_layers,
               .heads = encoder ? sizes.encoder_heads : sizes.decoder_heads};
    s.layer = request->layer >= 0 ? request->layer : s.layers - 1;
    bool done = translate(&s, translator);
    if (done) {
        const axis source = {"the source", FERRY_INSPECT_ENCODER, s.source, s.S};
        const axis inputs = {"inputs of the decoder", FERRY_INSPECT_DECODER, s.inputs, s.T};
        const axis outputs = {"what is being produced", FERRY_INSPECT_DECODER, s.outputs, s.T};
        const axis *queries[] = {&source, &inputs, &outputs}, *keys[] = {&source, &inputs, &source};
        const axis *rows = queries[request->kind], *columns = keys[request->kind];
        layout l = arrange(&s, rows, columns);
        float *weights = measure(&s, l.maps, (size_t)rows->count * (size_t)columns->count);
        done = weights != NULL;
        if (done) draw(out, &s, rows, columns, weights, &l);
        free(weights);
    }
    ferry_result_destroy(s.result);
    ferry_inspect_free(s.source);
    free(s.inputs);
    return done;
}
