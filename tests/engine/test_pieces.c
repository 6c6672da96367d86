/* Pieces to text: those of bytes, those that are joined, and those of models without SentencePiece. */
#include "tests/support/tokenizer_support.h"

#include "tokenizer/sentencepiece_c.h"

/* ---- byte fallback ---- */

typedef struct bytes_model {
    ferry_view proto;
    ferry_spm *spm;
    ferry_view *pieces; /* [count]: here the model's ids are SentencePiece's */
    int32_t byte[256];
    ferry_tokenizer *tokenizer;
} bytes_model;

static void load_bytes(bytes_model *model)
{
    model->proto = read_file(BYTE_FALLBACK);
    CHECK(ferry_spm_create(model->proto, "model", &model->spm, &error));
    int32_t count = ferry_spm_count(model->spm), special = ferry_spm_unknown(model->spm), bytes = 0;
    model->pieces = calloc((size_t)count, sizeof *model->pieces);
    for (int32_t id = 0; id < count; id++) {
        model->pieces[id] = ferry_spm_piece(model->spm, id);
        assert_int_equal(ferry_spm_find(model->spm, model->pieces[id]), id);
        if (ferry_spm_kind_of(model->spm, id) != FERRY_SPM_BYTE) continue;
        assert_true(bytes < 256);
        model->byte[bytes++] = id;
    }
    assert_int_equal(bytes, 256);
    const ferry_texts *pieces = kept_texts(model->pieces, (size_t)count);
    ferry_tokenizer_config config = {
        .source_model = model->proto,
        .source_pieces = pieces,
        .source_count = count,
        .target_pieces = pieces,
        .target_count = count,
        .source_unk = special,
        .target_special = &special,
        .target_special_count = 1,
    };
    model->tokenizer = create_tokenizer(&config);
}

static void free_bytes(bytes_model *model)
{
    ferry_tokenizer_destroy(model->tokenizer);
    ferry_spm_destroy(model->spm);
    free(model->pieces);
}

TEST(test_byte_pieces_round_trip)
{
    static const ferry_view texts[] = {VIEW("漢字"), VIEW("a 🙂 b"), VIEW("Hello\0world\0"), VIEW("\0"),
                                       VIEW("x\0漢\0y")};
    bytes_model model;
    ferry_ids ids = {0};
    ferry_string text = {0};
    load_bytes(&model);
    encode(model.tokenizer, VIEW("漢"), &ids);
    assert_true(ids.count >= 3);
    assert_memory_equal(ids.ids + ids.count - 3,
                        ((const int32_t[]){model.byte[0xE6], model.byte[0xBC], model.byte[0xA2]}), 12);
    for (size_t i = 0; i < COUNT(texts); i++) {
        encode(model.tokenizer, texts[i], &ids);
        CHECK(ferry_tokenizer_decode(model.tokenizer, ids.ids, ids.count, &text, &error));
        assert_text(&text, texts[i]);
    }
    free(ids.ids);
    free(text.data);
    free_bytes(&model);
}

