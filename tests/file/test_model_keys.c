/* The keys and tensors of what published models need: bound as they are written, with their defaults, and refused by
 * name when they do not fit. */
#include "base/tensor.h"
#include "tests/support/model_damage.h"

#include "engine/file/bind.h"
#include "engine/lines/model.h"
#include "engine/file/model_file.h"
#include "engine/file/schema.h"

static sample open_small(const small_model *small, ferry_model_file *file)
{
    const sample model = make_small_sample(small);
    CHECK(open_model_file(model.path, file, &error));
    return model;
}

/* ---- the graph ---- */

static void put_more(ferry_gguf_writer *writer)
{
    ferry_gguf_put(writer, "ferry.alignment_layer", FERRY_GGUF_I32, &(int32_t){1});
    ferry_gguf_put(writer, "ferry.alignment_head", FERRY_GGUF_I32, &(int32_t){2});
    ferry_gguf_put_u32(writer, "ferry.alignment_heads", 1);
    ferry_gguf_put_f32(writer, "ferry.decoding.word_penalty", 0.25f);
    ferry_gguf_put_f32(writer, "ferry.decoding.length_factor", 1.5f);
    ferry_gguf_put_u32(writer, "ferry.decoding.length_extra", 7);
    ferry_gguf_put_bool(writer, "ferry.decoding.shortlist", false);
}

TEST(test_choices_are_bound)
{
    ferry_model_file file;
    const small_model small = {.ssru = true,
                               .gated = true,
                               .rms = true,
                               .pre_norm = true,
                               .final_norm = -1,
                               .embedding_norm = true,
                               .sentence_inputs = true,
                               .zero_start = true,
                               .activation = "gelu_sigmoid",
                               .output_scale = 0.5f,
                               .keys = put_more};
    open_small(&small, &file);
    const ferry_transformer *graph = &file.transformer;
    assert_true(graph->ssru && graph->sentence_inputs && graph->output_scale == 0.5f && file.generation.start_id == -1);
    assert_true(file.generation.alignment_layer == 1 && file.generation.alignment_head == 2);
    for (int s = 0; s < 2; s++) {
        const ferry_stack *stack = s == 0 ? &graph->encoder : &graph->decoder;
        assert_true(stack->gated && stack->pre_norm && stack->norm == FERRY_RMS_NORM);
        assert_int_equal(stack->activation, FERRY_GELU_SIGMOID);
        assert_non_null(stack->embedding_norm.weight);
        assert_null(stack->embedding_norm.bias);
        assert_null(stack->final_norm.weight);
        assert_non_null(stack->layers[1].ffn_gate.panels);
        assert_null(stack->layers[1].ffn_gate.bias);
    }
    assert_non_null(graph->decoder.layers[1].ssru.forget.panels);
    assert_null(graph->decoder.layers[1].self.q.panels);
    assert_true(file.generation.decoding.search.word_penalty == 0.25f &&
                file.generation.decoding.options.length_factor == 1.5f);
    assert_true(file.generation.decoding.options.length_extra == 7 && !file.generation.decoding.options.shortlist);
    ferry_model_file_close(&file);
}

TEST(test_defaults)
{
    ferry_model_file file;
    const small_model small = {0};
    open_small(&small, &file);
    const ferry_transformer *graph = &file.transformer;
    assert_true(!graph->ssru && !graph->sentence_inputs && graph->output_scale == 1.0f &&
                file.generation.start_id == 0);
    assert_true(file.generation.alignment_layer == -1 && file.generation.alignment_head == -1);
    assert_true(!graph->encoder.gated && graph->encoder.norm == FERRY_LAYER_NORM);
    assert_null(graph->encoder.embedding_norm.weight);
    assert_null(graph->encoder.final_norm.weight);
    assert_int_equal(file.generation.decoding.search.policy, FERRY_POLICY_HUGGINGFACE);
    assert_true(file.generation.decoding.search.word_penalty == 0 &&
                file.generation.decoding.options.length_factor == 3);
    assert_true(file.generation.decoding.options.length_extra == 50 && file.generation.decoding.options.shortlist);
    assert_null(file.generation.shortlist.offsets);
    assert_true(!file.text.present && file.languages.count == 0);
    assert_null(file.origin.hashes);
    /* Of each layer 24 × 21 four times, 19 × 24 twice, two norms; the decoder has four more and a norm. Embeddings,
     * bias. */
    assert_int_equal(file.parameters, 2 * (4 * 504 + 2 * 456 + 2 * 48) + 2 * (8 * 504 + 2 * 456 + 3 * 48) + 504 + 21);
    assert_int_equal(file.type, FERRY_F32);
    ferry_model_file_close(&file);
}

TEST(test_bad_choices)
{
    const small_model small = {
        .gated = true, .rms = true, .embedding_norm = true, .output_scale = 2, .zero_start = true, .keys = put_more};
    static const refusal rows[] = {
        {"ferry.decoding.policy", "huggingfuss", UNSUPPORTED,
         "key 'ferry.decoding.policy': 'huggingfuss' is not supported by this build; expected "
         "huggingface|marian|ctranslate2"},
        {"ferry.encoder.norm", "rmz", UNSUPPORTED, "key 'ferry.encoder.norm': 'rmz'"},
        {"ferry.encoder.ffn_gated", "0", FORMAT, "tensor 'enc.blk.0.ffn_gate.weight' is unknown"},
        {"ferry.decoder.embedding_norm", "0", FORMAT, "tensor 'dec.embd_norm.weight' is unknown"},
        {"ferry.decoder.final_norm", "1", FORMAT, "tensor 'dec.output_norm.weight' is missing"},
        {"ferry.output_scale", "nan", FORMAT, "expected a finite number"},
        {"ferry.alignment_heads", "2", FORMAT, "ferry.alignment_heads: expected at most 1 from head 2, found 2"},
        {"ferry.decoding.length_factor", "17", FORMAT, "from 0 to 16, found 17"},
    };
    REFUSE_EACH(make_small_sample(&small), rows);
}

