#include "alignment.h"

#include <string.h>

#include "base/utf8.h"
#include "placeholders.h"
#include "tokenizer/unicode.h"

/* Whether the character before byte `at` and the one after it belong to one word. */
static bool goes_on(ferry_view text, size_t at)
{
    uint32_t before, after;
    size_t start = at, next = at;
    if (!ferry_utf8_previous(text, &start, &before) || !ferry_utf8_next(text, &next, &after)) return false;
    if (ferry_unicode_joins(before, after)) return true;
    if (ferry_unicode_character(before) == FERRY_CHARACTER_NUMBER)
        return ferry_unicode_character(after) == FERRY_CHARACTER_NUMBER;
    return ferry_unicode_is_word_letter(before) && ferry_unicode_is_word_letter(after);
}

static bool is_spoken(ferry_view text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c)) continue;
        if (ferry_is_placeholder(c) || ferry_unicode_character(c) <= FERRY_CHARACTER_NUMBER) return true;
    }
    return false;
}

/* What aligns a token of the target: its weights of source tokens first … first + count - 1. Those of all others are 0,
 * and a part is the tokens with the same ones. */
typedef struct weights {
    const float *values; /* [count] */
    size_t first, count;
} weights;

static weights weights_of(const ferry_place_sentence *sentence, size_t token)
{
    weights found;
    found.values = ferry_result_weights(sentence->result, sentence->line, 0, token, &found.first, &found.count);
    return found;
}

/* The source tokens with text, from token `number` of those with weights on; false: there are no more. */
static bool next_token(const ferry_place_sentence *sentence, const weights *window, size_t *number, ferry_token *token)
{
    for (; *number < window->count; ++*number) {
        const size_t index = window->first + *number;
        if (ferry_result_source_token(sentence->result, sentence->line, index, token, sizeof *token) != FERRY_OK) break;
        if (token->begin != token->end) return true;
    }
    return false;
}

static void read_tokens(const ferry_place_sentence *sentence, const weights *window, ferry_place_part *part)
{
    ferry_token range;
    for (size_t i = 0; next_token(sentence, window, &i, &range); i++)
        part->tokens[part->token_count++] =
            (ferry_place_token){.begin = range.begin,
                                .end = range.end,
                                .number = i,
                                .first = FERRY_NO_INDEX,
                                .last = FERRY_NO_INDEX,
                                .word = FERRY_NO_INDEX,
                                .spoken = is_spoken(sentence->source, range.begin, range.end)};
}

/* A token of the target, without what the end of the text has lost; it has text if it begins before it ends. */
static ferry_token target_token(const ferry_place_sentence *sentence, size_t index)
{
    ferry_token token = {0};
    ferry_result_token(sentence->result, sentence->line, 0, index, &token, sizeof token);
    if (token.end > sentence->target.size) token.end = sentence->target.size;
    return token;
}

/* What the end of the text has got belongs to the last token with text, unless there is a blank between them. */
static size_t end_of(const ferry_place_sentence *sentence, size_t index, size_t end)
{
    const ferry_view target = sentence->target;
    const size_t count = ferry_result_token_count(sentence->result, sentence->line, 0);
    while (++index < count) {
        const ferry_token token = target_token(sentence, index);
        if (token.begin < token.end) return end;
    }
    return memchr(target.data + end, ' ', target.size - end) == NULL ? target.size : end;
}

/* The sums of the last word are complete. */
static void finish_word(const ferry_place_sentence *sentence, ferry_place_part *part)
{
    const size_t number = part->word_count - 1;
    ferry_place_word *word = &part->words[number];
    float best = 0;
    word->spoken = is_spoken(sentence->target, word->begin, word->end);
    for (size_t i = 0; i < part->token_count; i++) {
        ferry_place_token *token = &part->tokens[i];
        if (token->sum > best) {
            best = token->sum;
            word->token = i;
        }
        if (token->sum > token->weight && word->spoken == token->spoken) {
            token->weight = token->sum;
            token->word = number;
        }
        token->sum = 0;
    }
    if (word->token == FERRY_NO_INDEX) return;
    ferry_place_token *token = &part->tokens[word->token];
    if (token->first == FERRY_NO_INDEX) token->first = number;
    token->last = number;
}

static void read_words(const ferry_place_sentence *sentence, size_t first, ferry_place_part *part)
{
    for (size_t t = first; t < part->next; t++) {
        const ferry_token range = target_token(sentence, t);
        if (range.begin >= range.end) continue;
        ferry_place_word *word = part->word_count > 0 ? &part->words[part->word_count - 1] : NULL;
        if (word == NULL || range.begin > word->end ||
            (range.begin == word->end && !goes_on(sentence->target, word->end))) {
            if (word != NULL) finish_word(sentence, part);
            word = &part->words[part->word_count++];
            *word = (ferry_place_word){.begin = range.begin, .token = FERRY_NO_INDEX};
        }
        const size_t end = end_of(sentence, t, range.end);
        if (end > word->end) word->end = end;
        const float *values = weights_of(sentence, t).values;
        for (size_t i = 0; i < part->token_count; i++) part->tokens[i].sum += values[part->tokens[i].number];
    }
    if (part->word_count > 0) finish_word(sentence, part);
}

ferry_status ferry_place_read_part(const ferry_place_sentence *sentence, ferry_arena *arena, ferry_place_part *part,
                                   ferry_error *error)
{
    const size_t count = ferry_result_token_count(sentence->result, sentence->line, 0), first = part->next;
    const weights window = weights_of(sentence, first);
    bool failed = false;
    *part = (ferry_place_part){.next = first, .source_end = FERRY_NO_INDEX};
    for (; part->next < count; part->next++) {
        const weights next = weights_of(sentence, part->next);
        size_t number = 0;
        ferry_token token;
        if (next.first == window.first && next.count == window.count) continue;
        part->source_end = next_token(sentence, &next, &number, &token) ? token.begin : 0;
        break;
    }
    part->words = ferry_arena_take(arena, part->next - first, sizeof *part->words, &failed);
    part->tokens = ferry_arena_take(arena, window.count, sizeof *part->tokens, &failed);
    if (failed) return ferry_fail_memory(error, "the words of a sentence", part->next - first, sizeof *part->words);
    read_tokens(sentence, &window, part);
    read_words(sentence, first, part);
    return FERRY_OK;
}
