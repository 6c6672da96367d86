#include "term_vocabulary.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "model.h"
#include "quality.h"
#include "tokenizer/unicode.h"

/* Whether the word that is the first `size` bytes of the text goes on behind them. */
static bool goes_on(ferry_view text, size_t size)
{
    uint32_t c;
    return text.size > size && ferry_utf8_next(text, &size, &c) && ferry_unicode_is_of_word(c);
}

/* `id`: a token that ends a word. */
static ferry_status list_tokens(const ferry_model *model, int32_t id, ferry_term_vocabulary *vocabulary,
                                ferry_error *error)
{
    ferry_buffer text = {0};
    ferry_status status = ferry_tokenizer_decode(model->tokenizer, &id, 1, &text, error);
    const size_t size = text.size;
    for (int32_t next = 0; next < model->file.text.target_count && status == FERRY_OK; next++) {
        status = ferry_tokenizer_decode(model->tokenizer, (int32_t[]){id, next}, 2, &text, error);
        const ferry_view both = {text.data, text.size};
        const uint64_t bit = UINT64_C(1) << next % 64;
        if (!goes_on(both, size)) vocabulary->word_begins[next / 64] |= bit;
        const ferry_view behind =
            both.size > size ? (ferry_view){both.data + size, both.size - size} : (ferry_view){"", 0};
        if (!ferry_unicode_has_digit(behind)) vocabulary->numberless[next / 64] |= bit;
    }
    free(text.data);
    return status;
}

/* *id: the target token of a name that is one token of the source and of the target, and that no other target token
 * contains; else -1. */
static ferry_status try_stand_in(const ferry_model *model, const char *name, size_t frame, int32_t *id, ferry_ids *ids,
                                 ferry_error *error)
{
    const ferry_tokenizer_config *text = &model->file.text;
    const ferry_view view = ferry_text_view(name);
    *id = -1;
    FERRY_TRY(ferry_tokenizer_encode(model->tokenizer, view, ids, error));
    const bool known = ferry_ids_find(ids->ids, ids->count, text->source_unk_id) == ids->count;
    if (ids->count != frame + 1 || !known) return FERRY_OK;
    FERRY_TRY(ferry_tokenizer_encode_target(model->tokenizer, view, ids, NULL, error));
    if (ids->count != 1 || ids->ids[0] == ferry_tokenizer_target_unknown(model->tokenizer)) return FERRY_OK;
    for (int32_t other = 0; other < text->target_count; other++)
        if (other != ids->ids[0] &&
            ferry_view_contains(ferry_string_table_at(text->target_pieces, (size_t)other), name))
            return FERRY_OK;
    *id = ids->ids[0];
    return FERRY_OK;
}

static ferry_status find_stand_ins(const ferry_model *model, ferry_term_vocabulary *vocabulary, ferry_ids *ids,
                                   ferry_error *error)
{
    /* Names of persons and places that the model that ships writes in the order of the source: the earlier ones first.
     */
    static const char *const names[] = {"Texas",    "Shakespeare", "Washington", "Jackson", "Hawaii",   "Mozart",
                                        "Einstein", "Picasso",     "Chicago",    "Lincoln", "Napoleon", "London",
                                        "Berlin",   "Paris",       "Madrid",     "Boston",  "Florida",  "Kyoto"};
    FERRY_TRY(ferry_tokenizer_encode(model->tokenizer, ferry_text_view(""), ids, error));
    const size_t frame = ids->count;
    for (size_t i = 0; i < sizeof names / sizeof *names && vocabulary->stand_in_count < FERRY_STAND_INS; i++) {
        int32_t id;
        FERRY_TRY(try_stand_in(model, names[i], frame, &id, ids, error));
        if (id >= 0) vocabulary->stand_ins[vocabulary->stand_in_count++] = (ferry_stand_in){names[i], id};
    }
    return FERRY_OK;
}

ferry_status ferry_term_vocabulary_create(const ferry_model *model, ferry_term_vocabulary *vocabulary,
                                          ferry_error *error)
{
    const size_t words = ((size_t)model->file.text.target_count + 63) / 64;
    ferry_ids ids = {0};
    ferry_status status = ferry_tokenizer_encode_target(model->tokenizer, ferry_text_view("a"), &ids, NULL,
                                                        error); /* a word in every vocabulary */
    if (status == FERRY_OK && ids.count > 0) {
        vocabulary->word_begins = calloc(words, sizeof *vocabulary->word_begins);
        vocabulary->numberless = calloc(words, sizeof *vocabulary->numberless);
        status = vocabulary->word_begins != NULL && vocabulary->numberless != NULL
                     ? list_tokens(model, ids.ids[ids.count - 1], vocabulary, error)
                     : ferry_fail_memory(error, "the vocabulary", words, sizeof *vocabulary->word_begins);
    }
    if (status == FERRY_OK) status = find_stand_ins(model, vocabulary, &ids, error);
    free(ids.ids);
    if (status != FERRY_OK) ferry_term_vocabulary_destroy(vocabulary);
    return status;
}

void ferry_term_vocabulary_destroy(ferry_term_vocabulary *vocabulary)
{
    free(vocabulary->word_begins);
    free(vocabulary->numberless);
    *vocabulary = (ferry_term_vocabulary){0};
}
