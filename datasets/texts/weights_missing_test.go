package texts

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

// A vocabulary that is not there says how it is had: a known one by the command, the user's own by what to
// put where, and any other by its path alone.
func TestAMissingVocabularySaysHowItIsHad(t *testing.T) {
	for folder, want := range map[string]string{
		MiniLM: "Get it with: lethe data get minilm", BioClinicalBERT: "Put model.safetensors and vocab.txt into the folder", "mine": "",
	} {
		path := filepath.Join(t.TempDir(), folder, VocabularyFile)
		_, err := (&chosen{}).vocabulary(Preparation{VocabularyFile: path}, nil)
		if !errors.Is(err, datasets.ErrMissing) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) ||
			want == "" && strings.Contains(err.Error(), "lethe data") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
