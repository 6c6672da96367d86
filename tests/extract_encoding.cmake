# Writes to DIRECTORY the files that docs/adding-an-encoding.md describes, from its blocks of C in their order:
# the scheme, its declaration, its row in the table, its row in a test.
file(READ ${SOURCE_DIR}/docs/adding-an-encoding.md page)

set(blocks scheme declaration row test_row)
foreach(block IN LISTS blocks)
    string(FIND "${page}" "```c\n" start)
    if(start EQUAL -1)
        message(FATAL_ERROR "docs/adding-an-encoding.md: the block of C for the ${block} is missing")
    endif()
    math(EXPR start "${start} + 5")
    string(SUBSTRING "${page}" ${start} -1 page)
    string(FIND "${page}" "```" end)
    string(SUBSTRING "${page}" 0 ${end} ${block})
    math(EXPR end "${end} + 3")
    string(SUBSTRING "${page}" ${end} -1 page)
endforeach()

string(REGEX MATCHALL "\n" lines "${scheme}")
list(LENGTH lines count)
if(NOT count LESS 60)
    message(FATAL_ERROR "docs/adding-an-encoding.md promises fewer than 60 lines, and has ${count}")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/replace.cmake)

# A copy of SOURCE with TEXT after ANCHOR.
function(insert source anchor text)
    get_filename_component(name ${source} NAME)
    replace(${SOURCE_DIR}/${source} ${DIRECTORY}/${name} "${anchor}" "${anchor}${text}")
endfunction()

file(WRITE ${DIRECTORY}/sandwich.c "${scheme}")
insert(engine/position/schemes.h "#include \"position.h\"\n" "${declaration}")
insert(engine/position/position.c "    &none,\n" "${row}")
insert(tests/engine/test_untrained.c "{\"none\"," "${test_row}")
