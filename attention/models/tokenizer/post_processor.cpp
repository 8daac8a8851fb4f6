#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/tokenizer_parts.h"

namespace headscope::attention {
namespace {

TokenId readId(const JsonValue& value, FieldReader& fields) {
  const auto id = value.integer();
  if (id && *id >= 0 && *id < kMaxTokens) return static_cast<TokenId>(*id);
  fields.fail(fmt::format("a token's id is {}, expected 0 to {}", value.described(), kMaxTokens - 1));
  return 0;
}

/// Adds tokens outside those that are already there.
void putAround(const SurroundingTokens& more, SurroundingTokens& around) {
  around.before.insert(around.before.begin(), more.before.begin(), more.before.end());
  around.after.insert(around.after.end(), more.after.begin(), more.after.end());
  around.between = more.between;
  around.afterBoth = more.afterBoth;
  around.secondType = more.secondType;
}

void appendSpecial(const JsonValue& piece, const JsonValue& explained, FieldReader& fields,
                   std::vector<TokenId>& ids) {
  const JsonValue* name = piece.find("id");
  if (!name || name->kind != JsonValue::Kind::text)
    return fields.fail("a special token of the template has no \"id\"");
  const JsonValue* special = explained.find(name->text);
  const JsonValue* list = special ? special->find("ids") : nullptr;
  if (!list || list->kind != JsonValue::Kind::list)
    return fields.fail(fmt::format("\"special_tokens\" has no \"ids\" of {}", quotedText(name->text)));
  for (const JsonValue& id : list->items) ids.push_back(readId(id, fields));
}

void readTemplate(FieldReader& fields, SurroundingTokens& around) {
  const std::vector<JsonValue>& single = fields.list("single");
  const FieldReader explained = fields.inside("special_tokens");
  SurroundingTokens found;
  int texts = 0;
  for (const JsonValue& piece : single) {
    if (const JsonValue* special = piece.find("SpecialToken")) {
      appendSpecial(*special, explained.object(), fields, texts > 0 ? found.after : found.before);
    } else if (const JsonValue* sequence = piece.find("Sequence")) {
      const JsonValue* id = sequence->find("id");
      if (!id || id->text != "A") fields.fail("\"single\" has a sequence other than \"A\"");
      ++texts;
    } else {
      fields.fail("\"single\" has a piece that is neither a SpecialToken nor a Sequence");
    }
  }
  if (texts != 1) fields.fail(fmt::format("\"single\" has the text {} times, expected once", texts));
  if (fields.has("pair")) {
    texts = 0;
    std::vector<TokenId> before;
    for (const JsonValue& piece : fields.list("pair")) {
      if (const JsonValue* special = piece.find("SpecialToken")) {
        std::vector<TokenId>& ids = texts == 0 ? before : texts == 1 ? found.between : found.afterBoth;
        appendSpecial(*special, explained.object(), fields, ids);
      } else if (const JsonValue* sequence = piece.find("Sequence")) {
        const JsonValue* type = sequence->find("type_id");
        found.secondType = ++texts == 2 && type && type->integer() == 1;
      }
    }
  }
  putAround(found, around);
}

/// ["[SEP]", 102]
std::vector<TokenId> readPair(FieldReader& fields, std::string_view name) {
  const std::vector<JsonValue>& pair = fields.list(name);
  if (pair.size() == 2) return {readId(pair[1], fields)};
  fields.fail(fmt::format("\"{}\" has {} items, expected a token and its id", name, pair.size()));
  return {};
}

/// RoBERTa puts two tokens between texts, BERT one.
template <std::size_t between>
void readClsAndSep(FieldReader& fields, SurroundingTokens& around) {
  const std::vector<TokenId> sep = readPair(fields, "sep");
  putAround({readPair(fields, "cls"), sep, std::vector<TokenId>(between, sep.empty() ? 0 : sep[0]), sep,
             between == 1},
            around);
}

constexpr ComponentKind<SurroundingTokens> kPostProcessors[] = {
    {"TemplateProcessing", readTemplate},
    {"BertProcessing", readClsAndSep<1>},
    {"RobertaProcessing", readClsAndSep<2>},
    // Only moves the reference's offsets, which treat white space differently from ours.
    {"ByteLevel", [](FieldReader&, SurroundingTokens&) {}},
    {"Sequence",
     [](FieldReader& fields, SurroundingTokens& around) {
       readEach(fields, "processors", readPostProcessor, around);
     }},
};

}  // namespace

Status readPostProcessor(const JsonValue& value, const std::string& where, SurroundingTokens& around) {
  constexpr std::size_t kMax = 64;
  if (const auto status = readByType(kPostProcessors, value, where, around); !status) return status;
  if (around.before.size() + around.after.size() <= kMax) return success();
  return Error{fmt::format("{}: more than {} tokens around the text", where, kMax)};
}

}  // namespace headscope::attention
