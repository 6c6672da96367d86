/* Models of Marian: OPUS-MT archives, Bergamot's and Firefox's students, plain .npz and .bin files with their
 * vocabularies. */
#include "marian.h"

#include <string.h>

#include "base/files/file_system.h"
#include "models/text/language_tags.h"
#include "models/families/families.h"

bool ferry_marian_since(const ferry_marian *marian, int32_t major, int32_t minor, int32_t patch)
{
    const int32_t wanted[] = {major, minor, patch};
    for (int i = 0; i < 3; i++)
        if (marian->version[i] != wanted[i]) return marian->version[i] > wanted[i];
    return true;
}

bool ferry_import_is_marian(const ferry_import_plan *plan, ferry_json config)
{
    const char *selected = plan->source->selected;
    (void)config;
    if (selected != NULL) return ferry_import_is_marian_weights(plan, selected);
    if (ferry_source_has(plan->source, "decoder.yml")) return true;
    for (size_t i = 0; i < plan->source->count; i++)
        if (ferry_import_is_marian_weights(plan, plan->source->files[i].name)) return true;
    return false;
}

/* ---- files ---- */

/* The names of files vary. The list of decoder.yml has priority, then names, then contents. */

/* Up to `max` names that `is` (NULL: any) accepts and that begin with `start` and end with `end`; returns how many
 * there are. Files in folders do not count. */
static size_t collect(const ferry_import_plan *plan, bool (*is)(const ferry_import_plan *plan, const char *name),
                      const char *start, const char *end, const char **names, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->source->count; i++) {
        const char *name = plan->source->files[i].name;
        if (strchr(name, '/') != NULL || !ferry_text_begins(name, start) || !ferry_text_ends(name, end)) continue;
        if (is != NULL && !is(plan, name)) continue;
        if (count < max) names[count] = name;
        count++;
    }
    return count;
}

/* ---- weights ---- */

bool ferry_import_is_marian_weights(const ferry_import_plan *plan, const char *name)
{
    ferry_view bytes;
    if (strchr(name, '/') != NULL) return false;
    if (ferry_text_ends(name, ".npz")) return !ferry_text_ends(name, ".optimizer.npz");
    /* Opening a file notes it as read, so shortlists and quality models are excluded by their names. */
    return ferry_text_ends(name, ".bin") && !ferry_text_begins(name, "lex") &&
           !ferry_text_begins(name, "qualityModel") && ferry_source_map(plan->source, name, &bytes, NULL) == FERRY_OK &&
           ferry_is_marian_bin(bytes);
}

/* Finds the file of a path in decoder.yml: by the path, or by its last part if the path is of another machine. */
static ferry_status listed_file(const ferry_import_plan *plan, ferry_json yaml, const char *key, const char *path,
                                const char **name, ferry_error *error)
{
    while (ferry_text_begins(path, "./")) path += 2;
    const char *const tries[] = {path, ferry_path_base(path)};
    for (size_t i = 0; i < 2; i++)
        if (ferry_source_has(plan->source, *name = tries[i])) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s': '%s' is not among the files", yaml.file, key,
                      ferry_printable_text(path).text);
}

static ferry_status find_weights(const ferry_import_plan *plan, ferry_marian *marian, ferry_error *error)
{
    const json_t *models = ferry_json_get(marian->decoder, "models");
    const size_t listed = ferry_json_text_count(models);
    const char *names[2];
    marian->weights = plan->source->selected;
    if (marian->weights != NULL) return FERRY_OK;
    if (listed > 1) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: 'models' lists %zu models: ensembles are not supported; name one of the files",
                          marian->decoder.file, listed);
    }
    if (listed == 1)
        return listed_file(plan, marian->decoder, "models", ferry_json_text_at(models, 0), &marian->weights, error);
    const size_t count = collect(plan, ferry_import_is_marian_weights, "", "", names, 2);
    if (count == 1) {
        marian->weights = names[0];
        return FERRY_OK;
    }
    const char *path = plan->source->path;
    if (count == 0) return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected a model (.npz, .bin)", path);
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: %zu models: name one of them: '%s', '%s'%s", path, count,
                      ferry_printable_text(names[0]).text, ferry_printable_text(names[1]).text, count > 2 ? ", …" : "");
}

/* decoder.yml, or what training writes beside the weights: model.npz.decoder.yml. */
static ferry_status read_decoder(ferry_import_plan *plan, const char *weights, ferry_json *yaml, ferry_error *error)
{
    const ferry_short_text beside = ferry_format("%s.decoder.yml", weights != NULL ? weights : "");
    const char *name = weights != NULL && ferry_source_has(plan->source, beside.text) ? beside.text : "decoder.yml";
    ferry_view text;
    if (!ferry_source_has(plan->source, name)) return FERRY_OK;
    FERRY_TRY(ferry_source_map(plan->source, name, &text, error));
    return ferry_import_yaml(plan, text, name, yaml, error);
}

