/* Pieces that were chosen to collide under std::hash, in SentencePiece's map: the map that replaces it spreads them. */
#include <cstdio>

#include "tokenizer/sentencepiece_map.h"

namespace
{

constexpr size_t count = 500;

template <typename Map> size_t largest_bucket(const Map &map)
{
    size_t largest = 0;
    for (size_t i = 0; i < map.bucket_count(); i++)
        if (map.bucket_size(i) > largest) largest = map.bucket_size(i);
    return largest;
}

} // namespace

int main()
{
    std::unordered_map<std::string, int> foreseen;
    absl::flat_hash_map<std::string, int> keyed;
    foreseen.reserve(count);
    keyed.reserve(count);
    for (int i = 0; foreseen.size() < count; i++) {
        const std::string piece = "p" + std::to_string(i);
        if (std::hash<std::string>()(piece) % foreseen.bucket_count() == 0) foreseen[piece] = keyed[piece] = i;
    }
    const size_t worst = largest_bucket(foreseen), spread = largest_bucket(keyed);
    std::printf("of %zu pieces, one bucket has %zu; with a key at most %zu\n", count, worst, spread);
    if (worst != count || spread > 20) return 1;
    for (const auto &pair : foreseen)
        if (keyed.find(pair.first)->second != pair.second) return 1;
    return 0;
}
