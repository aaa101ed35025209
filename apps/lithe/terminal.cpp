#include "apps/lithe/terminal.h"

#include <cstdlib>
#include <unistd.h>

namespace lithe::cli {

bool stdout_wants_colour(bool refused) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool environment_refuses = no_color != nullptr && *no_color != '\0';
  return !refused && !environment_refuses && isatty(STDOUT_FILENO) != 0;
}

}  // namespace lithe::cli
