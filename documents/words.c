#include "words.h"

#include <string.h>

#include "base/utf8.h"
#include "tokenizer/unicode.h"

/* Of a script that separates words by blanks. */
static bool is_word_letter(uint32_t c)
{
    enum { THAI = 0x0E00, HANGUL = 0xAC00, HANGUL_END = 0xD7A4 };
    switch (ferry_unicode_character(c)) {
    case FERRY_CHARACTER_UPPER:
    case FERRY_CHARACTER_LOWER:
    case FERRY_CHARACTER_MARK: return true;
    case FERRY_CHARACTER_LETTER: /* of those above, most write no blanks */
        return c < THAI || (c >= HANGUL && c < HANGUL_END);
    default: return false;
    }
}

bool ferry_is_of_word(uint32_t c)
{
    return is_word_letter(c) || ferry_unicode_character(c) == FERRY_CHARACTER_NUMBER;
}

/* Whether the character before byte `at` and the one after it belong to one word. */
static bool goes_on(ferry_view text, size_t at)
{
    uint32_t before, after;
    size_t start = at, next = at;
    if (!ferry_utf8_previous(text, &start, &before) || !ferry_utf8_next(text, &next, &after)) return false;
    if (ferry_unicode_joins(before, after)) return true;
    if (ferry_unicode_character(before) == FERRY_CHARACTER_NUMBER)
        return ferry_unicode_character(after) == FERRY_CHARACTER_NUMBER;
    return is_word_letter(before) && is_word_letter(after);
}

static bool is_new_word(const ferry_place_sentence *sentence, const ferry_place_part *part, ferry_token range)
{
    if (part->word_count == 0) return true;
    const size_t end = part->words[part->word_count - 1].end;
    return range.begin > end || (range.begin == end && !goes_on(sentence->target, end));
}

static bool is_spoken(ferry_view text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        uint32_t c;
        if (ferry_utf8_next(text, &at, &c) && ferry_unicode_character(c) <= FERRY_CHARACTER_NUMBER) return true;
    }
    return false;
}

/* The source tokens of the window that have text; numbers[i]: which token of the window tokens[i] is. */
static void read_tokens(const ferry_place_sentence *sentence, ferry_place_weights window, ferry_place_part *part,
                        size_t *numbers)
{
    for (size_t i = 0; i < window.count && window.first + i < sentence->source_count; i++) {
        const ferry_token range = sentence->source_tokens[window.first + i];
        if (range.begin == range.end) continue;
        numbers[part->token_count] = i;
        part->tokens[part->token_count++] =
            (ferry_place_token){.begin = range.begin,
                                .end = range.end,
                                .first = FERRY_NO_INDEX,
                                .last = FERRY_NO_INDEX,
                                .word = FERRY_NO_INDEX,
                                .spoken = is_spoken(sentence->source, range.begin, range.end)};
    }
    part->source_begin = part->token_count > 0 ? part->tokens[0].begin : 0;
}

/* The last word's weights [token_count] are complete. */
static void finish_word(const ferry_place_sentence *sentence, ferry_place_part *part, const float *weights)
{
    const size_t number = part->word_count - 1;
    ferry_place_word *word = &part->words[number];
    word->spoken = is_spoken(sentence->target, word->begin, word->end);
    for (size_t i = 0; i < part->token_count; i++) {
        ferry_place_token *token = &part->tokens[i];
        if (weights[i] > 0 && (word->token == FERRY_NO_INDEX || weights[i] > weights[word->token])) word->token = i;
        if (weights[i] > token->weight && word->spoken == token->spoken) {
            token->weight = weights[i];
            token->word = number;
        }
    }
    if (word->token == FERRY_NO_INDEX) return;
    ferry_place_token *token = &part->tokens[word->token];
    if (token->first == FERRY_NO_INDEX) token->first = number;
    token->last = number;
}

ferry_status ferry_place_read_part(const ferry_place_sentence *sentence, size_t first, ferry_arena *arena,
                                   ferry_place_part *part, ferry_error *error)
{
    const ferry_place_weights window = sentence->weights[first];
    size_t end = first;
    while (end < sentence->target_count && sentence->weights[end].first == window.first &&
           sentence->weights[end].count == window.count)
        end++;
    bool failed = false;
    *part = (ferry_place_part){.next = end};
    part->words = ferry_arena_take(arena, end - first, sizeof *part->words, &failed);
    part->tokens = ferry_arena_take(arena, window.count, sizeof *part->tokens, &failed);
    size_t *numbers = ferry_arena_take(arena, window.count, sizeof *numbers, &failed);
    float *sums = ferry_arena_take(arena, window.count, sizeof *sums, &failed);
    if (failed) return ferry_fail_memory(error, "the words of a sentence", (end - first) * sizeof *part->words);
    read_tokens(sentence, window, part, numbers);
    for (size_t t = first; t < end; t++) {
        const ferry_token range = sentence->target_tokens[t];
        if (range.begin == range.end) continue;
        if (is_new_word(sentence, part, range)) {
            if (part->word_count > 0) finish_word(sentence, part, sums);
            part->words[part->word_count++] =
                (ferry_place_word){.begin = range.begin, .end = range.end, .token = FERRY_NO_INDEX};
            for (size_t i = 0; i < part->token_count; i++) sums[i] = 0;
        }
        ferry_place_word *word = &part->words[part->word_count - 1];
        if (range.end > word->end) word->end = range.end;
        for (size_t i = 0; i < part->token_count; i++) sums[i] += sentence->weights[t].values[numbers[i]];
    }
    if (part->word_count > 0) finish_word(sentence, part, sums);
    for (size_t i = 0; i < part->word_count; i++) {
        const size_t token = part->words[i].token;
        part->words[i].sure = token != FERRY_NO_INDEX && part->tokens[token].word == i;
    }
    return FERRY_OK;
}
