#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <tuple>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {
namespace {

std::uint64_t tokenHash(std::string_view text, std::uint64_t seed) {
  // Multiply and fold, eight bytes at a time; the multiplier comes from the golden ratio.
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::uint64_t hash = seed ^ text.size();
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 29;
  };
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    mix(word);
  }
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < left; ++i) word |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  mix(word);
  mix(seed);
  return hash;
}

}  // namespace

std::uint64_t randomHashSeed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

Vocabulary::Vocabulary() : seed_(randomHashSeed()), slots_(1) {}

void Vocabulary::reserve(std::size_t texts, std::size_t bytes) {
  bytes_.reserve(bytes);
  texts_.reserve(std::min(texts, static_cast<std::size_t>(kMaxTokens)));
}

Status Vocabulary::add(std::string_view text, std::int64_t id) {
  if (id < 0 || id >= kMaxTokens)
    return Error{
        fmt::format("token {} has the id {}, expected 0 to {}", quotedText(text), id, kMaxTokens - 1)};
  const auto row = static_cast<TokenId>(id);
  if (has(row))
    return Error{fmt::format("tokens {} and {} have the same id {}", quotedText(this->text(row)),
                             quotedText(text), id)};
  if (text.size() >= kNowhere - bytes_.size())
    return Error{fmt::format("the tokens are longer than {} bytes in all", kNowhere)};
  if (row >= limit()) texts_.resize(static_cast<std::size_t>(row) + 1);
  texts_[static_cast<std::size_t>(row)] = {static_cast<std::uint32_t>(bytes_.size()),
                                           static_cast<std::uint32_t>(text.size())};
  bytes_ += text;
  ++count_;
  longest_ = std::max(longest_, text.size());
  return success();
}

Status Vocabulary::index() {
  constexpr TokenId kAhead = 16;
  std::array<std::uint64_t, kAhead> hashes{};
  slots_.assign(std::bit_ceil(2 * count_ + 1), {});
  for (TokenId id = 0; id < limit() + kAhead; ++id) {
    std::uint64_t& hash = hashes[static_cast<std::size_t>(id % kAhead)];
    if (const TokenId done = id - kAhead; done >= 0 && has(done)) {
      Slot& slot = slots_[slotOf(text(done), hash)];
      if (slot.id >= 0)
        return Error{fmt::format("token {} has two ids, {} and {}", quotedText(text(done)), slot.id, done)};
      slot = {static_cast<std::uint32_t>(hash >> 32), done, texts_[static_cast<std::size_t>(done)]};
    }
    if (id < limit()) hash = ask(text(id)).hash;
  }
  return success();
}

std::size_t Vocabulary::slotOf(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.id < 0 || (slot.hash == tag && at(slot.place) == text)) return i;
  }
}

Vocabulary::Question Vocabulary::ask(std::string_view text) const {
  const std::uint64_t hash = tokenHash(text, seed_);
  __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  return {text, hash};
}

std::optional<TokenId> Vocabulary::find(const Question& question) const {
  const TokenId id = slots_[slotOf(question.text, question.hash)].id;
  return id < 0 ? std::nullopt : std::optional(id);
}

std::string_view Vocabulary::text(TokenId id) const {
  if (id < 0 || id >= limit()) return {};
  const Place place = texts_[static_cast<std::size_t>(id)];
  return place.begin == kNowhere ? std::string_view() : at(place);
}

SortedTexts::SortedTexts(std::vector<Entry> entries) : sorted_(std::move(entries)) {
  std::sort(sorted_.begin(), sorted_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.text, a.which) < std::tie(b.text, b.which);
  });
  const auto same = [](const Entry& a, const Entry& b) { return a.text == b.text; };
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), same), sorted_.end());
  for (const Entry& entry : sorted_)
    ++begins_[static_cast<std::size_t>(static_cast<unsigned char>(entry.text[0])) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
}

ByteTokens::ByteTokens(const Vocabulary& vocabulary) {
  for (unsigned byte = 0; byte < ids_.size(); ++byte)
    ids_[byte] = vocabulary.find(fmt::format("<0x{:02X}>", byte)).value_or(-1);
}

}  // namespace headscope::attention
