# SentencePiece, and our wrapper around it: `spm_objects`, which the engine's libraries contain; `spm_hidden`,
# whether no other name than the wrapper's is visible; `spm_licenses`, files: of what is inside.
#
# SentencePiece, its protobuf and the C++ runtime are linked into one object whose only global symbols are ferry_spm_*.
# (Where that cannot be done, these names are seen in the static library.)
# So the libraries need no C++ compiler or runtime to be linked, and nothing in them meets another protobuf,
# SentencePiece or C++ runtime of the same program.

set(wrapper ${CMAKE_CURRENT_LIST_DIR}/sentencepiece_c.cc)
add_library(ferry_spm OBJECT ${wrapper})
set(spm_hidden OFF)

set(package ${PROJECT_SOURCE_DIR}/third_party/sentencepiece-0.2.1/sentencepiece)
if(NOT EXISTS ${package})
    message(FATAL_ERROR "The source of SentencePiece is missing: run tools/setup.sh build, which fetches it into "
                        "third_party")
endif()

# The runtime without the trainer, and what it uses of the protobuf that the package carries.
set(sources
    src/bpe_model.cc
    src/builtin_pb/sentencepiece.pb.cc
    src/builtin_pb/sentencepiece_model.pb.cc
    src/char_model.cc
    src/error.cc
    src/filesystem.cc
    src/model_factory.cc
    src/model_interface.cc
    src/normalizer.cc
    src/unigram_model.cc
    src/word_model.cc
    third_party/protobuf-lite/arena.cc
    third_party/protobuf-lite/arenastring.cc
    third_party/protobuf-lite/coded_stream.cc
    third_party/protobuf-lite/common.cc
    third_party/protobuf-lite/extension_set.cc
    third_party/protobuf-lite/generated_enum_util.cc
    third_party/protobuf-lite/generated_message_util.cc
    third_party/protobuf-lite/implicit_weak_message.cc
    third_party/protobuf-lite/int128.cc
    third_party/protobuf-lite/parse_context.cc
    third_party/protobuf-lite/status.cc
    third_party/protobuf-lite/stringpiece.cc
    third_party/protobuf-lite/stringprintf.cc
    third_party/protobuf-lite/structurally_valid.cc
    third_party/protobuf-lite/strutil.cc
    third_party/protobuf-lite/wire_format_lite.cc
    third_party/protobuf-lite/zero_copy_stream.cc
    third_party/protobuf-lite/zero_copy_stream_impl.cc
    third_party/protobuf-lite/zero_copy_stream_impl_lite.cc
)
if(WIN32)
    list(APPEND sources third_party/protobuf-lite/io_win32.cc)
elseif(CMAKE_SYSTEM_NAME STREQUAL WASI)
    list(REMOVE_ITEM sources src/filesystem.cc)
endif()
list(TRANSFORM sources PREPEND ${package}/)
if(CMAKE_SYSTEM_NAME STREQUAL WASI)
    list(APPEND sources ${CMAKE_CURRENT_LIST_DIR}/sentencepiece_wasm.cc)
endif()

# ferry_mend(FILE PATTERN REPLACEMENT …): a copy of FILE is compiled in which what matches is replaced.
function(ferry_mend file)
    get_filename_component(copy ${file} NAME)
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/sentencepiece/${copy})
    file(READ ${package}/${file} text)
    math(EXPR last "${ARGC} - 1")
    foreach(i RANGE 1 ${last} 2)
        math(EXPR next "${i} + 1")
        string(REGEX REPLACE "${ARGV${i}}" "${ARGV${next}}" mended "${text}")
        if(mended STREQUAL text)
            message(FATAL_ERROR "${file} has nothing that matches ${ARGV${i}}")
        endif()
        set(text "${mended}")
    endforeach()
    file(WRITE ${copy}.new "${text}")
    configure_file(${copy}.new ${copy} COPYONLY) # which is left alone while it stays the same
    set(sources ${sources} ${copy} PARENT_SCOPE)
endfunction()

# A run of unknown characters becomes one piece, which was copied for each of them. An empty text was lost whenever the
# library was unloaded.
ferry_mend(src/sentencepiece_processor.cc "sp->set_(piece|surface)\\(sp->[a-z]+\\(\\) \\+ std::string\\(([a-z]+)\\)\\);"
           "sp->mutable_\\1()->append(\\2.data(), \\2.size());"
           "\\*kEmptyString = new std::string" "kEmpty, *kEmptyString = &kEmpty")