/* Biases of norms belong to layer norms, self-attention's matrices to attention. */
TEST(test_tensors_follow_the_choices)
{
    const small_model layernorm = {0}, ssru = {.ssru = true, .linear_bias = true};
    static const refusal of_layernorm[] = {
        {"enc.blk.0.attn_norm.bias", NULL, FORMAT, "tensor 'enc.blk.0.attn_norm.bias' is missing"},
    };
    static const refusal of_ssru[] = {
        {"dec.blk.1.ssru_forget.bias", NULL, FORMAT, "tensor 'dec.blk.1.ssru_forget.bias' is missing"},
        {"dec.blk.0.ssru_input.weight", NULL, FORMAT, "tensor 'dec.blk.0.ssru_input.weight' is missing"},
        {"ferry.decoder.block", "lstm", UNSUPPORTED, "key 'ferry.decoder.block': 'lstm'"},
    };
    REFUSE_EACH(make_small_sample(&layernorm), of_layernorm);
    REFUSE_EACH(make_small_sample(&ssru), of_ssru);
}

static void put_slopes(ferry_gguf_writer *writer)
{
    ferry_gguf_put_string(writer, "ferry.decoder.position.slopes", "formula");
}

static void put_rope(ferry_gguf_writer *writer)
{
    ferry_gguf_put_f32(writer, "ferry.decoder.position.theta", 100);
    ferry_gguf_put_string(writer, "ferry.decoder.position.layout", "half");
    ferry_gguf_put_u32(writer, "ferry.decoder.position.dims", 6);
}

