/* Any bytes as recorded activations, with which `ferry verify` compares a small model: refused, or compared. */
#define _GNU_SOURCE /* memfd_create */
#include "embedded_model.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/command.h"

/* A file in memory, whose path is written to `path`. */
static int make_file(const char *name, ferry_view bytes, char path[64])
{
    const int file = memfd_create(name, 0);
    if (file < 0 || write(file, bytes.data, bytes.size) != (ssize_t)bytes.size) abort();
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char model[64];
    char golden[64];
    if (model[0] == '\0') {
        make_file("model", embedded_bytes(), model);
        stdout = stderr = fopen("/dev/null", "w"); /* the command's; libFuzzer writes past them */
    }
    const int file = make_file("golden", (ferry_view){(const char *)data, size}, golden);
    char *operands[] = {model, golden};
    const ferry_call call = {.program = "ferry", .arguments = {.operands = operands, .operand_count = 2}};
    (void)ferry_command_verify.run(&call);
    close(file);
    return 0;
}
