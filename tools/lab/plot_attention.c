#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "plot.h"
#include "tools/command.h"

/* Pixels: of a cell, and around the map. */
enum { LEAST_CELL = 7, MOST_CELL = 26, WANTED_SIDE = 620, MARGIN = 24, TOP = 90, BAR = 110, LEAST_WIDTH = 400 };

typedef struct scene {
    const ferry_model *model;
    const ferry_plot_request *request;
    int32_t layer;
    int32_t *source;        /* [S] */
    int32_t *inputs;        /* [T] of the decoder: the start token, then the translation without its last token */
    const int32_t *outputs; /* [T] the token that follows each input */
    int32_t S, T;
    float *weights; /* [rows, columns] */
} scene;

/* ---- the weights ---- */

static bool translate(scene *s, ferry_translator *translator, ferry_result **result)
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
    const int32_t offsets[] = {0, s->S};
    if (!ferry_succeeded(ferry_inspect_generate(translator, s->source, offsets, 1, result, &error), &error))
        return false;
    if (ferry_result_hypotheses(*result, 0) == 0) {
        ferry_complain("--attention: %s", ferry_result_error(*result, 0));
        return false;
    }
    s->outputs = ferry_inspect_result_ids(*result, 0, 0);
    s->T = (int32_t)ferry_result_tokens(*result, 0, 0);
    s->inputs = ferry_allocate((size_t)s->T + 1, sizeof *s->inputs);
    if (s->inputs == NULL) return false;
    s->inputs[0] = ferry_inspect_get_sizes(s->model).start_id;
    memcpy(s->inputs + 1, s->outputs, (size_t)s->T * sizeof *s->inputs);
    return true;
}

static bool add_head(const scene *s, int32_t head, float factor, float *one, size_t count)
{
    ferry_error error;
    if (!ferry_succeeded(ferry_inspect_attention(s->model, s->request->kind, s->layer, head, s->source, s->S, s->inputs,
                                                 s->T, one, &error),
                         &error))
        return false;
    for (size_t i = 0; i < count; i++) s->weights[i] += factor * one[i];
    return true;
}

static bool measure(scene *s, size_t count)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(s->model);
    const bool encoder = s->request->kind == FERRY_INSPECT_ENCODER_SELF;
    const int32_t heads = encoder ? sizes.encoder_heads : sizes.decoder_heads, head = s->request->head;
    float *one = ferry_allocate(count, sizeof *one);
    s->weights = ferry_allocate(count, sizeof *s->weights);
    s->layer = s->request->layer >= 0 ? s->request->layer : (encoder ? sizes.encoder_layers : sizes.decoder_layers) - 1;
    bool done = one != NULL && s->weights != NULL;
    if (done && head >= 0) done = add_head(s, head, 1, one, count);
    for (int32_t h = 0; done && head < 0 && h < heads; h++) done = add_head(s, h, 1 / (float)heads, one, count);
    free(one);
    return done;
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

/* Pixels for the longest piece, approximately. */
static double label_size(const scene *s, const axis *a, double size)
{
    char number[16];
    size_t most = 0;
    for (int32_t i = 0; i < a->count; i++) {
        const ferry_text piece = piece_of(s, a, i, number);
        size_t characters = 0;
        for (size_t b = 0; b < piece.size; b++) characters += ((unsigned char)piece.data[b] & 0xC0) != 0x80;
        if (characters > most) most = characters;
    }
    return (double)most * size * 0.68 + 14;
}

static void draw_pieces(FILE *out, const scene *s, const axis *a, const ferry_svg_plot *plot, double cell, double size,
                        bool rows)
{
    for (int32_t i = 0; i < a->count; i++) {
        char number[16];
        const ferry_text piece = piece_of(s, a, i, number);
        const double middle = (i + 0.5) * cell + size / 3;
        if (rows)
            ferry_svg_text(out, plot->x - 6, plot->y + middle, size, FERRY_SVG_END, 0, piece);
        else
            ferry_svg_text(out, plot->x + middle, plot->y - 6, size, FERRY_SVG_START, -90, piece);
    }
}

static void draw_head(FILE *out, const scene *s, const axis *rows, const axis *columns, double width, double height)
{
    static const char *const kinds[] = {"Encoder self-attention", "Decoder self-attention", "Cross-attention"};
    const ferry_name heads = s->request->head < 0 ? ferry_name_format("mean of the heads")
                                                  : ferry_name_format("head %d", (int)s->request->head);
    const ferry_name lines[] = {
        ferry_name_format("%s, layer %d, %s", kinds[s->request->kind], (int)s->layer, heads.text),
        ferry_name_format("rows: %s; columns: %s", rows->label, columns->label),
        ferry_name_format("color: attention weight; each row sums to 1"),
    };
    ferry_svg_begin(out, width, height, lines[0].text);
    for (int i = 0; i < 3; i++)
        ferry_svg_text(out, MARGIN, 28 + 20 * i, i == 0 ? 16 : 12, FERRY_SVG_START, 0,
                       (ferry_text){lines[i].text, strlen(lines[i].text)});
}

static void draw(FILE *out, const scene *s, const axis *rows, const axis *columns)
{
    const int32_t most = rows->count > columns->count ? rows->count : columns->count;
    const double wanted = (double)WANTED_SIDE / most;
    const double cell = wanted < LEAST_CELL ? LEAST_CELL : wanted > MOST_CELL ? MOST_CELL : wanted;
    const double size = cell < 12 ? cell : 12;
    const ferry_svg_plot plot = {.x = MARGIN + label_size(s, rows, size),
                                 .y = TOP + label_size(s, columns, size),
                                 .width = cell * columns->count,
                                 .height = cell * rows->count};
    const double width = plot.x + plot.width + BAR;
    draw_head(out, s, rows, columns, width > LEAST_WIDTH ? width : LEAST_WIDTH, plot.y + plot.height + MARGIN);
    ferry_svg_heat(out, &plot, s->weights, rows->count, columns->count, FERRY_SVG_SEQUENTIAL, 1, "");
    ferry_svg_border(out, &plot);
    draw_pieces(out, s, rows, &plot, cell, size, true);
    draw_pieces(out, s, columns, &plot, cell, size, false);
    ferry_svg_end(out);
}

bool ferry_plot_attention(FILE *out, const ferry_model *model, ferry_translator *translator,
                          const ferry_plot_request *request)
{
    scene s = {.model = model, .request = request};
    ferry_result *result = NULL;
    bool done = translate(&s, translator, &result);
    if (done) {
        const axis source = {"the source", FERRY_INSPECT_ENCODER, s.source, s.S};
        const axis inputs = {"inputs of the decoder", FERRY_INSPECT_DECODER, s.inputs, s.T};
        const axis outputs = {"what is being produced", FERRY_INSPECT_DECODER, s.outputs, s.T};
        const axis *queries[] = {&source, &inputs, &outputs}, *keys[] = {&source, &inputs, &source};
        const axis *rows = queries[request->kind], *columns = keys[request->kind];
        done = measure(&s, (size_t)rows->count * (size_t)columns->count);
        if (done) draw(out, &s, rows, columns);
    }
    ferry_result_destroy(result);
    ferry_inspect_free(s.source);
    free(s.inputs);
    free(s.weights);
    return done;
}
