/* sacremoses' MosesPunctNormalizer. */
#include "moses_private.h"
#include "tokenizer/punctuation.h"

/* Moses' replace-unicode-punctuation, as transformers has it for FSMT. */
static void replace_full_width(ferry_moses_text *text)
{
    for (size_t i = 0; i < text->count; i++) {
        const uint32_t character = text->cells[i].character, place = text->cells[i].place;
        const char *to = character == 0xFF11 ? "1" : ferry_punctuation_ascii(character);
        if (to == NULL) ferry_moses_put(text, character, place);
        for (const char *c = to; c != NULL && *c != '\0'; c++) ferry_moses_put(text, (uint32_t)*c, place);
        if (character != 0x3002 && character != 0xFF0E) continue; /* 。 ． */
        while (i + 1 < text->count && ferry_moses_is_space(text->cells[i + 1].character)) i++;
    }
    ferry_moses_swap(text);
}

static const ferry_moses_rule white_space[] = {
    {"\r", ""},  {"(", " ("},      {")", ") "}, {" +", " "}, {") ~p", "~1~3"}, {"( ", "("},
    {" )", ")"}, {"~d %", "~1~3"}, {" :", ":"}, {" ;", ";"}, {NULL, NULL},
};

static const ferry_moses_rule quotation[] = {
    /* ASCII */
    {"`", "'"},
    {"''", " \" "},
    /* typographic */
    {"„", "\""},
    {"“", "\""},
    {"”", "\""},
    {"–", "-"},
    {"—", " - "},
    {" +", " "},
    {"´", "'"},
    {"~z‘~z", "~1'~3"},
    {"~z’~z", "~1'~3"},
    {"‘", "'"},
    {"‚", "'"},
    {"’", "'"},
    {"''", "\""},
    {"…", "..."},
    /* French */
    {"\u00A0«\u00A0", "\""},
    {"«\u00A0", "\""},
    {"«", "\""},
    {"\u00A0»\u00A0", "\""},
    {"\u00A0»", "\""},
    {"»", "\""},
    /* after and before what does not break */
    {"\u00A0%", "%"},
    {"nº\u00A0", "~1~2 "},
    {"\u00A0:", ":"},
    {"\u00A0ºC", " ~2~3"},
    {"\u00A0cm", " ~2~3"},
    {"\u00A0?", "?"},
    {"\u00A0!", "!"},
    {"\u00A0;", ";"},
    {",\u00A0", "~1 "},
    {" +", " "},
    {NULL, NULL},
};

/* Quotation marks change places with commas and full stops: American style … */
static const ferry_moses_rule english[] = {{"\"~c+", "~2~1"}, {NULL, NULL}};
/* … or the other way around, but for the full stop that ends the text. */
static const ferry_moses_rule german_spanish_french[] = {{",\"", "~2~1"}, {".+\"~s*^<", "~2~1~3~4"}, {NULL, NULL}};

static const ferry_moses_rule decimal_comma[] = {{"~d\u00A0~d", "~1,~3"}, {NULL, NULL}};
static const ferry_moses_rule decimal_point[] = {{"~d\u00A0~d", "~1.~3"}, {NULL, NULL}};

static const ferry_moses_rule no_control[] = {{"~C", ""}, {NULL, NULL}};

void ferry_moses_normalize(const ferry_moses *moses, const ferry_moses_language *language, ferry_moses_text *text)
{
    if (moses->config.fsmt) replace_full_width(text);
    ferry_moses_apply(text, white_space);
    ferry_moses_apply(text, quotation);
    if (ferry_moses_speaks(language, "en")) ferry_moses_apply(text, english);
    if (ferry_moses_speaks_one_of(language, "de es fr")) ferry_moses_apply(text, german_spanish_french);
    const bool comma = ferry_moses_speaks_one_of(language, "de es cz cs fr");
    ferry_moses_apply(text, comma ? decimal_comma : decimal_point);
    ferry_moses_strip(text);
    if (moses->config.fsmt) ferry_moses_apply(text, no_control);
}
