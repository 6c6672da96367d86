/* Languages by every name that users know: "de", "deu" and "de_DE" mean the same, whatever the model calls it. */
#include "language_tags.h"

#include <string.h>

#include "base/language_names.h"
#include "vocabularies.h"

enum {
    MAX_NAMES = 16,     /* of one language, without its tag */
    RELATION_STRIDE = 7 /* of `relations` */
};

/* A code, three letters or two and a blank, and the ISO 639-3 code that usually means the same to a user: the largest
 * member of a macrolanguage and that macrolanguage (ISO 639-3), codes that were withdrawn, "ns" of M2M-100. */
static const char relations[] =
    "alssqi arbara ayraym azjaze cmnzho ekkest filtgl fuvful gazorm in ind iw heb ji yid jw jav khkmon kmrkur "
    "knckau lvslav nobnor npinep ns nso oryori pbtpus pesfas pltmlg quyque swhswa uznuzb yddyid zsmmsa ";

typedef struct claim {
    ferry_view name;
    int32_t owner;
} claim;

typedef struct naming {
    const ferry_view *tags;
    int32_t count;
    claim *claims; /* [count · MAX_NAMES] */
    size_t claim_count;
} naming;

/* A tag taken apart: "__de__", ">>deu<<", "<2de>", "deu_Latn", "de-DE". */
typedef struct tag_parts {
    ferry_view inside;   /* without marks at both ends: "deu_Latn" */
    ferry_view language; /* "deu"; empty when it does not look like a code */
    ferry_view variant;  /* "Latn"; empty: none */
} tag_parts;

/* The text between two marks; all of it unless it has both and something between them. */
static ferry_view without_marks(ferry_view text, const char *before, const char *after)
{
    const size_t start = strlen(before), end = strlen(after);
    if (text.size <= start + end || !ferry_view_begins(text, before) || !ferry_view_ends(text, after)) return text;
    return (ferry_view){text.data + start, text.size - start - end};
}

static tag_parts take_apart(ferry_view tag)
{
    static const char *const marks[][2] = {{"__", "__"}, {">>", "<<"}, {"<2", ">"}};
    tag_parts parts = {.inside = tag};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0] && parts.inside.size == tag.size; i++)
        parts.inside = without_marks(tag, marks[i][0], marks[i][1]);
    const ferry_view inside = parts.inside;
    size_t letters = 0;
    while (letters < inside.size && (inside.data[letters] | 0x20) >= 'a' && (inside.data[letters] | 0x20) <= 'z')
        letters++;
    const bool ends = letters == inside.size;
    if (letters < 2 || letters > 3 || !(ends || inside.data[letters] == '_' || inside.data[letters] == '-'))
        return parts;
    parts.language = (ferry_view){inside.data, letters};
    if (!ends) parts.variant = (ferry_view){inside.data + letters + 1, inside.size - letters - 1};
    return parts;
}

/* A bare code means the first script that the model lists for the language, except for these languages: they are
 * usually written in Latin script, but models list their Arabic one first. */
static bool is_unusual(const tag_parts *parts)
{
    static const ferry_view latin[] = {{"ace", 3}, {"bjn", 3}, {"knc", 3}};
    for (size_t i = 0; i < sizeof latin / sizeof latin[0]; i++)
        if (ferry_same_letters(parts->language, latin[i]))
            return ferry_same_letters(parts->variant, (ferry_view){"Arab", 4});
    return false;
}

/* ---- names ---- */

/* A name belongs to the first language that claims it. */
static void claim_name(naming *names, int32_t owner, ferry_view name)
{
    for (int32_t i = 0; i < names->count; i++)
        if (ferry_same_letters(names->tags[i], name)) return;
    size_t own = 0;
    for (size_t i = 0; i < names->claim_count; i++) {
        if (ferry_same_letters(names->claims[i].name, name)) return;
        own += names->claims[i].owner == owner;
    }
    if (own < MAX_NAMES) names->claims[names->claim_count++] = (claim){name, owner};
}

