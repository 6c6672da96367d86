/* The bytes of a text that ids stand for: as SentencePiece places its pieces (tests/data/tokenizer/record.py), in texts
 * that are cleaned or repaired first, and in translations. */
#include "tests/support/tokenizer_support.h"

#include <inttypes.h>

#include "base/utf8.h"

/* ---- sources ---- */

TEST(test_source)
{
    static const encoded_row rows[] = {
        {VIEW(""), ""},
        {VIEW("Hello, my  world!"), "He|ll|o|,|my|wo|r|l|d|!"},
        {VIEW(" \t Hello \u3000it \n"), "He|ll|o|it"},
        {VIEW("\u6F22\u5B57 it"), "|\u6F22|\u6F22|\u6F22|\u5B57|\u5B57|\u5B57|it"},
        {VIEW("o\u3314r"), "|o|\u3314|\u3314|\u3314|\u3314|\u3314|\u3314|r"},
        {VIEW("\uFB01ne"), "\uFB01n|\uFB01n|e"},
        {VIEW("n \uFB00"), "|n|\uFB00|\uFB00"},
        {VIEW("x\xC2\x85\u2028w"), "|x|||w"},
        {VIEW("a\xFF\xE2\x82 b"), "a|\xFF|\xFF|\xFF|\xE2|\xE2|\xE2|\x82|\x82|\x82|b"},
    };
    own_ids *model = load_own_ids(BYTE_FALLBACK);
    check_encoded(&model->config, SOURCE_PARTS, rows, COUNT(rows));
}

/* ---- as SentencePiece has it ---- */

typedef struct recorded_piece {
    int32_t id;
    ferry_range range;
    bool nothing; /* of the text */
    bool letter;  /* part of what normalization made of a character, after a blank or not */
} recorded_piece;

enum { MOST_PIECES = 2048 };

static ferry_range trimmed(ferry_view text, ferry_range range)
{
    const ferry_view rest = ferry_utf8_trim((ferry_view){text.data + range.begin, range.end - range.begin});
    const size_t begin = (size_t)(rest.data - text.data);
    return (ferry_range){begin, begin + rest.size};
}

/* Of pieces that are parts of a character the last one has it in SentencePiece, and here all of them. */
static ferry_range expected_range(ferry_view text, const recorded_piece *pieces, size_t count, size_t index)
{
    const ferry_range range = trimmed(text, pieces[index].range);
    size_t first = index, last = index;
    if (range.begin < range.end) return range;
    while (pieces[first].nothing && !pieces[first].letter && first > 0 &&
           trimmed(text, pieces[first - 1].range).begin == range.begin)
        first--;
    while (last + 1 < count && trimmed(text, pieces[last].range).end == range.begin) last++;
    const ferry_range whole = trimmed(text, pieces[last].range);
    return pieces[first].letter && whole.begin == range.begin ? whole : range;
}

/* "id:begin:end" … */
static size_t read_pieces(const own_ids *model, char *text, recorded_piece *pieces)
{
    size_t count = 0;
    for (char *part; (part = take_until(&text, ' ')) != NULL && *part != '\0'; count++) {
        recorded_piece *piece = &pieces[count];
        assert_true(count < MOST_PIECES);
        assert_int_equal(sscanf(part, "%" SCNd32 ":%zu:%zu", &piece->id, &piece->range.begin, &piece->range.end), 3);
        const ferry_view text_of = ferry_texts_at(model->config.source_pieces, (size_t)piece->id);
        const bool blank = text_of.size >= 3 && memcmp(text_of.data, "\u2581", 3) == 0;
        piece->nothing = piece->range.begin == piece->range.end;
        piece->letter = blank ? text_of.size > 3 : piece->nothing;
    }
    return count;
}

