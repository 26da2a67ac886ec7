// Package logs reads published evaluation logs of language models that unlearned: TOFU's, with the
// losses of every question (ReadTOFU), and the table of the UDS study (ReadDepthStudy). Files are
// JSON, plain or gzip by the ending .gz. Sizes are checked before memory is taken, and errors name
// the file, the set, the key and the question.
package logs
