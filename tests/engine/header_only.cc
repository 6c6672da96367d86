// The public header alone, from C++: header_only MODEL. MODEL is the one that ships.
#include "ferry.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

template <auto destroy> struct deleter {
    template <typename T> void operator()(T *object) const
    {
        destroy(object);
    }
};
using model_ptr = std::unique_ptr<ferry_model, deleter<ferry_model_close>>;
using translator_ptr = std::unique_ptr<ferry_translator, deleter<ferry_translator_destroy>>;
using result_ptr = std::unique_ptr<ferry_result, deleter<ferry_result_destroy>>;

void expect(bool holds, const std::string &what)
{
    if (!holds) throw std::runtime_error(what);
}

model_ptr open(const char *path)
{
    ferry_error error = {};
    ferry_model *model = nullptr;
    const ferry_status status = ferry_model_open(path, 0, &model, &error);
    expect(status == FERRY_OK, error.message);
    return model_ptr(model);
}

translator_ptr create(const ferry_model *model, const ferry_options *options)
{
    ferry_error error = {};
    ferry_translator *translator = nullptr;
    const ferry_status status = ferry_translator_create(model, options, &translator, &error);
    expect(status == FERRY_OK, error.message);
    return translator_ptr(translator);
}

std::vector<std::string> translate(ferry_translator *translator, const std::vector<std::string> &lines)
{
    ferry_error error = {};
    ferry_result *found = nullptr;
    std::vector<ferry_text> texts;
    for (const std::string &line : lines) texts.push_back({line.data(), line.size()});
    const ferry_status status = ferry_translate(translator, texts.data(), texts.size(), &found, &error);
    expect(status == FERRY_OK, error.message);
    const result_ptr result(found);
    std::vector<std::string> translations;
    for (size_t i = 0; i < lines.size(); i++) {
        const ferry_text text = ferry_result_text(result.get(), i, 0);
        translations.emplace_back(text.data, text.size);
    }
    return translations;
}

void test_missing_file()
{
    try {
        open("no-such-file.gguf");
    } catch (const std::runtime_error &error) {
        expect(std::strstr(error.what(), "no-such-file.gguf") != nullptr, "the message names the file");
        return;
    }
    expect(false, "a missing file opens");
}

void test_translation(const ferry_model *model)
{
    const translator_ptr translator = create(model, nullptr);
    const std::vector<std::string> found = translate(translator.get(), {"Hello, world!", "", std::string("\0", 1)});
    expect(found.at(0) == "Hallo, die Welt!", "found '" + found.at(0) + "'");
    expect(found.at(1).empty(), "an empty line stays empty");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fputs("usage: header_only MODEL\n", stderr);
        return 2;
    }
    try {
        test_missing_file();
        const model_ptr model = open(argv[1]);
        test_translation(model.get());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "header_only: %s\n", error.what());
        return 1;
    }
    return 0;
}
