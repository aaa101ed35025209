#pragma once

#include <string>
#include <string_view>

#include "lithe/viz/document/show_document.h"

namespace lithe {

// The document that the viewer reads (docs/show.md), on one line. It holds no '<', so it may stand within HTML's <script>.
std::string to_json(const ShowDocument& show);

// Where the viewer's page expects the document.
inline constexpr std::string_view kShowPlaceholder = R"(<script type="application/json" id="lithe-show">null</script>)";

// The page with `json` in that place. A page without it is an Error. The text may hold no '<'.
std::string with_document(std::string_view viewer_page, std::string_view json);

// The viewer's page with the document in it: one file that opens from disk.
std::string to_html(const ShowDocument& show, std::string_view viewer_page);

}  // namespace lithe
