#include "bench_openblas.h"

#include "base/bytes.h"
#include "engine/kernels/kernels.h"

#include <cblas.h>
#include <stddef.h>

const char *ferry_openblas_core(void)
{
    return openblas_get_corename();
}

bool ferry_openblas_matches_cpu(void)
{
    static const struct {
        const char *core;
        ferry_cpu_level level;
    } cores[] = {
        {"Haswell", FERRY_CPU_AVX2},          {"Zen", FERRY_CPU_AVX2},
        {"SkylakeX", FERRY_CPU_AVX512},       {"Cooperlake", FERRY_CPU_AVX512},
        {"SapphireRapids", FERRY_CPU_AVX512},
    };
    ferry_cpu_level level = FERRY_CPU_PLAIN;
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (ferry_compare_letters(ferry_openblas_core(), cores[i].core, SIZE_MAX) == 0) level = cores[i].level;
    return level == FERRY_CPU_AVX512 || level >= ferry_cpu_detect(); /* float32 has no more than AVX-512 */
}
