#include "attention/models/tokenizer/tokenizer_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

/// The members that define how text becomes tokens and back; empty if the file has none.
struct PartMembers {
  std::string_view added, normalizer, preTokenizer, model, postProcessor, decoder;
};

Result<PartMembers> findMembers(std::string_view json) {
  PartMembers members;
  const std::array<std::pair<std::string_view, std::string_view*>, 6> wanted = {
      {{"added_tokens", &members.added},
       {"normalizer", &members.normalizer},
       {"pre_tokenizer", &members.preTokenizer},
       {"model", &members.model},
       {"post_processor", &members.postProcessor},
       {"decoder", &members.decoder}}};
  JsonCursor cursor(json);
  std::string buffer;
  if (cursor.enter('{')) {
    while (cursor.next()) {
      std::string_view name, value;
      if (!cursor.key(name, buffer)) break;
      const auto* which = std::find_if(wanted.begin(), wanted.end(),
                                       [&](const auto& member) { return member.first == name; });
      if (!cursor.skip(value)) break;
      if (which == wanted.end() || value == "null") continue;
      if (!which->second->empty()) return Error{fmt::format("{} appears twice", quotedText(which->first))};
      *which->second = value;
    }
  }
  if (!cursor.finish()) return Error{"no tokenizer.json: " + cursor.fault()};
  if (members.model.empty()) return Error{"no tokenizer.json: \"model\" is missing, expected an object"};
  return members;
}

/// Reads a member with `read`, if it is present, and adds the result to `to`.
template <class Read, class To>
Status readMember(std::string_view json, const char* name, Read read, To& to) {
  if (json.empty()) return success();
  const auto value = parseJson(json);
  if (!value) return Error{fmt::format("{}: {}", name, value.error().message)};
  return read(*value, name, to);
}

/// Returns an Error if a token to put around texts doesn't exist.
Status checkAround(const TokenizerParts& parts) {
  for (const auto* ids : {&parts.around.before, &parts.around.after})
    for (const TokenId id : *ids)
      if (!parts.model->vocabulary().has(id) && !parts.added.find(id))
        return Error{fmt::format("post_processor: the id {} has no token in the vocabulary", id)};
  return success();
}

}  // namespace

Result<std::unique_ptr<const TokenizerParts>> readTokenizerParts(std::string_view json,
                                                                 const std::stop_token& stop) {
  const auto members = findMembers(json);
  if (!members) return members.error();
  auto parts = std::make_unique<TokenizerParts>();
  // Small members first, so that unsupported kinds are reported at once.
  for (const auto& status :
       {readMember(members->normalizer, "normalizer", readNormalizers, parts->normalizers),
        readMember(members->preTokenizer, "pre_tokenizer", readPreTokenizers, parts->preTokenizers),
        readMember(members->postProcessor, "post_processor", readPostProcessor, parts->around),
        readMember(members->decoder, "decoder", readDecoders, parts->decoders)})
    if (!status) return status.error();
  auto model = readTokenModel(members->model, "model", stop);
  if (!model) return model.error();
  parts->model = std::move(*model);
  const auto readAdded = [&](const JsonValue& list, const std::string& where, AddedTokens& added) -> Status {
    if (list.kind != JsonValue::Kind::list)
      return Error{where + " is " + list.described() + ", expected a list"};
    auto read = AddedTokens::read(list, where, parts->model->vocabulary(), parts->normalizers, stop);
    if (!read) return read.error();
    added = std::move(*read);
    return success();
  };
  if (const auto status = readMember(members->added, "added_tokens", readAdded, parts->added); !status)
    return status.error();
  if (const auto status = checkAround(*parts); !status) return status.error();
  return std::unique_ptr<const TokenizerParts>(std::move(parts));
}

}  // namespace headscope::attention
