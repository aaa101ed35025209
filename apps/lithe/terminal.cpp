#include "apps/lithe/terminal.h"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace lithe::cli {

bool stdout_wants_colour(bool refused) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool environment_refuses = no_color != nullptr && *no_color != '\0';
  return !refused && !environment_refuses && isatty(STDOUT_FILENO) != 0;
}

bool stderr_is_terminal() {
  const char* kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return !dumb && isatty(STDERR_FILENO) != 0;
}

int stderr_columns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace lithe::cli
