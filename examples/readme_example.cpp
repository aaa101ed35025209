#include <cstdio>

#include "lithe/core/version.h"

int main() { std::printf("lithe %s\n", lithe::kVersion); }
