import { beganWith, epochsDone, training } from "../training.mjs";
import { expect, note, test } from "../step.mjs";

const epochs = 4000;

test("interrupt a training and go on", async ({ lab }) => {
  test.setTimeout(90_000);
  const notebook = await lab.open(await lab.write("training.ipynb", ...training(101, epochs)));
  await notebook.run(0);
  await notebook.start(1);
  const seen = await lab.until("progress", async () => {
    const done = epochsDone(await notebook.text(1));
    return done >= epochs / 10 ? done : 0;
  });
  await notebook.interrupt();
  await notebook.end(1, 10);
  const stopped = await notebook.text(1);
  await notebook.shoot("4-interrupted");
  expect(/Interrupted/.test(stopped) && /Run this cell again to go on/.test(stopped), `the cell does not say how to go on: ${stopped}`).toBeTruthy();
  await notebook.run(1, 60);
  const finished = await notebook.text(1);
  await notebook.shoot("4-finished");
  expect(finished.includes("trained on"), `the second run did not end well: ${finished}`).toBeTruthy();
  const from = beganWith(finished);
  expect(from > seen, `the second run began with epoch ${from}; the first had reached ${seen}`).toBeTruthy();
  note(`interrupted after epoch ${seen} of ${epochs}, went on with epoch ${from}, and ended`);
});
