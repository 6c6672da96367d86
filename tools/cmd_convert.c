#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file_system.h"
#include "base/utf8.h"
#include "command.h"
#include "confined_import.h"
#include "conversion_cache.h"
#include "output_file.h"
#include "progress.h"
#include "tools/system/folders.h"

/* ---- a conversion, for somebody at a terminal ---- */

typedef struct watch {
    ferry_conversion *conversion;
    bool writing; /* there may be a file that is not complete */
    ferry_progress progress;
} watch;

static int show_progress(void *user, uint64_t done, uint64_t total)
{
    watch *w = user;
    if (!w->writing) ferry_interrupt_begin(NULL);
    w->writing = true;
    if (ferry_interrupt_signal() != 0) return 1;
    if (total > 0 && ferry_progress_is_due(&w->progress))
        ferry_progress_line("converting: %.0f %% of %.1f MB", 100 * (double)done / (double)total, (double)total / 1e6);
    return 0;
}

static void report_quantized(void *user, const char *tensor, double largest, double rms, double rms_error)
{
    ferry_conversion *conversion = ((const watch *)user)->conversion;
    const double relative = rms > 0 ? rms_error / rms : 0.0;
    conversion->errors += relative;
    if (conversion->quantized++ == 0 || relative > conversion->worst_error) {
        conversion->worst_error = relative;
        conversion->worst = ferry_format("%s", tensor);
    }
    if (conversion->verbose)
        ferry_complain("%s: rms error %.2e, %.2f %% of the weights' %.2e; largest weight %.3g", tensor, rms_error,
                       100 * relative, rms, largest);
}

static void report_complete(void *user, uint64_t bytes_read)
{
    ((const watch *)user)->conversion->bytes_read = bytes_read;
}

static void report_note(void *user, const char *message)
{
    const watch *w = user;
    if (!w->conversion->quiet) ferry_complain("%s", message);
}

ferry_status ferry_convert(const char *source, const char *output, const ferry_import_options *options,
                           ferry_conversion *conversion, ferry_error *error)
{
    watch w = {.conversion = conversion};
    ferry_import_options watched = *options;
    watched.progress = show_progress;
    watched.quantized = report_quantized;
    watched.complete = report_complete;
    watched.noted = report_note;
    watched.user = &w;
    ferry_progress_begin(&w.progress, !conversion->quiet, 0, 0);
    w.progress.shown = 0; /* the first report is shown at once: the next one may take long */
    const ferry_status status = ferry_import_confined(source, output, &watched, conversion->verbose, error);
    const int interrupted = w.writing ? ferry_interrupt_end() : 0;
    ferry_progress_erase();
    if (interrupted != 0) raise(interrupted);
    return status;
}

/* ---- the command ---- */

enum { MEGABYTE = 1000000 };

/* "NAME.gguf" in the current directory, where NAME is the name of the source, without the extension if it is a file. */
static bool derive_output(const char *source, char *output, size_t size)
{
    ferry_file_info status, existing;
    char *resolved = ferry_path_real(source);
    if (resolved == NULL || !ferry_file_examine(resolved, &status)) {
        ferry_complain("%s: cannot open: %s", source, strerror(errno));
        free(resolved);
        return false;
    }
    const char *base = ferry_path_base(resolved), *name = base[0] != '\0' ? base : "model",
               *ending = strrchr(name, '.');
    const bool cut = status.kind != FERRY_KIND_FOLDER && ending != NULL && ending != name;
    snprintf(output, size, "%.*s.gguf", cut ? (int)(ending - name) : (int)strlen(name), name);
    free(resolved);
    if (!ferry_file_examine_link(output, &existing)) return true;
    ferry_complain("%s: exists; choose a name with --output (which replaces a file)", output);
    return false;
}

/* Sizes, time, and what rounding did. */
static void print_summary(const ferry_conversion *conversion, const char *type, const char *output, uint64_t written,
                          double seconds)
{
    ferry_printable_write(stdout, ferry_text_view(output));
    printf(": %.1f MB, from %.1f MB in %.1f s\n", (double)written / 1e6, (double)conversion->bytes_read / 1e6, seconds);
    if (conversion->quantized == 0) return;
    printf("%s: rounding changes weights by %.2f %% (rms, mean of %zu matrices), most in %s: %.2f %%\n", type,
           100 * conversion->errors / (double)conversion->quantized, conversion->quantized, conversion->worst.text,
           100 * conversion->worst_error);
}

