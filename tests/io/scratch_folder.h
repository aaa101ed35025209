#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace lithe::test {

// A folder of this test alone, removed when it goes out of scope.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name = "lithe_test") {
    std::string made = (std::filesystem::temp_directory_path() / (name + "_XXXXXX")).string();
    if (!::mkdtemp(made.data())) throw std::runtime_error("no temporary folder: " + made);
    path_ = std::filesystem::canonical(made);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string at(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return at(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace lithe::test
