import { cellWith } from "../content.mjs";
import { slide } from "../slide.mjs";
import { expect, note, test } from "../step.mjs";

// The sliders of another notebook, whose cell needs those before it, on a machine
// so busy that gonb's own script would give up: the sliders do without it.
test("move a slider of ruler/01", async ({ lab }) => {
  test.setTimeout(150_000);
  const person = await lab.newPerson();
  await person.addInitScript(withoutPatience);
  const notebook = await lab.openEmpty(lab.beside("ruler/01-metrics.ipynb"), person);
  const index = cellWith(await lab.read(notebook.name), "nb.Interact(");
  const found = await slide(lab, notebook, [...Array(index).keys()], "9");
  expect(!notebook.gaveUp, "gonb's script came into the page").toBeTruthy();
  expect(!notebook.trouble.length, `scripts of the page failed: ${notebook.trouble.join("; ")}`).toBeTruthy();
  note(`${found}, without gonb's script`);
});

// withoutPatience runs in the page: what waits for gonb's answer has waited enough.
function withoutPatience() {
  const patient = globalThis.setTimeout;
  globalThis.setTimeout = (what, ms, ...rest) => patient(what, String(what).includes("comm_open_ack") ? 0 : ms, ...rest);
}
