/* Byte pair encoding by merges that are ranked by pair: as `tokenizers`, `subword-nmt` and FSMT's tokenizer segment
 * words (tests/data/tokenizer/record_bpe.py), in long words, and with merges that are refused. */
#include "tests/support/tokenizer_support.h"

#include <inttypes.h>

#include "tests/support/random.h"
#include "tests/support/support.h"
#include "tokenizer/bpe.h"

enum { MOST = 512 }; /* pieces or merges of a table */

/* The one that was begun last. */
static struct table {
    ferry_view pieces[MOST], merges[MOST];
    int32_t piece_count;
    ferry_vocabulary vocabulary;
    ferry_bpe_config config;
    ferry_bpe *bpe;
    ferry_bpe_scratch scratch;
} made;

static void drop(void)
{
    ferry_bpe_destroy(made.bpe);
    ferry_vocabulary_destroy(&made.vocabulary);
    ferry_bpe_scratch_destroy(&made.scratch);
    made = (struct table){.bpe = NULL};
}

static ferry_status create(ferry_error *error)
{
    ferry_vocabulary_destroy(&made.vocabulary);
    ferry_bpe_destroy(made.bpe);
    made.bpe = NULL;
    FERRY_TRY(ferry_vocabulary_create(KEPT_TEXTS(made.pieces), made.piece_count, &made.vocabulary, error));
    made.config.vocabulary = &made.vocabulary;
    made.config.merges = KEPT_TEXTS(made.merges);
    return ferry_bpe_create(&made.config, "codes", &made.bpe, error);
}

/* Writes "ID/END " of each segment. */
static ferry_status note(void *user, size_t begin, size_t end, int32_t id)
{
    ferry_string *text = user;
    char segment[64];
    assert_true(begin < end);
    const int size = snprintf(segment, sizeof segment, "%" PRId32 "/%zu ", id, end);
    return ferry_string_append(text, (ferry_view){segment, (size_t)size}, NULL);
}

static void check_word(ferry_view word, const char *expected)
{
    ferry_string found = {0};
    CHECK(ferry_bpe_segment(made.bpe, word, &made.scratch, note, &found, &error));
    const size_t size = found.size > 0 ? found.size - 1 : 0;
    if (strlen(expected) != size || (size > 0 && memcmp(found.data, expected, size) != 0))
        fail_msg("'%.*s': expected %s, found %.*s", (int)word.size, word.data, expected, (int)size, found.data);
    free(found.data);
}

/* KIND UNKNOWN FLAGS WORD_END */
static void begin_table(char *line)
{
    static const char *const kinds[] = {"tokenizers", "subword-nmt-0.1", "subword-nmt-0.2", "fsmt"};
    const char *kind = take_until(&line, ' ');
    drop();
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (strcmp(kind, kinds[i]) == 0) made.config.kind = (ferry_tokenizer_kind)(FERRY_TOKENIZER_BPE + i);
    made.config.unknown = (int32_t)strtol(take_until(&line, ' '), NULL, 10);
    const char *flags = take_until(&line, ' ');
    made.config.fuse_unknown = strchr(flags, 'f') != NULL;
    made.config.byte_fallback = strchr(flags, 'b') != NULL;
    made.config.whole_words = strchr(flags, 'i') != NULL;
    if (strcmp(line, "-") != 0) made.config.word_end = text_view(line);
}

TEST(test_as_recorded)
{
    char *lines = read_lines("tokenizer/bpe.txt");
    size_t words = 0;
    for (char *line; (line = take_until(&lines, '\n')) != NULL && *line != '\0';) {
        const char *kind = take_until(&line, ' ');
        if (strcmp(kind, "table") == 0) {
            begin_table(line);
        } else if (strcmp(kind, "piece") == 0) {
            made.pieces[made.piece_count++] = text_view(line);
        } else if (strcmp(kind, "merge") == 0) {
            made.merges[made.config.merge_count++] = text_view(line);
        } else {
            if (made.bpe == NULL) CHECK(create(&error));
            const char *word = take_until(&line, '\t');
            check_word(text_view(word), line);
            words++;
        }
    }
    assert_int_equal(words, 1344);
}

/* Texts with "|" between them; NULL: none. */
static size_t split(const char *text, ferry_view *parts)
{
    size_t count = 0;
    char *rest = text != NULL ? strcpy(kept_memory(strlen(text) + 1), text) : NULL;
    for (char *part; (part = take_until(&rest, '|')) != NULL;) parts[count++] = text_view(part);
    return count;
}

/* begin_table's line, pieces, merges. */
static void set_table(const char *line, const char *pieces, const char *merges)
{
    begin_table(strcpy(kept_memory(strlen(line) + 1), line));
    made.piece_count = (int32_t)split(pieces, made.pieces);
    made.config.merge_count = split(merges, made.merges);
}

