/* Runs a fuzz target over stored inputs, without a fuzzer: fuzz_replay TARGET FILE… */
#include "fuzz.h"

#include <stdio.h>

typedef int fuzz_target(const uint8_t *data, size_t size);

/* Each target is compiled with its own name instead of LLVMFuzzerTestOneInput. */
#define TARGET(name) fuzz_target name;
#include "fuzz_targets.inc"
#undef TARGET

static const struct {
    const char *name;
    fuzz_target *run;
} targets[] = {
#define TARGET(name) {#name, name},
#include "fuzz_targets.inc"
};

static fuzz_target *find_target(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, name) == 0) return targets[i].run;
    return NULL;
}

/* The whole file in memory of exactly its size, so that the sanitizers see every step beyond it. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long end;
    if (file == NULL) return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        *size = (size_t)end;
        data = malloc(*size > 0 ? *size : 1);
    }
    if (data != NULL && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

int main(int argc, char **argv)
{
    fuzz_target *run = argc > 1 ? find_target(argv[1]) : NULL;
    if (run == NULL) {
        fprintf(stderr, "fuzz_replay: expected a target and its inputs\n");
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        size_t size;
        uint8_t *data = read_file(argv[i], &size);
        if (data == NULL) {
            fprintf(stderr, "%s: cannot read\n", argv[i]);
            return 1;
        }
        run(data, size);
        free(data);
    }
    printf("%d inputs\n", argc - 2);
    return argc > 2 ? 0 : 1;
}
