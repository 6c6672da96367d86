/* compare_sentencepiece MODEL... < LINES: our SentencePiece against the system's, of another version, in one program.
 * Both must find the same pieces, ids and places in 100,000 lines of hostile text, and in every fourth line of standard
 * input, beginning with another one for each model. */
#include <sentencepiece_processor.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

extern "C" {
#include "base/utf8.h"
#include "tokenizer/sentencepiece_c.h"
}

namespace
{

/* The id, the piece, its place in the line. */
using Pieces = std::vector<std::tuple<int32_t, std::string, size_t, size_t>>;

uint32_t state = 1;

uint32_t random_below(uint32_t limit)
{
    state = state * 1664525 + 1013904223;
    return static_cast<uint32_t>(static_cast<uint64_t>(state) * limit >> 32);
}

/* Up to 60 of: any byte; a code point of any block, surrogates too; what SentencePiece treats specially; letters. */
std::string hostile_line()
{
    static const uint32_t blocks[] = {0x80, 0x800, 0x3000, 0x10000, 0x110000};
    static const std::string special[] = {"\xE2\x96\x81", " ",           "  ",           "\t",
                                          {"\0", 1},      "\xC2\xA0",    "\xE2\x80\x8B", "<unk>",
                                          "</s>",         "<s>",         "<0x41>",       "\xEF\xAC\x81",
                                          "e\xCC\x81",    "\xC2\xBD",    "\xE2\x96",     "\xF0\x9F",
                                          "\xC0\x80",     "\xEF\xBB\xBF"};
    std::string line;
    char code[4];
    const uint32_t kinds = 1 + random_below(15);
    for (uint32_t i = random_below(60); i > 0; i--) {
        switch (random_below(4)) {
        case 0:
            if (kinds & 1) line += static_cast<char>(random_below(256));
            break;
        case 1:
            if (kinds & 2)
                line.append(code, ferry_utf8_put(random_below(blocks[random_below(std::size(blocks))]), code));
            break;
        case 2:
            if (kinds & 4) line += special[random_below(std::size(special))];
            break;
        default:
            if (kinds & 8) line += "etaoin shrdlu"[random_below(13)];
        }
    }
    return line;
}

ferry_status take(void *user, const ferry_spm_part *part)
{
    const std::string piece(part->piece.data, part->piece.size);
    static_cast<Pieces *>(user)->emplace_back(part->id, piece, part->begin, part->end);
    return FERRY_OK;
}

bool equal(const ferry_spm *ours, const sentencepiece::SentencePieceProcessor &system, const std::string &line)
{
    Pieces found, expected;
    ferry_error error;
    sentencepiece::ImmutableSentencePieceText encoding;
    if (ferry_spm_encode(ours, {line.data(), line.size()}, take, &found, &error) != FERRY_OK) return false;
    if (!system.Encode(line, encoding.mutable_proto()).ok()) return false;
    for (const auto &piece : encoding.pieces())
        expected.emplace_back(piece.id(), piece.piece(), piece.begin(), piece.end());
    return found == expected;
}

bool compare(const char *path, const std::vector<const std::string *> &lines)
{
    std::ifstream file(path, std::ios::binary);
    const std::string proto{std::istreambuf_iterator<char>(file), {}};
    sentencepiece::SentencePieceProcessor system;
    ferry_spm *ours;
    ferry_error error;
    if (!system.LoadFromSerializedProto(proto).ok() ||
        ferry_spm_create({proto.data(), proto.size()}, path, &ours, &error) != FERRY_OK) {
        std::cerr << path << ": cannot be loaded\n";
        return false;
    }
    size_t differ = 0;
    for (const auto *line : lines) differ += !equal(ours, system, *line);
    ferry_spm_destroy(ours);
    std::cout << path << ": " << differ << " of " << lines.size() << " lines differ\n";
    return differ == 0;
}

} // namespace

int main(int argc, char **argv)
{
    constexpr size_t PARTS = 4;
    std::vector<std::string> lines, hostile;
    for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
    for (int i = 0; i < 100000; i++) hostile.push_back(hostile_line());
    bool same = argc > 1;
    for (int i = 1; i < argc; i++) {
        std::vector<const std::string *> chosen;
        for (size_t at = static_cast<size_t>(i) % PARTS; at < lines.size(); at += PARTS) chosen.push_back(&lines[at]);
        for (const auto &line : hostile) chosen.push_back(&line);
        same = compare(argv[i], chosen) && same;
    }
    return same ? 0 : 1;
}
