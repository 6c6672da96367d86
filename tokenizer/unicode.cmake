# utf8proc, and our wrapper around it: `unicode_objects`, which the engine's libraries contain, and `unicode_needs`, what
# else they link. Where that can be done, both are one object whose only global symbols are ferry_unicode_*, so a program
# may have another utf8proc.

find_library(UTF8PROC_LIBRARY libutf8proc.a)
find_path(UTF8PROC_INCLUDE utf8proc.h)
if(NOT UTF8PROC_LIBRARY OR NOT UTF8PROC_INCLUDE)
    message(FATAL_ERROR "libutf8proc.a or utf8proc.h is missing: run tools/setup.sh build, which installs libutf8proc-dev")
endif()
add_library(ferry_unicode OBJECT ${CMAKE_CURRENT_LIST_DIR}/unicode.c)
target_include_directories(ferry_unicode SYSTEM PRIVATE ${UTF8PROC_INCLUDE})
target_compile_definitions(ferry_unicode PRIVATE UTF8PROC_STATIC)

if(NOT can_hide)
    set(unicode_objects $<TARGET_OBJECTS:ferry_unicode>)
    set(unicode_needs $<BUILD_INTERFACE:${UTF8PROC_LIBRARY}> $<INSTALL_INTERFACE:utf8proc>)
    return()
endif()

set(unicode_needs)
set(unicode_objects ${CMAKE_CURRENT_BINARY_DIR}/unicode_private.o)
add_custom_command(
    OUTPUT ${unicode_objects}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${unicode_objects}.all $<TARGET_OBJECTS:ferry_unicode> ${UTF8PROC_LIBRARY}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=ferry_unicode_* --strip-unneeded ${unicode_objects}.all
            ${unicode_objects}
    COMMAND ${CMAKE_COMMAND} -E remove ${unicode_objects}.all
    DEPENDS ferry_unicode $<TARGET_OBJECTS:ferry_unicode> ${UTF8PROC_LIBRARY}
    COMMENT "Hiding utf8proc in one object"
    COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(ferry_unicode_object DEPENDS ${unicode_objects})
