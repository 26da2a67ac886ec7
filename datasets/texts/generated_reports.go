// The generated text set: short medical reports with planted phrases and copies.

package texts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
)

// The planted phrases and the copies of the generated reports.
const (
	MarkNames   = "names"      // reports that name the patient, each another name
	MarkDates   = "dates"      // reports with a date of birth
	MarkDrugs   = "rare drugs" // reports with a drug that no other text has
	MarkCopies  = "copies"     // reports whose text another report of an earlier number has
	MarkCopied  = "copied"     // the earlier reports, which the copies are of
	reportsSeed = 0x6c65746865 // "lethe"
	// reportsStream comes after those of the generated tables and images.
	reportsStream = 6
)

// The sizes of the generated reports.
const (
	reportTexts  = 260 // distinct texts
	reportCopies = 140 // filed under a second specialty
	reportMarked = 40  // texts with each kind of planted phrase
)

// generatedReports returns a generated set for runs without files: 400 short reports of six
// specialties, each of four to seven sentences. 140 of the 260 texts are filed a second time
// under another specialty, as those of MTSamples are. Into 40 texts each a patient's name, a date
// of birth and a rare drug are planted, which a model can only memorise; no text has two.
//
// The reports never change: they are drawn from PCG of math/rand/v2, whose stream is part of
// Go's compatibility promise.
func generatedReports() set {
	return set{
		info: datasets.Info{
			Name: "generated_reports", Title: "Generated reports", Task: "the specialty of a generated report",
			Rows: reportTexts + reportCopies, Classes: specialtyNames(), Synthetic: true, Licence: "Apache-2.0",
			Description: "400 short generated reports with planted names, dates and rare drugs; 140 are copies under another specialty.",
		},
		labels:    Labels{Target: "specialty", Group: "patient"},
		sentences: 6,
		load:      func(*loader) ([]Document, map[string][]int, error) { return drawReports() },
	}
}

// specialty is what the reports of a specialty say.
type specialty struct {
	name                       string
	complaints, findings, plan []string
}

// specialties returns the specialties, sorted by name.
func specialties() []specialty {
	return []specialty{
		{"cardiology", []string{"chest pain", "shortness of breath", "palpitations", "swelling of the legs"},
			[]string{"The heart rhythm is regular", "A systolic murmur is heard", "The ejection fraction is preserved", "The coronary arteries are open"},
			[]string{"a stress test", "an echocardiogram", "a beta blocker", "a low salt diet"}},
		{"dermatology", []string{"an itching rash", "a dark mole", "dry skin", "hair loss"},
			[]string{"The skin is red and scaly", "A nodule of the left cheek is seen", "No blisters are present", "The nails are thickened"},
			[]string{"a skin biopsy", "a steroid cream", "sun protection", "an antifungal lotion"}},
		{"gastroenterology", []string{"abdominal pain", "nausea and vomiting", "heartburn", "blood in the stool"},
			[]string{"The abdomen is soft", "A polyp of the colon was removed", "The liver is not enlarged", "Mild gastritis was seen"},
			[]string{"a colonoscopy", "an acid blocker", "a high fibre diet", "a stool culture"}},
		{"neurology", []string{"headache", "numbness of the right hand", "seizures", "loss of memory"},
			[]string{"Reflexes are symmetric", "The gait is unsteady", "No mass of the brain is seen", "Strength is reduced on the left"},
			[]string{"an electroencephalogram", "a scan of the brain", "a seizure drug", "physical therapy"}},
		{"orthopedics", []string{"knee pain", "low back pain", "a fall on the wrist", "stiffness of the shoulder"},
			[]string{"The fracture is not displaced", "The meniscus is torn", "Range of motion is limited", "The joint is stable"},
			[]string{"a cast", "an arthroscopy", "an injection of the joint", "rest and ice"}},
		{"urology", []string{"frequent urination", "flank pain", "blood in the urine", "a kidney stone"},
			[]string{"The prostate is enlarged", "The bladder wall is smooth", "A stone of the left ureter is seen", "The kidneys are normal in size"},
			[]string{"a cystoscopy", "an antibiotic", "more fluids", "an ultrasound of the kidneys"}},
	}
}

func specialtyNames() (out []string) {
	for _, s := range specialties() {
		out = append(out, s.name)
	}
	return out
}

// reportDraw draws the sentences of reports.
type reportDraw struct{ rng *rand.Rand }

func (d reportDraw) oneOf(list []string) string { return list[d.rng.IntN(len(list))] }

