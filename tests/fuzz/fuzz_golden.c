/* Any bytes as recorded activations, with which `ferry verify` compares a small model: refused, or compared. */
#include "memory_file.h"

#include "embedded_model.h"

#include "tools/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char model[64];
    char golden[64];
    if (model[0] == '\0') {
        make_file(embedded_bytes(), model);
        stdout = stderr = fopen("/dev/null", "w"); /* the command's; libFuzzer writes past them */
    }
    const int file = make_file((ferry_view){(const char *)data, size}, golden);
    char *operands[] = {model, golden};
    const ferry_call call = {.program = "ferry", .arguments = {.operands = operands, .operand_count = 2}};
    (void)ferry_command_verify.run(&call);
    close(file);
    return 0;
}
