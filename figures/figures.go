// Package figures carries the committed tables and figures inside the program,
// so that a notebook can show what a larger scale gave without computing it.
package figures

import "embed"

// Files are the tables and figures, in one folder per paper. Each names its
// scale, seeds and data. The values behind a table (NAME.runs.csv) are large, and stay
// outside.
//
//go:embed */*.json */*.md */*.png */*.txt */*/*.json */*/*.md
var Files embed.FS
