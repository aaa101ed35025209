#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lithe/io/load_options.h"
#include "lithe/io/source_place.h"

namespace lithe::internal {

// The place at which a reader of a mesh file is. What it finds wrong is an error there.
class MeshCursor {
 public:
  // Throws a LoadError at the start of what was read last.
  [[noreturn]] virtual void fail(std::string_view what) const = 0;

 protected:
  ~MeshCursor() = default;
};

// Refuses a file without content or beyond LoadLimits::mesh_bytes.
void check_mesh_bytes(std::string_view bytes, const std::string& file, const LoadLimits& limits);

// A word of a file for a message: quoted, cut and on one line whatever it holds; "the end" if it is empty.
std::string shown(std::string_view word);

// Whether two words are equal but for the case of ASCII letters.
bool equal_in_any_case(std::string_view a, std::string_view b);

// Reads a text word by word. Lines end with \n, \r\n or \r; a byte order mark is passed over.
class TextCursor final : public MeshCursor {
 public:
  // A whole file, read from `place` on: errors give the line.
  TextCursor(std::string_view text, const std::string& file, std::size_t place = 0);
  // The text of an element that begins at `place`: errors give that line and how far into the text it is.
  TextCursor(std::string_view text, const SourcePlace& place);

  [[noreturn]] void fail(std::string_view what) const override { fail_at(word_, what); }
  // The same at a place that mark() gave earlier; mark() is the place of what was read last.
  [[noreturn]] void fail_at(std::size_t mark, std::string_view what) const;
  std::size_t mark() const { return word_; }

  // The next word, on whatever line; empty at the end.
  std::string_view word();
  double number();  // finite, as XmlElement reads it
  // The next word as a whole number; then, whether nothing but blanks is left.
  std::int64_t integer();
  bool at_end();

  // The same within the line, which goes on after a backslash at its end; empty, or an error, where the line is over.
  std::string_view word_of_line();
  double number_of_line();
  void end_line();  // passes over the rest of the line, and over those that continue it unless it has a comment (#)
  void end_plain_line();  // a backslash means nothing

  std::size_t position() const { return place_; }
  std::size_t left() const { return text_.size() - place_; }

 private:
  // Whether a word or number may be followed by white space only, or also by a backslash that continues the line.
  enum class Scope { text, line };
  std::string_view take_word(Scope scope);
  double take_number(Scope scope);
  void skip_blanks();
  void skip_blanks_of_line();
  std::size_t line_end(std::size_t from) const;  // where the next \n or \r is, or the text's end
  std::size_t after_line_end(std::size_t end) const;
  std::size_t continuation(std::size_t at) const;  // the length of a backslash and the line end after it, or 0

  std::string_view text_;
  SourcePlace start_;
  bool counts_lines_;
  std::size_t place_ = 0;
  std::size_t word_ = 0;  // where what was read last begins
};

// Reads bytes from front to back and never goes past their end. An error says at which byte it is.
class ByteCursor final : public MeshCursor {
 public:
  ByteCursor(std::string_view bytes, const std::string& file, std::size_t place)
      : bytes_(bytes), file_(file), place_(place), item_(place) {}

  [[noreturn]] void fail(std::string_view what) const override;

  std::size_t left() const { return bytes_.size() - place_; }
  // The next `count` bytes; an error where fewer are left.
  const unsigned char* take(std::uint64_t count);

 private:
  std::string_view bytes_;
  const std::string& file_;
  std::size_t place_;
  std::size_t item_;  // where what was read last begins
};

}  // namespace lithe::internal