/* ---- pairs of languages in names ---- */

typedef struct pair {
    ferry_view whole; /* "ende" */
    ferry_view source, target;
} pair;

/* Two codes, one after the other, or with '-' or '_' between them. */
static bool split_pair(ferry_view word, pair *found)
{
    for (size_t size = 2; size <= 3; size++) {
        for (size_t separator = 0; separator <= 1; separator++) {
            if (word.size < size + separator + 2 || word.size > size + separator + 3) continue;
            if (separator == 1 && word.data[size] != '-' && word.data[size] != '_') continue;
            found->whole = word;
            found->source = (ferry_view){word.data, size};
            found->target = (ferry_view){word.data + size + separator, word.size - size - separator};
            if (ferry_import_is_language(found->source) && ferry_import_is_language(found->target)) return true;
        }
    }
    return false;
}

/* The part between two points of a name that is a pair. */
static bool find_pair(const char *name, pair *found)
{
    while (*name != '\0') {
        const size_t size = strcspn(name, ".");
        if (split_pair((ferry_view){name, size}, found)) return true;
        name += size + (name[size] == '.');
    }
    return false;
}

static bool has_pair(const char *name, const pair *wanted)
{
    pair found;
    return find_pair(name, &found) && ferry_view_equal(found.whole, wanted->whole);
}

/* "best" and "tiny" could be pairs. So a pair without a separator must be in the name of the vocabulary or the
 * shortlist, too. */
ferry_status ferry_marian_language_pair(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error)
{
    pair found;
    if (!find_pair(ferry_path_base(marian->weights), &found)) return FERRY_OK;
    const bool marked = found.source.size + found.target.size < found.whole.size;
    if (!marked && !has_pair(ferry_path_base(marian->vocabularies[0]), &found) &&
        (marian->lexicon == NULL || !has_pair(ferry_path_base(marian->lexicon), &found)))
        return FERRY_OK;
    return ferry_import_guessed_pair(plan, found.source, found.target, error);
}

/* Moves names with the pair of the weights' name to the front. Returns their number, or `count` if there are none. */
static size_t keep_pair(const ferry_marian *marian, const char **names, size_t count)
{
    pair wanted;
    size_t kept = 0;
    if (!find_pair(ferry_path_base(marian->weights), &wanted)) return count;
    for (size_t i = 0; i < count; i++) {
        if (!has_pair(names[i], &wanted)) continue;
        const char *name = names[i];
        names[i] = names[kept];
        names[kept++] = name;
    }
    return kept > 0 ? kept : count;
}

/* ---- vocabularies ---- */

enum { MAX_NAMES = 64 };

static bool is_vocabulary(const ferry_import_plan *plan, const char *name)
{
    (void)plan;
    if (strstr(name, "vocab") == NULL) return false;
    return ferry_text_ends(name, ".spm") || ferry_text_ends(name, ".yml") || ferry_text_ends(name, ".yaml") ||
           ferry_text_ends(name, ".json") || ferry_text_ends(name, ".txt") || ferry_text_ends(name, ".fsv") ||
           strchr(name, '.') == NULL;
}

/* Whether the names say that `source` is the source's and `target` the target's. */
static bool are_sides(const char *source, const char *target)
{
    const bool targets[] = {strstr(source, "trg") != NULL || strstr(source, "tgt") || strstr(source, "target"),
                            strstr(target, "trg") != NULL || strstr(target, "tgt") || strstr(target, "target")};
    return !targets[0] && targets[1] && (strstr(source, "src") != NULL || strstr(source, "source") != NULL);
}

static ferry_status guess_vocabularies(const ferry_import_plan *plan, ferry_marian *marian, ferry_error *error)
{
    const char *names[MAX_NAMES];
    size_t count = collect(plan, is_vocabulary, "", "", names, MAX_NAMES);
    marian->guessed = count == 0;
    if (marian->guessed) count = collect(plan, NULL, "", ".spm", names, MAX_NAMES);
    if (count > 1 && count <= MAX_NAMES) count = keep_pair(marian, names, count);
    if (count == 1) {
        marian->vocabularies[0] = marian->vocabularies[1] = names[0];
        return FERRY_OK;
    }
    for (size_t i = 0; i < 2 && count == 2; i++) {
        if (!are_sides(names[i], names[1 - i])) continue;
        marian->vocabularies[0] = names[i];
        marian->vocabularies[1] = names[1 - i];
        return FERRY_OK;
    }
    const char *path = plan->source->path;
    if (count == 0)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: expected vocabularies beside the model ('vocab….spm', '….yml', '….json' or '….txt')",
                          path);
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: expected one vocabulary, or one with 'src' and one with 'trg' in its name; found %zu, among "
                      "them '%s' and '%s'",
                      path, count, ferry_printable_text(names[0]).text, ferry_printable_text(names[1]).text);
}

