#include "second_model.h"

#include <stdio.h>
#include <string.h>

bool ferry_second_model_check(const ferry_call *call)
{
    const int refused[] = {FERRY_OPTION_ALIGNMENT, FERRY_OPTION_PREFIX, FERRY_OPTION_PREFIXES, FERRY_OPTION_IDS,
                           (int)ferry_search_option("nbest")};
    if (call->arguments.second_model == NULL) {
        if (!ferry_is_given(call, FERRY_OPTION_VIA)) return true;
        ferry_complain("translate: --via: expected a second --model with it");
        return false;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!ferry_is_given(call, (ferry_option)refused[i])) continue;
        ferry_complain("translate: expected %s or a second model, found both",
                       ferry_option_typed(&call->arguments, refused[i]).text);
        return false;
    }
    return true;
}

/* Language `index` of the model, if it has this role. */
static const ferry_language *language_of(const ferry_model *model, size_t index, ferry_language_role role)
{
    const ferry_language *language = ferry_model_language(model, index);
    return language != NULL && (language->roles & (int)role) != 0 ? language : NULL;
}

static bool are_one(const ferry_language *a, const ferry_language *b)
{
    return strcmp(a->tag, b->tag) == 0 || (a->english[0] != '\0' && strcmp(a->english, b->english) == 0);
}

/* How many languages one translates into and the other from; `between`: the first, or else the one that is the default
 * of both. The names of the first ones are appended to `names`. */
static size_t count_shared(const ferry_model *first, const ferry_model *second, ferry_between *between, char *names,
                           size_t size)
{
    enum { MOST_NAMES = 5 };
    size_t count = 0, length = 0;
    bool usual = false;
    names[0] = '\0';
    for (size_t i = 0; i < ferry_model_language_count(first); i++)
        for (size_t k = 0; k < ferry_model_language_count(second); k++) {
            const ferry_language *into = language_of(first, i, FERRY_LANGUAGE_TARGET),
                                 *from = language_of(second, k, FERRY_LANGUAGE_SOURCE);
            if (into == NULL || from == NULL || !are_one(into, from)) continue;
            const bool both = (into->roles & FERRY_LANGUAGE_DEFAULT_TARGET) != 0 &&
                              (from->roles & FERRY_LANGUAGE_DEFAULT_SOURCE) != 0;
            if (count == 0 || both) *between = (ferry_between){into->tag, from->tag};
            usual = usual || both;
            if (count++ < MOST_NAMES && length < size)
                length += (size_t)snprintf(names + length, size - length, " %s", into->tag);
        }
    return usual ? 1 : count;
}

bool ferry_second_model_meet(const ferry_call *call, const ferry_model *first, const ferry_model *second,
                             ferry_between *between)
{
    char names[200];
    const char *via = ferry_option_text(call, FERRY_OPTION_VIA);
    *between = (ferry_between){via, via};
    if (via != NULL) return true;
    if (ferry_model_language_count(first) == 0 || ferry_model_language_count(second) == 0) {
        if (!ferry_is_given(call, FERRY_OPTION_QUIET))
            ferry_complain("the models do not say which languages they translate: the second is expected to read what "
                           "the first writes");
        return true;
    }
    const size_t shared = count_shared(first, second, between, names, sizeof names);
    if (shared == 0)
        ferry_complain("the second model translates from no language that the first translates into; `ferry languages` "
                       "lists those of each");
    else if (shared > 1)
        ferry_complain("--via: expected one of the %zu languages that both models have:%s%s", shared, names,
                       shared > 5 ? " …" : "");
    return shared == 1;
}
