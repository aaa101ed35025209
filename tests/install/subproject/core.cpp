// Prints the version, as `lithe --version` does.
#include <cstdio>

#include "lithe/core/build_info.h"

int main() { std::printf("lithe %s\n", lithe::build_info().version.c_str()); }
