/* Pictures: their beginning and end, the style sheet, text. */
#include "svg.h"

#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "base/utf8.h"
#include "svg_parts.h"

/* ---- colors ---- */

/* Oklab (Ottosson 2020), in which equal distances look equal: lightness 0 … 1, green to red, blue to yellow. */
typedef struct color {
    double lightness, a, b;
} color;

/* Equally spaced colors of a scale. Their lightness changes evenly, so that the scale can be read without hues. */
typedef struct ramp {
    color colors[3];
} ramp;

enum { LIGHT, DARK };
static const ramp ramps[][2] = {
    [FERRY_SVG_SEQUENTIAL] = {{{{1.00, 0.00, 0.00}, {0.67, -0.06, -0.11}, {0.34, -0.01, -0.14}}},
                              {{{0.22, 0.00, -0.01}, {0.57, -0.05, -0.12}, {0.92, -0.06, 0.05}}}},
    [FERRY_SVG_DIVERGING] = {{{{0.46, -0.02, -0.17}, {0.97, 0.00, 0.00}, {0.52, 0.16, 0.11}}},
                             {{{0.76, -0.06, -0.12}, {0.24, 0.00, -0.01}, {0.76, 0.10, 0.12}}}},
};

static unsigned channel(double linear)
{
    const double x = fmin(fmax(linear, 0), 1);
    return (unsigned)lround(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055));
}

