import { cellWith } from "../content.mjs";
import { slide } from "../slide.mjs";
import { note, test } from "../step.mjs";

// The sliders of another notebook, whose cell needs those before it.
test("move a slider of ruler/01", async ({ lab }) => {
  test.setTimeout(150_000);
  const notebook = await lab.openEmpty(lab.beside("ruler/01-metrics.ipynb"));
  const knobs = cellWith(await lab.read(notebook.name), "nb.Turn(");
  note(await slide(lab, notebook, [...Array(knobs).keys()], "9"));
});
