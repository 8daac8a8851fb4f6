#include <iterator>

#include "attention/models/gguf/gguf_source.h"

namespace headscope::attention {
namespace {

#define HEADSCOPE_BYTES R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})"
#define HEADSCOPE_SPLIT(expression) \
  R"({"type":"Split","pattern":{"Regex":")" expression R"("},"behavior":"Isolated","invert":false})"
#define HEADSCOPE_SEQUENCE(parts) R"({"type":"Sequence","pretokenizers":[)" parts "]}"

// Words, numbers and punctuation with the space before them (ByteLevel has GPT-2's rule built in).
#define HEADSCOPE_GPT2 R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})"
#define HEADSCOPE_ENDS R"(| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)"
#define HEADSCOPE_SLASH_ENDS R"(| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)"
#define HEADSCOPE_SHORT R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
// A word in capitals, in lower case, or in lower case after capitals.
#define HEADSCOPE_SMALL \
  R"([^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+)"
#define HEADSCOPE_LARGE \
  R"([^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*)"

constexpr std::string_view kLlama3 = HEADSCOPE_SEQUENCE(HEADSCOPE_SPLIT(
    HEADSCOPE_SHORT R"(|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3})" HEADSCOPE_ENDS) "," HEADSCOPE_BYTES);
constexpr std::string_view kQwen = HEADSCOPE_SEQUENCE(HEADSCOPE_SPLIT(
    HEADSCOPE_SHORT R"(|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N})" HEADSCOPE_ENDS) "," HEADSCOPE_BYTES);
constexpr std::string_view kGpt4o = HEADSCOPE_SEQUENCE(HEADSCOPE_SPLIT(
    HEADSCOPE_SMALL HEADSCOPE_SHORT "?|" HEADSCOPE_LARGE HEADSCOPE_SHORT
                                    R"(?|\\p{N}{1,3})" HEADSCOPE_SLASH_ENDS) "," HEADSCOPE_BYTES);
constexpr std::string_view kTekken = HEADSCOPE_SEQUENCE(HEADSCOPE_SPLIT(
    HEADSCOPE_SMALL "|" HEADSCOPE_LARGE R"(|\\p{N})" HEADSCOPE_SLASH_ENDS) "," HEADSCOPE_BYTES);
constexpr std::string_view kDigits =
    HEADSCOPE_SEQUENCE(R"({"type":"Digits","individual_digits":true},)" HEADSCOPE_GPT2);

// Runs of punctuation, then words and numbers as in GPT-2, the numbers three digits at a time.
constexpr std::string_view kFalcon =
    HEADSCOPE_SEQUENCE(R"({"type":"Punctuation","behavior":"Contiguous"},)" HEADSCOPE_GPT2
                       R"(,{"type":"Digits","individual_digits":false},)" HEADSCOPE_SPLIT("[0-9][0-9][0-9]"));
constexpr std::string_view kBloom =
    HEADSCOPE_SEQUENCE(HEADSCOPE_SPLIT(R"( ?[^(\\s|.,!?…。，、।۔،)]+)") "," HEADSCOPE_BYTES);

// DeepSeek's rules, one per kind of character, applied in sequence. The rule for letters takes those with a
// case, except in the blocks listed first; the rule for Han also covers Hangul.
#define HEADSCOPE_OTHER_CASED                                                                                     \
  R"(ჇჍა-ჿ\\x{560}-\\x{588}\\x{1C80}-\\x{1C8F}\\x{2D00}-\\x{2D2F}\\x{A790}-\\x{A7FF}\\x{AB30}-\\x{AB6F})" \
  R"(\\x{10570}-\\x{105BF}\\x{16E40}-\\x{16E7F}\\x{1D400}-\\x{1D7FF}\\x{1DF00}-\\x{1DFFF})"
constexpr std::string_view kDeepSeek = HEADSCOPE_SEQUENCE(
    HEADSCOPE_SPLIT(R"([\\r\\n])") "," HEADSCOPE_SPLIT(
        R"(\\s?(?:(?![)" HEADSCOPE_OTHER_CASED R"(])[\\p{Lu}\\p{Ll}\\p{Lt}])+)") "," HEADSCOPE_SPLIT(
        R"(\\s?[!-/:-~！-／：-～‘-‟　-。]+)") "," HEADSCOPE_SPLIT(R"(\\s+$)") "," HEADSCOPE_SPLIT(
        "[一-龥ࠀ-一가-퟿]+") "," HEADSCOPE_SPLIT(R"(\\p{N}+)") "," HEADSCOPE_BYTES);
constexpr std::string_view kDeepSeekCoder = HEADSCOPE_SEQUENCE(
    HEADSCOPE_SPLIT(R"([\\r\\n])") "," HEADSCOPE_SPLIT(R"(\\s?\\p{L}+)") "," HEADSCOPE_SPLIT(
        R"(\\s?\\p{P}+)") "," HEADSCOPE_SPLIT("[一-龥ࠀ-一가-퟿]+") "," HEADSCOPE_SPLIT(R"(\\p{N})") "," HEADSCOPE_BYTES);
constexpr std::string_view kDeepSeek3 = HEADSCOPE_SEQUENCE(
    HEADSCOPE_SPLIT(R"(\\p{N}{1,3})") "," HEADSCOPE_SPLIT("[一-龥぀-ゟ゠-ヿ]+") "," HEADSCOPE_SPLIT(
        R"([!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+)"
        R"(| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)") "," HEADSCOPE_BYTES);

constexpr std::string_view kNfc = R"({"type":"NFC"})";

constexpr GgufSplit kGgufSplits[] = {
    {" gpt-2 gpt2 phi-2 jais granite-docling exaone4 gigachat a.x-4.0 mellum trillion ", HEADSCOPE_GPT2},
    // MPT and OLMo took GPT-NeoX's tokenizer.
    {" olmo mpt ", HEADSCOPE_GPT2, kNfc},
    {" starcoder refact command-r smollm codeshell exaone minerva-7b ", kDigits},
    {" llama-bpe llama3 llama-v3 falcon3 pixtral midm-2.0 ", kLlama3, {}, true, true},
    {" dbrx smaug-bpe glm4 chatglm-bpe ", kLlama3},
    {" falcon ", kFalcon},
    {" bloom ", kBloom},
    {" qwen2 deepseek-r1-qwen hunyuan ", kQwen, kNfc},
    {" stablelm2 ", kQwen},
    {" gpt-4o ", kGpt4o},
    {" deepseek-llm ", kDeepSeek},
    {" deepseek-coder ", kDeepSeekCoder},
    {" deepseek-v3 hunyuan-dense ", kDeepSeek3},
    {" tekken ", kTekken, {}, true, true},
};

}  // namespace

const GgufSplit* ggufSplit(std::string_view name) {
  const std::string word = " " + std::string(name) + " ";
  const auto* const found =
      std::find_if(std::begin(kGgufSplits), std::end(kGgufSplits),
                   [&](const GgufSplit& each) { return each.names.find(word) != std::string_view::npos; });
  return found == std::end(kGgufSplits) || name.find(' ') != std::string_view::npos ? nullptr : found;
}

}  // namespace headscope::attention
