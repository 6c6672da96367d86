#include "moses.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "moses_rules.h"

/* ---- languages ---- */

static ferry_status set_prefixes(ferry_moses *moses, ferry_error *error)
{
    const char *words = NULL;
    for (size_t i = 0; i < ferry_moses_prefix_count; i++) {
        const bool own = strcmp(ferry_moses_prefixes[i].language, moses->code) == 0;
        if (own || (words == NULL && strcmp(ferry_moses_prefixes[i].language, "en") == 0))
            words = ferry_moses_prefixes[i].words;
        if (own) break;
    }
    size_t count = 0;
    for (const char *c = words; *c != '\0'; c++) count += *c == '\n';
    moses->prefixes = calloc(count, sizeof *moses->prefixes);
    if (moses->prefixes == NULL) return ferry_fail_memory(error, "abbreviations", count, sizeof *moses->prefixes);
    for (const char *end; (end = strchr(words, '\n')) != NULL; words = end + 1) {
        const bool numeric = *words == '#';
        words += numeric;
        moses->prefixes[moses->prefix_count++] =
            (ferry_moses_prefix){.word = {words, (size_t)(end - words)}, .numeric = numeric};
    }
    return FERRY_OK;
}

ferry_status ferry_moses_create(ferry_view language, bool fsmt, ferry_moses **moses, ferry_error *error)
{
    ferry_moses *made = *moses = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a tokenizer", 1, sizeof *made);
    if (language.size < sizeof made->code) memcpy(made->code, language.data, language.size);
    made->fsmt = fsmt;
    made->letters = FERRY_MOSES_ALNUM;
    if (ferry_moses_speaks(made, "zh cjk")) made->letters |= FERRY_MOSES_CHINESE;
    if (ferry_moses_speaks(made, "ja cjk")) made->letters |= FERRY_MOSES_JAPANESE;
    if (ferry_moses_speaks(made, "ko cjk")) made->letters |= FERRY_MOSES_KOREAN;
    const ferry_status status = set_prefixes(made, error);
    if (status == FERRY_OK) return FERRY_OK;
    ferry_moses_destroy(made);
    *moses = NULL;
    return status;
}

void ferry_moses_destroy(ferry_moses *moses)
{
    if (moses == NULL) return;
    free(moses->prefixes);
    free(moses);
}

/* ---- full-width and typographic punctuation ---- */

/* The table of Moses' replace-unicode-punctuation, ascending. The full-width digit one becomes a quotation mark: a bug
 * of the original that the models were trained with. The original also removes blanks after "。" and "．"; OPUS-MT
 * squeezes them anyway. */
static const struct substitution {
    uint32_t from;
    char to[4]; /* NUL-terminated */
} substitutions[] = {
    {U'’', "'"},  {U'“', "\""}, {U'”', "\""},  {U'…', "..."}, {U'∶', ":"},   {U'━', "-"},   {U'、', ","}, {U'。', ". "},
    {U'〈', "<"}, {U'〉', ">"}, {U'《', "\""}, {U'》', "\""}, {U'「', "\""}, {U'」', "\""}, {U'【', "["}, {U'】', "]"},
    {U'！', "!"}, {U'％', "%"}, {U'（', "("},  {U'）', ")"},  {U'，', ","},  {U'．', ". "}, {U'０', "0"}, {U'１', "\""},
    {U'２', "2"}, {U'３', "3"}, {U'４', "4"},  {U'５', "5"},  {U'６', "6"},  {U'７', "7"},  {U'８', "8"}, {U'９', "9"},
    {U'：', ":"}, {U'；', ";"}, {U'？', "?"},  {U'～', "~"},
};

/* The ASCII substitute of a full-width or typographic character; NULL: none. */
static const char *ascii_for(uint32_t c)
{
    for (size_t i = 0; i < sizeof substitutions / sizeof *substitutions && substitutions[i].from <= c; i++)
        if (substitutions[i].from == c) return substitutions[i].to;
    return NULL;
}

/* Characters that become blanks, ascending: Unicode's categories Cc, Cf and Co, and the noncharacters of Cn (of planes
 * 1 to 14, becomes_blank recognizes them by their low bits). The rest of Cn is unassigned and stays, because every
 * version of Unicode assigns some of it. */
static const uint32_t blanks[][2] = {
    {0x0000, 0x001F},    {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x0600, 0x0605},   {0x061C, 0x061C},
    {0x06DD, 0x06DD},    {0x070F, 0x070F},   {0x0890, 0x0891},   {0x08E2, 0x08E2},   {0x180E, 0x180E},
    {0x200B, 0x200F},    {0x202A, 0x202E},   {0x2060, 0x2064},   {0x2066, 0x206F},   {0xE000, 0xF8FF},
    {0xFDD0, 0xFDEF},    {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F},  {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE0001}, {0xE0020, 0xE007F},
    {0xF0000, 0x10FFFF},
};

