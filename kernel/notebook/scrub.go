package notebook

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// scrubber takes this machine's paths out of texts, so that a notebook that is
// executed elsewhere makes no difference.
type scrubber []rule

// rule replaces a folder, alone or at the start of a path.
type rule struct {
	at   *regexp.Regexp
	name string
}

var gonbFolder = regexp.MustCompile(`gonb_[0-9a-f]{8}`)

// newScrubber knows root, the folder of the project, of which nothing is left,
// the folders for temporary files and the home folder.
func newScrubber(root string) scrubber {
	var s scrubber
	add := func(path, name string) {
		if len(path) > 1 && filepath.IsAbs(path) {
			at := regexp.MustCompile(`(^|[^\w./~-])` + regexp.QuoteMeta(filepath.Clean(path)) + `(/|$|[^\w./-])`)
			s = append(s, rule{at, name})
		}
	}
	add(root, ".")
	add(os.TempDir(), "$$TMPDIR")
	add("/tmp", "$$TMPDIR")
	if home, err := os.UserHomeDir(); err == nil {
		add(home, "~")
	}
	return s
}

func (s scrubber) text(t string) string {
	for _, r := range s {
		t = r.at.ReplaceAllString(t, "${1}"+r.name+"${2}")
	}
	return gonbFolder.ReplaceAllString(t, "gonb")
}

func (s scrubber) output(o *Output) {
	o.Text, o.Evalue = s.text(o.Text), s.text(o.Evalue)
	for i, line := range o.Traceback {
		o.Traceback[i] = s.text(line)
	}
	for media, v := range o.Data {
		if t, ok := v.(string); ok && strings.HasPrefix(media, "text/") {
			o.Data[media] = s.text(t)
		}
	}
	delete(o.Metadata, "execution")
}
