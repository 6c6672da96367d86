# find_package(ferry): ferry::ferry is libferry.so, ferry::ferry_static libferry.a; on top of the latter,
# ferry::ferry_inspect is what ferry_inspect.h declares, and ferry::ferry_documents (which needs md4c) what
# ferry_documents.h does.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
    pkg_check_modules(MD4C QUIET IMPORTED_TARGET md4c)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/ferry-targets.cmake)
