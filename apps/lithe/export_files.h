#pragma once

#include <string>
#include <string_view>

namespace lithe::cli {

// The viewer's page: `given`, else what $LITHE_VIEWER names, else viewer.html where it is installed, beside this program, or where a
// build leaves it below the current folder. If it is nowhere, an Error that says how to build it.
std::string read_viewer_page(const std::string& given);

// Replaces the file if there is one. Errors name the file and the system's reason.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace lithe::cli