/* To sRGB. */
static void write_color(FILE *out, color c)
{
    const double l = pow(c.lightness + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
    const double m = pow(c.lightness - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
    const double s = pow(c.lightness - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
    fprintf(out, "#%02x%02x%02x", channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
            channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
            channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
}

static color level_color(const ramp *scale, int32_t level)
{
    const double place = 2.0 * level / (FERRY_SVG_LEVELS - 1), rest = place < 1 ? place : place - 1;
    const color from = scale->colors[place < 1 ? 0 : 1], to = scale->colors[place < 1 ? 1 : 2];
    return (color){from.lightness + (to.lightness - from.lightness) * rest, from.a + (to.a - from.a) * rest,
                   from.b + (to.b - from.b) * rest};
}

static void write_levels(FILE *out, int page)
{
    for (int scale = FERRY_SVG_SEQUENTIAL; scale <= FERRY_SVG_DIVERGING; scale++)
        for (int32_t level = 0; level < FERRY_SVG_LEVELS; level++) {
            fprintf(out, "svg.ferry .%c%d{stroke:", FERRY_SVG_LEVEL_CLASSES[scale], (int)level);
            write_color(out, level_color(&ramps[scale][page], level));
            fputs("}\n", out);
        }
}

/* ---- the style sheet ---- */

/* What differs between light and dark. Colors of lines: Okabe and Ito 2008, lighter on dark pages. */
static const struct {
    const char *selector, *property, *values[2];
} themed[] = {
    {".paper", "fill", {"#ffffff", "#0d1117"}},    {"text", "fill", {"#1f2328", "#e6edf3"}},
    {".soft", "fill", {"#59636e", "#9aa4b0"}},     {".inverse", "fill", {"#ffffff", "#0d1117"}},
    {".grid", "stroke", {"#e3e7eb", "#262d36"}},   {".zero", "stroke", {"#a5adb6", "#59636e"}},
    {".border", "stroke", {"#8c959f", "#6e7681"}}, {".mark", "stroke", {"#1f2328", "#e6edf3"}},
    {".c0", "color", {"#0072b2", "#58a6e8"}},      {".c1", "color", {"#d55e00", "#ff8a4c"}},
    {".c2", "color", {"#009e73", "#3fcf9f"}},      {".c3", "color", {"#b5588f", "#e79bc6"}},
    {".c4", "color", {"#d98c00", "#f2b632"}},      {".c5", "color", {"#3fa3dc", "#a5d8ff"}},
    {".c6", "color", {"#6b6b6b", "#c0c0c0"}},
};

static void write_theme(FILE *out, int page)
{
    for (size_t i = 0; i < sizeof themed / sizeof *themed; i++)
        fprintf(out, "svg.ferry %s{%s:%s}\n", themed[i].selector, themed[i].property, themed[i].values[page]);
    write_levels(out, page);
}

void ferry_svg_style(FILE *out)
{
    fputs("svg.ferry{max-width:100%;height:auto;fill:none;font-family:\"DejaVu Sans\",Verdana,\"Noto Sans\","
          "\"Noto Sans CJK JP\",sans-serif}\n"
          "svg.ferry .map{shape-rendering:crispEdges}\nsvg.ferry .mark{stroke-dasharray:4 3}\n",
          out);
    write_theme(out, LIGHT);
    fputs("@media screen and (prefers-color-scheme:dark){\n", out);
    write_theme(out, DARK);
    fputs("}\n", out);
}

/* ---- the picture ---- */

static void begin(FILE *out, double width, double height, const char *title)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ferry\" role=\"img\" width=\"%.6g\" height=\"%.6g\" "
            "viewBox=\"0 0 %.6g %.6g\">\n",
            width, height, width, height);
    ferry_svg_name(out, title);
}

void ferry_svg_begin(FILE *out, double width, double height, const char *title)
{
    begin(out, width, height, title);
    fputs("<style>\n", out);
    ferry_svg_style(out);
    fputs("</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", out);
}

void ferry_svg_begin_embedded(FILE *out, double width, double height, const char *title)
{
    begin(out, width, height, title);
}

void ferry_svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

/* ---- text ---- */

static const struct {
    double size;
    bool bold;
} fonts[] = {[FERRY_SVG_TITLE] = {18, true},
             [FERRY_SVG_HEADING] = {13, true},
             [FERRY_SVG_BODY] = {13, false},
             [FERRY_SVG_LABEL] = {11, false}};

/* What is not printable becomes U+FFFD: among it all that XML does not permit, and what is not UTF-8. */
void ferry_svg_escape(FILE *out, ferry_text escaped)
{
    const ferry_view text = {escaped.data, escaped.size};
    size_t at = 0;
    while (at < text.size) {
        uint32_t code;
        const size_t start = at;
        if (!ferry_utf8_next(text, &at, &code) || !ferry_is_printable(code)) {
            fputs("\xEF\xBF\xBD", out);
            continue;
        }
        switch (code) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fwrite(text.data + start, 1, at - start, out);
        }
    }
}

void ferry_svg_name(FILE *out, const char *name)
{
    if (name == NULL) return;
    fputs("<title>", out);
    ferry_svg_escape(out, ferry_svg_literal(name));
    fputs("</title>\n", out);
}

/* In units of the font's size: characters of East Asian scripts are as wide as they are high. */
static double character_width(uint32_t code)
{
    const bool combining = (code >= 0x300 && code < 0x370) || (code >= 0x200B && code < 0x2010);
    return combining ? 0 : code >= 0x1100 && (code < 0x1E00 || code >= 0x2E80) ? 1 : 0.57;
}

static double text_width(ferry_svg_font font, ferry_view text)
{
    double width = 0;
    for (size_t at = 0; at < text.size;) {
        uint32_t code;
        width += ferry_utf8_next(text, &at, &code) && ferry_is_printable(code) ? character_width(code) : 1;
    }
    return width * fonts[font].size * (fonts[font].bold ? 1.1 : 1);
}

ferry_text ferry_svg_literal(const char *text)
{
    return (ferry_text){text, strlen(text)};
}

double ferry_svg_text_width(ferry_svg_font font, ferry_text text)
{
    return text_width(font, (ferry_view){text.data, text.size});
}

/* Whether the text is written from right to left: its first letter is Hebrew, Arabic or of a script near them (or of
 * their presentation forms). */
static bool is_leftward(ferry_view text)
{
    for (size_t at = 0; at < text.size;) {
        uint32_t code;
        if (!ferry_utf8_next(text, &at, &code)) continue;
        if ((code >= 0x590 && code < 0x900) || (code >= 0xFB1D && code < 0xFE00) || (code >= 0xFE70 && code < 0xFEFF))
            return true;
        if ((code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') || (code >= 0xC0 && code < 0x2000))
            return false;
    }
    return false;
}

static void write_text(FILE *out, double x, double y, ferry_svg_font font, ferry_svg_anchor anchor, double angle,
                       bool leftward, ferry_view text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    const ferry_svg_anchor turned = leftward ? FERRY_SVG_END - anchor : anchor;
    fprintf(out, "<text x=\"%.6g\" y=\"%.6g\" font-size=\"%.3g\"", x, y, fonts[font].size);
    if (fonts[font].bold) fputs(" font-weight=\"600\"", out);
    if (leftward) fputs(" direction=\"rtl\"", out);
    if (turned != FERRY_SVG_START) fprintf(out, " text-anchor=\"%s\"", anchors[turned]);
    if (font == FERRY_SVG_LABEL) fputs(" class=\"soft\"", out);
    if (angle < 0 || angle > 0) fprintf(out, " transform=\"rotate(%.6g %.6g %.6g)\"", angle, x, y);
    fputc('>', out);
    ferry_svg_escape(out, (ferry_text){text.data, text.size});
    fputs("</text>\n", out);
}

void ferry_svg_text(FILE *out, double x, double y, ferry_svg_font font, ferry_svg_anchor anchor, double angle,
                    ferry_text text)
{
    const ferry_view view = {text.data, text.size};
    write_text(out, x, y, font, anchor, angle, is_leftward(view), view);
}

/* The bytes of the first line: up to the last blank within `width`, or, without a blank, as many characters as fit. */
static size_t first_line(ferry_svg_font font, double width, ferry_view text)
{
    size_t end = 0, blank = 0;
    for (size_t at = 0; at < text.size; end = at) {
        uint32_t code;
        if (text.data[at] == ' ') blank = at;
        (void)ferry_utf8_next(text, &at, &code);
        if (end > 0 && text_width(font, (ferry_view){text.data, at}) > width) return blank > 0 ? blank : end;
    }
    return text.size;
}

double ferry_svg_paragraph(FILE *out, double x, double y, double width, ferry_svg_font font, ferry_text text)
{
    ferry_view rest = {text.data, text.size};
    const bool leftward = is_leftward(rest);
    const double height = fonts[font].size * 1.4;
    while (rest.size > 0) {
        const size_t size = first_line(font, width, rest);
        if (out != NULL)
            write_text(out, leftward ? x + width : x, y, font, leftward ? FERRY_SVG_END : FERRY_SVG_START, 0, leftward,
                       (ferry_view){rest.data, size});
        rest = (ferry_view){rest.data + size, rest.size - size};
        while (rest.size > 0 && rest.data[0] == ' ') rest = (ferry_view){rest.data + 1, rest.size - 1};
        y += height;
    }
    return y;
}
