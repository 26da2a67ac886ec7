import { expect, note, test } from "../step.mjs";

const cells = {
  declared: "func f() int { return 1 }",
  used: "%%\nx := f()\nx",
  missing: "%%\nfmt.Println(x)",
  again: "func f() int { return 2 }",
  help: "%help",
};

// What people are told who come from Python.
test("a last line is shown, a lost name is explained, a stale cell is marked", async ({ lab }) => {
  test.setTimeout(90_000);
  const notebook = await lab.open(await lab.write("words.ipynb", ...Object.values(cells)));
  await notebook.run(1);
  await tells(lab, notebook, 1, "run the cells above first");
  await notebook.run(0);
  await notebook.run(1);
  expect((await notebook.text(1)).trim() === "1", `the last line is shown as ${await notebook.text(1)}`).toBeTruthy();
  await notebook.run(2);
  await tells(lab, notebook, 2, "make it a function or a top-level var");
  await notebook.run(3);
  await tells(lab, notebook, 3, "f changed: cell [3] ran with what was there before");
  await tells(lab, notebook, 1, "stale: cell [5] has changed f since this cell ran");
  await notebook.shoot("13-words");
  await notebook.run(1);
  expect(!/stale/.test(await notebook.text(1)), "the mark is still there after the cell ran again").toBeTruthy();
  await notebook.run(4);
  await tells(lab, notebook, 4, "lethe list");
  note("a value on the last line, a name of an earlier main, cells that have not run, a stale cell and %help are told");
});

async function tells(lab, notebook, i, words) {
  await lab.until(`"${words}" below cell ${i}`, async () => (await notebook.text(i)).replace(/\s+/g, " ").includes(words), 20);
}