/* The row of the language with this code of ISO 639-1 or ISO 639-3. NULL if it is unknown, or has one code only. */
static const ferry_language_name *find_codes(ferry_view code)
{
    const ferry_language_name *row = ferry_language_name_find(code);
    return row != NULL && row->short_code[0] != '\0' ? row : NULL;
}

static void claim_codes(naming *names, int32_t owner, ferry_view code)
{
    const ferry_language_name *row = find_codes(code);
    claim_name(names, owner, row != NULL ? ferry_text_view(row->short_code) : code);
    if (row != NULL) claim_name(names, owner, ferry_text_view(row->code));
}

static void claim_related(naming *names, int32_t owner, ferry_view code)
{
    const ferry_language_name *row = find_codes(code);
    const ferry_view three = row != NULL ? ferry_text_view(row->code) : code;
    for (const char *at = relations; *at != 0; at += RELATION_STRIDE) {
        const ferry_view member = {at, at[2] == ' ' ? 2 : 3}, whole = {at + 3, 3};
        if (ferry_same_letters(three, member)) claim_codes(names, owner, whole);
        if (ferry_same_letters(three, whole)) claim_codes(names, owner, member);
    }
}

/* Strong claims first: what the tag itself says, then its language's codes, then related codes; each for tags without
 * a script or country, then for those with one, then for those whose script is unusual. */
static void claim_all(naming *names)
{
    for (int rank = 0; rank < 7; rank++) {
        for (int32_t i = 0; i < names->count; i++) {
            const tag_parts parts = take_apart(names->tags[i]);
            const int variant = parts.variant.size == 0 ? 0 : is_unusual(&parts) ? 2 : 1;
            if (rank == 0) claim_name(names, i, parts.inside);
            if (parts.language.size == 0) continue;
            if (rank == 1 + variant) claim_codes(names, i, parts.language);
            if (rank == 4 + variant) claim_related(names, i, parts.language);
        }
    }
}

/* "tag name name" */
static ferry_status join_names(ferry_import_plan *plan, const naming *names, int32_t owner, ferry_view *joined,
                               ferry_error *error)
{
    const ferry_view tag = names->tags[owner];
    size_t size = tag.size;
    for (size_t i = 0; i < names->claim_count; i++)
        if (names->claims[i].owner == owner) size += 1 + names->claims[i].name.size;
    char *text = ferry_arena_alloc(&plan->arena, size, 1), *end = text;
    if (text == NULL) return ferry_fail_memory(error, "the names of a language", size, 1);
    memcpy(end, tag.data, tag.size);
    end += tag.size;
    for (size_t i = 0; i < names->claim_count; i++) {
        const ferry_view name = names->claims[i].name;
        if (names->claims[i].owner != owner) continue;
        *end++ = ' ';
        memcpy(end, name.data, name.size);
        end += name.size;
    }
    *joined = (ferry_view){text, size};
    return FERRY_OK;
}

/* ---- lists of tags ---- */

ferry_status ferry_import_add_tag(ferry_import_plan *plan, ferry_import_tags *list, ferry_view tag, int32_t id,
                                  ferry_error *error)
{
    if (list->count == FERRY_IMPORT_MAX_LANGUAGES) {
        return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: more than %d languages", plan->source->path,
                          (int)FERRY_IMPORT_MAX_LANGUAGES);
    }
    ferry_view *tags = ferry_import_grow(plan, list->tags, list->count, 1, sizeof *tags);
    int32_t *ids = ferry_import_grow(plan, list->ids, list->count, 1, sizeof *ids);
    if (tags == NULL || ids == NULL)
        return ferry_fail_memory(error, "a list of languages", (size_t)list->count, sizeof *tags);
    tags[list->count] = tag;
    ids[list->count] = id;
    *list = (ferry_import_tags){tags, ids, list->count + 1};
    return FERRY_OK;
}

bool ferry_import_is_language(ferry_view code)
{
    return find_codes(code) != NULL;
}

