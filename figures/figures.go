// Package figures embeds the committed tables and figures in the program, so that a notebook can
// show the results of a larger scale without computing them.
package figures

import "embed"

// Files are the tables and figures, in one folder per paper. Each states its scale,
// seeds and data. The values behind a table (NAME.runs.csv) are large and not embedded.
//
//go:embed */*.json */*.md */*.png */*.txt */*/*.json */*/*.md
var Files embed.FS
