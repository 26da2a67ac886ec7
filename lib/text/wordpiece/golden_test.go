// Comparison with Hugging Face's tokenizers.

package wordpiece

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// testdata/golden.json is made by testdata/golden.py: accents, scripts, control characters,
// white space, punctuation, long words.
func TestTokensAreHuggingFaces(t *testing.T) {
	file, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Vocabulary []string
		Cases      []struct {
			Text   string
			Tokens []string
		}
	}
	if err := json.Unmarshal(file, &golden); err != nil {
		t.Fatal(err)
	}
	v, err := New(golden.Vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) < 25 {
		t.Fatalf("%d cases", len(golden.Cases))
	}
	for _, c := range golden.Cases {
		numbers, err := v.Tokens(c.Text)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, n := range numbers {
			got = append(got, v.Token(n))
		}
		if !slices.Equal(got, c.Tokens) {
			t.Errorf("%+q:\n got %+q\nwant %+q", c.Text, got, c.Tokens)
		}
	}
}
