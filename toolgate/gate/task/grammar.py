"""Small words of English by what they do in a clause. Pure."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AUXILIARIES = _words(
    "is are was were has have had should must needs need can will may fails failed broke "
    "takes looks seems got works requires did does"
)
"""Behind a word for an act they make it a subject: "the push failed"."""

OPENERS = _words(
    "please now then and ok okay so also first next finally just kindly hey great thanks yes "
    "alright right well good perfect cool afterwards lastly second third simply quickly "
    "carefully again still hi hello sure nice actually instead today immediately only claude"
)
"""Before an imperative."""

SUBJECTS = _words(
    "i we you he she it they this that these those there the a an my our your his her its "
    "their some every each all nobody someone everyone in on at from by with of for as last "
    "yesterday currently here no not maybe perhaps probably"
)
"""At the beginning of a clause that is no imperative."""

COORDINATORS = ("and", "or", "nor", "&", "plus")

BREAKS = _words("but however then otherwise instead afterwards yet")
"""Between clauses."""

ENDS_OF_NO = _words(
    ", ; - ) ( : and or nor please at whatsoever for in on to from yet today now without "
    "unless until except allowed of before this anywhere with via outside other but either "
    "into onto under beyond while during so then just only needed necessary required wanted "
    "permitted against though thanks thank ever"
)
"""Behind the noun of "no ...", where that is a wish and no observation."""

FILLERS = _words("step steps part stuff phase stage business work thing things")
"""Behind the noun of an act they add nothing: "the deployment step"."""

BEFORE_NO = _words(
    "and or but with please so also again want absolutely strictly remember reminder ok okay "
    "yes then"
)

NEGATED = _words("do must should may can shall ought never please not")
"""First words of a negation that needs the agent as its subject."""

STOPS = _words("wait stop cancel hold skip pause halt cease postpone omit")
WITHOUTS = ("without", "instead", "rather", "as", "avoid")
WISHES = _words("to please you want should can may must and but shall i")
"""Before "only" and "just" where they govern a wish."""

SUMMARIES = _words("plan planning analysis review investigation research explanation dry")
OFF_LINE = _words("is are was be goes went go an the when")
"""Before "offline", where that tells of something else."""

CONFINES = _words(
    "stay remain stick keep limit restrict confine constrain no work operate do never change "
    "make edit"
)
OTHERS_ASK = _words("i they he she will users did not")
"""Before "ask", where somebody else does."""

ASKS_ABOUT = _words("before to about for on if when whenever time prior each every")
MINE = _words(
    "me call choice decision decide choose make tbd decided open question undecided settled"
)
"""Last words of a phrase that leaves to the user what stands before it."""

NO_WANT = _words("if when did do why what how that as")
RELATIVES = _words("that which what whether where who how")
DONE = _words("you done finished ready that this it afterwards so")
"""In "when ... ," they say that the agent's own work is meant, and no condition."""

SETTLED_TIMES = _words("further tomorrow then later monday")
ADJECTIVES = _words("further more actual pending full quick new")
"""Between a verb that says little and the act: "run the pending migrations"."""

IF_SUBJECTS = _words("i we am are is")

ASKING = _words(
    "ask check confirm consult clear verify run double double-check talk come ping prompt"
)
"""First words of a phrase by which somebody is to ask."""

MODALS = _words("must should to always need have has will would can could rather better just do")
LOOKING = _words("see review check look read inspect verify over involved show have know")
"""By which no more than seeing something is wanted, unless something waits for it."""

BE = _words("is are be was were gets get got")
DEONTIC = _words("may can must should shall will could might need needs has have ought")
"""With a subject they say what is to be; ``is to`` and ``has to`` count with their ``to``."""

PERIODS = _words(
    "today tomorrow tonight now yet here anymore any more again ever at all this week month "
    "year morning afternoon evening weekend sprint time for the moment being right until later "
    "before monday tuesday wednesday thursday friday saturday sunday please ourselves so in "
    "advance not even you on next one day days without thanks guys team from either"
)
"""Behind an act, words of time and of politeness that add nothing to what is done."""

QUALIFIERS = _words("any such more further kind of sort type new single other ever")
"""Between a construction and the act it governs."""

RULED_OUT = _words(
    "scope table agenda menu part hold ice postponed suspended cancelled canceled paused ruled "
    "excluded planned due debate later tomorrow needed yours ours unwanted undesired desired "
    "remit happening belongs belong owned maintained done handled made performed"
)
"""In a predicate that rules something out they also tell how things are, so that its subject has
to be an act or a name."""

SUPPOSED = _words("would could might propose suggest plan")
"""By them something is told that is not to be done yet."""

RESTRAINTS = _words("leave keep stay stick avoid refrain limit restrict confine stop hold steer")
"""Verbs that keep the agent from something."""

DOUBTS = _words(
    "still undecided unsure not torn divided discussing debating arguing considering comparing "
    "evaluating deciding weighing"
)
PAST = {
    "kept": "keep",
    "left": "leave",
    "stayed": "stay",
    "stuck": "stick",
    "avoided": "avoid",
    "limited": "limit",
    "held": "hold",
    "asked": "ask",
    "checked": "check",
}
"""Verbs of restraint as a polite wish has them: "if you kept to src/"."""

ALLOWING = _words("fine ok okay allowed good welcome permitted alright yes")
GIVING = _words("give tell show write send explain describe make want need provide offer")
"""What only tells is asked for by them: "give me a diagnosis, not a fix"."""

ME = frozenset(("me", "us", "my", "our"))
KEEPS = _words("leave leaves leaving left let lets keep keeps kept")
"""With these ``alone`` says that something is left as it is."""

COMMUNICATE = _words(
    "ask talk speak tell ping give drop send warn notify inform consult contact message call alert "
    "show let shout signal email text slack check confirm clear run put pass bring get wait hit "
    "seek obtain discuss"
)
"""Verbs by which somebody turns to the user."""
