/* The tag of C++'s exceptions, which compilers refer to and LLVM's linker expects some object to define. */
__asm__(".tagtype __cpp_exception i32\n"
        ".globl __cpp_exception\n"
        "__cpp_exception:\n");
