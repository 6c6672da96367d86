#include "golden_activations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/containers/weights.h"
#include "tools/command.h"

/* Copies a tensor to aligned memory. `shape` [dims]: sizes above 0 are required, zeros are filled in. Prints a message
 * and returns NULL on failure. */
static void *copy_tensor(const ferry_golden *golden, const ferry_safetensors *file, const char *name, ferry_type type,
                         int32_t dims, int32_t *const *shape)
{
    const ferry_weights_entry *entry = ferry_weights_find(&file->weights, name);
    if (entry == NULL) {
        ferry_complain("%s: tensor '%s' is missing", golden->path, name);
        return NULL;
    }
    const ferry_tensor *tensor = &entry->tensor;
    char found[80], expected[80] = "", *end = expected;
    bool fits = tensor->type == type && tensor->dims == dims && ferry_tensor_count(tensor) <= INT32_MAX;
    for (int32_t i = 0; i < dims; i++) {
        if (*shape[i] > 0)
            end += snprintf(end, 16, "%s%d", i > 0 ? ", " : "", (int)*shape[i]);
        else
            end += snprintf(end, 16, "%s?", i > 0 ? ", " : "");
        fits = fits && tensor->shape[i] > 0 && (*shape[i] == 0 || *shape[i] == tensor->shape[i]);
        if (fits) *shape[i] = (int32_t)tensor->shape[i];
    }
    if (!fits) {
        ferry_complain("%s: tensor '%s': expected %s [%s], found %s %s", golden->path, name, ferry_type_name(type),
                       expected, ferry_type_name(tensor->type), ferry_tensor_shape_text(tensor, found, sizeof found));
        return NULL;
    }
    void *copy = malloc(tensor->bytes);
    if (copy == NULL) ferry_complain("%s: tensor '%s': out of memory", golden->path, name);
    if (copy != NULL) memcpy(copy, tensor->data, tensor->bytes);
    return copy;
}

static bool copy_tensors(ferry_golden *g, const ferry_safetensors *file)
{
    int32_t *R = &g->R, *S = &g->S, *T = &g->T, *G = &g->G, *D = &g->D, *V = &g->V;
    g->source_ids = copy_tensor(g, file, "source_ids", FERRY_I32, 2, (int32_t *[]){R, S});
    if (g->source_ids == NULL) return false;
    g->source_lengths = copy_tensor(g, file, "source_lengths", FERRY_I32, 1, (int32_t *[]){R});
    if (g->source_lengths == NULL) return false;
    g->encoder_output = copy_tensor(g, file, "encoder_output", FERRY_F32, 3, (int32_t *[]){R, S, D});
    if (g->encoder_output == NULL) return false;
    g->decoder_input_ids = copy_tensor(g, file, "decoder_input_ids", FERRY_I32, 2, (int32_t *[]){R, T});
    if (g->decoder_input_ids == NULL) return false;
    g->logits = copy_tensor(g, file, "logits", FERRY_F32, 3, (int32_t *[]){R, T, V});
    if (g->logits == NULL) return false;
    g->greedy_ids = copy_tensor(g, file, "greedy_ids", FERRY_I32, 2, (int32_t *[]){R, G});
    return g->greedy_ids != NULL;
}

/* Recorded ids are used as indices into the logits. */
static bool check_numbers(const ferry_golden *g)
{
    for (int32_t r = 0; r < g->R; r++)
        if (g->source_lengths[r] < 1 || g->source_lengths[r] > g->S) {
            ferry_complain("%s: tensor 'source_lengths': expected 1 to %d, found %d", g->path, (int)g->S,
                           (int)g->source_lengths[r]);
            return false;
        }
    for (int32_t i = 0; i < g->R * g->G; i++)
        if (g->greedy_ids[i] < 0 || g->greedy_ids[i] >= g->V) {
            ferry_complain("%s: tensor 'greedy_ids': expected ids below %d, found %d", g->path, (int)g->V,
                           (int)g->greedy_ids[i]);
            return false;
        }
    return true;
}

bool ferry_golden_open(ferry_golden *golden, const char *path, const ferry_inspect_sizes *sizes)
{
    ferry_safetensors file;
    ferry_error error;
    *golden = (ferry_golden){.path = path, .D = sizes->d_model, .V = sizes->target_vocab};
    if (!ferry_succeeded(ferry_safetensors_open(path, &file, &error), &error)) return false;
    const bool done = copy_tensors(golden, &file) && check_numbers(golden);
    ferry_safetensors_close(&file);
    if (!done) ferry_golden_close(golden);
    return done;
}

void ferry_golden_close(ferry_golden *golden)
{
    free(golden->source_ids);
    free(golden->source_lengths);
    free(golden->decoder_input_ids);
    free(golden->greedy_ids);
    free(golden->encoder_output);
    free(golden->logits);
    memset(golden, 0, sizeof *golden);
}
