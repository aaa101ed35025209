#pragma once

#include <string>

namespace lithe::test {

// A file that is wrong, and what its reader must say about it.
struct Wrong {
  std::string what;
  std::string text;  // of the whole file
  int line;          // where the error is, 0: the file as a whole
  std::string says;  // part of the message
};

}  // namespace lithe::test
