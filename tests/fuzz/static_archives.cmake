# Included after project(): libraries are those of lib*.a alone.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
