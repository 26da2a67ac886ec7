package audit

import (
	"strings"
	"testing"
)

// The sentence on few groups says which are few: of the records to forget, or of the held-out ones that lenses read.
func TestFewGroupsAreNamed(t *testing.T) {
	const forget, read = "the records to forget are of 1 patient only", "those held-out records that lenses read, about half of all, are of 5 patients only"
	for _, c := range []struct {
		forgotten, read int
		want            string
	}{{1, MinRecords, "because " + forget + ":"}, {MinRecords, 5, "because " + read + ":"}, {1, 5, "because " + forget + ", and " + read + ":"}} {
		if got := fewGroups(c.forgotten, c.read, "patient"); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
