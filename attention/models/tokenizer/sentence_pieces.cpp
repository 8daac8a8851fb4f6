#include "attention/models/tokenizer/sentence_pieces.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>

#include "attention/models/tokenizer/characters.h"

namespace headscope::attention {
namespace {

/// The fields of a message of Protocol Buffers, one after another (https://protobuf.dev, "Encoding").
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t field = 0, number = 0;  ///< of the field read last
  std::string_view bytes;

  bool next() {
    if (rest_.empty() || failed_) return false;
    const std::uint64_t key = varint();
    field = key >> 3;
    number = 0;
    bytes = {};
    if ((key & 7) == 0)
      number = varint();
    else
      bytes = take((key & 7) == 2 ? varint() : (key & 7) == 5 ? 4 : (key & 7) == 1 ? 8 : ~std::uint64_t{0});
    return !failed_;
  }
  bool failed() const { return failed_; }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::string_view byte = take(1);
      if (byte.empty()) return 0;
      value |= static_cast<std::uint64_t>(byte[0] & 0x7F) << shift;
      if ((byte[0] & 0x80) == 0) return value;
    }
    failed_ = true;
    return 0;
  }
  std::string_view take(std::uint64_t count) {
    failed_ = failed_ || count > rest_.size();
    if (failed_) return {};
    const std::string_view part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace

std::optional<PieceModel> PieceModel::read(std::string_view file) {
  PieceModel model;
  ProtoReader top(file);
  bool fine = true;
  const auto each = [&](std::string_view bytes, const auto& take) {
    ProtoReader part(bytes);
    while (part.next()) take(part);
    fine = fine && !part.failed();
  };
  while (top.next()) {
    if (top.field == 1) {
      Piece& piece = model.pieces.emplace_back();
      each(top.bytes, [&](const ProtoReader& of) {
        if (of.field == 1) piece.text = of.bytes;
        if (of.field == 2 && of.bytes.size() == 4) std::memcpy(&piece.score, of.bytes.data(), 4);
        if (of.field == 3) piece.kind = of.number;
      });
    } else if (top.field == 2) {
      each(top.bytes, [&](const ProtoReader& of) {
        if (of.field == 3) model.type = of.number;
      });
    } else if (top.field == 3) {
      each(top.bytes, [&](const ProtoReader& of) {
        if (of.field == 2) model.map = of.bytes;
        if (of.field == 3) model.prefix = of.number != 0;
        if (of.field == 4) model.trims = of.number != 0;
      });
    }
  }
  fine = fine && !top.failed() && !model.pieces.empty();
  return fine ? std::optional(std::move(model)) : std::nullopt;
}

std::vector<std::pair<std::string_view, std::string_view>> mergesByScore(
    const std::vector<PieceModel::Piece>& pieces) {
  constexpr std::size_t kLongest = 256;
  std::set<std::string_view> known;
  std::vector<const PieceModel::Piece*> order;
  for (const PieceModel::Piece& piece : pieces)
    if ((piece.kind == PieceModel::normal || piece.kind == PieceModel::userDefined) &&
        known.insert(piece.text).second)
      order.push_back(&piece);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->score > b->score; });
  std::vector<std::pair<std::string_view, std::string_view>> merges;
  for (const PieceModel::Piece* piece : order) {
    const std::string_view text = piece->text;
    for (std::size_t cut = 1; cut < text.size() && text.size() <= kLongest; ++cut)
      if (!continuesCharacter(text[cut]) && known.contains(text.substr(0, cut)) &&
          known.contains(text.substr(cut)))
        merges.emplace_back(text.substr(0, cut), text.substr(cut));
  }
  return merges;
}

}  // namespace headscope::attention
