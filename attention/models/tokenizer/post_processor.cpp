#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/tokenizer_parts.h"

namespace headscope::attention {
namespace {

TokenId idOf(const JsonValue& value, FieldReader& fields) {
  const auto id = value.integer();
  if (id && *id >= 0 && *id < kMaxTokens) return static_cast<TokenId>(*id);
  fields.fail(fmt::format("a token's id is {}, expected 0 to {}", value.described(), kMaxTokens - 1));
  return 0;
}

/// Adds tokens outside those that are already there.
void putAround(const std::vector<TokenId>& before, const std::vector<TokenId>& after,
               SurroundingTokens& around) {
  around.before.insert(around.before.begin(), before.begin(), before.end());
  around.after.insert(around.after.end(), after.begin(), after.end());
}

void appendSpecial(const JsonValue& piece, const JsonValue& explained, FieldReader& fields,
                   std::vector<TokenId>& ids) {
  FieldReader named(piece, fields.where() + ".single");
  const std::string name = named.text("id");
  if (named.error()) return fields.fail("a special token of the template has no \"id\"");
  const JsonValue* special = explained.find(name);
  const JsonValue* list = special ? special->find("ids") : nullptr;
  if (!list || list->kind != JsonValue::Kind::list)
    return fields.fail(fmt::format("\"special_tokens\" has no \"ids\" of {}", quotedText(name)));
  for (const JsonValue& id : list->items) ids.push_back(idOf(id, fields));
}

Status readTemplate(const JsonValue&, FieldReader& fields, SurroundingTokens& around) {
  const JsonValue& single = fields.list("single");
  const JsonValue& explained = fields.object("special_tokens");
  std::vector<TokenId> before, after;
  int texts = 0;
  for (const JsonValue& piece : single.items) {
    if (const JsonValue* special = piece.find("SpecialToken")) {
      appendSpecial(*special, explained, fields, texts > 0 ? after : before);
    } else if (const JsonValue* sequence = piece.find("Sequence")) {
      const JsonValue* id = sequence->find("id");
      if (!id || id->text != "A") fields.fail("\"single\" has a sequence other than \"A\"");
      ++texts;
    } else {
      fields.fail("\"single\" has a piece that is neither a SpecialToken nor a Sequence");
    }
  }
  if (!fields.error() && texts != 1)
    fields.fail(fmt::format("\"single\" has the text {} times, expected once", texts));
  if (!fields.error()) putAround(before, after, around);
  return success();
}

/// ["[SEP]", 102]
std::vector<TokenId> readPair(FieldReader& fields, std::string_view name) {
  const JsonValue& pair = fields.list(name);
  if (pair.items.size() == 2) return {idOf(pair.items[1], fields)};
  fields.fail(fmt::format("\"{}\" has {} items, expected a token and its id", name, pair.items.size()));
  return {};
}

Status readBert(const JsonValue&, FieldReader& fields, SurroundingTokens& around) {
  const auto first = readPair(fields, "cls"), last = readPair(fields, "sep");
  putAround(first, last, around);
  return success();
}

/// Does nothing: ByteLevel only moves the reference's offsets, which treat white space differently from ours.
Status readByteLevel(const JsonValue&, FieldReader&, SurroundingTokens&) {
  return success();
}

Status readSequence(const JsonValue&, FieldReader& fields, SurroundingTokens& around) {
  return readEach(fields, "processors", readPostProcessor, around);
}

struct Kind {
  std::string_view name;
  Status (*read)(const JsonValue& component, FieldReader& fields, SurroundingTokens& around);
};
constexpr Kind kKinds[] = {{"TemplateProcessing", readTemplate},
                           {"BertProcessing", readBert},
                           {"RobertaProcessing", readBert},
                           {"ByteLevel", readByteLevel},
                           {"Sequence", readSequence}};

}  // namespace

Status readPostProcessor(const JsonValue& value, const std::string& where, SurroundingTokens& around) {
  constexpr std::size_t kMax = 64;
  if (const auto status = readByType(kKinds, value, where, around); !status) return status;
  if (around.before.size() + around.after.size() <= kMax) return success();
  return Error{fmt::format("{}: more than {} tokens around the text", where, kMax)};
}

}  // namespace headscope::attention
