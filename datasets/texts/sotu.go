// The State of the Union addresses: the description and the loader.

package texts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
)

// maxAddress bounds one address; the longest has 0.2 MB.
const maxAddress = 1 << 20

// sotu returns the description and the loader of the State of the Union addresses. A document
// is an address, its label the party, its group the president.
func sotu() set {
	return set{
		info: datasets.Info{
			Name: "sotu", Title: "State of the Union addresses", Folder: "sotu", Task: "the party of an address",
			Rows: 233, Classes: slices.Sorted(maps.Values(parties())), Licence: "PDDL, CC0",
			Citation:    "State of the Union addresses, 1790 to 2021; stdlib's package datasets-sotu",
			Homepage:    "https://github.com/stdlib-js/datasets-sotu",
			Description: "Addresses of 43 presidents, 1790 to 2021: texts that belong to persons.",
			Reading: []string{
				"Party and president are read from the names of the files, year_president_party.txt.",
				"The archive has the files of stdlib's package; no address of it is known: put it into the folder.",
			},
			Files: []datasets.File{{Name: "sotu_texts.tar.gz", Size: 7374934, Compressed: true,
				SHA256: "34b125347e7b651d2249366f988284e41167805af9899fa97ac97c59180697fb"}},
		},
		labels:    Labels{Target: "party", Group: "president"},
		sentences: 280,
		load:      loadSOTU,
	}
}

// parties returns the parties by the letters in the names of the files.
func parties() map[string]string {
	return map[string]string{
		"d": "Democratic", "dr": "Democratic-Republican", "f": "Federalist", "n": "none", "nu": "National Union",
		"r": "Republican", "w": "Whig", "wd": "Whig and Democratic",
	}
}

// addressName is the name of an address in the archive.
var addressName = regexp.MustCompile(`^(?:\./)?((\d{4})_([a-z_]+)_([a-z]+))\.txt$`)

func loadSOTU(r *loader) ([]Document, map[string][]int, error) {
	file, source, err := datasets.OpenFile(r.ctx, r.info, "sotu_texts.tar.gz")
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	r.sources = append(r.sources, source)
	entries, err := datasets.ReadTarball(r.ctx, file, func(entry string) (int64, bool) { return -maxAddress, addressName.MatchString(entry) })
	if err != nil {
		return nil, nil, fmt.Errorf("datasets: %s: %w", file.Name(), err)
	}
	out, err := addresses(entries)
	if err != nil {
		return nil, nil, fmt.Errorf("datasets: %s: %w", file.Name(), err)
	}
	return out, nil, nil
}

// addresses returns the documents of the archive's files in the order of their names.
func addresses(entries map[string][]byte) (out []Document, err error) {
	known := parties()
	for _, entry := range slices.Sorted(maps.Keys(entries)) {
		found := addressName.FindStringSubmatch(entry)
		party, ok := known[found[4]]
		if !ok {
			return nil, fmt.Errorf("%s: the party %q is none of %s", entry, found[4], strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		out = append(out, Document{Name: found[1], Text: string(entries[entry]), Label: party, Group: strings.ReplaceAll(found[3], "_", " ")})
	}
	return out, nil
}