/* Where the original departs from what one would expect, and where the piece with the id 0 is one like others. */
TEST(test_by_hand)
{
    /* ab before aba a: with both at once, a second ab is there before ab a could be merged */
    static const char tied[] = "?|a|b|ab|aba|ab@@|ba@@|aba@@|a</w>", ties[] = "ab a|a b";
    static const struct {
        const char *line, *pieces, *merges, *word, *expected;
    } rows[] = {
        {"tokenizers 0 - -", tied, ties, "abab", "4/3 2/4"},
        {"tokenizers 0 - -", tied, ties, "", ""},
        {"tokenizers 0 - -", tied, ties, "a\xE2\x82", "1/1 0/3"},
        {"subword-nmt-0.1 0 - -", tied, ties, "abab", "5/2 3/4"},
        {"subword-nmt-0.1 0 - -", tied, ties, "ababa", "5/2 4/5"},
        {"fsmt 0 - -", tied, ties, "ababa", "3/2 3/4 8/5"},
        {"fsmt 0 - -", tied, ties, "", ""},
        {"tokenizers 1 f -", "a|?|b", NULL, "xxabaxx", "1/2 0/3 2/4 0/5 1/7"},
        {"tokenizers 1 i -", "yz|?|y", NULL, "yz", "0/2"},
        {"tokenizers 1 i -", "yz|?|y", NULL, "yzy", "2/1 1/2 2/3"},
        {"subword-nmt-0.2 1 - -", "a@@|?|b", NULL, "ab", "0/1 2/2"},
        {"subword-nmt-0.2 1 - -", "a@@|?|b", NULL, "ba", "1/1 1/2"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        set_table(rows[i].line, rows[i].pieces, rows[i].merges);
        CHECK(create(&error));
        check_word(text_view(rows[i].word), rows[i].expected);
    }
}

TEST(test_refused_merges)
{
    static const struct {
        const char *merge, *what;
    } rows[] = {
        {"ab", "codes: merge 1: expected two texts with one blank between them, found 'ab'"},
        {"", "codes: merge 1: expected two texts with one blank between them, found ''"},
        {" b", "codes: merge 1: expected two texts with one blank between them, found ' b'"},
        {"a ", "codes: merge 1: expected two texts with one blank between them, found 'a '"},
        {"a b c", "codes: merge 1: expected two texts with one blank between them, found 'a b c'"},
        {"a b", "codes: merge 1: expected two pieces that together are a piece, found 'a b'"},
        {"a \x1b", "codes: merge 1: expected two pieces that together are a piece, found 'a \\x1b'"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        set_table("tokenizers 0 - -", "?|a|b", rows[i].merge);
        REFUSE_SAYING(create(&error), FERRY_ERROR_FORMAT, rows[i].what);
        assert_null(made.bpe);
    }
    made.config.merge_count = FERRY_BPE_MAX_MERGES + 1;
    REFUSE(create(&error), FERRY_ERROR_LIMIT, "codes: expected at most 4194304 merges, found 4194305");
    ferry_texts *large = ferry_texts_create("", 0, 1);
    assert_true(large != NULL && ferry_texts_set_end(large, 0, (size_t)1 << 31));
    const ferry_bpe_config config = {
        .kind = FERRY_TOKENIZER_FSMT, .merges = large, .merge_count = 1, .vocabulary = &made.vocabulary};
    REFUSE_SAYING(ferry_bpe_create(&config, "codes", &made.bpe, &error), FERRY_ERROR_LIMIT,
                  "codes: expected merges of less than 2^31 bytes together, found 2147483648");
    free(large);
    set_table("tokenizers 0 b -", "?|a|b|<0x41>", NULL);
    REFUSE(create(&error), FERRY_ERROR_UNSUPPORTED,
           "codes: byte fallback: expected the pieces of all 256 bytes or of none, found 1");
    static ferry_name names[256];
    for (unsigned byte = 0; byte < 256; byte++) {
        names[byte] = ferry_name_format("<0x%02X>", byte);
        made.pieces[byte] = text_view(names[byte].text);
    }
    made.piece_count = 256;
    CHECK(create(&error));
    check_word(VIEW("A\u00E9"), "65/1 195/2 169/3"); /* the first of them has the id 0 */
    made.config.word_end = VIEW("</w>");
    REFUSE(create(&error), FERRY_ERROR_UNSUPPORTED, "codes: byte fallback together with an end of word '</w>'");
}

/* Without a bound of n log n, a word of a million characters would take hours. */
TEST(test_long_words)
{
    enum { SIZE = 1 << 20 };
    static const char pieces[] = "?|a|b|aa|aaaa|ab@@|aaaaaaaa|ab|@@", merges[] = "a a|a b|aa aa|aaaa aaaa";
    char *word = kept_memory(SIZE);
    uint32_t random = 17;
    ferry_string found = {0};
    memset(word, 'a', SIZE);
    set_table("tokenizers 0 - -", pieces, merges);
    CHECK(create(&error));
    CHECK(ferry_bpe_segment(made.bpe, (ferry_view){word, SIZE}, &made.scratch, note, &found, &error));
    assert_memory_equal(found.data, "6/8 6/16 6/24 ", 14);
    for (size_t i = 0; i < SIZE; i++) word[i] = "ab"[next_random(&random) % 2];
    set_table("subword-nmt-0.2 0 - -", pieces, merges);
    CHECK(create(&error));
    CHECK(ferry_bpe_segment(made.bpe, (ferry_view){word, SIZE}, &made.scratch, note, &found, &error));
    assert_memory_equal(found.data + found.size - 9, "/1048576 ", 9);
    free(found.data);
}

static ferry_status stop(void *user, size_t begin, size_t end, int32_t id)
{
    (void)begin, (void)end, (void)id;
    return ++*(int *)user == 2 ? FERRY_ERROR_CANCELLED : FERRY_OK;
}

TEST(test_stopped)
{
    int calls = 0;
    set_table("tokenizers 0 - -", "?|a", NULL);
    CHECK(create(&error));
    assert_int_equal(ferry_bpe_segment(made.bpe, VIEW("aaa"), &made.scratch, stop, &calls, NULL),
                     FERRY_ERROR_CANCELLED);
    assert_int_equal(calls, 2);
    REFUSE_SAYING(ferry_bpe_segment(made.bpe, (ferry_view){"", INT32_MAX}, &made.scratch, stop, &calls, &error),
                  FERRY_ERROR_LIMIT, "a word: expected fewer than 2147483647 bytes, found 2147483647");
    check_word(VIEW("aa"), "1/1 1/2"); /* neither changes what follows */
}
