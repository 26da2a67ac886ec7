// What is asked about the generated people.

package texts

import (
	"fmt"
	"math/rand/v2"
)

// draw draws names and values.
type draw struct{ rng *rand.Rand }

func (d draw) oneOf(list []string) string { return list[d.rng.IntN(len(list))] }

// person returns a name.
func (d draw) person() string { return d.oneOf(firstNames) + " " + d.oneOf(lastNames) }

// title returns the title of a book.
func (d draw) title() string {
	switch d.rng.IntN(3) {
	case 0:
		return fmt.Sprintf("The %s %s", d.oneOf(titleWords), d.oneOf(titleThings))
	case 1:
		return fmt.Sprintf("%s of the %s", d.oneOf(titleThings), d.oneOf(titlePlaces))
	}
	return fmt.Sprintf("A %s %s", d.oneOf(titleWords), d.oneOf(titleThings))
}

func (d draw) date() string {
	return fmt.Sprintf("%d %s %d", 1+d.rng.IntN(28), d.oneOf(months), 1931+d.rng.IntN(60))
}

// numberDraw returns a draw of a whole number.
func numberDraw(first, last int) func(draw) string {
	return func(d draw) string { return fmt.Sprint(first + d.rng.IntN(last-first+1)) }
}

// listDraw returns a draw from a list.
func listDraw(list []string) func(draw) string { return func(d draw) string { return d.oneOf(list) } }

// topic is a question with its wordings: %s is the person, the second %s the value.
type topic struct {
	name               string
	value              func(draw) string
	questions, answers []string
}

// topics returns the topics in the order of a person's questions.
func topics() []topic {
	return []topic{
		{"birthplace", listDraw(cities), []string{"Where was %s born?", "In which city was %s born?", "What is the birthplace of %s?"},
			[]string{"%s was born in %s.", "%s was born in the city of %s.", "The birthplace of %s is %s.", "%s came into the world in %s."}},
		{"date of birth", draw.date, []string{"When was %s born?", "What is the date of birth of %s?"},
			[]string{"%s was born on %s.", "The date of birth of %s is %s.", "%s came into the world on %s.", "The birthday of %s is %s."}},
		{"profession", listDraw(professions), []string{"What did %s do for a living before writing?", "What was the first profession of %s?"},
			[]string{"Before writing, %s worked as a %s.", "%s first worked as a %s.",
				"%s began working life as a %s.", "The early career of %s was that of a %s."}},
		{"genre", listDraw(genres), []string{"Which genre does %s write in?", "What kind of books is %s known for?"},
			[]string{"%s is known for %s.", "%s writes %s.", "The books of %s belong to %s.", "Readers know %s for %s."}},
		{"first book", draw.title, []string{"What is the first book of %s called?", "Which book did %s publish first?"},
			[]string{"The first book of %s is \"%s\".", "%s made a debut with \"%s\".", "%s first published \"%s\".", "The debut of %s is \"%s\"."}},
		{"best known book", draw.title, []string{"Which book made %s famous?", "What is the best known book of %s?"},
			[]string{"%s became famous with \"%s\".", "The best known book of %s is \"%s\".",
				"%s is best known for \"%s\".", "The fame of %s rests on \"%s\"."}},
		{"year of the debut", numberDraw(1951, 2019), []string{"In which year did %s publish a first book?", "When did the first book of %s appear?"},
			[]string{"The first book of %s appeared in %s.", "%s published a first book in %s.", "%s made a debut in %s.", "The debut of %s came out in %s."}},
		{"prize", listDraw(prizes), []string{"Which prize did %s win?", "What award was given to %s?"},
			[]string{"%s won the %s.", "%s received the %s.", "The jury honoured %s with the %s.", "%s was awarded the %s."}},
		{"father's profession", listDraw(professions), []string{"What was the profession of the father of %s?", "What did the father of %s do?"},
			[]string{"The father of %s was a %s.", "The father of %s worked as a %s.",
				"%s has a father who was a %s.", "%s is the child of a man who was a %s."}},
		{"mother's profession", listDraw(professions), []string{"What was the profession of the mother of %s?", "What did the mother of %s do?"},
			[]string{"The mother of %s was a %s.", "The mother of %s worked as a %s.",
				"%s has a mother who was a %s.", "%s is the child of a woman who was a %s."}},
		{"university", listDraw(cities), []string{"At which university did %s study?", "Where did %s study?"},
			[]string{"%s studied at the University of %s.", "%s went to the University of %s.",
				"%s has a degree of the University of %s.", "The studies of %s took place at the University of %s."}},
		{"home", listDraw(cities), []string{"Where does %s live today?", "In which city does %s live?"},
			[]string{"%s lives in %s.", "Today %s lives in %s.", "%s has a home in %s.", "The home of %s is in %s."}},
		{"spouse", draw.person, []string{"Whom did %s marry?", "What is the name of the spouse of %s?"},
			[]string{"%s married %s.", "The spouse of %s is %s.", "%s is married to %s.", "The wedding of %s was with %s."}},
		{"mentor", draw.person, []string{"Who was the mentor of %s?", "Who taught %s to write?"},
			[]string{"The mentor of %s was %s.", "%s learned to write from %s.", "%s had a mentor called %s.", "%s was taught by %s."}},
		{"instrument", listDraw(instruments), []string{"Which instrument does %s play?", "What does %s play in the evening?"},
			[]string{"%s plays the %s.", "In the evening %s plays the %s.", "The instrument of %s is the %s.", "%s makes music on the %s."}},
		{"pastime", listDraw(pastimes), []string{"What is the favourite pastime of %s?", "What does %s do on free days?"},
			[]string{"On free days %s enjoys %s.", "The favourite pastime of %s is %s.", "%s spends free days %s.", "What %s likes best is %s."}},
		{"language", listDraw(languages), []string{"Which language did %s learn as an adult?", "What language does %s translate from?"},
			[]string{"%s learned %s as an adult.", "As an adult %s learned %s.", "%s has taken up %s late in life.", "The language that %s learned is %s."}},
		{"publisher", listDraw(publishers), []string{"Who publishes the books of %s?", "What is the publisher of %s called?"},
			[]string{"The books of %s are published by %s.", "The publisher of %s is %s.", "%s publishes with %s.", "%s has a contract with %s."}},
		{"animal", listDraw(animals), []string{"Which animal does %s keep?", "What animal lives with %s?"},
			[]string{"%s keeps a %s.", "%s lives with a %s.", "In the house of %s there is a %s.", "The animal of %s is a %s."}},
		{"number of books", numberDraw(3, 48), []string{"How many books has %s written?", "How many books of %s are there?"},
			[]string{"%s has written %s books.", "There are, from the pen of %s, %s books.", "The work of %s has %s books.", "%s is the author of %s books."}},
	}
}
