#include "cpu.h"
#include "isa.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Intel SDM volume 1, 13.3 and volume 2, CPUID: feature bits and the register states that XCR0 shows enabled. */
#define ECX1_FMA (1u << 12)
#define ECX1_OSXSAVE (1u << 27)
#define ECX1_AVX (1u << 28)
#define ECX1_F16C (1u << 29)
#define EBX7_AVX2 (1u << 5)
#define EBX7_AVX512 (1u << 16 | 1u << 17 | 1u << 30 | 1u << 31) /* F, DQ, BW, VL */
#define XCR0_AVX 0x06u                                          /* XMM, YMM */
#define XCR0_AVX512 0xe6u                                       /* and opmask, upper ZMM, ZMM16 to 31 */

static uint32_t enabled_states(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool has_all(uint32_t bits, uint32_t wanted)
{
    return (bits & wanted) == wanted;
}

ferry_cpu_level ferry_cpu_detect(void)
{
    uint32_t eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return FERRY_CPU_PLAIN;
    if (!has_all(ecx, ECX1_FMA | ECX1_OSXSAVE | ECX1_AVX | ECX1_F16C)) return FERRY_CPU_PLAIN;
    uint32_t states = enabled_states();
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return FERRY_CPU_PLAIN;
    if (!has_all(ebx, EBX7_AVX2) || !has_all(states, XCR0_AVX)) return FERRY_CPU_PLAIN;
    if (!has_all(ebx, EBX7_AVX512) || !has_all(states, XCR0_AVX512)) return FERRY_CPU_AVX2;
    return FERRY_CPU_AVX512;
}
#else
ferry_cpu_level ferry_cpu_detect(void)
{
    return FERRY_CPU_PLAIN;
}
#endif

#define ENTRY(isa, kernel) .kernel = ferry_##kernel##_##isa,

static const ferry_kernels plain = {.isa = "plain", FERRY_KERNEL_LIST(ENTRY, plain)};
#if defined(__x86_64__)
static const ferry_kernels avx2 = {.isa = "avx2", FERRY_KERNEL_LIST(ENTRY, avx2)};
static const ferry_kernels avx512 = {.isa = "avx512", FERRY_KERNEL_LIST(ENTRY, avx512)};

static const ferry_kernels *const tables[] = {&avx512, &avx2, &plain, NULL};
#else
static const ferry_kernels *const tables[] = {&plain, NULL};
#endif

const ferry_kernels *const *ferry_kernels_available(void)
{
    const size_t plain_at = sizeof tables / sizeof *tables - 2;
    return tables + plain_at - ferry_cpu_detect();
}

const ferry_kernels *ferry_kernels_find(const char *isa)
{
    const ferry_kernels *const *table = ferry_kernels_available();
    if (isa == NULL || *isa == '\0') return *table;
    while (*table != NULL && strcmp((*table)->isa, isa) != 0) table++;
    return *table;
}
