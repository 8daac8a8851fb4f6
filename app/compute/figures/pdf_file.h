#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headscope::app {

/// Objects of a PDF (ISO 32000-1, 7.5), numbered from 1. The first is the catalogue.
class PdfFile {
 public:
  /// The number of an object that is written later.
  int reserve();
  /// `body`: "<< … >>" or another object in PDF's syntax.
  void write(int number, const std::string& body);
  /// A stream, deflated; `entries` of its dictionary beside its length and filter.
  void writeStream(int number, const std::string& entries, const std::string& bytes);
  int add(const std::string& body);
  int addStream(const std::string& entries, const std::string& bytes);
  /// The whole file. `info`: the number of the object with its title.
  std::string finish(int info);

 private:
  std::string text_ = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
  std::vector<std::size_t> places_;  ///< of each object; 0 until it is written
};

/// Three decimals at the most, as PDF has numbers.
std::string pdfNumber(double value);
/// UTF-8 as a string of UTF-16 in hexadecimal: "<FEFF0061>"; without the mark of its order where `marked` is
/// false.
std::string pdfText(const std::string& utf8, bool marked = true);

}  // namespace headscope::app
