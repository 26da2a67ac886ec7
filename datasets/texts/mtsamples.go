// MTSamples: the description and the loader.

package texts

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
)

// mtSamplesColumns are the columns of the file.
var mtSamplesColumns = []string{"note_id", "description", "medical_specialty", "sample_name", "transcription", "keywords"}

// mtSamples returns the description and the loader of transcribed medical reports. A document
// is the transcription of a note, and its label the specialty under which it is filed.
func mtSamples() set {
	return set{
		info: datasets.Info{
			Name: "mtsamples", Title: "MTSamples", Folder: "mtsamples", Task: "the specialty of a medical report",
			Rows: 4966, Classes: mtSpecialties(), Licence: "CC0",
			Citation:    "MTSamples, transcribed medical transcription sample reports, mtsamples.com; the R package clinspacy",
			Homepage:    "https://mtsamples.com",
			Description: "Transcribed medical reports of 40 specialties. Most are filed under several: 2,357 texts are distinct.",
			Reading: []string{
				"95.8 % of the documents share their text with another one, which is filed under another specialty. " +
					"Choose whether copies are forgotten together (GroupBy).",
				"4,966 documents: 33 of the 4,999 published notes have no text and are left out.",
				"The file is a conversion of the data of the R package clinspacy, without loss. No address of it is known: put it into the folder.",
			},
			Files: []datasets.File{{Name: "mtsamples.csv", Size: 16957504,
				SHA256: "5c51f4c14f6bb2b2736006bc6c8a03dc7a6bb3b189013acead14d05d13467643"}},
		},
		labels:    Labels{Target: "medical_specialty", Group: "note"},
		sentences: 30,
		load:      loadMTSamples,
	}
}

func loadMTSamples(r *loader) ([]Document, map[string][]int, error) {
	path, b, err := r.file("mtsamples.csv")
	if err != nil {
		return nil, nil, err
	}
	out, _, err := readNotes(path, bytes.NewReader(b))
	return out, nil, err
}

// readNotes returns the notes that have a text, and how many have none. Errors name file and
// line.
func readNotes(path string, from io.Reader) (out []Document, withoutText int, err error) {
	c := csv.NewReader(from)
	c.FieldsPerRecord, c.ReuseRecord = len(mtSamplesColumns), true
	header, err := c.Read()
	if err == nil && !slices.Equal(header, mtSamplesColumns) {
		err = fmt.Errorf("line 1: the columns are %q, expected %q", header, mtSamplesColumns)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("datasets: %s: %w", path, err)
	}
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return out, withoutText, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("datasets: %s: %w", path, err)
		}
		text := strings.Clone(record[4])
		if at := brokenUTF8(text); at >= 0 {
			line, _ := c.FieldPos(4)
			return nil, 0, fmt.Errorf("datasets: %s:%d: the transcription is broken UTF-8 at its byte %d", path, line, at)
		}
		if strings.TrimSpace(text) == "" {
			withoutText++
			continue
		}
		out = append(out, Document{Name: "note " + record[0], Text: text, Label: strings.TrimSpace(record[2])})
	}
}

// mtSpecialties returns the 40 specialties, sorted.
func mtSpecialties() []string {
	return []string{
		"Allergy / Immunology", "Autopsy", "Bariatrics", "Cardiovascular / Pulmonary", "Chiropractic",
		"Consult - History and Phy.", "Cosmetic / Plastic Surgery", "Dentistry", "Dermatology", "Diets and Nutritions",
		"Discharge Summary", "ENT - Otolaryngology", "Emergency Room Reports", "Endocrinology", "Gastroenterology",
		"General Medicine", "Hematology - Oncology", "Hospice - Palliative Care", "IME-QME-Work Comp etc.",
		"Lab Medicine - Pathology", "Letters", "Nephrology", "Neurology", "Neurosurgery", "Obstetrics / Gynecology",
		"Office Notes", "Ophthalmology", "Orthopedic", "Pain Management", "Pediatrics - Neonatal",
		"Physical Medicine - Rehab", "Podiatry", "Psychiatry / Psychology", "Radiology", "Rheumatology",
		"SOAP / Chart / Progress Notes", "Sleep Medicine", "Speech - Language", "Surgery", "Urology",
	}
}
