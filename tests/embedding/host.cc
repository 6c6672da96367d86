/* host MODEL PIECES TEXT: a C++ program with a library and a C++ runtime of its own, which it uses before and after
 * libferry translates TEXT. PIECES is a SentencePiece model. */
#include <ferry.h>

#include <iostream>
#include <stdexcept>
#include <string>

/* own_*.cc: throws if the program's own library does not work. */
void use_own_library(const std::string &pieces, const std::string &text);

namespace
{

std::string translated(const char *path, const std::string &text)
{
    ferry_error error;
    ferry_model *model;
    ferry_translator *translator;
    ferry_result *result;
    const ferry_text line = {text.data(), text.size()};
    if (ferry_model_open(path, 0, &model, &error) != FERRY_OK ||
        ferry_translator_create(model, nullptr, &translator, &error) != FERRY_OK ||
        ferry_translate(translator, &line, 1, &result, &error) != FERRY_OK)
        throw std::runtime_error(error.message);
    const ferry_text output = ferry_result_text(result, 0, 0);
    const std::string translation(output.data, output.size);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
    return translation;
}

void throw_and_catch()
{
    try {
        throw std::out_of_range("own exception");
    } catch (const std::logic_error &exception) {
        if (exception.what() != std::string("own exception")) throw std::runtime_error("exceptions");
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    try {
        use_own_library(argv[2], argv[3]);
        const std::string translation = translated(argv[1], argv[3]);
        use_own_library(argv[2], argv[3]);
        throw_and_catch();
        std::cout << translation << std::endl;
    } catch (const std::exception &exception) {
        std::cerr << "host: " << exception.what() << std::endl;
        return 1;
    }
}
