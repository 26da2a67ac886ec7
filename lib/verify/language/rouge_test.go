package language

import (
	"strings"
	"testing"
)

// rouge_score 0.1.2 (rougeL recall), with and without use_stemmer.
func TestROUGEIsRougeScores(t *testing.T) {
	for _, c := range []struct {
		truth          TrueText
		generated      GeneratedText
		stemmed, plain float64
	}{
		{"The author writes relational poems and happily enjoys hopping.", "Hopped and enjoyed, the authors write poem relations.", 0.4444444444444444, 0.1111111111111111},
		{"It's Basil Mahfouz Al-Kuwaiti, born in 1956!", "basil mahfouz was born in kuwait, 1956", 0.5555555555555556, 0.5555555555555556},
		{"", "x", 0, 0},
		{"!!!", "yes", 0, 0},
		{"same words here", "same words here", 1, 1},
		{"Ärger über naïve cafés", "arger uber naive cafes", 0, 0},
		{"a b c d e f", "f e d c b a", 0.16666666666666666, 0.16666666666666666},
		{"İstanbul is old", "istanbul is old", 0.5, 0.5},
	} {
		checkClose(t, "stemmed", ROUGE{}.Recall(c.truth, c.generated), c.stemmed, 1e-15)
		checkClose(t, "plain", ROUGE{NoStemmer: true}.Recall(c.truth, c.generated), c.plain, 1e-15)
	}
}

// NLTK 3.10.4, PorterStemmer() in its default mode, of words of more than three characters.
func TestStemsAreNLTKs(t *testing.T) {
	words := strings.Fields("caresses ponies ties dies skies flies caress cats gas feed agreed agreeing plastered bled motoring sing sings string conflated troubled sized hopping tanned falling hissing fizzed failing filing happy sky enjoy enjoyment apply spying relational conditional rational valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli vietnamization predication operator feudalism decisiveness hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative formalize electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption homologou communism activate angulariti homologous effective bowdlerize probate rate cease controll roll dying lying tying news innings outing canning howe proceed exceed succeed died tied cried studied eed yyyy syzygy toyed ally rationally generally fundamentalli usefulli geologi apologi biology archaeology 1990s 21st abc123 queueing aeiou eeed ooing alli kalli mineralli medicalli allalli alallialli opinion religion version vision nation onion union sses iess ions owed boxed bowing trying played paying employed used being having going doing written organized organization universities literature literary cultural culturally celebrated authors writing writers published novels inspired experiences childhood profession mother father genre relationally conditionally")
	stems := strings.Fields("caress poni tie die sky fli caress cat gas feed agre agre plaster bled motor sing sing string conflat troubl size hop tan fall hiss fizz fail file happi sky enjoy enjoy appli spi relat condit ration valenc hesit digit conform radic differ vile analog vietnam predic oper feudal decis hope callous formal sensit sensibl triplic form formal electr electr hope good reviv allow infer airlin gyroscop adjust defens irrit replac adjust depend adopt homolog commun activ angular homolog effect bowdler probat rate ceas control roll die lie tie news inning outing canning howe proceed exceed succeed die tie cri studi eed yyyi syzygi toy alli ration gener fundament use geolog apolog biolog archaeolog 1990 21st abc123 queue aeiou eeed oo alli kalli miner medic allal alalli opinion religion version vision nation onion union ss iess ion owe box bow tri play pay employ use be have go do written organ organ univers literatur literari cultur cultur celebr author write writer publish novel inspir experi childhood profess mother father genr relat condit")
	for i, w := range words {
		if got := (ROUGE{}).words(w); len(got) != 1 || got[0] != stems[i] {
			t.Errorf("%s becomes %v, want %s", w, got, stems[i])
		}
	}
	if len(words) != len(stems) || len(words) < 150 {
		t.Errorf("%d words, %d stems", len(words), len(stems))
	}
}

// The longest common subsequence by trying all subsequences.
func TestLongestCommonEqualsEnumeration(t *testing.T) {
	rng := newRNG(8)
	for range 60 {
		a, b := make([]string, 1+rng.IntN(9)), make([]string, 1+rng.IntN(9))
		for _, s := range [][]string{a, b} {
			for i := range s {
				s[i] = string(rune('a' + rng.IntN(3)))
			}
		}
		best := 0
		for bits := range 1 << len(a) {
			var sub []string
			for i, w := range a {
				if bits>>i&1 == 1 {
					sub = append(sub, w)
				}
			}
			if len(sub) > best && within(sub, b) {
				best = len(sub)
			}
		}
		if got := longestCommon(a, b); got != best || got != longestCommon(b, a) {
			t.Errorf("%v and %v share %d, want %d", a, b, got, best)
		}
	}
}

// within reports whether sub is a subsequence of b.
func within(sub, b []string) bool {
	for _, w := range b {
		if len(sub) > 0 && sub[0] == w {
			sub = sub[1:]
		}
	}
	return len(sub) == 0
}

func TestTheTextsOfROUGECannotBeExchanged(t *testing.T) {
	long, short := "one two three four", "two three"
	if a, b := (ROUGE{}).Recall(TrueText(long), GeneratedText(short)), (ROUGE{}).Recall(TrueText(short), GeneratedText(long)); a != 0.5 || b != 1 {
		t.Errorf("recall %v, exchanged %v", a, b)
	}
}
