#include "lithe/recording/recording_reader.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/internal/crc32.h"
#include "lithe/core/internal/little_endian.h"

namespace lithe {

using namespace internal;

namespace {

using namespace recording_format;

// Every error says where in the file it is.
[[noreturn]] void fail(const std::string& path, std::uint64_t offset, const std::string& what) {
  internal::throw_error(fmt::format("{}:{}: error: {}", path, offset, what));
}

// Takes a block's content apart from front to back, and never goes past its end.
class Content {
 public:
  Content(const std::vector<unsigned char>& bytes, const std::string& path, std::uint64_t offset)
      : bytes_(bytes), path_(path), offset_(offset) {}

  std::size_t left() const { return bytes_.size() - place_; }

  // Like LITHE_CHECK, but the error says which place in the file had been reached.
  template <class... Values>
  void require(bool condition, fmt::format_string<Values...> format, Values&&... values) const {
    if (!condition) fail(path_, offset_ + place_, fmt::format(format, std::forward<Values>(values)...));
  }

  std::uint32_t u32() { return get_u32(take(4)); }
  double f64() { return get_f64(take(8)); }
  Vec3 vec3() {
    Vec3 v;
    for (int i = 0; i < 3; ++i) v[i] = f64();
    return v;
  }
  std::string text() {
    const std::uint32_t length = u32();
    require(length <= left(), "a name of {} bytes, but the header has {} left", length, left());
    const char* start = reinterpret_cast<const char*>(take(length));
    return {start, length};
  }
  // How many things of at least `size` bytes each follow.
  std::uint32_t count(const char* things, std::size_t size) {
    const std::uint32_t count = u32();
    require(count <= left() / size, "{} {}, but the header has {} bytes left", count, things, left());
    return count;
  }

 private:
  const unsigned char* take(std::size_t count) {
    require(count <= left(), "the header's content ends too early");
    const unsigned char* start = bytes_.data() + place_;
    place_ += count;
    return start;
  }

