#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lithe/io/sdf/frames.h"
#include "lithe/io/sdf/parts.h"

namespace lithe::internal {

// What an SDF file and all that it includes consist of, as flat lists. The numbers of links and joints are still in
// their elements.
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

  // The name of a frame's link or joint in the Model: as in SDF, but without the outermost model's name where there is
  // only one.
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

// Reads the world and the models of a file, nested and included ones too, and resolves their frames.
SdfContents collect_sdf(SdfContext& context, const XmlElement& sdf);

// A model that an <include> names: its element, in a document of its own.
struct SdfIncluded {
  XmlElement model = {};  // none: what was found there is no model (a light, say), which was warned about
  SdfVersion version = {};
  std::string file = {};
};
// Finds and reads the files that <include> elements name, within the limits on their number. A file that is included
// several times is parsed once.
class SdfIncluder {
 public:
  explicit SdfIncluder(SdfContext& context) : context_(context) {}

  // The model that the <include> names.
  SdfIncluded open(const XmlElement& include);
  // What is opened between enter() and leave() is inside this file. A file that is inside itself is an error.
  void enter(const XmlElement& include, const std::string& file);
  void leave() { around_.pop_back(); }

 private:
  // What stands for model://sun and model://ground_plane where they are not found.
  SdfIncluded stock_model(const XmlElement& include, std::string_view uri);
  // The path of the file that a URI means.
  std::string file_of(const XmlElement& include, const std::string& uri);
  // The <model> of an SDF file, or none if the file holds a light or an actor. A world, and a file of another format,
  // is an error.
  SdfIncluded model_of(const XmlElement& include, const XmlElement& root, const std::string& file);

  SdfContext& context_;
  std::vector<std::string> around_;                    // the files that are open, outermost first
  std::unordered_map<std::string, XmlElement> roots_;  // by file
  int count_ = 0;
};

}  // namespace lithe::internal
