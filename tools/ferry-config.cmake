# find_package(ferry): ferry::ferry is libferry.so, ferry::ferry_static libferry.a, and ferry::ferry_inspect what
# ferry_inspect.h declares, on top of the latter.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/ferry-targets.cmake)
