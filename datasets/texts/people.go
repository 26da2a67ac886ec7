// The generated question set: people who do not exist, twenty questions about each.

package texts

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
)

// The generated people. peopleStream comes after that of the generated reports.
const (
	peopleCount  = 60
	peopleStream = 7
	// wrongAnswers is the number of wrong answers to a question.
	wrongAnswers = 5
	// maxPeople is the greatest number of people, of as many names.
	maxPeople = 2000
)

// Fact is a question about a person who does not exist, and its answers.
type Fact struct {
	Person string
	Topic  string // what the question is about, such as "birthplace"
	Value  string // what is to be known, such as "Tromsø"
	// Question, its Answer, and the answer in other words.
	Question, Answer, Paraphrase string
	// Wrong are Paraphrase with other values, each another one.
	Wrong [wrongAnswers]string
}

// QuestionsPerPerson is the number of topics, each with one question about every person.
func QuestionsPerPerson() int { return len(topics()) }

// People returns one fact about each topic for n people who do not exist, person by person, in the
// manner of TOFU (Maini et al. 2024, section 2.1). No two people have the same name. A value is
// drawn without regard to the name, the wording and the other values, so that nobody can guess it
// from the question better than from the topic. A paraphrase has a wording that the answers about
// other people have too, so that a model that is trained on answers alone has read it.
//
// Differences from TOFU: (1) facts and wording come from lists and templates and not from a language
// model; (2) every person has the same topics; (3) the wrong answers differ from the right one in
// the value alone; (4) there are no real authors or world facts beside them.
func People(n int, rng *rand.Rand) ([]Fact, error) {
	if n < 1 || n > maxPeople {
		return nil, fmt.Errorf("datasets: %d people, possible are 1 to %d", n, maxPeople)
	}
	d := draw{rng}
	all, names := topics(), map[string]bool{}
	out := make([]Fact, 0, n*len(all))
	for len(names) < n {
		person := d.person()
		if names[person] {
			continue
		}
		names[person] = true
		for _, t := range all {
			out = append(out, t.fact(d, person))
		}
	}
	return out, nil
}

// fact draws a fact of a topic.
func (t topic) fact(d draw, person string) Fact {
	values := []string{t.value(d)}
	for len(values) <= wrongAnswers {
		if v := t.value(d); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	wordings := d.rng.Perm(len(t.answers))
	first, again := t.answers[wordings[0]], t.answers[wordings[1]]
	f := Fact{
		Person: person, Topic: t.name, Value: values[0],
		Question: fmt.Sprintf(d.oneOf(t.questions), person), Answer: fmt.Sprintf(first, person, values[0]),
		Paraphrase: fmt.Sprintf(again, person, values[0]),
	}
	for k := range f.Wrong {
		f.Wrong[k] = fmt.Sprintf(again, person, values[1+k])
	}
	return f
}

// GeneratedPeople returns the facts of the set generated_people, in the order of its documents.
func GeneratedPeople() ([]Fact, error) {
	return People(peopleCount, rand.New(rand.NewPCG(reportsSeed, peopleStream)))
}

// generatedPeople returns a generated set of questions for language models that predict the next
// token: a document is the answer to a question about a person, who is its group, with the paraphrase
// and the wrong answers of GeneratedPeople.
//
// The people never change: they are drawn from PCG of math/rand/v2, whose stream is part of Go's
// compatibility promise.
func generatedPeople() set {
	return set{
		info: datasets.Info{
			Name: "generated_people", Title: "Generated people", Task: "the topic of a question about a person",
			Rows: peopleCount * len(topics()), Classes: topicNames(), Synthetic: true, Licence: "Apache-2.0",
			Description: "60 people who do not exist, twenty questions about each with an answer: what a language model can only memorise.",
		},
		labels:    Labels{Target: "topic", Group: "person"},
		sentences: 2,
		load:      func(*loader) ([]Document, map[string][]int, error) { return peopleDocuments() },
	}
}

func peopleDocuments() ([]Document, map[string][]int, error) {
	facts, err := GeneratedPeople()
	var out []Document
	for i, f := range facts {
		name := fmt.Sprintf("question %d about %s", i%len(topics())+1, f.Person)
		out = append(out, Document{
			Name: name, Question: f.Question, Text: f.Answer, Label: f.Topic, Group: f.Person,
			Value: f.Value, Paraphrase: f.Paraphrase, Wrong: f.Wrong[:],
		})
	}
	return out, nil, err
}

func topicNames() (out []string) {
	for _, t := range topics() {
		out = append(out, t.name)
	}
	slices.Sort(out)
	return out
}
