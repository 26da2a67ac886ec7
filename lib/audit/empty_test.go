// Tests of cases that somebody left empty.

package audit

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/unlearn"
)

// An empty case says what it lacks.
func TestAnEmptyCaseIsAnError(t *testing.T) {
	empty := &Case{}
	if _, err := empty.Compare(nil); err == nil || !strings.Contains(err.Error(), "model 0 is nil") {
		t.Errorf("%v", err)
	}
	if _, err := empty.Unlearn(t.Context(), unlearn.SCRUB{}); err == nil || !strings.Contains(err.Error(), "there is no case") {
		t.Errorf("%v", err)
	}
}
