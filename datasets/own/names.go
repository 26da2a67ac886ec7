// Names of columns that say whether the values identify somebody or something.

package own

import (
	"slices"
	"strings"
	"unicode"
)

var (
	// idWords end the name of an identifier: person_id, device uuid.
	idWords = []string{"id", "uid", "uuid", "guid", "mrn"}
	// numberWords end the name of an identifier after a word of numberedWords: patient_no. They begin
	// that of a count: num_children.
	numberWords = []string{"no", "nr", "nbr", "num", "number"}
	// rowWords are the name of an identifier if all values are different. They can be anything else.
	rowWords = []string{"no", "nr", "nbr", "num", "number", "index", "key", "row", "rownames"}
	// personWords name persons.
	personWords = []string{"person", "patient", "customer", "client", "user", "username", "subject", "participant", "respondent", "employee", "student",
		"email", "mail", "ssn"}
	// numberedWords name persons and things that are numbered: rooms and houses are, and their numbers
	// can be counts or places.
	numberedWords = append([]string{"pat", "cust", "member", "donor", "case", "account", "policy", "invoice", "order", "ticket", "record", "encounter",
		"passport", "insurance", "registration", "serial", "contract", "card", "phone", "telephone", "mobile", "security", "tax"}, personWords...)
	// ownerWords name those who have an identifier of their own, beside persons: their identifiers are no
	// codes, however few they are.
	ownerWords = []string{"mrn", "pat", "cust", "member", "donor", "doctor", "physician", "nurse", "speaker", "author", "writer", "driver", "rater", "player",
		"teacher", "volunteer", "individual", "child", "mother", "father", "family", "household", "owner", "worker", "resident", "animal", "mouse"}
	// countWords begin the name of a count or of a statistic: number of customers, max_user.
	countWords = append([]string{"n", "count", "total", "sum", "max", "min", "mean", "median", "avg", "average"}, numberWords...)
)

// nameWords returns the words of a name in lower case: patient and no of patient_no and PatientNo.
func nameWords(name string) []string {
	var b strings.Builder
	last := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		if strings.ContainsRune("_-.", r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	return strings.Fields(b.String())
}

// namesSomebody reports whether a column has a name such as id or person_id, whose values identify
// a person or a thing even where they repeat.
func namesSomebody(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	stem, is := strings.CutSuffix(last, "id")
	return slices.Contains(idWords, last) || is && slices.Contains(personWords, stem) || strings.HasSuffix(strings.ToLower(name), "_nr")
}

// namesPerson reports whether a column has the name of persons, such as patient, patient_no or
// user_name: its many numbers or names are who somebody is, and no measurement.
func namesPerson(name string) bool {
	words := nameWords(name)
	if len(words) == 0 || slices.Contains(countWords, words[0]) {
		return false
	}
	last, before := words[len(words)-1], ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	switch {
	case slices.Contains(personWords, last):
		return true
	case last == "name":
		return slices.Contains(personWords, before)
	}
	return slices.Contains(numberWords, last) && slices.Contains(numberedWords, before)
}

// looksLikeIdentifier reports whether a column with this name is one of identifiers if all its
// values are different.
func looksLikeIdentifier(name string) bool {
	words := nameWords(name)
	return namesSomebody(name) || len(words) == 1 && slices.Contains(rowWords, words[0]) || strings.EqualFold(name, "unnamed: 0")
}

// namesThing reports whether the name of an identifier is that of a thing, as admission_type_id is:
// not id alone, and none with a person in it.
func namesThing(name string) bool {
	words := nameWords(name)
	return len(words) > 1 && !slices.ContainsFunc(words, isPerson)
}

// isPerson reports whether a word names a person: patient, userid, mrn.
func isPerson(word string) bool {
	stem := strings.TrimSuffix(word, "id")
	return slices.Contains(ownerWords, stem) || slices.Contains(personWords, stem)
}
