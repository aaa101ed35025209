#include "lithe/io/load.h"

#include "lithe/io/reader_parts.h"
#include "lithe/io/readers.h"

namespace lithe {

namespace {

using Reader = LoadedModel (*)(const XmlElement&, Resources&, WarningList&);

struct Format {
  std::string_view root;  // element
  std::string_view name;
  Reader reader;
};
constexpr Format kFormats[] = {{"robot", "URDF", read_urdf}, {"sdf", "SDF", read_sdf}, {"mujoco", "MJCF", read_mjcf}};

const Format& format_of(const XmlElement& root) {
  for (const Format& format : kFormats) {
    if (root.name() == format.root) return format;
  }
  root.fail(
      fmt::format("<{}> is not a robot or a world: the root element is <robot> (URDF), <sdf> (SDF) or <mujoco> (MJCF)",
                  root.name()));
}

LoadedModel read(const XmlElement& root, Resources& resources, const LoadOptions& options, std::string_view only) {
  const Format& format = format_of(root);
  if (!only.empty() && format.name != only) {
    root.fail(fmt::format("this is {}, not {}: call load(), which tells the formats apart", format.name, only));
  }
  WarningList warnings(options.strict);
  LoadedModel loaded;
  at_line(root, [&] { loaded = format.reader(root, resources, warnings); });
  loaded.warnings = warnings.warnings();
  loaded.collision_meshes = resources.collision_meshes();
  loaded.files = resources.files();
  return loaded;
}

LoadedModel load_file(const std::string& path, const LoadOptions& options, std::string_view only) {
  Resources resources(path, options);
  return read(resources.xml(path, {}).root(), resources, options, only);
}

}  // namespace

LoadedModel load(const std::string& path, const LoadOptions& options) { return load_file(path, options, ""); }
LoadedModel load_urdf(const std::string& path, const LoadOptions& options) { return load_file(path, options, "URDF"); }
LoadedModel load_sdf(const std::string& path, const LoadOptions& options) { return load_file(path, options, "SDF"); }
LoadedModel load_mjcf(const std::string& path, const LoadOptions& options) { return load_file(path, options, "MJCF"); }

LoadedModel load_text(std::string_view text, const std::string& name, const LoadOptions& options) {
  Resources resources(name, options);
  return read(resources.xml_from_text(text, name).root(), resources, options, "");
}

}  // namespace lithe
