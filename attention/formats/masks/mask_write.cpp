#include <fmt/core.h>

#include "attention/formats/masks/mask_file.h"
#include "attention/formats/npy.h"

namespace headscope::attention {
namespace {

/// Writes a mask row by row, so masks of any size can be written.
class MaskWriter {
 public:
  MaskWriter(const MaskFormula& mask, MaskFormat format, MaskConvention convention)
      : mask_(mask), format_(format), convention_(convention) {
    const bool additive = convention == MaskConvention::additive;
    if (format == MaskFormat::csv) {
      seen_ = text(additive ? "0" : convention == MaskConvention::visible ? "1" : "0");
      hidden_ = text(additive ? "-inf" : convention == MaskConvention::visible ? "0" : "1");
    } else if (additive) {
      seen_ = floatBytes(0);
      hidden_ = floatBytes(-std::numeric_limits<float>::infinity());
    } else {
      seen_ = {static_cast<std::uint8_t>(convention == MaskConvention::visible)};
      hidden_ = {static_cast<std::uint8_t>(convention != MaskConvention::visible)};
    }
  }

  Status check() const {
    if (format_ == MaskFormat::csv && !alike())
      return Error{
          fmt::format("a .csv file holds one table, but the heads have {} different masks; .npy and "
                      ".safetensors hold them all",
                      mask_.variants())};
    if (mask_.queries() == 0 || mask_.keys() == 0) return Error{"the mask has no cells"};
    if (size() > kMaxMaskBytes)
      return Error{fmt::format("would be {} bytes, expected at most {}", size(), kMaxMaskBytes)};
    return success();
  }

  void write(const FileSink& sink) {
    const std::string front = preamble();
    if (!sink({reinterpret_cast<const std::uint8_t*>(front.data()), front.size()})) return;
    const Index heads = alike() ? 1 : mask_.heads();
    for (Index head = 0; head < heads; ++head) {
      for (Index row = 0; row < mask_.queries(); ++row) {
        addRow(mask_.variantOf(head), row);
        if (buffer_.size() >= kBuffer && !flush(sink)) return;
      }
    }
    flush(sink);
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;

  static std::vector<std::uint8_t> text(std::string_view word) { return {word.begin(), word.end()}; }
  static std::vector<std::uint8_t> floatBytes(float value) {
    std::vector<std::uint8_t> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }

  bool alike() const { return mask_.variants() == 1; }
  /// The most bytes one cell can take, in text including its separator.
  Index cellSize() const {
    const std::size_t separator = format_ == MaskFormat::csv ? 1 : 0;
    return static_cast<Index>(std::max(seen_.size(), hidden_.size()) + separator);
  }
  std::uint64_t size() const {
    return saturatingProduct({alike() ? 1 : mask_.heads(), mask_.queries(), mask_.keys(), cellSize()});
  }
  std::vector<std::uint64_t> shape() const {
    std::vector<std::uint64_t> shape;
    if (!alike()) shape.push_back(static_cast<std::uint64_t>(mask_.heads()));
    shape.push_back(static_cast<std::uint64_t>(mask_.queries()));
    shape.push_back(static_cast<std::uint64_t>(mask_.keys()));
    return shape;
  }

  std::string preamble() const {
    const bool additive = convention_ == MaskConvention::additive;
    if (format_ == MaskFormat::csv) return "";
    if (format_ == MaskFormat::npy) return npyPreamble(additive ? "<f4" : "|b1", shape());
    std::string header =
        fmt::format(R"({{"__metadata__":{{"convention":"{}"}},)"
                    R"("attn_mask":{{"dtype":"{}","shape":{},"data_offsets":[0,{}]}}}})",
                    conventionName(convention_), additive ? "F32" : "BOOL", shapeText(shape()), size());
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = header.size();
    std::string front(sizeof length, '\0');
    std::memcpy(front.data(), &length, sizeof length);
    return front + header;
  }

  void addCells(Index count, const std::vector<std::uint8_t>& value) {
    if (value.size() == 1 && format_ != MaskFormat::csv) {
      buffer_.insert(buffer_.end(), static_cast<std::size_t>(count), value[0]);
      return;
    }
    for (Index k = 0; k < count; ++k) {
      buffer_.insert(buffer_.end(), value.begin(), value.end());
      if (format_ == MaskFormat::csv) buffer_.push_back(',');
    }
  }

  void addRow(Index variant, Index row) {
    mask_.visibleRuns(variant, row, runs_);
    Index key = 0;
    for (const KeyRun& run : runs_) {
      addCells(run.begin - key, hidden_);
      addCells(run.end - run.begin, seen_);
      key = run.end;
    }
    addCells(mask_.keys() - key, hidden_);
    if (format_ == MaskFormat::csv) buffer_.back() = '\n';
  }

  bool flush(const FileSink& sink) {
    const bool done = sink(buffer_);
    buffer_.clear();
    return done;
  }

  const MaskFormula& mask_;
  MaskFormat format_;
  MaskConvention convention_;
  std::vector<std::uint8_t> seen_, hidden_, buffer_;
  KeyRuns runs_;
};

}  // namespace

Status writeMaskFile(const std::filesystem::path& path, const MaskFormula& mask, MaskConvention convention) {
  const auto format = maskFormat(path);
  if (!format) return format.error();
  MaskWriter writer(mask, *format, convention);
  if (const auto status = writer.check(); !status) return fileError(path, status.error().message);
  return writeFileInParts(path, [&](const FileSink& sink) {
    writer.write(sink);
    return success();
  });
}

}  // namespace headscope::attention
