#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lithe/io/sdf/frames.h"
#include "lithe/io/sdf/parts.h"

namespace lithe::internal {

// What an SDF file and all that it includes consist of, as a flat list; the numbers are still in the elements.
struct SdfContents {
  struct Model {
    int frame = 0;
    int top = 0;  // index of the outermost model around it: links of one do not collide with each other
    XmlElement element = {};
    SdfVersion version = {};
    bool is_static = false;
    bool self_collide = false;
  };
  struct Link {
    int frame = 0;
    int model = 0;  // index
    XmlElement element = {};
  };
  struct Joint {
    int frame = 0;
    int scope = 0;  // frame of the model (or the world) that it is written in
    XmlElement element = {};
    SdfVersion version = {};
    bool is_static = false;  // in a static model
  };

  explicit SdfContents(int most_frames) : frames(most_frames) {}

  // What a frame is called in the model: as in SDF, but without the model's name where there is only one.
  std::string name_of(int frame) const;
  // The joint of that name in the scope; an error at `by` if there is none.
  int find_joint(int scope, std::string_view name, const XmlElement& by) const;

  std::string name;  // of the world, or of the only model
  XmlElement world = {};
  SdfFrames frames;
  std::vector<Model> models;
  std::vector<Link> links;
  std::vector<Joint> joints;
  std::vector<int> plain_frames;  // <frame>
  int top_models = 0;
  std::unordered_map<std::string, int> joint_index;  // by full name
};

// Walks through the worlds and models of a file, nested and included ones too.
SdfContents collect_sdf(SdfContext& context, const XmlElement& sdf);

// A model that an <include> names: its element, in a document of its own.
struct SdfIncluded {
  XmlElement model = {};  // none: what was found there is no model (a light, say), which was warned about
  SdfVersion version = {};
  std::string file = {};
};
// Finds and reads the files of <include>s, within the limits on their number.
class SdfIncluder {
 public:
  explicit SdfIncluder(SdfContext& context) : context_(context) {}

  SdfIncluded open(const XmlElement& include);
  // Between these two, what is opened is inside this file: to find cycles.
  void enter(const XmlElement& include, const std::string& file);
  void leave() { around_.pop_back(); }

 private:
  SdfIncluded stock_model(const XmlElement& include, std::string_view uri);
  std::string file_of(const XmlElement& include, const std::string& uri);
  SdfIncluded model_of(const XmlElement& include, const XmlElement& root, const std::string& file);

  SdfContext& context_;
  std::vector<std::string> around_;
  std::unordered_map<std::string, XmlElement> roots_;  // by file
  int count_ = 0;
};

}  // namespace lithe::internal
