# utf8proc, and our wrapper around it, in one object: `unicode_objects`. Its only global symbols are ferry_unicode_*, so a
# program may have another utf8proc. Its license goes to the notices of sentencepiece.cmake.

find_library(UTF8PROC_LIBRARY libutf8proc.a)
find_path(UTF8PROC_INCLUDE utf8proc.h)
if(NOT UTF8PROC_LIBRARY OR NOT UTF8PROC_INCLUDE)
    message(FATAL_ERROR "libutf8proc.a or utf8proc.h is missing: run tools/setup.sh build, which installs libutf8proc-dev")
endif()
add_library(unicode OBJECT ${CMAKE_CURRENT_LIST_DIR}/unicode.c)
target_include_directories(unicode SYSTEM PRIVATE ${UTF8PROC_INCLUDE})
target_compile_definitions(unicode PRIVATE UTF8PROC_STATIC)

set(unicode_objects ${CMAKE_CURRENT_BINARY_DIR}/unicode_private.o)
add_custom_command(
    OUTPUT ${unicode_objects}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${unicode_objects}.all $<TARGET_OBJECTS:unicode> ${UTF8PROC_LIBRARY}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=ferry_unicode_* --strip-unneeded ${unicode_objects}.all
            ${unicode_objects}
    COMMAND ${CMAKE_COMMAND} -E rm ${unicode_objects}.all
    DEPENDS unicode $<TARGET_OBJECTS:unicode> ${UTF8PROC_LIBRARY}
    COMMENT "Hiding utf8proc in one object"
    COMMAND_EXPAND_LISTS VERBATIM)

if(NOT spm_notices)
    set(spm_notices ${CMAKE_CURRENT_BINARY_DIR}/NOTICES)
    file(WRITE ${spm_notices} "The libraries of Ferry contain parts of the following project.\n")
endif()
file(READ ${CMAKE_CURRENT_LIST_DIR}/utf8proc_license.txt text)
file(APPEND ${spm_notices} "\n======== utf8proc ========\n\n${text}")
