#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sentencepiece_processor.h>

extern "C" {
#include "sentencepiece_c.h"
#include "sentencepiece_check.h"
}

#ifdef FERRY_OWN_RUNTIME
namespace __gnu_cxx
{
void __freeres() noexcept; /* of libstdc++, in no header of it */
}

/* The last of all destructors. The library's own C++ runtime holds memory for exceptions, which would leak when the
 * library is unloaded. (A shared runtime keeps its memory.) */
__attribute__((destructor(101))) static void free_runtime()
{
    __gnu_cxx::__freeres();
}
#endif

struct ferry_spm {
    sentencepiece::SentencePieceProcessor processor;
};

namespace
{

/* SentencePiece counts bytes of normalized text, up to 18 times the input under NFKC, in an int. */
constexpr size_t max_text = size_t{1} << 26;

/* Above the level of a fatal error, 3. */
constexpr int silent = 4;

/* Darts rethrows std::bad_alloc as its own exception, whose text names it. */
bool lacks_memory(const std::exception &exception)
{
    return dynamic_cast<const std::bad_alloc *>(&exception) != nullptr ||
           dynamic_cast<const std::length_error *>(&exception) != nullptr ||
           std::strstr(exception.what(), "std::bad_alloc") != nullptr;
}

template <typename Body> ferry_status guarded(const char *name, ferry_error *error, Body body) noexcept
{
    try {
        return body();
    } catch (const std::exception &exception) {
        if (lacks_memory(exception))
            return ferry_fail(error, FERRY_ERROR_MEMORY, "%s: out of memory in SentencePiece", name);
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: SentencePiece: %s", name, exception.what());
    } catch (...) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: SentencePiece: unknown exception", name);
    }
}

ferry_status check(const sentencepiece::util::Status &status, const char *name, ferry_error *error)
{
    if (status.ok()) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: SentencePiece: %s", name, status.error_message());
}

std::string_view string_of(ferry_view view)
{
    return std::string_view(view.data, view.size);
}

ferry_view view_of(const std::string &string)
{
    return ferry_view{string.data(), string.size()};
}

} // namespace

ferry_status ferry_spm_create(ferry_view proto, const char *name, ferry_spm **spm, ferry_error *error)
{
    ferry_view self_test;
    *spm = nullptr;
    FERRY_TRY(ferry_spm_check(proto, name, &self_test, error));
    sentencepiece::SetMinLogLevel(silent);
    return guarded(name, error, [&] {
        auto loaded = std::make_unique<ferry_spm>();
        std::string untested;
        std::string_view kept = string_of(proto);
        if (self_test.size > 0) {
            untested.assign(proto.data, self_test.data);
            untested.append(self_test.data + self_test.size, proto.data + proto.size);
            kept = untested;
        }
        FERRY_TRY(check(loaded->processor.LoadFromSerializedProto(kept), name, error));
        loaded->processor.IdToPiece(0); /* the first call allocates; every model has a piece, the unknown one */
        *spm = loaded.release();
        return FERRY_OK;
    });
}

void ferry_spm_destroy(ferry_spm *spm)
{
    delete spm;
}

/* These neither allocate nor throw. */

int32_t ferry_spm_count(const ferry_spm *spm)
{
    return spm->processor.GetPieceSize();
}

int32_t ferry_spm_unknown(const ferry_spm *spm)
{
    return spm->processor.unk_id();
}

ferry_view ferry_spm_piece(const ferry_spm *spm, int32_t id)
{
    return view_of(spm->processor.IdToPiece(id));
}

ferry_spm_kind ferry_spm_kind_of(const ferry_spm *spm, int32_t id)
{
    const auto &processor = spm->processor;
    if (processor.IsUnknown(id)) return FERRY_SPM_UNKNOWN;
    if (processor.IsControl(id)) return FERRY_SPM_CONTROL;
    if (processor.IsUnused(id)) return FERRY_SPM_UNUSED;
    return processor.IsByte(id) ? FERRY_SPM_BYTE : FERRY_SPM_NORMAL;
}

int32_t ferry_spm_find(const ferry_spm *spm, ferry_view piece)
{
    return spm->processor.PieceToId(string_of(piece));
}

ferry_status ferry_spm_encode(const ferry_spm *spm, ferry_view text, ferry_spm_sink sink, void *user,
                              ferry_error *error)
{
    if (text.size > max_text)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "text: expected at most %zu bytes, found %zu", max_text, text.size);
    return guarded("text", error, [&] {
        sentencepiece::ImmutableSentencePieceText encoding;
        FERRY_TRY(check(spm->processor.Encode(string_of(text), encoding.mutable_proto()), "text", error));
        for (size_t i = 0; i < encoding.pieces_size(); i++) {
            const auto piece = encoding.pieces(static_cast<int>(i));
            const ferry_spm_part part = {view_of(piece.piece()), static_cast<int32_t>(piece.id()), piece.begin(),
                                         piece.end()};
            FERRY_TRY(sink(user, &part));
        }
        return FERRY_OK;
    });
}