// text returns a report; planted is a sentence to put after the first, or "".
func (d reportDraw) text(s specialty, planted string) string {
	complaints := slices.Clone(s.complaints)
	d.rng.Shuffle(len(complaints), func(i, k int) { complaints[i], complaints[k] = complaints[k], complaints[i] })
	out := []string{fmt.Sprintf("The patient is a %d-year-old %s with %s.", 18+d.rng.IntN(70), d.oneOf([]string{"man", "woman"}), complaints[0])}
	if planted != "" {
		out = append(out, planted)
	}
	out = append(out, fmt.Sprintf("The symptoms began %s ago and are %s.",
		d.oneOf([]string{"two days", "three weeks", "a month", "six months", "about a year"}),
		d.oneOf([]string{"worse at night", "better with rest", "constant", "getting worse"})))
	if d.rng.IntN(2) == 0 {
		out = append(out, fmt.Sprintf("There is also %s.", complaints[1]))
	}
	findings := slices.Clone(s.findings)
	d.rng.Shuffle(len(findings), func(i, k int) { findings[i], findings[k] = findings[k], findings[i] })
	for _, f := range findings[:1+d.rng.IntN(2)] {
		out = append(out, f+d.oneOf([]string{".", " today.", ", as before.", " on examination."}))
	}
	out = append(out, fmt.Sprintf("We recommend %s, and the patient returns in %d weeks.", d.oneOf(s.plan), 2+d.rng.IntN(11)))
	return strings.Join(out, " ")
}

// planted returns a sentence with a phrase that no other report has.
func (d reportDraw) planted(mark string, k int) string {
	switch mark {
	case MarkNames:
		return fmt.Sprintf("The name of the patient is %s %s.", d.word(2), d.word(3))
	case MarkDates:
		// 12 months of 28 days: no date twice, because the year is another one.
		return fmt.Sprintf("The date of birth is %04d-%02d-%02d.", 1930+k, 1+d.rng.IntN(12), 1+d.rng.IntN(28))
	}
	return fmt.Sprintf("The patient takes %s%s every morning.", d.word(3), d.oneOf([]string{"mab", "nib", "vir", "pril"}))
}

// word returns a made-up word of so many syllables.
func (d reportDraw) word(syllables int) string {
	var out strings.Builder
	for range syllables {
		out.WriteByte("bdfghklmnprstvz"[d.rng.IntN(15)])
		out.WriteByte("aeiou"[d.rng.IntN(5)])
	}
	return out.String()
}

// report is a document before the documents are in random order.
type report struct {
	Document
	mark string // of the planted phrase, or ""
}

// drawReports returns the reports in random order, so that a number does not reveal a group, and
// the numbers of the marked ones.
func drawReports() ([]Document, map[string][]int, error) {
	d := reportDraw{rand.New(rand.NewPCG(reportsSeed, reportsStream))}
	all, marks := specialties(), []string{MarkNames, MarkDates, MarkDrugs}
	var reports []report
	known := map[string]bool{}
	for k := 0; k < reportTexts; {
		r := report{Document: Document{Label: all[k%len(all)].name, Group: fmt.Sprintf("patient %03d", k+1)}}
		sentence := ""
		if kind := k / reportMarked; kind < len(marks) {
			r.mark = marks[kind]
			sentence = d.planted(r.mark, k%reportMarked)
		}
		if r.Text = d.text(all[k%len(all)], sentence); known[r.Text] {
			continue // two reports of one text are copies that were not planted
		}
		known[r.Text] = true
		reports = append(reports, r)
		k++
	}
	for _, k := range d.rng.Perm(reportTexts)[:reportCopies] {
		copied := reports[k]
		copied.Label = all[(slices.IndexFunc(all, func(s specialty) bool { return s.name == copied.Label })+1+d.rng.IntN(len(all)-1))%len(all)].name
		reports = append(reports, copied)
	}
	d.rng.Shuffle(len(reports), func(i, k int) { reports[i], reports[k] = reports[k], reports[i] })
	return numbered(reports)
}

// numbered returns the documents of reports and the numbers of the marked ones.
func numbered(reports []report) ([]Document, map[string][]int, error) {
	marked, first := map[string][]int{}, map[string]int{}
	var out []Document
	for i, r := range reports {
		r.Name = fmt.Sprintf("report %d", i+1)
		out = append(out, r.Document)
		if r.mark != "" {
			marked[r.mark] = append(marked[r.mark], i)
		}
		if k, twice := first[r.Text]; twice {
			marked[MarkCopied], marked[MarkCopies] = append(marked[MarkCopied], k), append(marked[MarkCopies], i)
		} else {
			first[r.Text] = i
		}
	}
	slices.Sort(marked[MarkCopied])
	return out, marked, nil
}
