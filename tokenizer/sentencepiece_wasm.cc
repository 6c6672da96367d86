/* WebAssembly: the file functions that SentencePiece calls, without files. (Threads: sentencepiece_wasm.h.) */
#include <memory>

#include <filesystem.h>
#include <util.h>

namespace sentencepiece::filesystem
{
namespace
{
class NoFile : public ReadableFile
{
  public:
    util::Status status() const override
    {
        return {util::StatusCode::kNotFound, "there are no files"};
    }
    bool ReadLine(std::string *) override
    {
        return false;
    }
    bool ReadAll(std::string *) override
    {
        return false;
    }
};
} // namespace

std::unique_ptr<ReadableFile> NewReadableFile(absl::string_view, bool)
{
    return std::make_unique<NoFile>();
}
} // namespace sentencepiece::filesystem

/* Nothing to register: the only thread lives as long as the module. */
extern "C" int __cxa_thread_atexit(void (*)(void *), void *, void *)
{
    return 0;
}
