/* The pair of languages of a model whose files do not say it: the user does, or a name. */
#include <string.h>

#include "plan.h"

ferry_status ferry_import_guessed_pair(ferry_import_plan *plan, ferry_view source, ferry_view target,
                                       ferry_error *error)
{
    plan->guessed[0] = ferry_arena_text(&plan->arena, source);
    plan->guessed[1] = ferry_arena_text(&plan->arena, target);
    if (plan->guessed[0] == NULL || plan->guessed[1] == NULL)
        return ferry_fail_memory(error, "a language's name", source.size + target.size);
    return ferry_import_language_pair(plan, plan->guessed[0], plan->guessed[1], error);
}

/* ---- what the user says ---- */

/* The language of this role that has `name` among its names, "deu_Latn de deu"; -1 if there is none. */
static int32_t find_language(const ferry_model_languages *languages, ferry_view name, int32_t role)
{
    for (int32_t i = 0; i < languages->count; i++) {
        ferry_view rest = ferry_texts_at(languages->names, (size_t)i);
        while ((languages->roles[i] & role) != 0 && rest.size > 0) {
            const char *blank = memchr(rest.data, ' ', rest.size);
            const size_t size = blank != NULL ? (size_t)(blank - rest.data) : rest.size, step = size + (blank != NULL);
            if (size == name.size && ferry_compare_letters(rest.data, name.data, size) == 0) return i;
            rest = (ferry_view){rest.data + step, rest.size - step};
        }
    }
    return -1;
}

static ferry_view tag_of(const ferry_model_languages *languages, int32_t index)
{
    if (index >= languages->count) return (ferry_view){"", 0};
    const ferry_view names = ferry_texts_at(languages->names, (size_t)index);
    const char *blank = memchr(names.data, ' ', names.size);
    return (ferry_view){names.data, blank != NULL ? (size_t)(blank - names.data) : names.size};
}

/* Of a model with tags or prompts: two of its languages become the defaults. Their names may contain hyphens. */
static ferry_status choose_defaults(ferry_import_plan *plan, const char *pair, ferry_error *error)
{
    ferry_model_languages *languages = &plan->text.languages;
    for (const char *hyphen = pair; (hyphen = strchr(hyphen, '-')) != NULL; hyphen++) {
        const ferry_view source = {pair, (size_t)(hyphen - pair)}, target = ferry_text_view(hyphen + 1);
        const int32_t from = find_language(languages, source, FERRY_LANGUAGE_SOURCE);
        const int32_t to = find_language(languages, target, FERRY_LANGUAGE_TARGET);
        if (from < 0 || to < 0 || from == to) continue;
        languages->default_source = from;
        languages->default_target = to;
        return FERRY_OK;
    }
    const ferry_view first = tag_of(languages, 0), second = tag_of(languages, 1);
    return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                      "pair: expected two of the model's %d languages with a hyphen between them, such as '%.*s-%.*s', "
                      "found '%s'",
                      (int)languages->count, (int)first.size, first.data, (int)second.size, second.data, pair);
}

ferry_status ferry_import_named_pair(ferry_import_plan *plan, const char *pair, ferry_error *error)
{
    const ferry_model_languages *languages = &plan->text.languages;
    const char *hyphen = strchr(pair, '-');
    if (!plan->text.present)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: a model without a tokenizer has no languages",
                          ferry_import_source_path(plan->source));
    if (languages->source_tag != FERRY_TAG_NONE || languages->target_tag != FERRY_TAG_NONE ||
        languages->prompt_count > 0)
        return choose_defaults(plan, pair, error);
    if (hyphen == NULL || hyphen == pair || hyphen[1] == '\0' || strchr(hyphen + 1, '-') != NULL)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "pair: expected SOURCE-TARGET, such as en-de, found '%s'", pair);
    const char *source = ferry_arena_text(&plan->arena, (ferry_view){pair, (size_t)(hyphen - pair)});
    const char *target = ferry_arena_text(&plan->arena, ferry_text_view(hyphen + 1));
    if (source == NULL || target == NULL) return ferry_fail_memory(error, "a language's name", strlen(pair));
    return ferry_import_language_pair(plan, source, target, error);
}

/* ---- what a name says ---- */

/* English words and abbreviations that are also codes: two of them side by side mean nothing. */
static bool is_word(ferry_view code)
{
    static const char words[] = "am an as be he hi id in io is it mt my no or sh so to ";
    for (const char *word = words; *word != '\0'; word += 3)
        if (code.size == 2 && ferry_compare_letters(word, code.data, 2) == 0) return true;
    return false;
}

static bool is_number(ferry_view word)
{
    for (size_t i = word.size > 1 && word.data[0] == 'v'; i < word.size; i++)
        if (word.data[i] < '0' || word.data[i] > '9') return false;
    return word.size > 0;
}

/* The last two words of "opus-mt-en-de", "translate-en_de-1_9.argosmodel", "en-de": nothing but numbers and an
 * extension may follow them, and no other code precede them. */
static bool find_pair(const char *name, ferry_view *source, ferry_view *target)
{
    enum { MOST = 16 };
    ferry_view words[MOST];
    size_t count = 0;
    const char *point = strrchr(name, '.'), *end = point != NULL && point != name ? point : name + strlen(name);
    while (name < end) {
        size_t size = strcspn(name, "-_.");
        if (name + size > end) size = (size_t)(end - name);
        if (count == MOST) return false;
        words[count++] = (ferry_view){name, size};
        name += size + 1;
    }
    while (count > 0 && is_number(words[count - 1])) count--;
    if (count < 2) return false;
    *source = words[count - 2];
    *target = words[count - 1];
    const bool opus = count == 4 && ferry_view_is(words[0], "opus") && ferry_view_is(words[1], "mt");
    const bool alone = count == 2 || opus || !ferry_import_is_language(words[count - 3]);
    return alone && ferry_import_is_language(*source) && ferry_import_is_language(*target) &&
           !(is_word(*source) && is_word(*target)) && !ferry_view_equal(*source, *target);
}

/* The source's own name, or, of a file, that of its folder. */
ferry_status ferry_import_guess_pair(ferry_import_plan *plan, ferry_error *error)
{
    ferry_view source, target;
    if (!plan->text.present || plan->text.languages.count > 0) return FERRY_OK;
    if (find_pair(ferry_import_source_base(plan->source), &source, &target) ||
        find_pair(ferry_import_source_folder(plan->source), &source, &target))
        return ferry_import_guessed_pair(plan, source, target, error);
    return FERRY_OK;
}
