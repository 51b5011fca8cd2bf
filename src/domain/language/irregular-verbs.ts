/** English verbs whose forms share no stem, a verb a line. */
const VERBS = `
beat beaten
become became
begin began begun
bend bent
bite bit bitten
blow blew blown
break broke broken
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
come came
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
know knew known
lead led
learn learnt
leave left
lend lent
lose lost
make made
mean meant
meet met
pay paid
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
sew sewn
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank
sing sang sung
sink sank
sit sat
sleep slept
speak spoke spoken
spend spent
spill spilt
stand stood
steal stole stolen
stick stuck
swear swore sworn
sweep swept
swim swam swum
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
win won
write wrote written`;

const others = new Map<string, readonly string[]>();
for (const line of VERBS.trim().split("\n")) {
  const forms = line.split(" ");
  for (const form of forms)
    others.set(
      form,
      forms.filter((one) => one !== form),
    );
}

/** The other forms of an irregular verb, by each of its forms, folded: "bought" of "buy". */
export const otherForms: ReadonlyMap<string, readonly string[]> = others;
