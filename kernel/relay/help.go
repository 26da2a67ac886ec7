// %help: what Lethe adds, before GoNB's own page.

package relay

import "regexp"

// helpLine matches the command in a cell.
var helpLine = regexp.MustCompile(`(?m)^(?://gonb:)?%help[ \t]*$`)

func asksForHelp(code string) bool { return helpLine.MatchString(code) }

// letheHelp is short; the page below it is GoNB's.
const letheHelp = `Lethe in a notebook
  func, type, var, const, import   stay for all later cells; a cell redeclares a name by declaring it again
  %%                               statements stand below this line and run now; their variables end with the cell
  var                              a top-level var has the value of its declaration in every cell: values stay in functions and files
  the last line under %%           is shown if it is a value; elsewhere: fmt.Println(x), nb.Show(x) for text, tables, figures
  nb.Table, nb.Figure, nb.Markdown show results; nb.Check(err) and nb.Try(f()) end the cell with a message
  nb.Interact, nb.NewSlider        a figure with sliders; it goes on when its cell is over, until you press done
  %env LETHE_SCALE standard        how large the experiments are from here on: quick, standard or paper
  lethe list                       in a terminal: data sets, models, methods, attacks, papers
  Tab, Shift-Tab                   complete a name, look it up; the square button stops the cell
GoNB's own page:
`
