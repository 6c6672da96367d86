/* Pieces to text: those of bytes, those that are joined, and those of models without SentencePiece. */
#include "tests/support/tokenizer_support.h"

TEST(test_byte_pieces_round_trip)
{
    static const ferry_view texts[] = {VIEW("漢字"), VIEW("a 🙂 b"), VIEW("Hello\0world\0"), VIEW("\0"),
                                       VIEW("x\0漢\0y")};
    own_ids *model = load_own_ids(BYTE_FALLBACK);
    const int32_t byte = ferry_spm_find(model->spm, VIEW("<0x00>"));
    ferry_buffer text = {0};
    for (int32_t id = 0; id < model->config.source_count; id++) {
        assert_int_equal(ferry_spm_find(model->spm, ferry_spm_piece(model->spm, id)), id);
        assert_true((ferry_spm_kind_of(model->spm, id) == FERRY_SPM_BYTE) == (id >= byte && id < byte + 256));
    }
    CHECK_IDS(model->tokenizer, VIEW("漢"), ferry_spm_find(model->spm, VIEW("▁")), byte + 0xE6, byte + 0xBC,
              byte + 0xA2);
    for (size_t i = 0; i < COUNT(texts); i++) {
        encode(model->tokenizer, texts[i], &model->ids);
        CHECK(ferry_tokenizer_decode(model->tokenizer, model->ids.ids, model->ids.count, &text, &error));
        assert_text(&text, texts[i]);
    }
    free(text.data);
}

/* Each choice of what bytes and blanks become, at the beginning and at the end, where the first id may have no text. */
TEST(test_blanks_and_bytes)
{
    enum { UNK, BLANK, A, C2, A0, SPACE, B, FF, WIDE, G, LOW, HIGH, LONG, OPEN, SHUT, ODD, NOTHING };
    enum { EACH = FERRY_BYTES_EACH, RUN = FERRY_BYTES_RUN, NONE = FERRY_BYTES_NONE };
    enum { TRIM = FERRY_BLANKS_TRIM, PIECE = FERRY_BLANKS_FIRST_PIECE, FIRST = FERRY_BLANKS_FIRST_BLANK };
    static const ferry_view pieces[] = {VIEW("<unk>"),   VIEW("▁"),      VIEW("▁a"),     VIEW("<0xC2>"),
                                        VIEW("<0xA0>"),  VIEW("<0x20>"), VIEW("b"),      VIEW("<0xFF>"),
                                        VIEW("▁▁c▁"),    VIEW("<0x4G>"), VIEW("<0x4a>"), VIEW("<0xa4>"),
                                        VIEW("<0x41>!"), VIEW("[0x41>"), VIEW("<0x41)"), VIEW("x\0\xE2\x96"),
                                        VIEW("")};
    static const ferry_word first[] = {{VIEW("X"), true}, {VIEW("Y"), true}, {VIEW("Z"), false}, {VIEW(""), false}};
    static const ferry_word second[] = {{VIEW(""), false}, {VIEW("Y"), true}, {VIEW(""), false}};
    static const struct {
        int bytes, blanks;
        decoded_row row;
    } rows[] = {
        {EACH, TRIM, {{BLANK, A, BLANK}, 3, NULL, VIEW("a"), "|a|"}},
        {EACH, TRIM, {{C2, A0, B, C2, A0}, 5, NULL, VIEW("b"), "||b||"}},
        {EACH, TRIM, {{B}, 1, NULL, VIEW("b"), "b"}},
        {EACH, TRIM, {{BLANK}, 1, NULL, VIEW(""), ""}},
        {EACH, PIECE, {{A, A, BLANK}, 3, NULL, VIEW("a a "), "a|a|"}},
        {EACH, PIECE, {{WIDE, A}, 2, NULL, VIEW("c a"), "c|a"}},
        {EACH, PIECE, {{UNK, A, A}, 3, NULL, VIEW("a a"), "|a|a"}},
        {EACH, PIECE, {{SPACE, A}, 2, NULL, VIEW("  a"), "|a"}},
        {EACH, PIECE, {{BLANK, A}, 2, NULL, VIEW(" a"), "|a"}},
        {EACH, FIRST, {{A, A}, 2, NULL, VIEW("a a"), "a|a"}},
        {EACH, FIRST, {{BLANK, A, BLANK}, 3, NULL, VIEW(" a "), "|a|"}},
        {EACH, FIRST, {{C2, A0, B}, 3, NULL, VIEW("\u00A0b"), "||b"}},
        {EACH, FIRST, {{B}, 1, NULL, VIEW("b"), "b"}},
        {EACH, FIRST, {{BLANK}, 1, NULL, VIEW(""), ""}},
        {EACH, FIRST, {{UNK}, 1, NULL, VIEW(""), ""}},
        {EACH, FERRY_BLANKS_KEEP, {{A, BLANK}, 2, NULL, VIEW(" a "), "a|"}},
        {EACH, FERRY_BLANKS_KEEP, {{UNK, UNK, UNK, A}, 4, first, VIEW(" X YZ a"), "X|Y|Z|a"}},
        {EACH, PIECE, {{UNK, UNK, UNK, A}, 4, first, VIEW("X YZ a"), "X|Y|Z|a"}},
        {EACH, FIRST, {{UNK, UNK, UNK, A}, 4, first, VIEW("X YZ a"), "X|Y|Z|a"}},
        {EACH, TRIM, {{FF, C2, A0}, 3, NULL, VIEW("\uFFFD"), "\uFFFD||"}},
        {EACH, TRIM, {{C2, A0, FF}, 3, NULL, VIEW("\uFFFD"), "||\uFFFD"}},
        {EACH, TRIM, {{G, LOW, HIGH}, 3, NULL, VIEW("<0x4G><0x4a><0xa4>"), "<0x4G>|<0x4a>|<0xa4>"}},
        {EACH, TRIM, {{LONG, OPEN, SHUT}, 3, NULL, VIEW("<0x41>![0x41><0x41)"), "<0x41>!|[0x41>|<0x41)"}},
        {EACH, FERRY_BLANKS_KEEP, {{NOTHING, WIDE, B, UNK, B}, 5, NULL, VIEW("  c bb"), "|c|b||b"}},
        {EACH, TRIM, {{C2, FF, A}, 3, second, VIEW("\uFFFD Y a"), "\uFFFD|Y|a"}}, /* a word instead of a byte */
        {RUN, TRIM, {{FF, C2, A0}, 3, NULL, VIEW("\uFFFD\uFFFD\uFFFD"), "\uFFFD|\uFFFD|\uFFFD"}},
        {RUN, TRIM, {{FF, B, C2, A0, B}, 5, NULL, VIEW("\uFFFDb\u00A0b"), "\uFFFD|b|||b"}},
        {RUN, FIRST, {{C2, A0, B, C2}, 4, NULL, VIEW("\u00A0b\uFFFD"), "||b|\uFFFD"}},
        {RUN, TRIM, {{B, C2, UNK, A0, B}, 5, NULL, VIEW("b\u00A0b"), "b||||b"}},
        {NONE, TRIM, {{C2, A0}, 2, NULL, VIEW("<0xC2><0xA0>"), "<0xC2>|<0xA0>"}},
    };
    const ferry_view proto = read_file(BYTE_FALLBACK);
    const int32_t unk = UNK, odd[] = {B, ODD};
    ferry_buffer text = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_tokenizer_config config = one_vocabulary(pieces, COUNT(pieces));
        config.source_model = proto;
        config.special_ids = &unk;
        config.special_count = 1;
        config.decoder_bytes = (ferry_decoder_bytes)rows[i].bytes;
        config.decoder_blanks = (ferry_decoder_blanks)rows[i].blanks;
        ferry_tokenizer *tokenizer = create_tokenizer(&config);
        check_translations(&config, &rows[i].row, 1);
        CHECK(ferry_tokenizer_decode(tokenizer, odd, 2, &text, &error)); /* ill-formed pieces are a stranger's */
        assert_text(&text, VIEW("bx\0\xE2\x96"));
    }
    free(text.data);
}

