import { picture } from "../figures.mjs";
import { expect, note, test } from "../step.mjs";

// A cell with a control of each kind. The columns follow the data set; a figure, a text and a
// table follow all controls.
const imports = `import (
	"context"
	"fmt"
	"github.com/lethe-ml/lethe/lib/nb"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)`;
const cell = `%%
set, column, rows, noise, remark := "adult", "age", 5, false, "hello"
columns := map[string][]string{"adult": {"age", "hours"}, "bank": {"balance", "job"}}
nb.Interact(func(_ context.Context, live *nb.Live) error {
	line := plot.Curve{Name: column}
	for i := range rows {
		line.X, line.Y = append(line.X, float64(i)), append(line.Y, float64(i*i))
	}
	t := &report.Table{Columns: report.Columns("rows"), Title: "Rows"}
	t.Add(report.Num(float64(rows), 0))
	live.Show(plot.Curves{Meta: plot.Meta{Title: set + ": " + column}, Curves: []plot.Curve{line}}, fmt.Sprintf("**%s** of %s, noise %v, %s", column, set, noise, remark), t)
	return nil
}, nb.NewDropdown("data set", &set, "adult", "bank"),
	nb.NewDropdown("column", &column).OptionsFrom(func() []string { return columns[set] }),
	nb.NewSlider("rows", &rows, 3, 9), nb.NewCheckbox("noise", &noise), nb.NewTextField("remark", &remark))`;

test("controls that follow each other, and a notebook that opens as it was left", async ({ lab }) => {
  test.setTimeout(120_000);
  const name = await lab.write("controls.ipynb", imports, cell);
  const before = await lab.open(name);
  await before.run(0);
  await before.start(1);
  const says = (notebook, words) => lab.until(`"${words}"`, async () => (await notebook.text(1)).includes(words));
  await says(before, "Change a value");
  await says(before, "age of adult, noise false, hello");
  const control = (notebook, label) => notebook.cell(1).locator(`[aria-label="${label}"]`);
  const first = await picture(before, 1);
  await control(before, "data set").selectOption("bank");
  await says(before, "balance of bank");
  const options = await lab.until("the columns of bank", async () => {
    const found = await control(before, "column").locator("option").allTextContents();
    return found.join() === "balance,job" && found;
  });
  await control(before, "noise").check();
  // A reader writes while the cell draws what came before. Each key is a command of JupyterLab's too.
  await control(before, "remark").fill("");
  await control(before, "remark").pressSequentially("good-", { delay: 150 });
  await says(before, "balance of bank, noise true, hello");
  await control(before, "remark").pressSequentially("bye", { delay: 150 });
  await control(before, "remark").press("Enter");
  await says(before, "balance of bank, noise true, good-bye");
  expect((await picture(before, 1)) !== first, "the figure does not follow the dropdown").toBeTruthy();
  const cells = await before.page.locator(".jp-Notebook .jp-Cell").count();
  expect(cells === 2, `JupyterLab took the text for commands: there are ${cells} cells`).toBeTruthy();
  await before.shootCell(1, "14-moved");
  // Nobody presses done: the notebook is saved, the tab closed, and the kernel ends.
  await lab.until("states in the page", async () => await before.cell(1).locator('[id^="lethe-states-"]').count());
  expect(await before.cell(1).getByRole("button", { name: "done" }).isEnabled(), "the stored states have taken the place of the controls").toBeTruthy();
  await before.save();
  await lab.tidy();

  const after = await lab.open(name);
  await says(after, "4 states are stored with this page");
  const left = await control(after, "data set").inputValue();
  expect(left === "bank" && (await control(after, "noise").isChecked()), `the notebook was left at bank with noise, and opens at ${left}`).toBeTruthy();
  await after.shootCell(1, "14-reopened");
  await control(after, "data set").selectOption("adult");
  await says(after, "age of adult, noise false, hello");
  await says(after, "The nearest of 4 stored states");
  await after.shootCell(1, "14-stored");
  await control(after, "data set").selectOption("bank");
  await says(after, "balance of bank, noise true, good-bye");
  expect(!after.trouble.length, `scripts of the page failed: ${after.trouble.join("; ")}`).toBeTruthy();
  note(`the columns are ${options.join(" and ")} after the other data set was chosen; opened again, the notebook is as it was left and shows 4 states without a run`);
});
