/* Any bytes as a SentencePiece model: refused, or one that segments text, whose ids and pieces stand for bytes of it.
 * The text follows the model, after its size in two bytes from the end. */
#include "use_tokenizer.h"

#include "tokenizer/sentencepiece_c.h"
#include "base/memory.h"

static void use_model(const ferry_spm *spm, ferry_view proto, ferry_view text)
{
    const int32_t count = ferry_spm_count(spm);
    ferry_tokenizer_config config = {.source_model = proto,
                                     .target_model = proto,
                                     .source_count = count,
                                     .target_count = count,
                                     .source_unk_id = ferry_spm_unknown(spm) >= 0 ? ferry_spm_unknown(spm) : 0};
    ferry_view *pieces = malloc((size_t)count * sizeof *pieces);
    ferry_arena arena = {0};
    ferry_tokenizer *tokenizer;
    ferry_error error;
    if (pieces == NULL) abort();
    for (int32_t id = 0; id < count; id++) {
        pieces[id] = ferry_spm_piece(spm, id);
        (void)ferry_spm_find(spm, pieces[id]);
        (void)ferry_spm_kind_of(spm, id);
    }
    config.source_pieces = config.target_pieces = join(pieces, (size_t)count, &arena);
    config.opus_punctuation = text.size > 0 && text.data[0] == ' ';
    if (ferry_tokenizer_create(&config, &tokenizer, &error) != FERRY_OK) abort();
    (void)use_tokenizer(tokenizer, text, pieces);
    ferry_tokenizer_destroy(tokenizer);
    ferry_arena_destroy(&arena);
    free(pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    size_t text_size = data[size - 2] | (size_t)data[size - 1] << 8;
    size -= 2;
    if (text_size > size) text_size = size;
    const ferry_view proto = {(const char *)data, size - text_size};
    const ferry_view text = {proto.data + proto.size, text_size};
    ferry_spm *spm;
    ferry_error error;
    if (ferry_spm_create(proto, "input", &spm, &error) != FERRY_OK) return 0;
    use_model(spm, proto, text);
    ferry_spm_destroy(spm);
    return 0;
}
