#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headscope::app {

/// The objects of a PDF (ISO 32000-1, 7.5), numbered from 1. The first is the catalogue.
class PdfFile {
 public:
  /// Returns the number for an object that is written later.
  int reserve();
  /// `body`: "<< … >>" or another object in PDF syntax.
  void write(int number, const std::string& body);
  /// Writes a deflated stream. `entries` are added to its dictionary, next to length and filter.
  void writeStream(int number, const std::string& entries, const std::string& bytes);
  int add(const std::string& body);
  int addStream(const std::string& entries, const std::string& bytes);
  /// Returns the whole file. `info`: the number of the object with the title.
  std::string finish(int info);

 private:
  std::string text_ = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
  std::vector<std::size_t> places_;  ///< of each object; 0 until it is written
};

/// Formats a number with at most three decimals, in PDF syntax.
std::string pdfNumber(double value);
/// Returns UTF-8 text as a hexadecimal UTF-16 string: "<FEFF0061>"; without the byte order mark if `marked`
/// is false.
std::string pdfText(const std::string& utf8, bool marked = true);

}  // namespace headscope::app
