// The public header alone, from C++: the same program.
#include "header_only.c"