static void check_recorded(own_ids *model, ferry_view text, char *line)
{
    static recorded_piece pieces[MOST_PIECES];
    const size_t count = read_pieces(model, line, pieces);
    CHECK(ferry_tokenizer_encode_ranges(model->tokenizer, VIEW(""), text, &model->ids, &model->ranges, &error));
    assert_int_equal(model->ranges.count, model->ids.count);
    assert_sound(text, model->ranges.ranges, model->ranges.count);
    assert_int_equal(model->ids.count, count);
    for (size_t i = 0; i < count; i++) {
        const ferry_range found = model->ranges.ranges[i], expected = expected_range(text, pieces, count, i);
        assert_int_equal(model->ids.ids[i], pieces[i].id);
        if (found.begin == found.end && expected.begin == expected.end) continue;
        if (found.begin != expected.begin || found.end != expected.end)
            fail_msg("'%.*s', piece %zu: expected %zu to %zu, found %zu to %zu", (int)text.size, text.data, i,
                     expected.begin, expected.end, found.begin, found.end);
    }
}

TEST(test_as_sentencepiece)
{
    char *lines = read_lines("tokenizer/ranges.tsv"), *name = "";
    own_ids *model = NULL;
    size_t count = 0;
    for (char *line; (line = take_until(&lines, '\n')) != NULL && *line != '\0'; count++) {
        char *path = take_until(&line, '\t'), *digits = take_until(&line, '\t');
        if (strcmp(path, name) != 0) {
            model = load_own_ids(in_directory(FERRY_TEST_DATA, path));
            name = path;
        }
        check_recorded(model, read_digits(&digits), line);
    }
    assert_int_equal(count, 434);
}

/* ---- what is put around a text, and what is done to it first ---- */

TEST(test_ids_around_a_text)
{
    const int32_t prefix[] = {3, 4}, suffix = 5;
    const ferry_range expected[] = {{0, 0}, {0, 0}, {0, 0}, {1, 3}, {3, 5}, {5, 6}, {7, 7}},
                      inserted[] = {{0, 0}, {0, 0}, {0, 0}, {9, 9}, {1, 3}, {3, 5}, {5, 6}, {7, 7}, {7, 8}};
    own_ids *model = load_own_ids(BYTE_FALLBACK);
    model->config.prefix_ids = prefix;
    model->config.prefix_count = 2;
    model->config.suffix_ids = &suffix;
    model->config.suffix_count = 1;
    ferry_tokenizer *tokenizer = create_tokenizer(&model->config);
    CHECK(ferry_tokenizer_encode_ranges(tokenizer, VIEW(">>deu<<"), VIEW(" Hello "), &model->ids, &model->ranges,
                                        &error));
    assert_int_equal(model->ranges.count, COUNT(expected));
    assert_int_equal(model->ids.count, COUNT(expected));
    assert_memory_equal(model->ranges.ranges, expected, sizeof expected);
    CHECK(ferry_ranges_insert(&model->ranges, 3, (ferry_range){9, 9}, &error));
    CHECK(ferry_ranges_insert(&model->ranges, 8, (ferry_range){7, 8}, &error));
    assert_int_equal(model->ranges.count, COUNT(inserted));
    assert_memory_equal(model->ranges.ranges, inserted, sizeof inserted);
    const int32_t last = model->ids.ids[6], ends[] = {9, 3, 8, 4}; /* before the first, the second, and at the end */
    CHECK(ferry_ids_insert(&model->ids, 0, 9, &error));
    CHECK(ferry_ids_insert(&model->ids, 2, 8, &error));
    CHECK(ferry_ids_insert(&model->ids, 9, 7, &error));
    assert_memory_equal(model->ids.ids, ends, sizeof ends);
    assert_true(model->ids.count == 10 && model->ids.ids[8] == last && model->ids.ids[9] == 7);
}

/* OPUS-MT's punctuation: characters that become others, several, a blank, or nothing. */
TEST(test_cleaned_source)
{
    static const encoded_row rows[] = {
        {VIEW("\t it\u3002 it\u2026"), "it|\u3002|it|\u2026|\u2026|\u2026"},
        {VIEW("it\a\u200Bit\u3002"), "it|it|\u3002"},
        {VIEW("\u201Cit\u201D \u00AD\uFF01\u3002\u3002"), "|\u201C|it|\u201D||\uFF01|\u3002||\u3002"},
        {VIEW("\u6F22\x01\xE2\u3002\x82"), "|\u6F22|\u6F22|\u6F22||\xE2|\xE2|\xE2|\u3002||\x82|\x82|\x82"},
        {VIEW("\x01"), ""},
    };
    own_ids *model = load_own_ids(BYTE_FALLBACK);
    model->config.opus_punctuation = true;
    check_encoded(&model->config, SOURCE_PARTS, rows, COUNT(rows));
}