static bool becomes_blank(uint32_t c)
{
    if (c == '\n') return false;
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks && blanks[i][0] <= c; i++)
        if (c <= blanks[i][1]) return true;
    return (c & 0xFFFE) == 0xFFFE;
}

ferry_status ferry_punctuation_clean(ferry_view text, ferry_string *clean, size_t **offsets, ferry_error *error)
{
    size_t capacity = 0, *from = NULL;
    if (offsets != NULL) *offsets = NULL;
    clean->size = 0;
    /* Enough: a substitute has at most three bytes, and the character that it replaces at least as many. */
    FERRY_TRY(ferry_string_reserve(clean, text.size, error));
    if (offsets != NULL) from = *offsets = ferry_array_grow(NULL, &capacity, text.size + 1, sizeof *from);
    if (offsets != NULL && from == NULL) return ferry_fail_memory(error, "tokenizing", text.size + 1, sizeof *from);
    for (size_t at = 0; at < text.size;) {
        const size_t begin = at;
        uint32_t c;
        const bool valid = ferry_utf8_next(text, &at, &c);
        const char *substitute = !valid ? NULL : becomes_blank(c) ? " " : ascii_for(c);
        const size_t size = substitute != NULL ? strlen(substitute) : at - begin;
        for (size_t i = 0; i < size; i++) {
            const char byte = substitute != NULL ? substitute[i] : text.data[begin + i];
            if (byte == ' ' && (clean->size == 0 || clean->data[clean->size - 1] == ' ')) continue;
            if (from != NULL) from[clean->size] = substitute == NULL ? begin + i : byte == ' ' && i > 0 ? at : begin;
            clean->data[clean->size++] = byte;
        }
    }
    if (from != NULL) from[clean->size] = text.size;
    if (clean->size > 0 && clean->data[clean->size - 1] == ' ') clean->size--;
    return FERRY_OK;
}

/* ---- normalization: sacremoses' MosesPunctNormalizer ---- */

/* Full-width punctuation as in transformers' FSMT. */
static void replace_full_width(ferry_moses_text *text)
{
    for (size_t i = 0; i < text->count; i++) {
        const uint32_t character = text->cells[i].character, offset = text->cells[i].offset;
        const char *to = character == U'１' ? "1" : ascii_for(character);
        if (to == NULL) ferry_moses_put(text, character, offset);
        for (; to != NULL && *to != '\0'; to++) ferry_moses_put(text, (uint32_t)*to, offset);
        if (character != U'。' && character != U'．') continue;
        while (i + 1 < text->count && ferry_moses_is_space(text->cells[i + 1].character)) i++;
    }
    ferry_moses_swap(text);
}

static const ferry_moses_rule brackets[] = {
    {"\r", ""},  {"(", " ("},      {")", ") "}, {" +", " "}, {") ~p", "~1~3"}, {"( ", "("},
    {" )", ")"}, {"~d %", "~1~3"}, {" :", ":"}, {" ;", ";"}, {NULL, NULL},
};
static const ferry_moses_rule quotation[] = {
    {"`", "'"},   {"''", " \" "}, {"„", "\""},  {"“", "\""},        {"”", "\""},        {"–", "-"},
    {"—", " - "}, {" +", " "},    {"´", "'"},   {"~z‘~z", "~1'~3"}, {"~z’~z", "~1'~3"}, {"‘", "'"},
    {"‚", "'"},   {"’", "'"},     {"''", "\""}, {"…", "..."},       {NULL, NULL},
};
static const ferry_moses_rule french_quotation[] = {
    {"\u00A0«\u00A0", "\""}, {"«\u00A0", "\""}, {"«", "\""},  {"\u00A0»\u00A0", "\""},
    {"\u00A0»", "\""},       {"»", "\""},       {NULL, NULL},
};
static const ferry_moses_rule no_break_spaces[] = {
    {"\u00A0%", "%"},      {"nº\u00A0", "~1~2 "}, {"\u00A0:", ":"}, {"\u00A0ºC", " ~2~3"},
    {"\u00A0cm", " ~2~3"}, {"\u00A0?", "?"},      {"\u00A0!", "!"}, {"\u00A0;", ";"},
    {",\u00A0", "~1 "},    {" +", " "},           {NULL, NULL},
};
/* A quotation mark moves after a comma or full stop: American style. */
static const ferry_moses_rule american_quotation[] = {{"\"~c+", "~2~1"}, {NULL, NULL}};
/* A comma or full stops move after a quotation mark, except full stops that end the text: European style. */
static const ferry_moses_rule european_quotation[] = {{",\"", "~2~1"}, {".+\"~s*^<", "~2~1~3~4"}, {NULL, NULL}};

