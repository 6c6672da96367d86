# Included after project(): libraries are those of lib*.a where there is one.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so) # md4c's package has no archive
