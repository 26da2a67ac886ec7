// Package own reads data of the user's own: a table in CSV, arrays of NumPy, a folder of images,
// single cells in an anndata file, a pair of idx files.
//
//	people, err := own.ReadTable("people.csv", own.Target("income"))
//	fmt.Println(people)                      // what was found: kinds, roles, classes
//	data, err := people.Prepare(ctx, 0)      // split and scaled, as the built-in tables
//	rows, err := data.About.Rows("person_id=17")
//
// Every reader checks everything before it returns: a file that is damaged, a column that is not
// understood, one class only, no feature. What is not understood is refused and never guessed;
// errors name the file, the line and the column, and say what would be right. Sizes are checked
// before memory is taken.
//
// Data are split and scaled as RULER's: 20 % of the records are the test part, drawn by class with
// the seed 999, and everything is standardised with the statistics of the train part. Single cells
// are prepared as the built-in ones; see cells.Preparation.
//
// A hash of the files' bytes and of everything that changes how they are read is the key of the
// data: a renamed file is the same data, a changed one is not.
package own
