# find_package(ferry): ferry::ferry is libferry.so, ferry::ferry_static libferry.a. ferry::ferry_documents and
# ferry::ferry_documents_static, which links md4c, are what ferry_documents.h declares, where Ferry was built with md4c;
# ferry::ferry_inspect, on top of libferry.a, what ferry_inspect.h does.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/ferry-targets.cmake)