static int run(const ferry_call *call)
{
    enum { INT4 = 3 }; /* in the order of --type's choices */
    static const ferry_type types[] = {FERRY_F32, FERRY_F16, FERRY_I8, [INT4] = FERRY_I8};
    const ferry_option_value *type = &call->arguments.options[FERRY_OPTION_TYPE];
    ferry_conversion conversion = {.quiet = ferry_is_given(call, FERRY_OPTION_QUIET),
                                   .verbose = ferry_is_given(call, FERRY_OPTION_VERBOSE)};
    const double start = ferry_clock();
    const char *source = call->arguments.operands[0], *output = ferry_option_text(call, FERRY_OPTION_OUTPUT);
    const ferry_option_value *budget = &call->arguments.options[FERRY_OPTION_BUDGET];
    const ferry_import_options options = {.type = types[type->integer],
                                          .four_bits = type->integer == INT4,
                                          .widen = type->given,
                                          .pair = ferry_option_text(call, FERRY_OPTION_PAIR),
                                          .budget = budget->given ? (uint64_t)budget->integer * MEGABYTE : 0};
    char derived[FERRY_PATH_MAX + 8];
    ferry_file_info written;
    ferry_error error;
    if (output == NULL) {
        if (!derive_output(source, derived, sizeof derived)) return FERRY_EXIT_FAILED;
        output = derived;
    } else if (ferry_output_is_standard(output)) {
        ferry_complain("%s: expected a file of its own, found a standard stream", output);
        return FERRY_EXIT_FAILED;
    } else if (ferry_model_is_output(call, source, "SOURCE")) {
        return FERRY_EXIT_FAILED;
    }
    const ferry_status status = ferry_convert(source, output, &options, &conversion, &error);
    if (status == FERRY_ERROR_ARGUMENT) { /* "pair: …" */
        ferry_complain("--%s", error.message);
        return FERRY_EXIT_USAGE;
    }
    if (!ferry_succeeded(status, &error)) return FERRY_EXIT_FAILED;
    if (!conversion.quiet && ferry_file_examine(output, &written))
        print_summary(&conversion, options.four_bits ? "int4" : "int8", output, written.size, ferry_clock() - start);
    return ferry_finish_output(FERRY_EXIT_OK);
}

const ferry_command ferry_command_convert = {
    .name = "convert",
    .synopsis = "SOURCE",
    .summary = "make a model file from a model of another system",
    .details =
        "SOURCE is a directory, a zip archive, or a file of weights with the other files of the model beside it: a\n"
        "model of Hugging Face, Marian (OPUS-MT, Bergamot) or CTranslate2, or a seq2seq-export-1 "
        "(docs/model-file.md).\n"
        "SOURCE may be a model file, too, whose matrices get another type; everything else in it stays.\n"
        "Without --output the file is written to the current directory, named after SOURCE, and must not exist yet.\n"
        "Without --type, matrices become float32, but int8 matrices, and those of a model file, stay as they are. f32\n"
        "makes those float32, too; f16 takes half the space of f32; int8 takes a quarter, and int4 an eighth in "
        "layers,\n"
        "int8 in embeddings. The rounding error is printed, with --verbose that of each matrix.\n"
        "Where the files do not say which languages a model translates, its name may (opus-mt-en-de), or --pair does.\n"
        "Memory, temporary files and the model file together may take 268 MB and 8 times the files that are read, or\n"
        "what --budget says. A small file that asks for more than that is damaged, or means harm.\n",
    .examples = "ferry convert opus-mt-en-fr -o en-fr.gguf\n"
                "ferry convert opus-2020-02-26.zip --type f16\n"
                "ferry convert nllb-200-distilled-600M -o nllb.gguf --type int8\n",
    .options = {.own = FERRY_TAKES(OUTPUT) | FERRY_TAKES(TYPE) | FERRY_TAKES(PAIR) | FERRY_TAKES(BUDGET) |
                       FERRY_TAKES(VERBOSE) | FERRY_TAKES(QUIET)},
    .least = 1,
    .most = 1,
    .run = run,
};
