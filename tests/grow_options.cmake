# Writes to DIRECTORY the library's sources as a later release may have them: ferry_options has one more field at its end.
file(REMOVE_RECURSE ${DIRECTORY})
foreach(folder base engine tokenizer)
    file(COPY ${SOURCE_DIR}/${folder} DESTINATION ${DIRECTORY} FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.cc")
endforeach()
# Copies are as old as their originals: objects that were built of earlier copies would look newer.
file(GLOB_RECURSE copies ${DIRECTORY}/*)
file(TOUCH ${copies})

include(${CMAKE_CURRENT_LIST_DIR}/replace.cmake)

# TEXT before ANCHOR.
function(insert file anchor text)
    replace(${DIRECTORY}/${file} ${DIRECTORY}/${file} "${anchor}" "${text}${anchor}")
endfunction()

insert(engine/ferry.h "} ferry_options;" "    int32_t grown[2]; /* the first: 1 to 9, by default 7 */\n")
insert(engine/ferry.h "/* Opens a model file" "#define FERRY_OPTIONS_GROWN\n")
# A default that is not 0, and that 0 is out of range: a library that leaves the field unset refuses its own options.
insert(engine/file/schema.c "    {\"threads\", FERRY_KEY_SIZE"
       "    {\"grown\", FERRY_KEY_SIZE, FERRY_WHEN_NEVER, PLACE(ferry_options, grown[0]), .least = 1, .most = 9, .usual = 7},\n")
