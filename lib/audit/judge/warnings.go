package judge

import (
	"fmt"
	"math"
	"strings"
)

// addWarnings notes what is suspicious: arrays that fit each other and may still be the wrong ones.
func (e *Evidence) addWarnings() {
	e.warnDuplicates()
	e.warnGroups()
	for _, m := range e.Models {
		if m.Role == Shadow || m.Role == Checkpoint || m.Correct == nil {
			continue
		}
		kept, out := m.ShareCorrect(e.Retain), m.ShareCorrect(e.HeldOut)
		guess := 1 / float64(e.Classes)
		switch {
		case len(e.Retain) >= minForShare && kept < 1.2*guess:
			e.warn("%s is right on %.1f %% of the retained records, and guessing on %.1f %%: are labels and outputs in the same order?",
				m.Name, 100*kept, 100*guess)
		case len(e.Retain) >= minForShare && len(e.HeldOut) >= minForShare && out > kept+0.1:
			e.warn("%s is right on %.1f %% of the held-out records and on %.1f %% of the retained ones: are the two sets exchanged?",
				m.Name, 100*out, 100*kept)
		}
	}
	for _, u := range append(e.ModelsOf(Unlearned), e.ModelsOf(Retrained)...) {
		for _, o := range e.ModelsOf(Original) {
			n := e.Clusters(e.Forget).Effective(len(e.Forget))
			if better := betterFitted(u, o, e.Forget); len(e.Forget) >= minForShare && better > 0.5+1.5/math.Sqrt(n) {
				e.warn("%s fits %.0f %% of the forget records better than %s does: are the two models exchanged?", u.Name, 100*better, o.Name)
			}
		}
	}
}

// betterFitted returns the share of records that u fits better than o. Three standard errors of a
// fair coin are 1.5/sqrt(n), with n the effective number of groups where records are in groups.
func betterFitted(u, o *Model, rows []int) float64 {
	if u.Losses == nil || o.Losses == nil {
		return 0
	}
	n := 0
	for _, i := range rows {
		if u.Losses[i] < o.Losses[i] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(rows)))
}

// minForShare is the number of records below which a share is not used for a warning.
const minForShare = 20

func (e *Evidence) warn(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// warnDuplicates notes arrays of two models with the same bytes. The last checkpoint may be the
// unlearned model, and the first the original.
func (e *Evidence) warnDuplicates() {
	first := map[string]File{}
	for _, f := range e.Files {
		other, known := first[f.SHA256]
		models := strings.Contains(f.Name, "/") && strings.Contains(other.Name, "/")
		if known && models && f.checkpoint == other.checkpoint && !strings.HasSuffix(f.Name, "in.npy") {
			e.warn("%s is byte for byte %s.", f.Name, other.Name)
		}
		if !known {
			first[f.SHA256] = f
		}
	}
}
