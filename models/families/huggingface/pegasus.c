/* Pegasus, which summarizes: M2M-100's layers, MarianMT's positions, and SentencePiece's ids shifted. */
#include "huggingface.h"
#include "models/plan/json_keys.h"
#include "tokenizer_json.h"

/* Before the pieces, of which the unknown one is the first, come padding, end, two masks and 101 words of pre-training;
 * SentencePiece's padding and end are pieces that nothing names. */
enum { OFFSET = 103, FIRST_PIECE = 2, MAX_OFFSET = 1 << 20 };

static const ferry_huggingface_class pegasus = {.vocab_size = 50265,
                                                .activation = "gelu",
                                                .pad_id = 0,
                                                .start_id = 0,
                                                .eos_id = 1,
                                                .pre_norm = true,
                                                .output_bias = true,
                                                .position = ferry_huggingface_marian_position};

static ferry_status read_offset(ferry_import_plan *plan, ferry_error *error)
{
    int32_t offset = OFFSET;
    ferry_json tokenizer;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_json_integer(tokenizer, "offset", 0, MAX_OFFSET, &offset, error));
    if (offset == OFFSET) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: 'offset': expected %d, found %d", tokenizer.file, OFFSET,
                      (int)offset);
}

static ferry_status read_text(ferry_import_plan *plan, ferry_error *error)
{
    static const char model[] = "spiece.model";
    const int32_t V = plan->model.encoder.vocab_size;
    const ferry_texts *joined;
    ferry_view *pieces;
    if (ferry_import_uses_tokenizer_json(plan, model)) return ferry_import_tokenizer_json(plan, error);
    FERRY_TRY(read_offset(plan, error));
    FERRY_TRY(ferry_huggingface_segmenter(plan, model, error));
    FERRY_TRY(ferry_huggingface_shifted_pieces(plan, FIRST_PIECE, FIRST_PIECE, OFFSET, &pieces, error));
    FERRY_TRY(ferry_texts_join(&plan->arena, pieces, (size_t)V, &joined, error));
    ferry_import_one_vocabulary(plan, joined, FIRST_PIECE + OFFSET);
    FERRY_TRY(ferry_import_special_ids(plan, error));
    for (int32_t i = 0; i <= FIRST_PIECE + OFFSET; i++) FERRY_TRY(ferry_import_special(plan, &i, 1, error));
    return ferry_import_compare_tokenizer_json(plan, error);
}

ferry_status ferry_import_pegasus(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    plan->kind = "huggingface-pegasus";
    FERRY_TRY(ferry_huggingface_config(plan, config, &pegasus, error));
    FERRY_TRY(ferry_huggingface_network(plan, config, &pegasus, error));
    return read_text(plan, error);
}
