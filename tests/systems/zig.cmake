# zig, which tests/systems.sh wraps in programs named ${FERRY_ZIG}/cc and so on.
set(CMAKE_C_COMPILER $ENV{FERRY_ZIG}/cc)
set(CMAKE_CXX_COMPILER $ENV{FERRY_ZIG}/c++)
set(CMAKE_AR $ENV{FERRY_ZIG}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB $ENV{FERRY_ZIG}/ranlib CACHE FILEPATH "")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
