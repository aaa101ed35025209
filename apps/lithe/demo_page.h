#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/lithe/demo_throw.h"
#include "lithe/viz/document/show_motion.h"

namespace lithe::cli {

// The throw as something to look at: the motion before and after, with contacts and gradients, and the cost by iteration.
class DemoPage {
 public:
  explicit DemoPage(const DemoThrow& found);

  // demo_start.lithe and demo_optimised.lithe. Returns their names.
  std::vector<std::string> write_recordings(const std::string& folder) const;
  std::string html(std::string_view viewer_page) const;

 private:
  struct Part {
    std::string name;
    std::vector<RecordedFrame> frames;
  };
  const DemoThrow& throw_;
  std::vector<Part> parts_;
};

}  // namespace lithe::cli
