import { training } from "../training.mjs";
import { expect, note, test } from "../step.mjs";

test("Run All stops at a cell that does not compile", async ({ lab }) => {
  test.setTimeout(60_000);
  const [definitions, train] = training(103, 2000);
  const notebook = await lab.open(await lab.write("error.ipynb", definitions, '%%\nrecords := 12\nfmt.Println(recrods)', train));
  await notebook.runAll(40);
  await notebook.shoot("6-error");
  const text = await notebook.text(1);
  for (const part of [/cell \[?\d+\]?/i, /line 3/, /\^/, /undefined: recrods/]) {
    expect(part.test(text), `the error lacks ${part}: ${text}`).toBeTruthy();
  }
  expect(!/\d/.test(await notebook.prompt(2)), `the training cell ran: its prompt is ${await notebook.prompt(2)}`).toBeTruthy();
  expect((await notebook.text(2)) === "", "the training cell has output").toBeTruthy();
  note(`the error shows cell, line and caret; the training cell below did not run`);
});
