import { expect, note, test } from "../step.mjs";
import { problems } from "../content.mjs";

test("a new notebook from the launcher, and a statement without %%", async ({ lab }) => {
  test.setTimeout(90_000);
  const notebook = await lab.launch("Lethe notebook", "Untitled.ipynb");
  await notebook.runAll(60);
  await notebook.shoot("10-launched");
  const text = await notebook.text(1);
  expect(/\d+ records are to be forgotten/.test(text), `the template says ${text}`).toBeTruthy();
  const found = problems(await notebook.save());
  expect(!found.length, found.join("; ")).toBeTruthy();
  const statement = await lab.open(await lab.write("statement.ipynb", "c := 1"));
  await statement.runAll();
  await statement.shoot("10-statement");
  const error = await statement.text(0);
  expect(/expected declaration, found c[^]*Put %% on a line above/.test(error), `the error is ${error}`).toBeTruthy();
  note("the template runs; the error of a statement says to put %% above it");
});