  const std::vector<unsigned char>& bytes_;
  const std::string& path_;
  std::uint64_t offset_;  // of the content in the file
  std::size_t place_ = 0;
};

// The number of a body, checked against how many there are.
std::uint32_t body_number(Content& in, std::size_t bodies) {
  const std::uint32_t body = in.u32();
  in.require(body < bodies, "body {} of {}", body, bodies);
  return body;
}

// A joint's type, by its number in the file: that of the enumeration.
JointType joint_type(Content& in) {
  const std::uint32_t type = in.u32();
  in.require(type <= static_cast<std::uint32_t>(JointType::ball), "a joint of unknown type {}", type);
  return static_cast<JointType>(type);
}

// The header, as docs/recording.md lists it. nq and nv stand in it as well as the joints that they follow from, and
// both must agree.
RecordingHeader parse_header(Content& in, std::uint32_t version) {
  RecordingHeader header;
  const std::uint32_t nq = in.u32();
  const std::uint32_t nv = in.u32();
  header.time_step = in.f64();
  in.require(header.time_step > 0 && std::isfinite(header.time_step), "a time step of {} s; it must be positive",
             header.time_step);
  header.title = in.text();
  header.bodies.resize(in.count("bodies", 4));
  for (std::string& body : header.bodies) body = in.text();
  header.joints.resize(in.count("joints", 12));
  for (RecordingHeader::JointEntry& joint : header.joints) {
    joint.name = in.text();
    joint.type = joint_type(in);
    joint.body = body_number(in, header.bodies.size());
  }
  header.shapes.resize(in.count("shapes", 8));
  for (RecordingHeader::ShapeEntry& shape : header.shapes) {
    shape.name = in.text();
    shape.body = body_number(in, header.bodies.size());
  }
  if (version > 1) {
    header.motors.resize(in.count("motors", 8));
    for (RecordingHeader::MotorEntry& motor : header.motors) {
      motor.name = in.text();
      motor.joint = in.u32();
      in.require(motor.joint < header.joints.size(), "joint {} of {}", motor.joint, header.joints.size());
    }
  }
  in.require(in.left() == 0, "{} bytes too many in the header", in.left());
  in.require(nq == static_cast<std::uint32_t>(header.nq()) && nv == static_cast<std::uint32_t>(header.nv()),
             "{} coordinates and {} velocities, but the joints have {} and {}", nq, nv, header.nq(), header.nv());
  return header;
}

// The next `count` numbers as a vector.
void parse_numbers(Content& in, Eigen::Index count, VecX& out) {
  out.resize(count);
  for (double& x : out) x = in.f64();
}

// What the controls of a frame may say; zero in version 1, which has none.
bool makes_sense(std::uint32_t controls) {
  return controls == 0 || ((controls & kControlsKnown) != 0 && controls <= (kControlsKnown | kForces | kTargets));
}

// A frame whose size has been checked already, so that reading it cannot run past its end. Forces that are known to be
// zero take no place in the file and are zeros here.
void parse_frame(Content& in, const FrameLayout& layout, RecordedFrame& frame) {
  const std::uint32_t contacts = in.u32();
  const std::uint32_t controls = layout.version > 1 ? in.u32() : 0;
  frame.time = in.f64();
  parse_numbers(in, layout.nq, frame.q);
  parse_numbers(in, layout.nv, frame.v);
  if ((controls & kForces) != 0) {
    parse_numbers(in, layout.nv, frame.tau);
  } else {
    frame.tau.setZero(controls != 0 ? layout.nv : 0);
  }
  parse_numbers(in, (controls & kTargets) != 0 ? static_cast<Eigen::Index>(layout.motors) : 0, frame.motor_targets);
  frame.contacts.resize(contacts);
  for (RecordedContact& contact : frame.contacts) {
    contact.a = in.u32();
    contact.b = in.u32();
    in.require(contact.a < layout.shapes && contact.b < layout.shapes, "a contact of shapes {} and {}, of {}",
               contact.a, contact.b, layout.shapes);
    contact.point = in.vec3();
    contact.normal = in.vec3();
    contact.impulse = in.vec3();
  }
}

}  // namespace

RecordingReader::RecordingReader(const std::string& path) : name_(path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  LITHE_CHECK(std::filesystem::exists(status), "{}: error: there is no such file", path);
  LITHE_CHECK(std::filesystem::is_regular_file(status), "{}: error: not a regular file", path);
  errno = 0;
  bytes_ = std::make_unique<std::ifstream>(path, std::ios::binary);
  LITHE_CHECK(!bytes_->fail(), "{}: error: cannot be read: {}", path, std::strerror(errno));
  size_ = std::filesystem::file_size(path, error);
  LITHE_CHECK(!error, "{}: error: cannot be read: {}", path, error.message());
  read_prologue();
  read_header();
}

RecordingReader::RecordingReader(std::unique_ptr<std::istream> bytes, std::uint64_t size, std::string name)
    : name_(std::move(name)), bytes_(std::move(bytes)), size_(size) {
  read_prologue();
  read_header();
}

RecordingReader::~RecordingReader() = default;

void RecordingReader::read_prologue() {
  unsigned char bytes[kPrologue] = {};
  const bool whole = get(bytes, kPrologue);
  if (!whole || std::memcmp(bytes, kMagic, sizeof kMagic) != 0) fail(name_, 0, "this is no recording of Lithe's");
  version_ = get_u32(bytes + 8);
  if (version_ < kFirstVersion || version_ > kVersion) {
    fail(name_, 8,
         fmt::format("recordings of version {} are unknown here, only versions {} to {} are", version_, kFirstVersion,
                     kVersion));
  }
  if (get_u32(bytes + 12) != kByteOrder) fail(name_, 12, "the byte order mark is wrong: numbers must be little-endian");
}

void RecordingReader::read_header() {
  const std::uint64_t start = offset_;
  unsigned char head[kBlockHead];
  if (!get(head, kBlockHead)) fail(name_, start, "the file ends within its header");
  const std::uint32_t length = get_u32(head);
  // Compared with what the file still holds before memory is taken for it.
  if (length > size_ - offset_) fail(name_, start, "the file ends within its header");
  block_.clear();
  read_content(length, get_u32(head + 4));
  Content content(block_, name_, start + kBlockHead);
  header_ = parse_header(content, version_);
  layout_ = frame_layout(header_, version_);
}

bool RecordingReader::read(RecordedFrame& frame) {
  if (done_) return false;
  done_ = true;  // unless it goes well
  const std::uint64_t start = offset_;
  if (start == size_) return false;

  // The number of contacts and what is said of controls come first: they give the length once more, so that a damaged
  // length does not pass for the end of the file.
  unsigned char head[kBlockHead + 8] = {};
  const std::size_t counts = layout_.version > 1 ? 8 : 4;
  cut_off_ = !get(head, kBlockHead + counts);
  if (cut_off_) return false;
  const std::uint32_t length = get_u32(head);
  const std::uint32_t contacts = get_u32(head + kBlockHead);
  const std::uint32_t controls = get_u32(head + kBlockHead + 4);
  if (!makes_sense(controls) || length != layout_.size(contacts, controls)) {
    fail(name_, start,
         fmt::format("a frame of {} bytes with {} contacts and controls {}, which does not fit the header: the file is "
                     "damaged",
                     length, contacts, controls));
  }
  cut_off_ = length - counts > size_ - offset_;
  if (cut_off_) return false;

  block_.assign(head + kBlockHead, head + kBlockHead + counts);
  read_content(length, get_u32(head + 4));
  Content content(block_, name_, start + kBlockHead);
  parse_frame(content, layout_, frame);
  done_ = false;
  return true;
}

// Appends to block_ until it has `length` bytes, and compares the checksum.
void RecordingReader::read_content(std::uint32_t length, std::uint32_t checksum) {
  const std::uint64_t start = offset_ - block_.size() - kBlockHead;
  const std::size_t there = block_.size();
  block_.resize(length);
  if (!get(block_.data() + there, length - there)) fail(name_, start, "the file became shorter while it was read");
  std::string length_bytes;
  put_u32(length_bytes, length);
  const std::uint32_t found = crc32(block_.data(), length, crc32(length_bytes.data(), length_bytes.size()));
  if (found != checksum) {
    fail(name_, start,
         fmt::format("the checksum of this block is {:08x}, not {:08x}: the file is damaged", found, checksum));
  }
}

// The next bytes; false if there are too few of them.
bool RecordingReader::get(void* bytes, std::size_t count) {
  if (count > size_ - offset_) return false;
  if (!bytes_->read(static_cast<char*>(bytes), static_cast<std::streamsize>(count))) return false;
  offset_ += count;
  return true;
}

Recording read_recording(const std::string& path) {
  RecordingReader reader(path);
  Recording recording = {.header = reader.header(), .frames = {}, .cut_off = false};
  RecordedFrame frame;
  while (reader.read(frame)) recording.frames.push_back(frame);
  recording.cut_off = reader.cut_off();
  return recording;
}

}  // namespace lithe
