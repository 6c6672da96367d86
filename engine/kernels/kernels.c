#include "kernels.h"

#include <string.h>

#include "base/system.h"
#include "base/threads.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Intel SDM volume 1, 13.3 and volume 2, CPUID: feature bits, and register states in XCR0. */
#define ECX1_FMA (1u << 12)
#define ECX1_OSXSAVE (1u << 27)
#define ECX1_AVX (1u << 28)
#define ECX1_F16C (1u << 29)
#define EBX7_AVX2 (1u << 5)
#define EBX7_AVX512 (1u << 16 | 1u << 17 | 1u << 30 | 1u << 31) /* F, DQ, BW, VL */
#define ECX7_AVX512_VNNI (1u << 11)
#define EDX7_AMX (1u << 24 | 1u << 25) /* TILE, INT8 */
#define EAX71_AVX_VNNI (1u << 4)       /* leaf 7, subleaf 1 */
#define XCR0_AVX 0x06u                 /* XMM, YMM */
#define XCR0_AVX512 0xe6u              /* and opmask, upper ZMM, ZMM16 to 31 */
#define XCR0_AMX (1u << 17 | 1u << 18)

static bool has_all(uint32_t bits, uint32_t wanted)
{
    return (bits & wanted) == wanted;
}

ferry_cpu_level ferry_cpu_detect(void)
{
    uint32_t eax, ebx, ecx, edx, states, high;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return FERRY_CPU_PLAIN;
    if (!has_all(ecx, ECX1_FMA | ECX1_OSXSAVE | ECX1_AVX | ECX1_F16C)) return FERRY_CPU_PLAIN;
    __asm__ volatile("xgetbv" : "=a"(states), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return FERRY_CPU_PLAIN;
    if (!has_all(ebx, EBX7_AVX2) || !has_all(states, XCR0_AVX)) return FERRY_CPU_PLAIN;
    if (!has_all(ebx, EBX7_AVX512) || !has_all(states, XCR0_AVX512)) return FERRY_CPU_AVX2;
    if (!has_all(ecx, ECX7_AVX512_VNNI)) return FERRY_CPU_AVX512;
    if (!has_all(edx, EDX7_AMX) || !has_all(states, XCR0_AMX)) return FERRY_CPU_AVX512_VNNI;
    return FERRY_CPU_AMX;
}

/* Dot products of int8 in AVX2's registers. Not a level: some CPUs of every level from AVX2 on have them. */
static bool has_avx_vnni(void)
{
    uint32_t eax, ebx, ecx, edx;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || eax < 1) return false;
    return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && has_all(eax, EAX71_AVX_VNNI);
}
#else
ferry_cpu_level ferry_cpu_detect(void)
{
#if defined(__aarch64__)
    if (!ferry_has_dot_products()) return FERRY_CPU_NEON;
    return ferry_has_matrix_products() ? FERRY_CPU_NEON_I8MM : FERRY_CPU_NEON_DOTPROD;
#else
    return FERRY_CPU_PLAIN;
#endif
}

static bool has_avx_vnni(void)
{
    return false;
}
#endif

#define ENTRY(isa, kernel) .kernel = ferry_##kernel##_##isa,
#define TABLE(name, LEVEL, product_isa, i8_isa, rest_isa, fast, has_extra, max_rows, max_planes, takes_joined,         \
              max_steps)                                                                                               \
    {FERRY_CPU_##LEVEL,                                                                                                \
     {.isa = #name,                                                                                                    \
      .fast_i8 = fast,                                                                                                 \
      .extra = has_extra ? &ferry_extra_##i8_isa : NULL,                                                               \
      .nibbles_rows = max_rows,                                                                                        \
      .planes_rows = max_planes,                                                                                       \
      .joined = takes_joined,                                                                                          \
      .steps_rows = max_steps,                                                                                         \
      ENTRY(product_isa, product) FERRY_KERNEL_LIST_I8(ENTRY, i8_isa) FERRY_KERNEL_LIST_REST(ENTRY, rest_isa)}},

static const struct {
    ferry_cpu_level level;
    ferry_kernels kernels;
} tables[] = {FERRY_ISAS(TABLE)};
enum { TABLES = sizeof tables / sizeof *tables };

static const ferry_kernels *supported[TABLES + 1]; /* by CPU and operating system, best first */
static size_t tile_tables;                         /* number of tables that use tiles, the first of `supported` */

static void find_supported(void)
{
    const ferry_cpu_level highest = ferry_cpu_detect();
    const bool vnni = highest >= FERRY_CPU_AVX2 && has_avx_vnni();
    for (size_t i = TABLES, count = 0; i-- > 0;) {
        const bool runs = tables[i].level == FERRY_CPU_AVX_VNNI ? vnni : tables[i].level <= highest;
        if (!runs) continue;
        supported[count++] = &tables[i].kernels;
        if (tables[i].level == FERRY_CPU_AMX) tile_tables = count;
    }
}

static void find_once(void)
{
    static ferry_once once = FERRY_ONCE_READY;
    ferry_call_once(&once, find_supported);
}

const ferry_kernels *const *ferry_kernels_available(void)
{
    find_once();
    return tile_tables > 0 && ferry_permit_tiles() ? supported : supported + tile_tables;
}

const ferry_kernels *ferry_kernels_find(const char *isa)
{
    if (isa == NULL || *isa == '\0') return *ferry_kernels_available();
    find_once();
    size_t i = 0;
    while (supported[i] != NULL && strcmp(supported[i]->isa, isa) != 0) i++;
    return i < tile_tables && !ferry_permit_tiles() ? NULL : supported[i];
}

const ferry_kernels *ferry_kernels_find_without_tiles(void)
{
    find_once();
    return supported[tile_tables];
}
