#include "app/compute/map/map_source.h"
#include "attention/core/random.h"

namespace headscope::app {

namespace {

using attention::Index;
using attention::Random;
using Words = std::string_view;

constexpr std::array<Words, 24> kNames{"Ada",  "Bruno", "Clara", "David", "Edith",  "Felix", "Grace", "Hugo",
                                       "Ines", "Jonas", "Karin", "Leo",   "Mina",   "Noah",  "Olga",  "Paul",
                                       "Rosa", "Simon", "Tilda", "Urban", "Vivian", "Walt",  "Yusuf", "Zoe"};
constexpr std::array<Words, 20> kThings{"lamp",   "letter", "map",    "key",   "clock",  "book",   "coat",
                                        "boat",   "violin", "basket", "stone", "mirror", "bridge", "ladder",
                                        "window", "engine", "garden", "kite",  "ring",   "bicycle"};
constexpr std::array<Words, 14> kPlaces{"harbour", "kitchen", "library", "station", "market",
                                        "tower",   "valley",  "museum",  "forest",  "school",
                                        "island",  "theatre", "attic",   "square"};
constexpr std::array<Words, 14> kQualities{"old",    "green", "heavy", "small", "broken", "bright",  "quiet",
                                           "wooden", "tired", "tall",  "lost",  "blue",   "strange", "new"};
constexpr std::array<Words, 10> kVerbs{"found", "carried", "painted", "repaired", "forgot",
                                       "sold",  "hid",     "opened",  "borrowed", "described"};

// A and B are names, T and U things and P a place of the chapter; q is a quality and v a verb, drawn per
// sentence.
constexpr std::array<Words, 12> kSentences{
    "A gave the q T to B in the P .",        "Because the T was q , A v it before the evening .",
    "B asked A where the q U had been .",    "\" The T is in the P , \" said B .",
    "A v the T , and B v the U .",           "In the P there was a q T next to the U .",
    "Nobody but A knew that B v the q U .",  "When B came to the P , A was already there .",
    "The T didn't belong to A , but to B .", "A looked at the U and thought of B .",
    "It was too q , so B v it again .",      "Every morning A walked from the P to the P and back ."};

constexpr int kSentencesOfAChapter = 40;

template <std::size_t N>
Words pick(Random& random, const std::array<Words, N>& words) {
  return words[static_cast<std::size_t>(random.uniform() * static_cast<double>(N))];
}

/// The small cast of a chapter, so that the same words recur within it.
struct Chapter {
  std::array<Words, 4> names;
  std::array<Words, 4> things;
  std::array<Words, 2> places;

  explicit Chapter(Random& random) {
    for (Words& name : names) name = pick(random, kNames);
    for (Words& thing : things) thing = pick(random, kThings);
    for (Words& place : places) place = pick(random, kPlaces);
  }
};

/// Appends one sentence and returns its number of words and punctuation marks.
Index appendSentence(Random& random, const Chapter& chapter, std::string& text) {
  const Words sentence = pick(random, kSentences);
  const Words a = pick(random, chapter.names), b = pick(random, chapter.names);
  const Words t = pick(random, chapter.things), u = pick(random, chapter.things);
  Index words = 0;
  for (std::size_t from = 0; from < sentence.size();) {
    const std::size_t to = std::min(sentence.find(' ', from), sentence.size());
    Words word = sentence.substr(from, to - from);
    if (word == "A") word = a;
    if (word == "B") word = b;
    if (word == "T") word = t;
    if (word == "U") word = u;
    if (word == "P") word = pick(random, chapter.places);
    if (word == "q") word = pick(random, kQualities);
    if (word == "v") word = pick(random, kVerbs);
    text += word;
    text += ' ';
    ++words;
    from = to + 1;
  }
  return words;
}

}  // namespace

std::vector<attention::Token> generatedText(Index tokens, std::uint64_t seed, attention::Tokenization how) {
  Random random(attention::mixSeed(seed, 0x74657874));
  std::string text;
  const bool byWords = how == attention::Tokenization::words;
  for (Index words = 0; (byWords ? words : static_cast<Index>(text.size())) < tokens;) {
    const Chapter chapter(random);
    for (int i = 0; i < kSentencesOfAChapter; ++i) words += appendSentence(random, chapter, text);
  }
  // One line of ASCII, so this can't fail, and long enough in every tokenization.
  auto lines = attention::tokenize(text, how);
  std::vector<attention::Token> line = std::move((*lines).front());
  attention::require(static_cast<Index>(line.size()) >= tokens, "the generated text came out too short");
  line.resize(static_cast<std::size_t>(tokens));
  return line;
}

}  // namespace headscope::app
