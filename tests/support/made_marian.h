/* Small models in Marian's .bin, of every kind that its configuration can say, and folders around them. */
#ifndef FERRY_SUPPORT_MADE_MARIAN_H
#define FERRY_SUPPORT_MADE_MARIAN_H

#include "import_support.h"

enum { MARIAN_D = 8, MARIAN_F = 16, MARIAN_V = 12, MARIAN_TARGET_V = 10, MARIAN_DECODER_LAYERS = 2 };

typedef enum marian_ties { MARIAN_TIED_ALL, MARIAN_TIED_SOURCE, MARIAN_TIED_TARGET, MARIAN_TIED_NONE } marian_ties;

typedef struct marian_kind {
    const char *version; /* NULL: v1.12.43 */
    const char *type;    /* NULL: transformer */
    const char *keys;    /* further lines of special:model.yml, NULL: none; what they say must be said below, too */
    marian_ties ties;
    bool ssru, pre_norm, rms, embedding_norm, top_norm, no_output_bias;
    bool old_output;     /* decoder_ff_logit_out_W [D, V] */
    int32_t decoder_ffn; /* the decoder's inner width; 0: MARIAN_F */
    bool one_layer;      /* tensors of decoder layer 1 only */
    const char *without; /* a tensor that is left out */
    const char *extra;   /* a vector that is added, of one element if it is a multiplier of inputs */
    const char *narrow;  /* a tensor that is one column short */
    uint64_t codes;      /* type code of matrices in layers: 0 float32, or an intgemm one, multiplier 16 */
} marian_kind;

/* Element i of the tensor; exact in float32, a sixteenth's multiple for integers. */
float marian_value(const char *tensor, size_t i);
void marian_write(const char *path, const marian_kind *kind);
/* A new scratch folder with model.bin of `kind`, vocab.src.txt, vocab.trg.txt or, where both sides share their pieces,
 * vocab.txt. */
char *marian_folder(const marian_kind *kind);

#endif
