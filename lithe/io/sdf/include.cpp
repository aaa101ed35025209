#include <filesystem>

#include "lithe/io/sdf/contents.h"

namespace lithe::internal {

namespace {

namespace fs = std::filesystem;

// A stand-in for model://ground_plane, which comes with Gazebo and which half of all worlds include. The other such
// model, model://sun, is a light.
constexpr std::string_view kGroundPlane = R"(<sdf version="1.9"><model name="ground_plane"><static>true</static>
<link name="link"><collision name="collision"><geometry><plane><normal>0 0 1</normal></plane></geometry>
<surface><friction><ode><mu>100</mu><mu2>100</mu2></ode></friction></surface></collision>
<visual name="visual"><geometry><plane><normal>0 0 1</normal></plane></geometry></visual></link></model></sdf>)";

// The name of the newest file of a model that can be read: its model.config names one for each version of the format.
std::string newest_file(const XmlElement& config) {
  SdfVersion newest = {};
  std::string file;
  for (const XmlElement& sdf : config.children("sdf")) {
    const SdfVersion version = sdf.attribute("version") ? sdf_version(sdf) : kOldestSdf;
    if (version < newest) continue;
    newest = version;
    file = sdf.text();
  }
  if (file.empty()) config.fail("this model.config names no <sdf> file");
  return file;
}

}  // namespace

// Both are used only where no folder of that name was found: a user's own ground_plane goes before.
SdfIncluded SdfIncluder::stock_model(const XmlElement& include, std::string_view uri) {
  if (uri == "model://sun") {
    context_.warnings.add(include.place(), "sdf.light", "model://sun is a light, which has no counterpart here");
    return {};
  }
  context_.warnings.add(include.place(), "sdf.stock_model",
                        "model://ground_plane is not there; an infinite plane with friction 100 stands for it");
  XmlElement& root = roots_[std::string(uri)];
  if (!root) root = context_.resources.xml_from_text(kGroundPlane, "model://ground_plane").root();
  return model_of(include, root, std::string(uri));
}

// The URI may name a file or a model's folder. A folder means the file that its model.config names, or else its
// model.sdf.
std::string SdfIncluder::file_of(const XmlElement& include, const std::string& uri) {
  const fs::path found = context_.resources.resolve(uri, include.place());
  std::error_code error;
  if (!fs::is_directory(found, error)) return found.string();
  std::string name = "model.sdf";
  if (fs::exists(found / "model.config", error)) {
    const fs::path config = context_.resources.resolve(uri + "/model.config", include.place());
    XmlElement& root = roots_[config.string()];
    if (!root) root = context_.resources.xml(config, include.place()).root();
    name = newest_file(root);
  }
  return context_.resources.resolve(uri + "/" + name, include.place()).string();
}

// The included file has a version of its own, by which its contents are read.
SdfIncluded SdfIncluder::model_of(const XmlElement& include, const XmlElement& root, const std::string& file) {
  if (root.name() != "sdf") {
    include.fail(fmt::format("{} holds <{}>, but only SDF models can be included here", file, root.name()));
  }
  check_contents(context_, root,
                 {.once = {"model"}, .many = {"world"}, .left_out = {"light", "actor"}, .attributes = {"version"}});
  const SdfVersion version = sdf_version(root);
  const XmlElement model = root.child("model");
  if (!model && root.child("world")) include.fail(fmt::format("{} is a world; only a model can be included", file));
  return {model, version, file};
}

SdfIncluded SdfIncluder::open(const XmlElement& include) {
  const std::string uri(include.required("uri").text());
  if (++count_ > context_.resources.options().limits.included_files) {
    include.fail(fmt::format("more than {} models are included (LoadLimits::included_files)", count_ - 1));
  }
  std::string file;
  try {
    file = file_of(include, uri);
  } catch (const LoadError&) {
    if (uri != "model://sun" && uri != "model://ground_plane") throw;
    return stock_model(include, uri);
  }
  XmlElement& root = roots_[file];
  if (!root) root = context_.resources.xml(file, include.place()).root();
  return model_of(include, root, file);
}

void SdfIncluder::enter(const XmlElement& include, const std::string& file) {
  for (const std::string& outer : around_) {
    if (outer == file) include.fail(fmt::format("{} includes itself, by way of {}", file, around_.back()));
  }
  around_.push_back(file);
  const int most = context_.resources.options().limits.include_depth;
  if (static_cast<int>(around_.size()) > most) {
    include.fail(fmt::format("includes are nested more than {} deep (LoadLimits::include_depth)", most));
  }
}

}  // namespace lithe::internal
