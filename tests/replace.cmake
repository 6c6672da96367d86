# Writes FROM with REPLACEMENT for every ANCHOR, of which there must be at least one, to TO.
function(replace from to anchor replacement)
    file(READ ${from} old)
    string(REPLACE "${anchor}" "${replacement}" new "${old}")
    if(new STREQUAL old)
        message(FATAL_ERROR "${from}: '${anchor}' is no longer there")
    endif()
    file(WRITE ${to} "${new}")
endfunction()
