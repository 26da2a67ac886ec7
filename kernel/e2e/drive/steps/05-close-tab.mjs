import { epochsDone, training } from "../training.mjs";
import { expect, note, test } from "../step.mjs";

const epochs = 10_000; // more than the page needs to come back, also on a fast machine

test("close the tab during a training and come back", async ({ lab }) => {
  test.setTimeout(330_000);
  const name = await lab.write("left-alone.ipynb", ...training(102, epochs));
  const before = await lab.open(name);
  await before.run(0);
  await before.start(1);
  await lab.until("progress", async () => epochsDone(await before.text(1)) > 0);
  await before.save();
  await before.page.close();
  const after = await lab.open(name);
  const status = await after.status();
  await after.shoot("5-back");
  const text = await after.text(1);
  expect(/Busy/.test(status), `the kernel works, and the page says: ${status}`).toBeTruthy();
  expect(epochsDone(text) > 0, `the page shows nothing of the training: ${text}`).toBeTruthy();
  // The page may mark the cell as running from before: a new run is told from that one only
  // when the kernel is idle.
  await lab.until("end of the training that was left alone", async () => /\| Idle/.test(await after.status()), 240);
  await after.run(1, 60);
  const finished = await after.text(1);
  await after.shoot("5-finished");
  expect(finished.includes("trained on"), `running the cell again did not end well: ${finished}`).toBeTruthy();
  note(`the page shows how far it was and a busy kernel; run again, the cell shows the result`);
});
