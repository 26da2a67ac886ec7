import { expect } from "../content.mjs";
import { epochsDone, training } from "../training.mjs";

const epochs = 1500;

export const closeTab = {
  name: "close-tab",
  title: "close the tab during a training and come back",
  seconds: 90,
  async run(lab) {
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
    expect(/Busy/.test(status), `the kernel works, and the page says: ${status}`);
    expect(epochsDone(text) > 0, `the page shows nothing of the training: ${text}`);
    await after.run(1, 60);
    const finished = await after.text(1);
    await after.shoot("5-finished");
    expect(finished.includes("trained on"), `running the cell again did not end well: ${finished}`);
    return `the page shows how far it was and a busy kernel; run again, the cell shows the result`;
  },
};
