#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "lithe/io/source_place.h"
#include "tests/io/mesh_files.h"
#include "tests/support/random_test.h"

// Whatever a mesh file holds, reading it gives a valid mesh or a LoadError that names the file and has one line.
namespace lithe::test {
namespace {

struct Sample {
  std::string file, bytes;
  bool every_byte_counts;  // a file that ends too early is always noticed
};

const std::vector<Sample>& samples() {
  static const std::string strip =
      "<tristrips count='1'><input semantic='VERTEX' source='#v' offset='1'/><input semantic='NORMAL' source='#n' "
      "offset='0'/>"
      "<p>9 0 9 4 9 2 9 6</p></tristrips><polylist count='1'><input semantic='VERTEX' source='#v' offset='0'/>"
      "<vcount>4</vcount><p>0 2 3 1</p></polylist>";
  static const std::vector<Sample> all = {
      {"text.stl", stl_text(box_mesh()), false},
      {"binary.stl", stl_binary(box_mesh()), true},
      {"box.obj", "# box\n" + obj_text(box_mesh()) + "f -1/2 -2//3 -3/4/5 \\\n 1\n", false},
      {"text.ply", ply_text(box_mesh()), false},
      {"little.ply", ply_binary(box_mesh(), false), true},
      {"big.ply", ply_binary(box_mesh(), true), true},
      {"box.dae", dae_text(box_mesh()), false},
      {"parts.dae", dae_text(box_mesh(), {.surface = strip, .transform = "<rotate>0 0 1 30</rotate>"}), false},
  };
  return all;
}

// The outcome of reading: true for a mesh, false for an error.
bool reads(const std::string& bytes, const std::string& file) {
  try {
    const TriangleMesh mesh = parse_mesh(bytes, file);
    EXPECT_TRUE(is_valid(mesh)) << file;
    return true;
  } catch (const LoadError& error) {
    const std::string_view text = error.what();
    EXPECT_TRUE(text.starts_with(file)) << text;
    EXPECT_EQ(text.find('\n'), std::string_view::npos) << text;
    return false;
  }
}

TEST(DamagedMesh, UndamagedSamplesAreRead) {
  for (const Sample& sample : samples()) EXPECT_TRUE(reads(sample.bytes, sample.file)) << sample.file;
}

TEST(DamagedMesh, CutOffAnywhere) {
  for (const Sample& sample : samples()) {
    for (std::size_t length = 0; length < sample.bytes.size(); ++length) {
      const bool read = reads(sample.bytes.substr(0, length), sample.file);
      EXPECT_FALSE(read && sample.every_byte_counts) << sample.file << " cut to " << length << " bytes";
    }
  }
}

TEST(DamagedMesh, OneByteIsAnother) {
  for (const Sample& sample : samples()) {
    for (std::size_t place = 0; place < sample.bytes.size(); ++place) {
      for (const int change : {0x01, 0x10, 0x80, 0xFF}) {
        std::string bytes = sample.bytes;
        bytes[place] = static_cast<char>(bytes[place] ^ change);
        reads(bytes, sample.file);
      }
    }
  }
}

// Every number of the texts, one at a time, becomes something that no reader should believe.
TEST(DamagedMesh, OneNumberIsAnother) {
  static constexpr std::array<std::string_view, 14> kNumbers = {
      "nan", "-inf", "1e308", "-1", "-9223372036854775809", "0", "4294967295", "2147483648", "1e9", "",
      "x",   "0x10", "1,5",   "--1"};
  int tried = 0;
  for (const Sample& sample : samples()) {
    if (sample.every_byte_counts) continue;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t begin = 0; begin < sample.bytes.size(); ++begin) {
      if (!is_digit(sample.bytes[begin]) || (begin > 0 && is_digit(sample.bytes[begin - 1]))) continue;
      std::size_t end = begin;
      while (end < sample.bytes.size() && is_digit(sample.bytes[end])) ++end;
      for (const std::string_view number : kNumbers) {
        reads(std::string(sample.bytes).replace(begin, end - begin, number), sample.file);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 5000);
}

// Every four bytes of the binary files become extreme numbers: counts, indices and coordinates among them.
TEST(DamagedMesh, FourBytesAreAnother) {
  for (const Sample& sample : samples()) {
    if (!sample.every_byte_counts) continue;
    for (std::size_t place = 0; place + 4 <= sample.bytes.size(); ++place) {
      for (const std::uint32_t value :
           {0u, 1u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0x7F800000u, 0x7FC00000u, 0xFF7FFFFFu}) {
        std::string changed;
        put(changed, value);
        reads(std::string(sample.bytes).replace(place, 4, changed), sample.file);
      }
    }
  }
}

TEST(DamagedMesh, AnotherFormatsContent) {
  for (const Sample& sample : samples()) {
    for (const std::string ending : {".stl", ".obj", ".ply", ".dae"}) {
      const bool same = sample.file.ends_with(ending);
      EXPECT_EQ(reads(sample.bytes, "x" + ending), same) << sample.file << " as " << ending;
    }
    std::string wide = "\xFF\xFE";
    for (const char c : sample.bytes) wide += {c, '\0'};
    EXPECT_FALSE(reads(wide, sample.file)) << sample.file << " in UTF-16";
  }
}

TEST(DamagedMesh, ErrorsHaveOneLineWhateverTheyShow) {
  EXPECT_FALSE(reads("<!\n<COLLADA>\n</COLLADA>", "x.dae"));
  EXPECT_FALSE(reads(dae_text(box_mesh(), {.transform = "<scale>1\n\x0B 1</scale>"}), "x.dae"));
  EXPECT_FALSE(
      reads("ply\nformat ascii 1.0\nelement a\x07 9\nproperty int x\x7F\nelement vertex 1\nelement face 1\n"
            "end_header\n",
            "x.ply"));
  EXPECT_FALSE(reads("v 0 0 0\x01\x0B\n", "x.obj"));
  EXPECT_FALSE(reads("solid\nfacet\x02normal\n", "x.stl"));
}

TEST(DamagedMesh, PiecesMovedDoubledAndLost) {
  for_random_cases(300, [](std::mt19937_64& random) {
    for (const Sample& sample : samples()) {
      std::string bytes = sample.bytes;
      const auto place = [&] { return random() % (bytes.size() + 1); };
      for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
        const std::string piece = bytes.substr(place(), random() % 40);
        if (random() % 2 == 0) {
          bytes.insert(place(), piece);
        } else {
          bytes.erase(place(), random() % 40);
        }
      }
      reads(bytes, sample.file);
    }
  });
}

}  // namespace
}  // namespace lithe::test