TEST(test_any_source)
{
    own_ids *model = load_own_ids(BYTE_FALLBACK);
    const ferry_view bytes =
        VIEW(" \t\0a\u2581\xE2\x96\x80\xFF\u3002\u2026\u00AD\uFB01\u3314\u6F22\u00A8\u3000\uFDFA,");
    for (int cleans = 0; cleans < 2; cleans++) {
        model->config.opus_punctuation = cleans == 1;
        check_any_texts(&model->config, bytes, 10000);
    }
}

/* ---- repaired texts ---- */

TEST(test_unrepaired)
{
    static const ferry_view text = VIEW("a\xFF \xE2\x82\u6F22");
    /* a U+FFFD blank U+FFFD 漢, in the repaired text and in the original */
    ferry_range ranges[] = {{0, 0}, {0, 1}, {1, 4}, {5, 8}, {5, 8}, {8, 11}, {11, 11}};
    static const ferry_range expected[] = {{0, 0}, {0, 1}, {1, 2}, {3, 5}, {3, 5}, {5, 8}, {8, 8}};
    char repaired[3 * 8];
    assert_int_equal(ferry_utf8_repair(text, repaired), 11);
    ferry_ranges_unrepair(text, ranges, COUNT(ranges));
    assert_memory_equal(ranges, expected, sizeof expected);
    ferry_ranges_unrepair((ferry_view){NULL, 0}, ranges, 1);
    assert_memory_equal(ranges, expected, sizeof *expected);
}

/* ---- translations ---- */

TEST(test_translation)
{
    own_ids *model = load_own_ids(BYTE_FALLBACK);
    const int32_t unk = model->config.source_unk_id, a = ferry_spm_find(model->spm, VIEW("a")),
                  blank = ferry_spm_find(model->spm, VIEW("\u2581")), it = ferry_spm_find(model->spm, VIEW("\u2581it")),
                  b = ferry_spm_find(model->spm, VIEW("<0x00>"));
    const decoded_row rows[] = {
        {{0}, 0, NULL, VIEW(""), ""},
        {{unk, unk}, 2, NULL, VIEW(""), "|"},
        {{blank, it, a, unk, blank, it, blank, unk}, 8, NULL, VIEW("ita  it"), "|it|a|||it||"},
        {{b + 0xE2, b + 0x82, b + 0xAC}, 3, NULL, VIEW("\u20AC"), "\u20AC|\u20AC|\u20AC"},
        {{it, b + 0xE2, b + 0x82, b + 0xAC, a}, 5, NULL, VIEW("it\u20ACa"), "it|\u20AC|\u20AC|\u20AC|a"},
        {{b + 0xE2, unk, b + 0x82, b + 0xAC, a}, 5, NULL, VIEW("\u20ACa"), "\u20AC||\u20AC|\u20AC|a"},
        {{b + 0xE2, b + 0x82, unk, a}, 4, NULL, VIEW("\uFFFD\uFFFDa"), "\uFFFD|\uFFFD||a"},
        {{a, b + 0xFF, b + 0xE2, b + 0x82, b + 0xAC, b + 0x80, it},
         7,
         NULL,
         VIEW("a\uFFFD\u20AC\uFFFD it"),
         "a|\uFFFD|\u20AC|\u20AC|\u20AC|\uFFFD|it"},
        {{b + 0x20, b + 0x41, b + 0x0A, unk}, 4, NULL, VIEW("A"), "|A||"},
        {{b + 0x20, b + 0xFF, b + 0x0A, it}, 4, NULL, VIEW("\uFFFD\n it"), "|\uFFFD||it"},
        {{a, b + 0x00, b + 0xFF}, 3, NULL, VIEW("a\0\uFFFD"), "a||\uFFFD"},
    };
    check_translations(&model->config, rows, COUNT(rows));
}
