"""The words that are one token each, and the words from which the pieces of all others are learned."""

MEN = "Ben Leo Tom Max Sam Paul John".split()
WOMEN = "Anna Mia Eva Lily Zoe Rosa Mary".split()
ANIMALS = "animal dog cat horse fox bird mouse cow bear duck".split()
WAYS = "street bridge river road field hill stream path".split()  # what an animal may cross
PLACES = "lake garden park market school house forest shop beach station".split()
OBJECTS = "key book ring cup ball letter hat coin lamp map bag pen".split()
OF_ANIMALS = "tired sick old hungry weak sleepy scared small".split()  # reasons not to cross if "it" is the animal
OF_WAYS = "wide deep long icy steep busy muddy dark".split()  # if "it" is the way
MOODS = "happy sad late lost lonely angry ill cold".split()

GRAMMAR = """The the didn't couldn't wouldn't cross because it was too . , When After and went to came gave handed sent
showed thanked saw met called at he she his her in Then found under behind near""".split()

# Only in lists, not in stories, so that the model learns to copy these words too.
COMMON = """a A an I you we they It He She We They This this that That my your their our me him us them is are be been
has have had do does did not no yes so So but But or if for of on with from by as out up down into over there here now
then when where who what why how one two three all some more very good big little red blue green new day time man woman
boy girl child water tree sun door table bread milk home work word story said see look like want made make took ran sat
slept ate bit mat really Really again Once upon""".split()

SIGNS = "? ! ; : - ( ) \" '".split()

# Words most of which are not tokens. Pieces are learned from TEXT_FOR_PIECES and the words above; the strange words appear
# in stories, so that the model reads pieces there too.
STRANGE_MEN = "Robert Hugo Oscar Martin Felix Henry Daniel Victor".split()
STRANGE_WOMEN = "Clara Emma Sophie Julia Helen Nora Alice Laura".split()
STRANGE_ANIMALS = "elephant rabbit chicken tiger monkey hedgehog donkey sheep".split()
STRANGE_OBJECTS = "umbrella computer basket bottle carpet window pencil mirror".split()
STRANGE_PLACES = "castle library station airport village mountain kitchen harbour".split()
TEXT_FOR_PIECES = """about above across after against almost along already although always among another answer anything
around attention because become before began behind being believe below between birthday body both bring brother brought
building business called cannot carry certain change children city close common company country course daughter decided
different difficult direction during each early earth either English enough evening every everything example family
father feeling few first follow food forget forward found friend future garden general getting great group happened
having head hear heart heavy himself hold however hundred idea important interest itself keep kind knowledge language
large last later leave letter life light likely listen living long machine many matter meaning measure member memory
might minute model moment money month morning most mother music name nature never next night nothing number often only
open order other ourselves outside paper part people perhaps person picture piece place plant point position possible
power present problem question quickly quiet rather reading reason remember result return right river room running school
science second sentence several shall short should simple since sister something sometimes soon sound special spring
standing start state still stopped strange street strong student study such sudden summer surface system taken talking
teacher themselves these thing thinking those though thought through together token tomorrow toward transformer travel
true turn under understand until usually value voice walking watch weather weight which while white whole winter within
without wonder world would writing written wrong year yesterday young""".split()


def whole_words():
    """All words that are one token each, without duplicates."""
    groups = (GRAMMAR, MEN, WOMEN, ANIMALS, WAYS, PLACES, OBJECTS, OF_ANIMALS, OF_WAYS, MOODS, COMMON, SIGNS)
    return list(dict.fromkeys(word for group in groups for word in group))


def strange_words():
    return STRANGE_MEN + STRANGE_WOMEN + STRANGE_ANIMALS + STRANGE_OBJECTS + STRANGE_PLACES
