# The sample in the first comment of engine/ferry.h as a program.
BEGIN { print "#include <ferry.h>\n#include <stdio.h>\n\nint main(void)\n{" }
/^ \*     / { print substr($0, 4) }
END { print "}" }