# So was the list of the objects that a shutdown destroys. There is no shutdown here, and these objects own no memory.
ferry_mend(third_party/protobuf-lite/message_lite.cc "auto shutdown_data = [^}]*" "")
# A list of messages counts the next one before there is memory for it; its destructor, which deletes all that it counted,
# finds null there.
ferry_mend(third_party/protobuf-lite/repeated_field.cc "(::operator new\\(bytes\\))" "memset(\\1, 0, bytes)")
# The seed of random segmentations, which nobody asks for, needs a C library of 2022 (arc4random).
ferry_mend(src/util.cc "std::random_device{}\\(\\)" "0")
add_library(ferry_sentencepiece OBJECT ${sources})
set(INSTALL_DATADIR)
configure_file(${package}/config.h.in sentencepiece/config.h @ONLY)
target_include_directories(ferry_sentencepiece PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/sentencepiece ${package}
                           ${package}/src ${package}/src/builtin_pb ${package}/third_party/protobuf-lite
                           ${PROJECT_SOURCE_DIR})
# Above the highest level of protobuf's messages: it prints none.
target_compile_definitions(ferry_sentencepiece PRIVATE _USE_INTERNAL_STRING_VIEW HAVE_PTHREAD=1
                           GOOGLE_PROTOBUF_MIN_LOG_LEVEL=4)
# Its messages name its files, but not where they are on this machine.
target_compile_options(ferry_sentencepiece PRIVATE -fmacro-prefix-map=${package}/= -fmacro-prefix-map=${CMAKE_CURRENT_BINARY_DIR}/=)
# Its hash map, which anyone can make slow who knows how std::hash works, is replaced.
target_compile_options(ferry_sentencepiece PRIVATE -w "SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/sentencepiece_map.h")
set(map ${CMAKE_CURRENT_LIST_DIR}/sentencepiece_map.h)
set_source_files_properties(${package}/src/unigram_model.cc PROPERTIES OBJECT_DEPENDS ${map}
                            COMPILE_FLAGS "-include third_party/darts_clone/darts.h -include ${map}")
target_include_directories(ferry_spm SYSTEM PRIVATE ${package}/src)
if(CMAKE_SYSTEM_NAME STREQUAL WASI)
    target_compile_options(ferry_sentencepiece PRIVATE "SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/sentencepiece_wasm.h")
endif()

set(spm_licenses LICENSE third_party/absl/LICENSE third_party/darts_clone/LICENSE third_party/protobuf-lite/LICENSE)
list(TRANSFORM spm_licenses PREPEND ${package}/)

if(FERRY_SANITIZE OR FERRY_FUZZ OR NOT can_hide)
    # With sanitizers: instrumented, and with the C++ runtime that they know.
    if(FERRY_SANITIZE STREQUAL memory) # which does not know what the runtime, not instrumented, has written
        target_compile_options(ferry_sentencepiece PRIVATE -fno-sanitize=memory)
    endif()
    set(spm_objects $<TARGET_OBJECTS:ferry_spm> $<TARGET_OBJECTS:ferry_sentencepiece>)
    return()
endif()

set(spm_hidden ON)
target_compile_definitions(ferry_spm PRIVATE FERRY_OWN_RUNTIME)
target_compile_options(ferry_sentencepiece PRIVATE -ffunction-sections -fdata-sections)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/sentencepiece_c.h kept REGEX "^[a-z].* \\*?ferry_spm_[a-z_]*\\(")
list(TRANSFORM kept REPLACE ".*(ferry_spm_[a-z_]*)\\(.*" "-Wl,--undefined=\\1")
set(runtime)
foreach(archive libstdc++.a libgcc_eh.a)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${archive} OUTPUT_VARIABLE path
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT IS_ABSOLUTE "${path}")
        message(FATAL_ERROR "${CMAKE_CXX_COMPILER} has no ${archive}: install the static C++ runtime")
    endif()
    list(APPEND runtime ${path})
endforeach()
set(spm_objects ${CMAKE_CURRENT_BINARY_DIR}/sentencepiece/private.o)
add_custom_command(
    OUTPUT ${spm_objects}
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -o ${spm_objects}.all $<TARGET_OBJECTS:ferry_spm>
            $<TARGET_OBJECTS:ferry_sentencepiece> ${runtime} -Wl,--gc-sections,--force-group-allocation ${kept}
    # Only global and weak symbols become local: C++'s unique ones have to be weak first. What is left of references to
    # nothing (_ITM_*) would turn the same weak ones of another C++ runtime into errors: --strip-unneeded.
    COMMAND ${CMAKE_OBJCOPY} --wildcard --weaken-symbol=_Z* ${spm_objects}.all
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=ferry_spm_* --strip-unneeded ${spm_objects}.all
            ${spm_objects}
    COMMAND ${CMAKE_COMMAND} -E remove ${spm_objects}.all
    DEPENDS ferry_spm ferry_sentencepiece $<TARGET_OBJECTS:ferry_spm> $<TARGET_OBJECTS:ferry_sentencepiece>
    COMMENT "Hiding SentencePiece and the C++ runtime in one object"
    COMMAND_EXPAND_LISTS VERBATIM)
# Several libraries contain the object: without a target of its own, make would build it for each of them at once.
add_custom_target(ferry_private_object DEPENDS ${spm_objects})