TEST(test_broken_byte_pieces)
{
    bytes_model model;
    ferry_string text = {0};
    load_bytes(&model);
    const int32_t *b = model.byte, a = ferry_spm_find(model.spm, VIEW("a")), unk = ferry_spm_unknown(model.spm);
    const struct {
        int32_t ids[6];
        size_t count;
        ferry_view text;
    } rows[] = {
        {{b[0xE2], b[0x82], b[0xAC]}, 3, VIEW("€")},
        {{b[0xE2], unk, b[0x82], b[0xAC], a}, 5, VIEW("€a")},
        {{b[0xE2], b[0x82], a},
         3,
         VIEW("\xEF\xBF\xBD\xEF\xBF\xBD"
              "a")},
        {{a, b[0xFF], b[0xE2], b[0x82], b[0xAC], b[0x80]}, 6, VIEW("a\xEF\xBF\xBD€\xEF\xBF\xBD")},
        {{b[0x20], b[0x41], b[0x0A]}, 3, VIEW("A")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK(ferry_tokenizer_decode(model.tokenizer, rows[i].ids, rows[i].count, &text, &error));
        assert_text(&text, rows[i].text);
    }
    free(text.data);
    free_bytes(&model);
}

/* ---- decoding ---- */

TEST(test_joining_pieces)
{
    static const ferry_view pieces[] = {VIEW("<unk>"),  VIEW("▁"),      VIEW("▁a▁b"),        VIEW("c"),
                                        VIEW("<0xG1>"), VIEW("<0x4a>"), VIEW("x\0\xE2\x96"), VIEW("")};
    const int32_t unk = 0, ids[] = {1, 1, 2, 0, 3, 7, 1, 4, 5, 6, 1};
    bytes_model model;
    ferry_string text = {0};
    load_bytes(&model);
    const ferry_texts *listed = KEPT_TEXTS(pieces);
    ferry_tokenizer_config config = {
        .source_model = model.proto,
        .source_pieces = listed,
        .source_count = 8,
        .target_pieces = listed,
        .target_count = 8,
        .target_special = &unk,
        .target_special_count = 1,
    };
    ferry_tokenizer *tokenizer = create_tokenizer(&config);
    CHECK(ferry_tokenizer_decode(tokenizer, ids, COUNT(ids), &text, &error));
    assert_text(&text, VIEW("a bc <0xG1><0x4a>x\0\xE2\x96"));
    CHECK(ferry_tokenizer_decode(tokenizer, NULL, 0, &text, &error));
    assert_int_equal(text.size, 0);
    CHECK(ferry_tokenizer_decode(tokenizer, &unk, 1, &text, &error));
    assert_int_equal(text.size, 0);

    REFUSE_SAYING(ferry_tokenizer_decode(tokenizer, (const int32_t[]){3, 8}, 2, &text, &error), FERRY_ERROR_ARGUMENT,
                  "target id: expected 0 to 7, found 8");
    assert_int_equal(ferry_tokenizer_decode(tokenizer, (const int32_t[]){-1}, 1, &text, NULL), FERRY_ERROR_ARGUMENT);
    ferry_tokenizer_destroy(tokenizer);
    free(text.data);
    free_bytes(&model);
}

/* Without a SentencePiece model: pieces between ASCII white space, whatever they look like. */
TEST(test_texts_of_pieces)
{
    static const ferry_view pieces[] = {VIEW("</s>"),   VIEW("<unk>"),    VIEW("\u2581a"),
                                        VIEW("<0x41>"), VIEW("b\u00A0c"), VIEW("")};
    static const int32_t special[] = {0, 1}, eos = 0, expected[] = {2, 3, 1, 4, 0}, joined[] = {0, 2, 3, 1, 4, 4, 0};
    const ferry_texts *listed = KEPT_TEXTS(pieces);
    const ferry_tokenizer_config config = {.source_pieces = listed,
                                           .source_count = COUNT(pieces),
                                           .target_pieces = listed,
                                           .target_count = COUNT(pieces),
                                           .source_unk = 1,
                                           .target_special = special,
                                           .target_special_count = COUNT(special),
                                           .suffix_ids = &eos,
                                           .suffix_count = 1};
    ferry_ids ids = {0};
    ferry_string text = {0};
    ferry_tokenizer *tokenizer = create_tokenizer(&config);
    CHECK(ferry_tokenizer_encode(tokenizer, VIEW(" \t\u2581a <0x41>\r\nA  b\u00A0c "), &ids, &error));
    assert_int_equal(ids.count, COUNT(expected));
    assert_memory_equal(ids.ids, expected, sizeof expected);
    CHECK(ferry_tokenizer_decode(tokenizer, joined, COUNT(joined), &text, &error));
    assert_true(ferry_view_equal((ferry_view){text.data, text.size}, VIEW("\u2581a <0x41> b\u00A0c b\u00A0c")));
    REFUSE(ferry_tokenizer_decode(tokenizer, (const int32_t[]){6}, 1, &text, &error), FERRY_ERROR_ARGUMENT, "");
    free(text.data);
    free(ids.ids);
    ferry_tokenizer_destroy(tokenizer);
}