static const ferry_moses_rule decimal_comma[] = {{"~d\u00A0~d", "~1,~3"}, {NULL, NULL}};
static const ferry_moses_rule decimal_point[] = {{"~d\u00A0~d", "~1.~3"}, {NULL, NULL}};

static const ferry_moses_rule no_control[] = {{"~C", ""}, {NULL, NULL}};

static void normalize(const ferry_moses *moses, ferry_moses_text *text)
{
    const bool comma = ferry_moses_speaks(moses, "de es cz cs fr");
    if (moses->fsmt) replace_full_width(text);
    ferry_moses_apply(text, brackets);
    ferry_moses_apply(text, quotation);
    ferry_moses_apply(text, french_quotation);
    ferry_moses_apply(text, no_break_spaces);
    if (ferry_moses_speaks(moses, "en")) ferry_moses_apply(text, american_quotation);
    if (ferry_moses_speaks(moses, "de es fr")) ferry_moses_apply(text, european_quotation);
    ferry_moses_apply(text, comma ? decimal_comma : decimal_point);
    ferry_moses_strip(text);
    if (moses->fsmt) ferry_moses_apply(text, no_control);
}

/* ---- words: sacremoses' MosesTokenizer ---- */

static const ferry_moses_rule white_space[] = {{"~s+", " "}, {NULL, NULL}};
static const ferry_moses_rule junk[] = {{"~j", ""}, {NULL, NULL}};
static const ferry_moses_rule special[] = {{"~x", " ~1 "}, {NULL, NULL}};
static const ferry_moses_rule hyphens[] = {{"~w-=~w", "~1 @-@ "}, {NULL, NULL}};
/* Commas, except within numbers. */
static const ferry_moses_rule commas[] = {{"^~N,", "~1 ~2 "}, {",^~N", " ~1 ~2"}, {"~N,$", "~1 ~2 "}, {NULL, NULL}};

static const ferry_moses_rule english[] = {
    {"^~a'^~a", "~1 ~2 ~3"}, {"~q'~a", "~1 ~2 ~3"}, {"~a'^~a", "~1 ~2 ~3"},
    {"~a'~a", "~1 ~2~3"},    {"~N's", "~1 ~2~3"},   {NULL, NULL},
};
static const ferry_moses_rule french_italian[] = {
    {"^~a'^~a", "~1 ~2 ~3"}, {"^~a'~a", "~1 ~2 ~3"}, {"~a'^~a", "~1 ~2 ~3"}, {"~a'~a", "~1~2 ~3"}, {NULL, NULL},
};
static const ferry_moses_rule other_languages[] = {{"'", " ~1 "}, {NULL, NULL}};

static const ferry_moses_rule last_stop[] = {{".'$", " ~1 ~2 "}, {NULL, NULL}};

/* The ampersand first. */
static const ferry_moses_rule escapes[] = {
    {"&", "&amp;"},   {"|", "&#124;"}, {"<", "&lt;"},  {">", "&gt;"}, {"'", "&apos;"},
    {"\"", "&quot;"}, {"[", "&#91;"},  {"]", "&#93;"}, {NULL, NULL},
};

static void put_text(ferry_moses_text *text, const char *more, uint32_t offset)
{
    for (; *more != '\0'; more++) ferry_moses_put(text, (uint32_t)*more, offset);
}

/* Several full stops are one word: "..." becomes " DOTDOTDOTMULTI ", as in the original, until show_stops. A text that
 * contains such a word itself is changed, too. */
static void hide_stops(ferry_moses_text *text)
{
    for (size_t i = 0; i < text->count;) {
        size_t end = i;
        while (end < text->count && text->cells[end].character == '.') end++;
        if (end - i < 2) {
            if (end == i) end++;
            ferry_moses_copy(text, i, end);
            i = end;
            continue;
        }
        put_text(text, " ", text->cells[i].offset);
        for (; i < end; i++) put_text(text, "DOT", text->cells[i].offset);
        put_text(text, "MULTI ", text->cells[end - 1].offset);
    }
    ferry_moses_swap(text);
}

static bool begins_with(const ferry_moses_text *text, size_t at, const char *start)
{
    for (; *start != '\0'; start++, at++)
        if (at >= text->count || text->cells[at].character != (uint32_t)*start) return false;
    return true;
}

