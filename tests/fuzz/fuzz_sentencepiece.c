/* Any bytes as a SentencePiece model: refused, or one that segments text. The text follows the model, after its size in
 * two bytes from the end. */
#include "fuzz.h"

#include "tokenizer/sentencepiece_c.h"

static ferry_status ignore(void *user, const ferry_spm_part *part)
{
    (void)user;
    (void)part;
    return FERRY_OK;
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
    (void)ferry_spm_encode(spm, text, ignore, NULL, &error);
    for (int32_t id = 0; id < ferry_spm_count(spm); id++) {
        (void)ferry_spm_find(spm, ferry_spm_piece(spm, id));
        (void)ferry_spm_kind_of(spm, id);
    }
    ferry_spm_destroy(spm);
    return 0;
}
