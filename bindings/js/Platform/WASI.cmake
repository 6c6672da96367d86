# CMake knows no WASI. Shared libraries are declared, and not built.
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS TRUE)
