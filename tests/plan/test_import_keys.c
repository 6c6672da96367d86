/* From a plan to a model file: every key, and the words of ferry.features, which say what a build must know. */
#include "plan_bench.h"
#include "models/plan/plan_tensors.h"
#include "models/text/language_tags.h"

static void add(const char *name, ferry_import_form form)
{
    static const int32_t integers[4];
    const ferry_import_tensor tensor = {.form = form, .N = 4, .K = 1, .integers = integers};
    CHECK(ferry_import_add_tensor(&plan, &tensor, &error, "%s", name));
}

static const ferry_import_options named = {.type = FERRY_F32, .name = "named"};

#define PLAIN                                                                                                          \
    "encoder-decoder|panels16|decoder:attention|norm:layernorm|norm-position:post|activation:relu|position:none|"      \
    "policy:huggingface|tokenizer:"

/* A model without any of the newer choices is one that older builds can read. */
TEST_WITH(test_plain_model, set_up, tear_down)
{
    add("token_embd.weight", FERRY_IMPORT_MATRIX);
    write_plan(&named);
    check_gguf_keys(&file, "features encoder-decoder|panels16|type:f32|decoder:attention|norm:layernorm|"
                           "norm-position:post|activation:relu|position:none|policy:huggingface|tokenizer:none; "
                           "eos_ids 0 3; output_scale 1; inputs_by_sentence false; alignment_layer -1; "
                           "alignment_head -1; start_id 0; encoder.final_norm false; "
                           "encoder.embedding_norm false; encoder.ffn_gated false; decoder.linear_bias false; "
                           "decoder.block attention; decoding.word_penalty 0; decoding.length_factor 3; "
                           "decoding.length_extra 50; decoding.shortlist true; shortlist.first absent; "
                           "languages.names absent; tokenizer.source.pieces absent");
    ferry_view name;
    CHECK(ferry_gguf_get_text(&file, "general.name", &name, &error));
    assert_true(has_text(name, "named"));
}

TEST_WITH(test_every_choice_of_the_graph, set_up, tear_down)
{
    ferry_transformer *model = &plan.model;
    model->ssru = model->sentence_inputs = true;
    model->output_scale = 0.125f;
    plan.generation.start_id = -1;
    plan.generation.alignment_layer = 5;
    plan.generation.alignment_head = 2;
    model->encoder.norm = FERRY_RMS_NORM;
    model->encoder.pre_norm = model->encoder.gated = true;
    model->encoder.activation = FERRY_GELU_TANH;
    model->decoder.activation = FERRY_GELU_SIGMOID;
    plan.generation.shortlist = (ferry_shortlist){.first = 100, .shared = true};
    plan.generation.decoding.search.policy = FERRY_POLICY_MARIAN;
    plan.generation.decoding.search.word_penalty = 0.5f;
    plan.generation.decoding.options.length_factor = 1.5f;
    plan.generation.decoding.options.length_extra = 7;
    plan.generation.decoding.options.shortlist = false;
    add("token_embd.weight", FERRY_IMPORT_MATRIX);
    add("dec.output_norm.weight", FERRY_IMPORT_VECTOR);
    add("dec.embd_norm.weight", FERRY_IMPORT_VECTOR);
    add("dec.blk.0.ffn_up.bias", FERRY_IMPORT_VECTOR);
    add("shortlist.offsets", FERRY_IMPORT_INTEGERS);
    write_plan(&named);
    check_gguf_keys(
        &file,
        "features "
        "encoder-decoder|panels16|type:f32|decoder:ssru|norm:rms|norm-position:pre|activation:gelu_tanh|position:none|"
        "ffn:gated|final-norm:none|norm:layernorm|norm-position:post|activation:gelu_sigmoid|embedding-norm|final-norm:"
        "post|output-scale|start:zero|inputs:sentence|shortlist|policy:marian|tokenizer:none; "
        "output_scale 0.125; "
        "inputs_by_sentence true; "
        "alignment_layer 5; "
        "alignment_head 2; "
        "start_id -1; "
        "encoder.final_norm false; "
        "decoder.final_norm true; "
        "encoder.embedding_norm false; "
        "decoder.embedding_norm true; "
        "encoder.ffn_gated true; "
        "decoder.ffn_gated false; "
        "encoder.linear_bias false; "
        "decoder.linear_bias true; "
        "encoder.norm rms; "
        "decoder.activation gelu_sigmoid; "
        "decoder.block ssru; "
        "shortlist.first 100; "
        "shortlist.shared true; "
        "decoding.policy marian; "
        "decoding.word_penalty 0.5; "
        "decoding.length_factor 1.5; "
        "decoding.length_extra 7; "
        "decoding.shortlist false; ");
}