static ferry_status find_vocabularies(const ferry_import_plan *plan, ferry_marian *marian, ferry_error *error)
{
    /* They cut texts into pieces whose ids another vocabulary holds. */
    static const char *const segmenters[2][3] = {{"source.spm", "source.bpe", "source.bpe.model"},
                                                 {"target.spm", "target.bpe", "target.bpe.model"}};
    const char *path = plan->source->path, **names = marian->vocabularies;
    const json_t *listed = ferry_json_get(marian->decoder, "vocabs");
    if (listed == NULL) {
        FERRY_TRY(guess_vocabularies(plan, marian, error));
    } else if (ferry_json_text_count(listed) != 2) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: 'vocabs': expected a source and a target, found %zu",
                          marian->decoder.file, ferry_json_text_count(listed));
    } else {
        for (size_t i = 0; i < 2; i++) {
            const char *name = ferry_json_text_at(listed, i);
            FERRY_TRY(listed_file(plan, marian->decoder, "vocabs", name, &names[i], error));
        }
    }
    for (size_t i = 0; i < 2; i++)
        if (ferry_text_ends(names[i], ".fsv"))
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s': factored vocabularies are not supported", path,
                              names[i]);
    if (ferry_text_ends(names[0], ".spm")) return FERRY_OK;
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 1; k < 3; k++)
            if (ferry_source_has(plan->source, segmenters[i][k]))
                return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                                  "%s: '%s': texts that Moses' Perl scripts and subword-nmt prepare are not supported",
                                  path, segmenters[i][k]);
        if (ferry_source_has(plan->source, segmenters[i][0])) marian->segmenters[i] = segmenters[i][0];
    }
    return FERRY_OK;
}

/* ---- shortlists ---- */

static ferry_status find_lexicon(const ferry_import_plan *plan, ferry_marian *marian, ferry_error *error)
{
    const json_t *listed = ferry_json_get(marian->decoder, "shortlist");
    const char *names[MAX_NAMES];
    if (ferry_json_text_count(listed) > 0)
        return listed_file(plan, marian->decoder, "shortlist", ferry_json_text_at(listed, 0), &marian->lexicon, error);
    if (json_object_size(marian->decoder.object) > 0) return FERRY_OK;
    size_t count = collect(plan, NULL, "lex", ".bin", names, MAX_NAMES);
    if (count == 0) count = collect(plan, NULL, "lex", ".s2t", names, MAX_NAMES);
    if (count > MAX_NAMES) count = MAX_NAMES;
    if (count > 1) count = keep_pair(marian, names, count);
    if (count == 1) marian->lexicon = names[0];
    if (count <= 1) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: several shortlists: '%s', '%s'", plan->source->path,
                      ferry_printable_text(names[0]).text, ferry_printable_text(names[1]).text);
}

ferry_status ferry_import_marian(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_marian marian = {.weights = NULL};
    ferry_view bytes;
    (void)config;
    FERRY_TRY(read_decoder(plan, plan->source->selected, &marian.decoder, error));
    FERRY_TRY(find_weights(plan, &marian, error));
    if (json_object_size(marian.decoder.object) == 0)
        FERRY_TRY(read_decoder(plan, marian.weights, &marian.decoder, error));
    FERRY_TRY(find_vocabularies(plan, &marian, error));
    FERRY_TRY(find_lexicon(plan, &marian, error));
    FERRY_TRY(ferry_source_map(plan->source, marian.weights, &bytes, error));
    FERRY_TRY(ferry_import_read_weights(plan, marian.weights,
                                        ferry_is_zip(bytes) ? ferry_npz_read : ferry_marian_bin_read, error));
    marian.student = marian.lexicon != NULL;
    for (size_t i = 0; i < plan->weights.count; i++) marian.student |= plan->weights.entries[i].multiplier != 0;
    if (json_object_size(marian.decoder.object) > 0) marian.student = false;
    plan->kind = marian.student ? "bergamot" : marian.segmenters[0] != NULL ? "opus-mt" : "marian";
    FERRY_TRY(ferry_marian_config(plan, &marian, error));
    FERRY_TRY(ferry_marian_decoding(plan, &marian, error));
    FERRY_TRY(ferry_marian_tensors(plan, &marian, error));
    return ferry_marian_text(plan, &marian, error);
}