ferry_status ferry_import_languages(ferry_import_plan *plan, const ferry_import_tags *list,
                                    ferry_tag_position source_tag, ferry_tag_position target_tag, ferry_error *error)
{
    const int32_t count = list->count;
    naming all = {.tags = list->tags, .count = count};
    for (int32_t i = 0; i < count; i++) {
        const ferry_view tag = list->tags[i];
        if (tag.size > 0 && tag.size <= FERRY_IMPORT_MAX_TAG && memchr(tag.data, ' ', tag.size) == NULL) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected the tag of a language, found '%s'",
                          plan->source->path, ferry_printable_view(tag).text);
    }
    ferry_view *names = ferry_arena_alloc(&plan->arena, (size_t)count, sizeof *names);
    int32_t *numbers = ferry_arena_alloc(&plan->arena, (size_t)count, 3 * sizeof *numbers);
    if (names == NULL || numbers == NULL)
        return ferry_fail_memory(error, "a list of languages", (size_t)count, sizeof *names + 3 * sizeof *numbers);
    all.claims = ferry_arena_alloc(&plan->arena, (size_t)count * MAX_NAMES, sizeof *all.claims);
    if (all.claims == NULL)
        return ferry_fail_memory(error, "names of languages", (size_t)count * MAX_NAMES, sizeof *all.claims);
    claim_all(&all);
    for (int32_t i = 0; i < count; i++) FERRY_TRY(join_names(plan, &all, i, &names[i], error));
    int32_t *roles = numbers, *source_ids = numbers + count, *target_ids = numbers + 2 * count;
    for (int32_t i = 0; i < count; i++) {
        roles[i] = FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET;
        source_ids[i] = source_tag != FERRY_TAG_NONE ? list->ids[i] : -1;
        target_ids[i] = target_tag != FERRY_TAG_NONE ? list->ids[i] : -1;
    }
    plan->languages = (ferry_model_languages){.roles = roles,
                                              .source_ids = source_ids,
                                              .target_ids = target_ids,
                                              .count = count,
                                              .source_tag = source_tag,
                                              .target_tag = target_tag,
                                              .default_source = -1,
                                              .default_target = -1};
    return ferry_string_table_join(&plan->arena, names, (size_t)count, &plan->languages.names, error);
}

bool ferry_import_has_form(ferry_view text, const char *form)
{
    if (text.size != strlen(form)) return false;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (form[i] == 'a' ? c < 'a' || c > 'z' : form[i] == 'A' ? c < 'A' || c > 'Z' : c != form[i]) return false;
    }
    return true;
}

ferry_status ferry_import_tag_pieces(ferry_import_plan *plan, const ferry_string_table *pieces, int32_t count,
                                     bool *found, ferry_error *error)
{
    ferry_import_tags list = {NULL, NULL, 0};
    for (int32_t i = 0; i < count; i++) {
        const ferry_view piece = ferry_string_table_at(pieces, (size_t)i), tag = without_marks(piece, ">>", "<<");
        if (tag.size < piece.size) FERRY_TRY(ferry_import_add_tag(plan, &list, tag, i, error));
    }
    *found = list.count > 0;
    return *found ? ferry_import_languages(plan, &list, FERRY_TAG_NONE, FERRY_TAG_PREFIX, error) : FERRY_OK;
}

ferry_status ferry_import_language_pair(ferry_import_plan *plan, ferry_view source, ferry_view target,
                                        ferry_error *error)
{
    static const int32_t roles[] = {FERRY_LANGUAGE_SOURCE, FERRY_LANGUAGE_TARGET};
    ferry_view tags[] = {source, target};
    const ferry_import_tags pair = {.tags = tags, .count = 2};
    FERRY_TRY(ferry_import_languages(plan, &pair, FERRY_TAG_NONE, FERRY_TAG_NONE, error));
    plan->languages.roles = roles;
    plan->languages.default_source = 0;
    plan->languages.default_target = 1;
    return FERRY_OK;
}

/* ---- the pair of languages of a model whose files do not say it ---- */