/* Refused as they are written. */
TEST(test_models_that_contradict_themselves)
{
    static const struct {
        small_model model;
        const char *message;
    } rows[] = {
        {{.ssru = true, .position = "alibi", .keys = put_slopes},
         "ferry.decoder.position.type: 'alibi' needs self-attention, not an SSRU"},
        {{.ssru = true, .position = "rope", .keys = put_rope},
         "ferry.decoder.position.type: 'rope' needs self-attention, not an SSRU"},
        {{.type = FERRY_I8, .layers = 1, .d_model = 4, .ffn_width = 65537},
         "tensor 'enc.blk.0.ffn_down.weight': expected at most 65536 inputs of i8, found 65537"},
        {{.type = FERRY_I8, .scales = SMALL_BOTH}, "'token_embd.scale' and 'token_embd.multiplier', found both"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sample model = make_small_sample(&rows[i].model);
        refuse(&model, FORMAT, rows[i].message);
    }
}

/* ---- matrices ---- */

TEST(test_codes_are_used_where_they_are_mapped)
{
    ferry_model_file file;
    for (int scales = SMALL_ROW_SCALES; scales <= SMALL_INPUT_MULTIPLIER; scales++) {
        const small_model small = {.type = FERRY_I8, .scales = (small_scales)scales, .linear_bias = true};
        sample model = open_small(&small, &file);
        assert_true(file.widened_bytes == 0 && file.type == FERRY_I8);
        const ferry_matrix *up = &file.transformer.decoder.layers[1].ffn_up, *out = &file.transformer.output;
        assert_true((size_t)((const char *)up->int8 - file.gguf.bytes.data) ==
                    data_of(&model, "dec.blk.1.ffn_up.weight"));
        assert_true(up->kind == FERRY_MATRIX_INT8 && up->N == 19 && up->K == 24 && up->bias != NULL);
        assert_true((up->scales != NULL) == (scales == SMALL_ROW_SCALES));
        assert_true((up->multiplier > 0) == (scales != SMALL_ROW_SCALES));
        assert_true((up->input_multiplier > 0) == (scales == SMALL_INPUT_MULTIPLIER));
        /* Ties share codes and what belongs to them, not the bias. */
        assert_ptr_equal(out->int8, file.transformer.encoder.embedding.int8);
        assert_ptr_equal(out->scales, file.transformer.decoder.embedding.scales);
        assert_true(out->multiplier == file.transformer.encoder.embedding.multiplier);
        assert_true(out->bias != NULL && file.transformer.decoder.embedding.bias == NULL);
        ferry_model_file_close(&file);
    }
}

TEST(test_types_may_be_mixed)
{
    ferry_model_file file, plain;
    const small_model mixed = {.type = FERRY_I8, .untied = true, .mixed = true}, floats = {.untied = true};
    open_small(&mixed, &file);
    const ferry_transformer *graph = &file.transformer;
    assert_true(graph->output.panels != NULL && graph->output.kind == FERRY_MATRIX_FLOATS);
    assert_true(graph->encoder.embedding.kind == FERRY_MATRIX_FLOATS);
    assert_true(graph->encoder.embedding.panels != NULL && graph->encoder.embedding.panels == file.widened);
    assert_true(graph->decoder.embedding.int8 != NULL && graph->decoder.embedding.kind == FERRY_MATRIX_INT8);
    assert_int_equal(file.type, FERRY_I8);
    open_small(&floats, &plain);
    assert_int_equal(file.parameters, plain.parameters); /* scales were not trained */
    ferry_model_file_close(&plain);
    ferry_model_file_close(&file);
}

/* Sizes of which 32 is a divisor. */
#define OF_STEPS .type = FERRY_I8, .d_model = 32, .heads = 4, .head_width = 8, .ffn_width = 64

TEST(test_steps_are_used_where_they_are_mapped)
{
    ferry_model_file file;
    const small_model small = {OF_STEPS, .steps = SMALL_STEPS, .linear_bias = true, .keys = ferry_gguf_put_hash};
    sample model = open_small(&small, &file);
    const ferry_matrix *down = &file.transformer.decoder.layers[1].ffn_down;
    assert_true((size_t)((const char *)down->steps - file.gguf.bytes.data) ==
                data_of(&model, "dec.blk.1.ffn_down.weight"));
    assert_true(down->kind == FERRY_MATRIX_STEPS && down->N == 32 && down->K == 64);
    assert_true(down->scales != NULL && down->bias != NULL && down->extra == NULL);
    assert_int_equal(file.transformer.output.kind, FERRY_MATRIX_INT8);
    CHECK(ferry_model_file_verify(&file, &error));
    ferry_model_file_close(&file);
    static const refusal refusals[] = {
        {"ferry.encoder.ffn_width", "96", FORMAT,
         "tensor 'enc.blk.0.ffn_up.weight': expected shape [6, 5, 64], found [4, 5, 64]"},
        {"ferry.d_model", "64", FORMAT, "tensor 'token_embd.weight': expected shape"},
        {"enc.blk.0.ffn_up.scale[18]", "0", FORMAT, "tensor 'enc.blk.0.ffn_up.scale': expected finite numbers above 0"},
        {"enc.blk.1.attn_q.scale", NULL, FORMAT, "expected one of the tensors 'enc.blk.1.attn_q.scale' and "},
    };
    REFUSE_EACH(model, refusals);
}

/* Codes beyond int8 give any text; only looking at all of them finds them. Embeddings have no steps. */
TEST(test_bad_steps)
{
    ferry_model_file file;
    open_small(&(small_model){OF_STEPS, .steps = SMALL_STEPS_LIE, .keys = ferry_gguf_put_hash}, &file);
    REFUSE(ferry_model_file_verify(&file, &error), FERRY_ERROR_FORMAT,
           "tensor 'enc.blk.0.attn_q.weight': expected codes from -127 to 127, found others");
    ferry_model_file_close(&file);
    const sample model = make_small_sample(&(small_model){OF_STEPS, .steps = SMALL_STEPS_OF_EMBEDDING});
    refuse(&model, FORMAT, "tensor 'token_embd.weight': expected shape [2, 8, 64], found [2, 5, 64]");
}

TEST(test_bad_codes)
{
    const small_model scales = {.type = FERRY_I8}, multipliers = {.type = FERRY_I8, .scales = SMALL_INPUT_MULTIPLIER};
    static const refusal of_scales[] = {
        {"enc.blk.0.ffn_up.scale[18]", "0", FORMAT,
         "tensor 'enc.blk.0.ffn_up.scale': expected finite numbers above 0, found 0 at 18"},
        {"token_embd.scale[0]", "nan", FORMAT, "tensor 'token_embd.scale': expected finite numbers above 0"},
        {"enc.blk.1.attn_q.scale", NULL, FORMAT,
         "expected one of the tensors 'enc.blk.1.attn_q.scale' and 'enc.blk.1.attn_q.multiplier', found none"},
        {"ferry.encoder.ffn_width", "20", FORMAT, "tensor 'enc.blk.0.ffn_up.scale': expected shape [20], found [19]"},
        {"ferry.d_model", "28", FORMAT, "tensor 'token_embd.weight': expected shape [2, 7, 64], found [2, 6, 64]"},
    };
    static const refusal of_multipliers[] = {
        {"token_embd.multiplier[0]", "-1", FORMAT, "expected finite numbers above 0, found -1"},
        {"token_embd.input_multiplier[0]", "inf", FORMAT, "tensor 'token_embd.input_multiplier'"},
        {"token_embd.input_multiplier", NULL, FORMAT, "tensor 'token_embd.input_multiplie~' is unknown"},
    };
    REFUSE_EACH(make_small_sample(&scales), of_scales);
    REFUSE_EACH(make_small_sample(&multipliers), of_multipliers);
}

/* ---- shortlist ---- */

enum { SOURCES = 9 };
static const int32_t list_offsets[SOURCES + 1] = {0, 1, 3, 3, 5, 6, 6, 6, 6, 7};
static const int32_t list_ids[] = {2, 5, 20, 0, 1, 7, 19};

#define OFFSETS "tensor 'shortlist.offsets': expected ascending numbers from 0 to 7"

TEST(test_shortlist)
{
    ferry_model_file file;
    const small_shortlist lists = {.first = 4, .offsets = list_offsets, .ids = list_ids, .count = 7};
    const small_model small = {.untied = true, .source_vocab = SOURCES, .shortlist = &lists};
    sample model = open_small(&small, &file);
    const ferry_shortlist *found = &file.generation.shortlist;
    assert_true(found->first == 4 && !found->shared);
    assert_memory_equal(found->offsets, list_offsets, sizeof list_offsets);
    assert_memory_equal(found->ids, list_ids, sizeof list_ids);
    ferry_model_file_close(&file);
    static const refusal rows[] = {
        {"shortlist.offsets[0]", "1", FORMAT, OFFSETS},
        {"shortlist.offsets[1]", "4", FORMAT, OFFSETS},
        {"shortlist.offsets[3]", "2", FORMAT, OFFSETS},
        {"shortlist.offsets[8]", "8", FORMAT, OFFSETS},
        {"shortlist.offsets[3]", "-1", FORMAT, OFFSETS},
        {"shortlist.offsets[9]", "6", FORMAT, OFFSETS},
        {"shortlist.offsets[9]", "8", FORMAT, OFFSETS},
        {"shortlist.ids[0]", "21", FORMAT, "list of 0: expected ascending ids below 21, found 21"},
        {"shortlist.ids[6]", "21", FORMAT, "list of 8: expected ascending ids below 21, found 21"},
        {"shortlist.ids[6]", "-1", FORMAT, "list of 8: expected ascending ids below 21, found -1"},
        {"shortlist.ids[2]", "5", FORMAT, "list of 1: expected ascending ids below 21, found 5"},
        {"ferry.shortlist.first", "22", FORMAT, "'ferry.shortlist.first': expected 0 to 21, found 22"},
        {"ferry.shortlist.shared", "1", FORMAT,
         "ferry.shortlist.shared: expected one vocabulary, found sizes 9 and 21"},
        {"ferry.shortlist.shared", NULL, FORMAT, "'ferry.shortlist.shared' is missing"},
        {"ferry.shortlist.first", NULL, FORMAT, "is unknown"},
        {"shortlist.ids", NULL, FORMAT, "tensor 'shortlist.ids' is missing"},
    };
    REFUSE_EACH(model, rows);
}

/* ---- text ---- */

static const small_model multilingual = {
    .untied = true, .source_vocab = 9, .tokenizer = "pieces", .keys = put_small_languages};

TEST(test_pieces_and_languages)
{
    static const int32_t roles[] = {1, 3}, source_ids[] = {4, 5}, target_ids[] = {-1, 20};
    ferry_model_file file;
    sample model = open_small(&multilingual, &file);
    const ferry_tokenizer_config *text = &file.text;
    const ferry_model_languages *found = &file.languages;
    assert_true(text->present && text->source_model.size == 0 && text->opus_punctuation);
    assert_true(text->source_count == 9 && text->target_count == 21);
    assert_true(found->count == 2 && found->source_tag == FERRY_TAG_SUFFIX && found->target_tag == FERRY_TAG_FIRST);
    assert_memory_equal(ferry_string_table_at(found->names, 1).data, "deu_Latn de deu", 15);
    assert_memory_equal(found->roles, roles, sizeof roles);
    assert_memory_equal(found->source_ids, source_ids, sizeof source_ids);
    assert_memory_equal(found->target_ids, target_ids, sizeof target_ids);
    assert_true(found->prompt_count == 1 && found->prompt_sources[0] == -1 && found->prompt_targets[0] == 1);
    assert_memory_equal(ferry_string_table_at(found->prompts, 0).data, "to German: ", 11);
    assert_true(found->default_source == 0 && found->default_target == 1);
    ferry_model_file_close(&file);
    static const refusal rows[] = {
        {"ferry.languages.roles", NULL, FORMAT, "'ferry.languages.roles' is missing"},
        {"ferry.languages.default_source", NULL, FORMAT, "'ferry.languages.default_source' is missing"},
        {"ferry.languages.prompt_targets", NULL, FORMAT, "'ferry.languages.prompt_targets' is missing"},
        {"ferry.languages.prompts", NULL, FORMAT, "'ferry.languages.prompt_sources': expected 0 numbers, found 1"},
        /* then an id of the source, where 20 does not exist */
        {"ferry.languages.target_tag", "prefix", FORMAT, "'ferry.languages.target_ids': expected -1 to 8, found 20"},
        {"ferry.languages.source_tag", "first", FORMAT, "key 'ferry.languages.source_tag': only a target's tag"},
        {"ferry.languages.target_tag", "last", UNSUPPORTED, "key 'ferry.languages.target_tag': 'last'"},
        {"ferry.languages.roles", "2", FORMAT,
         "key 'ferry.languages.default_source': language 0 does not have this role"},
        {"ferry.languages.default_target", "0", FORMAT,
         "key 'ferry.languages.default_target': language 0 does not have this role"},
    };
    REFUSE_EACH(model, rows);
}

/* ---- origin ---- */

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char *last_hash;

static void put_origin(ferry_gguf_writer *writer)
{
    static const uint64_t sizes[] = {42, 43};
    const ferry_view names[] = {text_view("weights.bin"), text_view("words.txt")};
    const ferry_view hashes[] = {text_view(HASH), text_view(last_hash)};
    ferry_gguf_put_string(writer, "ferry.origin.kind", "a test");
    ferry_gguf_put_u32(writer, "ferry.origin.trained_length", 40);
    ferry_gguf_put_u32(writer, "ferry.origin.trained_seed", 3);
    ferry_gguf_put_f32(writer, "ferry.origin.trained_tokens", 6e6f);
    ferry_gguf_put_texts(writer, "ferry.origin.files", names, 2);
    ferry_gguf_put_array(writer, "ferry.origin.sizes", FERRY_GGUF_U64, sizes, 2);
    ferry_gguf_put_texts(writer, "ferry.origin.hashes", hashes, 2);
}

TEST(test_hashes)
{
    static const char *const wrong[] = {HASH "0", HASH "g", &HASH[1], "g" HASH, ""};
    static const refusal first[] = {
        {"ferry.origin.hashes", &HASH[1], FORMAT, "key 'ferry.origin.hashes': expected 64 hexadecimal digits"}};
    ferry_model_file file;
    const small_model small = {.keys = put_origin};
    last_hash = HASH;
    sample model = open_small(&small, &file);
    assert_memory_equal(ferry_string_table_at(file.origin.hashes, 1).data, HASH, 64);
    assert_true(file.origin.file_count == 2 && file.origin.sizes[1] == 43 && file.origin.trained_length == 40);
    ferry_model_file_close(&file);
    REFUSE_EACH(model, first);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        last_hash = wrong[i];
        model = make_small_sample(&small);
        refuse(&model, FORMAT, "key 'ferry.origin.hashes': expected 64 hexadecimal digits");
    }
}

