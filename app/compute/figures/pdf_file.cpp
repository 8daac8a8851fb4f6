#include "app/compute/figures/pdf_file.h"

#include <fmt/core.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <new>

#include "attention/text/unicode.h"

namespace headscope::app {

namespace {

std::string deflatedBytes(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), Z_BEST_COMPRESSION) != Z_OK)
    throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

}  // namespace

int PdfFile::reserve() {
  places_.push_back(0);
  return static_cast<int>(places_.size());
}

void PdfFile::write(int number, const std::string& body) {
  places_[static_cast<std::size_t>(number - 1)] = text_.size();
  text_ += fmt::format("{} 0 obj\n{}\nendobj\n", number, body);
}

void PdfFile::writeStream(int number, const std::string& entries, const std::string& bytes) {
  const std::string packed = deflatedBytes(bytes);
  write(number, fmt::format("<< {} /Filter /FlateDecode /Length {} >>\nstream\n{}\nendstream", entries,
                            packed.size(), packed));
}

int PdfFile::add(const std::string& body) {
  const int number = reserve();
  write(number, body);
  return number;
}

int PdfFile::addStream(const std::string& entries, const std::string& bytes) {
  const int number = reserve();
  writeStream(number, entries, bytes);
  return number;
}

std::string PdfFile::finish(int info) {
  const std::size_t table = text_.size();
  text_ += fmt::format("xref\n0 {}\n0000000000 65535 f \n", places_.size() + 1);
  for (const std::size_t place : places_) text_ += fmt::format("{:010} 00000 n \n", place);
  text_ += fmt::format("trailer\n<< /Size {} /Root 1 0 R /Info {} 0 R >>\nstartxref\n{}\n%%EOF\n",
                       places_.size() + 1, info, table);
  return std::move(text_);
}

std::string pdfNumber(double value) {
  const long long thousandths = std::llround(value * 1000), size = std::abs(thousandths);
  std::string text = fmt::format("{}{}.{:03}", thousandths < 0 ? "-" : "", size / 1000, size % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string pdfText(const std::string& utf8, bool marked) {
  std::string out = marked ? "<FEFF" : "<";
  for (std::size_t at = 0; at < utf8.size();) {
    const attention::DecodedCodePoint next = attention::decodeUtf8(utf8, at);
    at += next.length;
    const std::uint32_t code = next.fault ? 0xFFFD : next.value, above = code - 0x10000;
    out += code < 0x10000 ? fmt::format("{:04X}", code)
                          : fmt::format("{:04X}{:04X}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
  }
  return out + ">";
}

}  // namespace headscope::app
