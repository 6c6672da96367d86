/* Languages by every name that users know: "de", "deu" and "de_DE" mean the same, whatever the model calls it. */
#include <string.h>

#include "plan.h"
#include "base/printable.h"

enum {
    MAX_NAMES = 16,     /* of one language, without its tag */
    CODE_STRIDE = 6,    /* of `codes` */
    RELATION_STRIDE = 7 /* of `relations` */
};

/* ISO 639-1 and ISO 639-3 codes of the same language, "aa" and "aar" first. */
static const char codes[] =
    "aaaar ababk aeave afafr akaka amamh anarg arara asasm avava ayaym azaze babak bebel bgbul bibis bmbam bnben "
    "bobod brbre bsbos cacat ceche chcha cocos crcre csces cuchu cvchv cycym dadan dedeu dvdiv dzdzo eeewe elell "
    "eneng eoepo esspa etest eueus fafas ffful fifin fjfij fofao frfra fyfry gagle gdgla glglg gngrn guguj gvglv "
    "hahau heheb hihin hohmo hrhrv hthat huhun hyhye hzher iaina idind ieile igibo iiiii ikipk ioido isisl itita "
    "iuiku jajpn jvjav kakat kgkon kikik kjkua kkkaz klkal kmkhm knkan kokor krkau kskas kukur kvkom kwcor kykir "
    "lalat lbltz lglug lilim lnlin lolao ltlit lulub lvlav mgmlg mhmah mimri mkmkd mlmal mnmon mrmar msmsa mtmlt "
    "mymya nanau nbnob ndnde nenep ngndo nlnld nnnno nonor nrnbl nvnav nynya ococi ojoji omorm orori ososs papan "
    "pipli plpol pspus ptpor quque rmroh rnrun roron rurus rwkin sasan scsrd sdsnd sesme sgsag shhbs sisin skslk "
    "slslv smsmo snsna sosom sqsqi srsrp ssssw stsot susun svswe swswa tatam tetel tgtgk ththa titir tktuk tltgl "
    "tntsn toton trtur tstso tttat twtwi tytah uguig ukukr ururd uzuzb veven vivie vovol wawln wowol xhxho yiyid "
    "yoyor zazha zhzho zuzul ";

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

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_name(ferry_view a, ferry_view b)
{
    if (a.size != b.size) return false;
    for (size_t i = 0; i < a.size; i++)
        if (lower(a.data[i]) != lower(b.data[i])) return false;
    return true;
}

/* The text between two marks; all of it unless it has both and something between them. */
static ferry_view without_marks(ferry_view text, const char *before, const char *after)
{
    const size_t start = strlen(before), end = strlen(after);
    if (text.size <= start + end || memcmp(text.data, before, start) != 0) return text;
    if (memcmp(text.data + text.size - end, after, end) != 0) return text;
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
    while (letters < inside.size && lower(inside.data[letters]) >= 'a' && lower(inside.data[letters]) <= 'z') letters++;
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
        if (same_name(parts->language, latin[i])) return same_name(parts->variant, (ferry_view){"Arab", 4});
    return false;
}

/* ---- names ---- */

/* A name belongs to the first who claims it. */
static void claim_name(naming *names, int32_t owner, ferry_view name)
{
    for (int32_t i = 0; i < names->count; i++)
        if (same_name(names->tags[i], name)) return;
    size_t own = 0;
    for (size_t i = 0; i < names->claim_count; i++) {
        if (same_name(names->claims[i].name, name)) return;
        own += names->claims[i].owner == owner;
    }
    if (own < MAX_NAMES) names->claims[names->claim_count++] = (claim){name, owner};
}

/* Where `codes` has the language of a two- or three-letter code; NULL where it does not. */
static const char *find_code(ferry_view code)
{
    for (const char *at = codes; *at != 0; at += CODE_STRIDE)
        if (same_name(code, (ferry_view){at, 2}) || same_name(code, (ferry_view){at + 2, 3})) return at;
    return NULL;
}

/* The two- and the three-letter code of a language that one of them names. */
static void claim_codes(naming *names, int32_t owner, ferry_view code)
{
    const char *at = find_code(code);
    claim_name(names, owner, at != NULL ? (ferry_view){at, 2} : code);
    if (at != NULL) claim_name(names, owner, (ferry_view){at + 2, 3});
}

