/* A plugin for QEMU's user emulation of AArch64 that counts what a program executes, by function and kind of
 * instruction (tools/lab/count_arm.sh). To standard error, a line for each function:
 *
 *     function instructions vector multiplies loads broadcasts stores
 *
 * vector: what the 128-bit pipes execute, moves between their registers too, but neither loads nor stores. multiplies:
 * those of them that multiply. loads: of any registers. broadcasts: those of the loads that repeat one number in a
 * register, for which many processors need a vector pipe, too.
 *
 * Debian packages no header of the interface (QEMU's documentation, "TCG Plugins"): what is used of its version 1,
 * which QEMU 7 has, is declared here. One thread is counted. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { NO_REGISTERS = 0 }; /* that a callback reads or writes */
typedef void translated_function(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void executed_function(unsigned cpu, void *user);
typedef void exit_function(qemu_plugin_id_t id, void *user);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated_function *function);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, executed_function *function, int registers,
                                          void *user);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_function *function, void *user);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *instruction);

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int qemu_plugin_version = 1;
EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int count, char **arguments);

/* ---- kinds of instructions (Arm Architecture Reference Manual, C4.1) ---- */

enum { ALL, VECTOR, MULTIPLY, LOAD, BROADCAST, STORE, KINDS };

static bool is_one_of(uint32_t word, const uint32_t (*list)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((word & list[i][0]) == list[i][1]) return true;
    return false;
}
#define ONE_OF(word, list) is_one_of(word, list, sizeof(list) / sizeof *(list))

static const uint32_t multiplying[][2] = {
    {0xbfe0fc00, 0x0e809400}, {0xbfc0f400, 0x0f80e000}, /* sdot: vectors, by element */
    {0xffe0fc00, 0x4e80a400},                           /* smmla */
    {0xbfa0fc00, 0x0e20cc00}, {0xbf80f400, 0x0f801000}, /* fmla */
    {0xbfa0fc00, 0x2e20dc00}, {0xbf80f400, 0x0f809000}, /* fmul */
    {0xbf20fc00, 0x0e20c000}, {0xbf20fc00, 0x0e208000}, /* smull, smlal */
    {0xbf20fc00, 0x0e209c00}, {0xbf20fc00, 0x0e209400}, /* mul, mla */
};
static const uint32_t broadcasting[][2] = {{0xbffff000, 0x0d40c000}, {0xbfe0f000, 0x0dc0c000}}; /* ld1r */
static const uint32_t prefetching[][2] = {{0xffc00000, 0xf9800000},
                                          {0xffe00c00, 0xf8a00800},
                                          {0xff000000, 0xd8000000}}; /* prfm */

static bool is_load(uint32_t word)
{
    if ((word & 0x3b000000) == 0x18000000) return true; /* literal */
    const bool vector = (word >> 26 & 1) != 0;
    if ((word & 0x38000000) == 0x38000000 && !vector) return (word >> 22 & 3) != 0;
    return (word >> 22 & 1) != 0;
}

static void add_instruction(uint64_t counts[KINDS], uint32_t word)
{
    const uint32_t group = word >> 25 & 15;
    counts[ALL]++;
    if ((group & 7) == 7) {
        counts[VECTOR]++;
        if (ONE_OF(word, multiplying)) counts[MULTIPLY]++;
    } else if ((group & 5) == 4 && !ONE_OF(word, prefetching)) {
        counts[is_load(word) ? LOAD : STORE]++;
        if (ONE_OF(word, broadcasting)) counts[BROADCAST]++;
    }
}

/* ---- functions and their blocks ---- */

typedef struct function {
    struct function *next;
    char *name;
    uint64_t counts[KINDS];
} function;

typedef struct block {
    function *within;
    uint64_t counts[KINDS];
} block;

static function *functions;

static void *take(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL) abort();
    return memory;
}

static function *find_function(const char *name)
{
    if (name == NULL) name = "?";
    for (function *f = functions; f != NULL; f = f->next)
        if (strcmp(f->name, name) == 0) return f;
    function *f = take(sizeof *f);
    f->name = take(strlen(name) + 1);
    strcpy(f->name, name);
    f->next = functions;
    return functions = f;
}

static void on_execution(unsigned cpu, void *user)
{
    const block *b = user;
    (void)cpu;
    for (int kind = 0; kind < KINDS; kind++) b->within->counts[kind] += b->counts[kind];
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *code)
{
    const size_t count = qemu_plugin_tb_n_insns(code);
    block *b = take(sizeof *b);
    (void)id;
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(code, i);
        uint32_t word;
        memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
        add_instruction(b->counts, word);
        if (i == 0) b->within = find_function(qemu_plugin_insn_symbol(instruction));
    }
    qemu_plugin_register_vcpu_tb_exec_cb(code, on_execution, NO_REGISTERS, b);
}

static void on_exit_of_program(qemu_plugin_id_t id, void *user)
{
    (void)id;
    (void)user;
    for (const function *f = functions; f != NULL; f = f->next) {
        fprintf(stderr, "%s", f->name);
        for (int kind = 0; kind < KINDS; kind++) fprintf(stderr, " %" PRIu64, f->counts[kind]);
        fprintf(stderr, "\n");
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int count, char **arguments)
{
    (void)info;
    (void)count;
    (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