/* Pieces without a SentencePiece model, languages with tags, a prompt. */
TEST_WITH(test_texts, set_up, tear_down)
{
    static const ferry_view pieces[] = {{"</s>", 4}, {"a", 1}}, names[] = {{"deu_Latn de deu", 15}, {"eng_Latn", 8}};
    static const ferry_view prompts[] = {{"translate: ", 11}};
    static const int32_t roles[] = {3, 1}, ids[] = {7, 8}, others[] = {9, -1}, any[] = {-1}, one[] = {1};
    const ferry_texts *listed = KEPT_TEXTS(pieces);
    plan.text = (ferry_tokenizer_config){.present = true,
                                         .source_pieces = listed,
                                         .source_count = 2,
                                         .target_pieces = listed,
                                         .target_count = 2,
                                         .opus_punctuation = true};
    plan.languages = (ferry_model_languages){.names = KEPT_TEXTS(names),
                                             .roles = roles,
                                             .source_ids = ids,
                                             .target_ids = others,
                                             .count = 2,
                                             .source_tag = FERRY_TAG_SUFFIX,
                                             .target_tag = FERRY_TAG_FIRST,
                                             .prompts = KEPT_TEXTS(prompts),
                                             .prompt_sources = any,
                                             .prompt_targets = one,
                                             .prompt_count = 1,
                                             .default_source = 1,
                                             .default_target = -1};
    write_plan(&named);
    check_gguf_keys(&file, "features " PLAIN "pieces|opus-punctuation|languages; tokenizer.kind pieces; "
                           "tokenizer.source.opus_punctuation true; tokenizer.source.model absent; "
                           "languages.names deu_Latn de deu|eng_Latn; languages.source_tag suffix; "
                           "languages.target_tag first; languages.roles 3 1; languages.source_ids 7 8; "
                           "languages.target_ids 9 -1; languages.prompts translate: ; "
                           "languages.prompt_sources -1; languages.prompt_targets 1; languages.default_source 1; "
                           "languages.default_target -1");
}

/* A prompt alone needs the word, too. */
TEST_WITH(test_prompts_without_tags, set_up, tear_down)
{
    static const ferry_view names[] = {{"de", 2}}, prompts[] = {{"to German: ", 11}};
    static const int32_t role[] = {FERRY_LANGUAGE_TARGET}, none[] = {-1}, first[] = {0};
    plan.languages = (ferry_model_languages){.names = KEPT_TEXTS(names),
                                             .roles = role,
                                             .source_ids = none,
                                             .target_ids = none,
                                             .count = 1,
                                             .prompts = KEPT_TEXTS(prompts),
                                             .prompt_sources = none,
                                             .prompt_targets = first,
                                             .prompt_count = 1,
                                             .default_source = -1,
                                             .default_target = 0};
    write_plan(&named);
    check_gguf_keys(&file, "features " PLAIN "none|languages; languages.prompts to German: ");
}

/* A pair without tags needs no word: a build that knows no languages translates it all the same. */
TEST_WITH(test_language_pair, set_up, tear_down)
{
    CHECK(ferry_import_language_pair(&plan, ferry_text_view("en"), ferry_text_view("de"), &error));
    write_plan(&named);
    check_gguf_keys(&file, "features " PLAIN "none; languages.names en eng|de deu; languages.roles 1 2; "
                           "languages.target_ids -1 -1; languages.prompt_sources ; languages.default_source 0; "
                           "languages.default_target 1; languages.source_tag none");
}