static void claim_related(naming *names, int32_t owner, ferry_view code)
{
    const char *known = find_code(code);
    const ferry_view three = known != NULL ? (ferry_view){known + 2, 3} : code;
    for (const char *at = relations; *at != 0; at += RELATION_STRIDE) {
        const ferry_view member = {at, at[2] == ' ' ? 2 : 3}, whole = {at + 3, 3};
        if (same_name(three, member)) claim_codes(names, owner, whole);
        if (same_name(three, whole)) claim_codes(names, owner, member);
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

static ferry_status check_tags(const ferry_import_plan *plan, const ferry_view *tags, int32_t count, ferry_error *error)
{
    const char *directory = ferry_import_source_path(plan->source);
    for (int32_t i = 0; i < count; i++) {
        const bool blank = tags[i].size > 0 && memchr(tags[i].data, ' ', tags[i].size) != NULL;
        if (tags[i].size > 0 && tags[i].size <= FERRY_IMPORT_MAX_TAG && !blank) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected the tag of a language, found '%s'", directory,
                          ferry_printable_view(tags[i]).text);
    }
    return FERRY_OK;
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
    if (text == NULL) return ferry_fail_memory(error, "the names of a language", size);
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

static ferry_status name_all(ferry_import_plan *plan, const ferry_view *tags, int32_t count, ferry_view *joined,
                             ferry_error *error)
{
    const size_t capacity = (size_t)count * MAX_NAMES;
    naming names = {.tags = tags, .count = count};
    names.claims = ferry_arena_alloc(&plan->arena, capacity, sizeof *names.claims);
    if (names.claims == NULL) return ferry_fail_memory(error, "names of languages", capacity * sizeof *names.claims);
    claim_all(&names);
    for (int32_t i = 0; i < count; i++) FERRY_TRY(join_names(plan, &names, i, &joined[i], error));
    return FERRY_OK;
}

bool ferry_import_is_language(ferry_view code)
{
    return find_code(code) != NULL;
}

ferry_status ferry_import_languages(ferry_import_plan *plan, const ferry_import_tags *list,
                                    ferry_tag_position source_tag, ferry_tag_position target_tag, ferry_error *error)
{
    const int32_t count = list->count;
    FERRY_TRY(check_tags(plan, list->tags, count, error));
    ferry_view *names = ferry_arena_alloc(&plan->arena, (size_t)count, sizeof *names);
    int32_t *numbers = ferry_arena_alloc(&plan->arena, (size_t)count, 3 * sizeof *numbers);
    if (names == NULL || numbers == NULL)
        return ferry_fail_memory(error, "a list of languages", (size_t)count * (sizeof *names + 3 * sizeof *numbers));
    FERRY_TRY(name_all(plan, list->tags, count, names, error));
    int32_t *roles = numbers, *source_ids = numbers + count, *target_ids = numbers + 2 * count;
    for (int32_t i = 0; i < count; i++) {
        roles[i] = FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET;
        source_ids[i] = source_tag != FERRY_TAG_NONE ? list->ids[i] : -1;
        target_ids[i] = target_tag != FERRY_TAG_NONE ? list->ids[i] : -1;
    }
    plan->text.languages = (ferry_model_languages){.roles = roles,
                                                   .source_ids = source_ids,
                                                   .target_ids = target_ids,
                                                   .count = count,
                                                   .source_tag = source_tag,
                                                   .target_tag = target_tag,
                                                   .default_source = -1,
                                                   .default_target = -1};
    return ferry_texts_join(&plan->arena, names, (size_t)count, &plan->text.languages.names, error);
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

/* ">>fra<<" → "fra"; false: the piece is no such tag. */
static bool marian_tag(ferry_view piece, ferry_view *tag)
{
    *tag = without_marks(piece, ">>", "<<");
    return tag->size < piece.size;
}

ferry_status ferry_import_tag_pieces(ferry_import_plan *plan, const ferry_texts *pieces, int32_t count, bool *found,
                                     ferry_error *error)
{
    ferry_import_tags list = {NULL, NULL, 0};
    for (int32_t i = 0; i < count; i++) {
        ferry_view tag;
        if (marian_tag(ferry_texts_at(pieces, (size_t)i), &tag))
            FERRY_TRY(ferry_import_add_tag(plan, &list, tag, i, error));
    }
    *found = list.count > 0;
    return *found ? ferry_import_languages(plan, &list, FERRY_TAG_NONE, FERRY_TAG_PREFIX, error) : FERRY_OK;
}