static void show_stops(ferry_moses_text *text)
{
    for (size_t i = 0; i < text->count;) {
        size_t end = i;
        while (begins_with(text, end, "DOT")) end += 3;
        if (end > i && begins_with(text, end, "MULTI")) {
            for (; i < end; i += 3) ferry_moses_put(text, '.', text->cells[i].offset);
            i += 5;
            continue;
        }
        if (end == i) end++;
        ferry_moses_copy(text, i, end);
        i = end;
    }
    ferry_moses_swap(text);
}

static int compare_prefixes(const void *a, const void *b)
{
    return ferry_view_compare(((const ferry_moses_prefix *)a)->word, ((const ferry_moses_prefix *)b)->word);
}

/* Whether the full stop after a word is part of it; next is 0 after the last word, and otherwise the character that the
 * next word begins with. */
static bool keeps_stop(const ferry_moses *moses, const ferry_moses_cell *word, size_t count, uint32_t next)
{
    enum { MAX_PREFIX = 128 }; /* bytes; a test shows that no abbreviation is longer */
    const uint32_t letters = FERRY_MOSES_ALPHA | (moses->letters & ~(uint32_t)FERRY_MOSES_ALNUM);
    const ferry_moses_prefix *prefix = NULL;
    char bytes[MAX_PREFIX + 4];
    bool stop = false, letter = false;
    for (size_t i = 0; i < count; i++) {
        stop = stop || word[i].character == '.';
        letter = letter || (ferry_moses_classes(word[i].character) & letters) != 0;
    }
    if (stop && letter) return true; /* "U.S", "e.g" */
    size_t size = 0;
    for (size_t i = 0; i < count && size <= MAX_PREFIX; i++) size += ferry_utf8_put(word[i].character, bytes + size);
    const ferry_moses_prefix key = {.word = {bytes, size}};
    if (size <= MAX_PREFIX) prefix = bsearch(&key, moses->prefixes, moses->prefix_count, sizeof key, compare_prefixes);
    return (prefix != NULL && !prefix->numeric) || (ferry_moses_classes(next) & FERRY_MOSES_LOWER) != 0 ||
           (prefix != NULL && next >= '0' && next <= '9');
}

static void split_stops(const ferry_moses *moses, ferry_moses_text *text)
{
    size_t begin, end = 0;
    for (bool more = ferry_moses_next_word(text, &begin, &end); more;) {
        size_t next_begin, next_end = end;
        const size_t last = end - 1;
        more = ferry_moses_next_word(text, &next_begin, &next_end);
        const uint32_t next = more ? text->cells[next_begin].character : 0;
        const bool splits = last > begin && text->cells[last].character == '.' &&
                            !keeps_stop(moses, text->cells + begin, last - begin, next);
        ferry_moses_copy(text, begin, splits ? last : end);
        if (splits) put_text(text, " .", text->cells[last].offset);
        if (more) put_text(text, " ", text->cells[last].offset);
        begin = next_begin;
        end = next_end;
    }
    ferry_moses_swap(text);
}

static void split(const ferry_moses *moses, ferry_moses_text *text)
{
    text->letters = moses->letters;
    ferry_moses_apply(text, white_space);
    ferry_moses_apply(text, junk);
    ferry_moses_strip(text);
    ferry_moses_apply(text, special);
    if (moses->fsmt) ferry_moses_apply(text, hyphens);
    hide_stops(text);
    ferry_moses_apply(text, commas);
    ferry_moses_apply(text, ferry_moses_speaks(moses, "en")      ? english
                            : ferry_moses_speaks(moses, "fr it") ? french_italian
                                                                 : other_languages);
    split_stops(moses, text);
    ferry_moses_apply(text, last_stop);
    show_stops(text);
    ferry_moses_apply(text, escapes);
    ferry_moses_apply(text, white_space);
    ferry_moses_strip(text);
}

ferry_status ferry_moses_tokenize(const ferry_moses *moses, ferry_view text, ferry_string *words, size_t **offsets,
                                  ferry_error *error)
{
    ferry_moses_text work = {0};
    if (offsets != NULL) *offsets = NULL;
    FERRY_TRY(ferry_moses_text_set(&work, text, error));
    normalize(moses, &work);
    split(moses, &work);
    return ferry_moses_text_finish(&work, text.size, words, offsets, error);
}

ferry_status ferry_moses_escape(ferry_view text, ferry_string *words, ferry_error *error)
{
    ferry_moses_text work = {0};
    ferry_string escaped = {0};
    FERRY_TRY(ferry_moses_text_set(&work, text, error));
    ferry_moses_apply(&work, escapes);
    ferry_status status = ferry_moses_text_finish(&work, text.size, &escaped, NULL, error);
    if (status == FERRY_OK) status = ferry_string_append(words, (ferry_view){escaped.data, escaped.size}, error);
    free(escaped.data);
    return status;
}