/* For `tokenizers`: what has no piece neither ends bytes nor is the first one. */
TEST(test_ids_without_pieces)
{
    static const ferry_view pieces[] = {VIEW("<unk>"), VIEW(""), VIEW("<0xC2>"), VIEW("<0xA2>"), VIEW("\u2581a")};
    static const double scores[COUNT(pieces)] = {0};
    static const decoded_row rows[] = {
        {{2, 1, 3}, 3, NULL, VIEW("\u00A2"), "\u00A2||\u00A2"},
        {{1, 4, 4}, 3, NULL, VIEW("a a"), "|a|a"},
    };
    ferry_tokenizer_config config = one_vocabulary(pieces, COUNT(pieces));
    config.scores = scores;
    config.decoder_bytes = FERRY_BYTES_RUN;
    config.decoder_blanks = FERRY_BLANKS_FIRST_PIECE;
    check_translations(&config, rows, COUNT(rows));
}

/* Without a SentencePiece model: pieces between ASCII white space, whatever they look like. */
TEST(test_texts_of_pieces)
{
    static const ferry_view pieces[] = {VIEW("</s>"),   VIEW("<unk>"),    VIEW("\u2581a"),
                                        VIEW("<0x41>"), VIEW("b\u00A0c"), VIEW("")};
    static const int32_t special[] = {0, 1}, eos = 0;
    ferry_tokenizer_config config = one_vocabulary(pieces, COUNT(pieces));
    config.source_unk_id = 1;
    config.special_ids = special;
    config.special_count = COUNT(special);
    config.suffix_ids = &eos;
    config.suffix_count = 1;
    ferry_buffer text = {0};
    ferry_tokenizer *tokenizer = create_tokenizer(&config);
    const ferry_view source = VIEW(" \t\u2581a <0x41>\r\nA \v\f b\u00A0c \u2581 x\u00A0");
    const encoded_row row = {source, "2:\u2581a|3:<0x41>|1:A|4:b\u00A0c|1:\u2581|1:x|0:"},
                      target = {source, "2:\u2581a|3:<0x41>|1:A|4:b\u00A0c|1:\u2581|1:x"};
    check_encoded(&config, SOURCE, &row, 1);
    check_encoded(&config, TARGET, &target, 1);
    const decoded_row decoded = {{0, 2, 3, 1, 4, 4, 0},
                                 7,
                                 NULL,
                                 VIEW("\u2581a <0x41> b\u00A0c b\u00A0c"),
                                 "|\u2581a|<0x41>||b\u00A0c|b\u00A0c|"};
    check_translations(&config, &decoded, 1);
    REFUSE_SAYING(ferry_tokenizer_decode(tokenizer, (const int32_t[]){5, 6}, 2, &text, &error), FERRY_ERROR_ARGUMENT,
                  "ids: expected 0 to 5, found 6");
    REFUSE(ferry_tokenizer_decode(tokenizer, (const int32_t[]){-1}, 1, &text, &error), FERRY_ERROR_ARGUMENT, "-1");
    free(text.data);
}
