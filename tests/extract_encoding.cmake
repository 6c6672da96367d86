# Writes to DIRECTORY the files that docs/adding-an-encoding.md describes, from its blocks of C in their order:
# the scheme, its line in the list of schemes.h, a test's formula, the test's row.
file(READ ${SOURCE_DIR}/docs/adding-an-encoding.md page)

set(blocks scheme row formula test_row)
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

file(WRITE ${DIRECTORY}/sandwich.c "${scheme}")
configure_file(${SOURCE_DIR}/engine/position/position.c ${DIRECTORY}/position.c COPYONLY)
replace(${SOURCE_DIR}/engine/position/schemes.h ${DIRECTORY}/schemes.h "    X(learned)" "${row}    X(learned)")
set(test test_encodings.c)
set(formulas "static double alibi_term(")
set(rows "        {\"alibi\", alibi_term,")
replace(${SOURCE_DIR}/tests/graph/${test} ${DIRECTORY}/${test} "${formulas}" "${formula}\n${formulas}")
replace(${DIRECTORY}/${test} ${DIRECTORY}/${test} "${rows}" "${test_row}${rows}")