ferry_status ferry_import_guessed_pair(ferry_import_plan *plan, ferry_view source, ferry_view target,
                                       ferry_error *error)
{
    plan->guessed[0] = ferry_arena_text(&plan->arena, source);
    plan->guessed[1] = ferry_arena_text(&plan->arena, target);
    if (plan->guessed[0] == NULL || plan->guessed[1] == NULL)
        return ferry_fail_memory(error, "a language's name", source.size + target.size, 1);
    return ferry_import_language_pair(plan, source, target, error);
}

/* ---- what the user says ---- */

/* The language of this role that has `name` among its names, "deu_Latn de deu"; -1 if there is none. */
static int32_t find_language(const ferry_model_languages *languages, ferry_view name, int32_t role)
{
    for (int32_t i = 0; i < languages->count; i++) {
        ferry_view rest = ferry_string_table_at(languages->names, (size_t)i);
        while ((languages->roles[i] & role) != 0 && rest.size > 0) {
            const ferry_view word = ferry_first_word(rest);
            const size_t step = word.size + (word.size < rest.size);
            if (ferry_same_letters(word, name)) return i;
            rest = (ferry_view){rest.data + step, rest.size - step};
        }
    }
    return -1;
}

static ferry_view tag_of(const ferry_model_languages *languages, int32_t index)
{
    return ferry_first_word(index < languages->count ? ferry_string_table_at(languages->names, (size_t)index)
                                                     : (ferry_view){"", 0});
}

/* Of a model with tags or prompts: two of its languages become the defaults. Their names may contain hyphens. */
static ferry_status choose_defaults(ferry_import_plan *plan, const char *pair, ferry_error *error)
{
    ferry_model_languages *languages = &plan->languages;
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
    return ferry_fail_argument(
        error, "pair",
        "expected two of the model's %d languages with a hyphen between them, such as '%.*s-%.*s', "
        "found '%s'",
        (int)languages->count, (int)first.size, first.data, (int)second.size, second.data, pair);
}

ferry_status ferry_import_named_pair(ferry_import_plan *plan, const char *pair, ferry_error *error)
{
    const ferry_model_languages *languages = &plan->languages;
    const char *hyphen = strchr(pair, '-');
    if (!plan->text.present)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: a model without a tokenizer has no languages",
                          plan->source->path);
    if (languages->source_tag != FERRY_TAG_NONE || languages->target_tag != FERRY_TAG_NONE ||
        languages->prompt_count > 0)
        return choose_defaults(plan, pair, error);
    if (hyphen == NULL || hyphen == pair || hyphen[1] == '\0' || strchr(hyphen + 1, '-') != NULL)
        return ferry_fail_argument(error, "pair", "expected SOURCE-TARGET, such as en-de, found '%s'", pair);
    const ferry_view source = {pair, (size_t)(hyphen - pair)};
    return ferry_import_language_pair(plan, source, ferry_text_view(hyphen + 1), error);
}

/* ---- what a name says ---- */

/* English words and abbreviations that are also codes: two of them side by side mean nothing. */
static bool is_english_word(ferry_view code)
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
static bool find_pair_in_name(const char *name, ferry_view *source, ferry_view *target)
{
    enum { MAX_WORDS = 16 };
    ferry_view words[MAX_WORDS];
    size_t count = 0;
    const char *point = strrchr(name, '.'), *end = point != NULL && point != name ? point : name + strlen(name);
    while (name < end) {
        size_t size = strcspn(name, "-_.");
        if (name + size > end) size = (size_t)(end - name);
        if (count == MAX_WORDS) return false;
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
           !(is_english_word(*source) && is_english_word(*target)) && !ferry_view_equal(*source, *target);
}

/* The source's own name, or, of a file, that of its folder. */
ferry_status ferry_import_guess_pair(ferry_import_plan *plan, ferry_error *error)
{
    ferry_view source, target;
    if (!plan->text.present || plan->languages.count > 0) return FERRY_OK;
    if (find_pair_in_name(plan->source->base, &source, &target) ||
        find_pair_in_name(plan->source->folder, &source, &target))
        return ferry_import_guessed_pair(plan, source, target, error);
    return FERRY_OK;
}