/* ---- in words ---- */

static void put_everything(ferry_gguf_writer *writer)
{
    put_more(writer);
    put_small_languages(writer);
    put_origin(writer);
}

TEST(test_description)
{
    ferry_text text;
    const small_shortlist lists = {.first = 4, .offsets = list_offsets, .ids = list_ids, .count = 7};
    small_model small = multilingual;
    small.ssru = small.gated = small.rms = small.embedding_norm = small.zero_start = true;
    small.final_norm = 1;
    small.output_scale = 0.5f;
    small.type = FERRY_I8;
    small.scales = SMALL_INPUT_MULTIPLIER;
    small.policy = "marian";
    small.shortlist = &lists;
    small.keys = put_everything;
    last_hash = HASH;
    ferry_model *model = open_small_model(&small, NULL);
    CHECK(ferry_inspect_describe(model, &text, &error));
    static const char *const expected[] = {
        "parameters as i8",
        "output × 0.5",
        "int8: 35 matrices, 35 with one multiplier, 35 with a multiplier for their inputs",
        "2 layers of SSRU and cross-attention",
        "ffn 19 (gated relu), post-RMS-norm",
        "embeddings normalized, a norm at the end",
        "alignment: layer 1, head 2",
        "shortlist: the first 4 words and 0.8 more for each source word; off by default",
        "pieces with blanks between them",
        "punctuation is cleaned first",
        "languages: from 2 (tag: suffix), into 1 (tag: first); 1 prompts; from eng_Latn by default; into deu_Latn by "
        "default",
        "start with a row of zeros",
        "policy marian",
        "word penalty 0.25",
        "at most 1.5 × source + 7 tokens",
        "states 0.3 kB for each hypothesis",
        "SHA-256 " HASH "  weights.bin",
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (find_text((ferry_view){(const char *)text.data, text.size}, expected[i]) == NULL)
            fail_msg("'%s' is not in\n%.*s", expected[i], (int)text.size, text.data);
    ferry_inspect_free(text.data);
    ferry_model_close(model);
}

/* ---- what keys may be ---- */

static void put_words(ferry_gguf_writer *writer)
{
    static const double scores[9] = {0};
    static const int32_t added[] = {2, 3}, flags[] = {0, 7};
    const ferry_view steps[] = {text_view("nfc")}, merges[] = {text_view("a b")};
    ferry_gguf_put_array(writer, "ferry.tokenizer.source.scores", FERRY_GGUF_F64, scores, 9);
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.steps", steps, 1);
    ferry_gguf_put_array(writer, "ferry.tokenizer.source.added_ids", FERRY_GGUF_I32, added, 2);
    ferry_gguf_put_array(writer, "ferry.tokenizer.source.added_flags", FERRY_GGUF_I32, flags, 2);
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.merges", merges, 1);
}

/* A model of 2 layers, 3 heads, 9 source ids and 21 target ids that has all keys of one kind of tokenizer. */
static sample make_full_sample(const char *tokenizer)
{
    static const small_shortlist lists = {.first = 4, .offsets = list_offsets, .ids = list_ids, .count = 7};
    small_model small = multilingual;
    small.tokenizer = tokenizer;
    small.shortlist = &lists;
    small.output_scale = 0.5f;
    small.keys = strcmp(tokenizer, "pieces") == 0 ? put_everything : put_words;
    last_hash = HASH;
    return make_small_sample(&small);
}

#define SIZES_OF(stack)                                                                                                \
    {stack ".layers", 1, 1024, 1}, {stack ".heads", 1, 4096, 1}, {stack ".head_width", 1, 65536, 1},                   \
        {stack ".ffn_width", 1, 1 << 20, 1}, {stack ".vocab_size", 1, 1 << 20, 1},                                     \
    {                                                                                                                  \
        stack ".norm_eps", 1e-30, 3e38, 1e38                                                                           \
    }

/* The least, the largest, and one beyond either (docs/model-file.md). */
TEST(test_bounds_of_keys)
{
    static const bounds rows[] = {
        {"ferry.d_model", 1, 65536, 1},
        SIZES_OF("ferry.encoder"),
        SIZES_OF("ferry.decoder"),
        {"ferry.alignment_layer", -1, 1, 1},
        {"ferry.alignment_head", -1, 2, 1},
        {"ferry.alignment_heads", 1, 3, 1},
        {"ferry.shortlist.first", 0, 21, 1},
        {"ferry.start_id", -1, 20, 1},
        {"ferry.eos_ids", 0, 20, 1},
        {"ferry.pad_id", -1, 20, 1},
        {"ferry.decoding.beam", 1, 64, 1},
        {"ferry.decoding.length_penalty", -1000, 1000, 0.001},
        {"ferry.decoding.word_penalty", -1000, 1000, 0.001},
        {"ferry.decoding.max_length", 0, 4096, 1},
        {"ferry.decoding.length_factor", 0, 16, 0.001},
        {"ferry.decoding.length_extra", 0, 4096, 1},
        {"ferry.decoding.min_length", 0, 512, 1},
        {"ferry.decoding.repetition_penalty", 0.001, 1000, 0.0009},
        {"ferry.decoding.no_repeat_ngram", 0, 64, 1},
        {"ferry.decoding.forced_first_id", -1, 20, 1},
        {"ferry.decoding.forced_last_id", -1, 20, 1},
        {"ferry.tokenizer.source.unk_id", 0, 8, 1},
        {"ferry.tokenizer.source.suffix_ids", 0, 8, 1},
        {"ferry.tokenizer.target.special_ids", 0, 20, 1},
        {"ferry.languages.roles", 1, 3, 1},
        {"ferry.languages.source_ids", -1, 8, 1},
        {"ferry.languages.target_ids", -1, 20, 1},
        {"ferry.languages.prompt_sources", -1, 1, 1},
        {"ferry.languages.prompt_targets", -1, 1, 1},
        {"ferry.languages.default_source", -1, 1, 1},
        {"ferry.languages.default_target", -1, 1, 1},
        {"ferry.origin.trained_length", 0, 1 << 20, 1},
        {"ferry.origin.trained_seed", 0, INT32_MAX, 1},
    };
    static const bounds of_words[] = {
        {"ferry.tokenizer.source.added_ids", 0, 8, 1},
        {"ferry.tokenizer.source.added_flags", 0, 7, 1},
    };
    CHECK_BOUNDS(make_full_sample("pieces"), rows);
    CHECK_BOUNDS(make_full_sample("unigram"), of_words);
}

TEST(test_lengths_of_lists)
{
    static const elements rows[] = {
        {"ferry.eos_ids", 1, 64},
        {"ferry.decoding.suppressed_ids", 0, 21},
        {"ferry.tokenizer.source.prefix_ids", 0, 64},
        {"ferry.tokenizer.source.suffix_ids", 0, 64},
        {"ferry.tokenizer.target.special_ids", 0, 21},
        {"ferry.tokenizer.source.pieces", 9, 9},
        {"ferry.tokenizer.target.pieces", 21, 21},
        {"ferry.languages.names", 0, 4096},
        {"ferry.languages.roles", 2, 2},
        {"ferry.languages.source_ids", 2, 2},
        {"ferry.languages.target_ids", 2, 2},
        {"ferry.languages.prompts", 0, 65536},
        {"ferry.languages.prompt_sources", 1, 1},
        {"ferry.languages.prompt_targets", 1, 1},
        {"ferry.origin.sizes", 2, 2},
        {"ferry.origin.hashes", 2, 2},
    };
    static const elements of_words[] = {
        {"ferry.tokenizer.source.scores", 9, 9},
        {"ferry.tokenizer.source.steps", 0, 48},
        {"ferry.tokenizer.source.added_ids", 0, 9},
        {"ferry.tokenizer.source.added_flags", 2, 2},
    };
    CHECK_ELEMENTS(make_full_sample("pieces"), rows);
    CHECK_ELEMENTS(make_full_sample("unigram"), of_words);
}

/* Which tokenizers have which keys, and whether a second model, table or list of merges is one. */
TEST(test_keys_of_tokenizers)
{
    enum { SENTENCEPIECE = 1 << 2, UNIGRAM = 1 << 3, BPE = 1 << 4, SUBWORDS = 7 << 5 }; /* of ferry_tokenizer_kind */
    static const struct {
        const char *key;
        int kinds;
        bool second; /* only where it differs from the first */
    } rows[] = {
        {"source.model", SENTENCEPIECE, false},  {"target.model", SENTENCEPIECE, true},
        {"source.scores", UNIGRAM, false},       {"source.steps", UNIGRAM | BPE, false},
        {"target.blanks", UNIGRAM | BPE, false}, {"source.word_end", BPE, false},
        {"source.moses", SUBWORDS, false},       {"source.merges", BPE | SUBWORDS, false},
        {"target.merges", BPE | SUBWORDS, true}, {"target.pieces", 0xFF, true},
    };
    const ferry_view pieces[] = {{"a", 1}, {"b", 1}, {"c", 1}}, others[][3] = {{{"d", 1}, {"b", 1}, {"c", 1}},
                                                                               {{"a", 1}, {"b", 1}, {"d", 1}},
                                                                               {{"a", 1}, {"b", 1}, {"c", 1}},
                                                                               {{"a", 1}, {"b", 1}, {"c", 1}}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int i = 0; i < 5 * 8; i++) { /* the same, another first piece, another last one, one more on either side */
            ferry_tokenizer_config text = {.kind = (ferry_tokenizer_kind)(i % 8),
                                           .source_count = i / 8 == 4 ? 2 : 3,
                                           .target_count = i / 8 == 3 ? 2 : 3};
            const ferry_schema_values values = {.text = &text};
            const bool differ = i >= 8;
            text.source_pieces = KEPT_TEXTS(pieces);
            text.target_pieces = differ ? KEPT_TEXTS(others[i / 8 - 1]) : text.source_pieces;
            text.source_merges = text.source_pieces;
            text.target_merges = text.target_pieces;
            text.source_model = text_view("model");
            text.target_model = text_view(differ ? "modem" : "model");
            const bool expected = (rows[r].kinds >> text.kind & 1) == 1 && (differ || !rows[r].second);
            if (ferry_key_applies(ferry_schema_find(FERRY_KEYS_TOKENIZER, rows[r].key), &values) != expected)
                fail_msg("%s, kind %d, variant %d", rows[r].key, i % 8, i / 8);
        }
}

static const char *source_model;
static bool has_targets;

static void put_models(ferry_gguf_writer *writer)
{
    ferry_gguf_put_array(writer, "ferry.tokenizer.source.model", FERRY_GGUF_U8, source_model, strlen(source_model));
    if (has_targets) ferry_gguf_put_array(writer, "ferry.tokenizer.target.model", FERRY_GGUF_U8, "", 0);
}

static void put_merges(ferry_gguf_writer *writer)
{
    const ferry_view merges[] = {text_view("a b"), text_view("c d")};
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.merges", merges, 2);
    if (has_targets) ferry_gguf_put_texts(writer, "ferry.tokenizer.target.merges", merges, 0);
}

/* The target's model or merges are the source's where the file has none, and not known where it says so. */
TEST(test_models_and_merges_of_both_sides)
{
    static const small_model models = {.tokenizer = "sentencepiece", .keys = put_models};
    source_model = "model";
    for (int i = 0; i < 2; i++) {
        ferry_model_file file;
        has_targets = i == 1;
        open_small(&models, &file);
        assert_int_equal(file.text.target_model.size, i == 1 ? 0 : 5);
        assert_true((file.text.target_model.data == file.text.source_model.data) == (i == 0));
        ferry_model_file_close(&file);
        open_small(&(small_model){.tokenizer = "bpe", .keys = put_merges}, &file);
        assert_int_equal(file.text.source_merge_count, 2);
        assert_int_equal(file.text.target_merge_count, i == 1 ? 0 : 2);
        ferry_model_file_close(&file);
    }
    source_model = "";
    const sample empty = make_small_sample(&models);
    refuse(&empty, FORMAT, "key 'ferry.tokenizer.source.model' is empty");
}

/* Of any size: the large one is widened in two parts. */
TEST(test_halves_are_widened)
{
    ferry_model_file file;
    const ferry_kernels *kernels = ferry_kernels_find(NULL);
    open_small(&(small_model){.type = FERRY_F16, .layers = 1, .d_model = 10, .ffn_width = 60000}, &file);
    ferry_model_file_widen(&file, kernels);
    assert_true(file.matrix_count > 10 && file.type == FERRY_F16);
    for (size_t i = 0; i < file.matrix_count; i++) {
        const ferry_stored_matrix *stored = &file.matrices[i];
        const uint16_t *halves = stored->tensor->data;
        for (size_t n = 0; n < stored->tensor->bytes / 2; n++)
            assert_true(stored->matrix->panels[n] == ferry_f16_to_f32(halves[n]));
    }
    ferry_model_file_close(&file);
}

/* The largest sizes that are allowed together, and those beyond: with other heads than its tensors have, the file is
 * refused for those. */
TEST(test_largest_sizes)
{
    ferry_model_file file;
    static const refusal of_256[] = {{"ferry.encoder.heads", "4096", FORMAT, "tensor 'enc.blk.0.attn_q.weight'"},
                                     {"ferry.decoder.heads", "4096", FORMAT, "tensor 'dec.blk.0.attn_q.weight'"}};
    static const refusal of_257[] = {
        {"ferry.encoder.heads", "4096", FORMAT, "ferry.encoder: 4096 heads of width 257 are more than 1048576 wide"},
        {"ferry.decoder.heads", "4096", FORMAT, "ferry.decoder: 4096 heads of width 257 are more than 1048576 wide"}};
    REFUSE_EACH(make_small_sample(&(small_model){.heads = 1, .head_width = 256}), of_256);
    REFUSE_EACH(make_small_sample(&(small_model){.heads = 1, .head_width = 257}), of_257);
    open_small(&(small_model){.type = FERRY_I8, .layers = 1, .d_model = 4, .ffn_width = 65536}, &file);
    ferry_model_file_close(&file);
}

/* The first and the last tensor of the file, by name, belong to it. */
TEST(test_tensors_left_over)
{
    static const refusal rows[] = {
        {"ferry.decoder.linear_bias", "0", FORMAT, "tensor 'dec.blk.0.attn_k.bias' is unknown"},
        {"ferry.tied_output", "1", FORMAT, "tensor 'output.weight' is unknown"},
    };
    REFUSE_EACH(make_small_sample(&(small_model){.untied = true, .linear_bias = true}), rows);
}

TEST(test_words_of_features)
{
    static const char known[] =
        "encoder-decoder panels16 type:f32 type:f16 type:i8 norm:layernorm norm:rms norm-position:post "
        "norm-position:pre activation:relu activation:gelu activation:swish activation:gelu_tanh "
        "activation:gelu_sigmoid decoder:attention decoder:ssru policy:huggingface policy:marian "
        "policy:ctranslate2 tokenizer:none tokenizer:pieces tokenizer:sentencepiece tokenizer:unigram "
        "tokenizer:bpe tokenizer:subword-nmt-0.1 tokenizer:subword-nmt-0.2 tokenizer:fsmt ffn:gated "
        "embedding-norm final-norm:post final-norm:none output-scale output-coarse output-coarse:bound planes "
        "start:zero "
        "shortlist inputs:sentence opus-punctuation moses languages position: position:rope";
    static const char *const unknown[] = {"",           "type",       "type:",        "type:i8 ",  "type:i16",
                                          "languages2", "language",   "position",     "positions", ":position:",
                                          "panels1",    "ffn:gated2", "encoder-deco", "decoder:",  "policy:none"};
    static const refusal rows[] = {
        {"encoder-decoder", NULL, UNSUPPORTED,
         "key 'ferry.features': 'encoder-decode~' is not supported by this build"},
        {"panels16", NULL, UNSUPPORTED, "key 'ferry.features': 'panels1~' is not supported by this build"},
        {"languages", NULL, UNSUPPORTED, "key 'ferry.features': 'language~' is not supported by this build"}};
    for (size_t at = 0, length; at < sizeof known; at += length + 1) {
        length = strcspn(known + at, " ");
        const ferry_view word = {known + at, length};
        if (!ferry_schema_knows_feature(word)) fail_msg("'%.*s' is not known", (int)length, word.data);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (ferry_schema_knows_feature(text_view(unknown[i]))) fail_msg("'%s' is known", unknown[i]);
    REFUSE_EACH(make_small_sample(&(small_model){.feature = "languages"}), rows);
}

/* What is said of the values that a key may have. */
TEST(test_ranges_in_words)
{
    static const struct {
        ferry_key_group group;
        const char *key, *range;
    } rows[] = {{FERRY_KEYS_DECODING, "beam", "a number from 1 to 64"},
                {FERRY_KEYS_DECODING, "repetition_penalty", "a number from 0.001 to 1000"},
                {FERRY_KEYS_DECODING, "top_p", "a number above 0, up to 1"},
                {FERRY_KEYS_ENCODER, "norm_eps", "a positive number"}};
    ferry_transformer transformer = {0};
    ferry_generation generation = {0};
    const ferry_schema_values values = {.transformer = &transformer, .generation = &generation};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ferry_key *key = ferry_schema_find(rows[i].group, rows[i].key);
        assert_string_equal(ferry_key_range(key, ferry_key_max_in_file(key, &values)).text, rows[i].range);
    }
    assert_null(ferry_schema_find(FERRY_KEYS_DECODING, "beams"));
    assert_null(ferry_schema_find(FERRY_KEYS_DECODING, "d_model"));
}

/* A file names what was recorded, and nothing else. */
TEST(test_what_was_recorded)
{
    const ferry_key *license = ferry_schema_find(FERRY_KEYS_ORIGIN, "licence");
    const ferry_key *length = ferry_schema_find(FERRY_KEYS_ORIGIN, "trained_length");
    const ferry_key *tokens = ferry_schema_find(FERRY_KEYS_ORIGIN, "trained_tokens");
    for (int recorded = 0; recorded < 2; recorded++) {
        ferry_model_origin origin = {.license = {"M", (size_t)recorded},
                                     .trained_length = recorded,
                                     .trained_tokens = (float)recorded};
        const ferry_schema_values values = {.origin = &origin};
        assert_int_equal(ferry_key_applies(license, &values), recorded);
        assert_int_equal(ferry_key_applies(length, &values), recorded);
        assert_int_equal(ferry_key_applies(tokens, &values), recorded);
        assert_true(ferry_key_applies(ferry_schema_find(FERRY_KEYS_ORIGIN, "name"), &values));
    }
}

/* Where data begin at a multiple of 64 all the same, which the word of the features makes so. */
TEST(test_alignment)
{
    static const refusal rows[] = {
        {"general.alignment", "32", FORMAT, "general.alignment: expected a multiple of 64, found 32"}};
    REFUSE_EACH(make_small_sample(&(small_model){
                    .d_model = 16, .heads = 1, .head_width = 16, .ffn_width = 16, .vocab = 16, .feature = "moses"}),
                rows);
}

/* As many dimensions as there have to be, and each of its size. */
TEST(test_shapes)
{
    static const int64_t shapes[][3] = {{3, 1, 1}, {1, 3, 1}, {3, 1, 1}, {4, 1, 1}, {3, 2, 1}};
    static const int32_t dims[] = {1, 2, 2, 1, 2};
    for (int i = 0; i < 5; i++) {
        const char *path = new_scratch_file("shape.gguf");
        const float zeros[6] = {0}, *data;
        ferry_gguf_writer *writer;
        ferry_gguf gguf;
        bool used[1];
        ferry_binder binder = {.gguf = &gguf, .used = used};
        const size_t count = (size_t)(shapes[i][0] * shapes[i][1]);
        CHECK(ferry_gguf_writer_create(path, NULL, NULL, &writer, &error));
        ferry_gguf_declare(writer, "t", FERRY_F32, dims[i], shapes[i]);
        CHECK(ferry_gguf_writer_start(writer, &error));
        CHECK(ferry_gguf_writer_append(writer, zeros, count * sizeof *zeros, &error));
        CHECK(ferry_gguf_writer_finish(writer, &error));
        ferry_gguf_writer_destroy(writer);
        CHECK(ferry_gguf_open(mapped_bytes(path), "shape.gguf", &gguf, &error));
        if (i == 0) {
            CHECK(ferry_bind_vector(&binder, "t", 3, &data, &error));
            assert_true(used[0] && binder.parameters == 3);
        } else {
            REFUSE(ferry_bind_vector(&binder, "t", 3, &data, &error), FORMAT,
                   "tensor 't': expected shape [3], found [");
        }
        ferry_gguf_close(&gguf);
    }
}
