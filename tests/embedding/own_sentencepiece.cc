#include <sentencepiece_processor.h>

#include <stdexcept>
#include <string>
#include <vector>

void use_own_library(const std::string &pieces, const std::string &text);

void use_own_library(const std::string &pieces, const std::string &text)
{
    sentencepiece::SentencePieceProcessor processor;
    std::vector<std::string> found;
    std::string joined;
    if (!processor.Load(pieces).ok() || !processor.Encode(text, &found).ok() ||
        !processor.Decode(found, &joined).ok() || joined != text)
        throw std::runtime_error("SentencePiece");
}
