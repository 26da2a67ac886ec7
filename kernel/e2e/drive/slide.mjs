// Moving the sliders of a cell.
import { cellWith } from "./content.mjs";
import { picture } from "./figures.mjs";
import { expect } from "./step.mjs";

// slide runs the cells that the sliders' cell needs, moves a slider, waits for
// the new figure and closes the sliders.
export async function slide(lab, notebook, needed, shot) {
  const index = cellWith(await lab.read(notebook.name), "nb.Interact(");
  for (const i of needed) {
    await notebook.run(i);
  }
  await notebook.start(index);
  const cell = notebook.cell(index);
  const slider = cell.locator("input[type=range]");
  await lab.until("slider", async () => await slider.count());
  await says(lab, notebook, index, "Change a value");
  const before = await picture(notebook, index);
  await notebook.shootCell(index, `${shot}-before`);
  const began = Date.now();
  await moveTo(slider.first(), 0.8);
  await lab.until("new figure", async () => (await picture(notebook, index)) !== before);
  const first = Date.now() - began;
  await says(lab, notebook, index, "Change a value");
  const whole = Date.now() - began;
  const after = await picture(notebook, index);
  expect(after && after !== before, "the figure is the same as before the slider moved").toBeTruthy();
  await notebook.shootCell(index, `${shot}-moved`);
  await cell.getByRole("button", { name: "done" }).click();
  await notebook.end(index);
  await says(lab, notebook, index, "are closed");
  await says(lab, notebook, index, "move among the 2 states");
  expect((await notebook.cell(index).getByRole("button", { name: "done" }).count()) === 0, "the button is still there after done").toBeTruthy();
  await notebook.shootCell(index, `${shot}-done`);
  return `the figure changes after ${first / 1000} s and is complete after ${whole / 1000} s; done leaves the states that were drawn`;
}

async function says(lab, notebook, i, words) {
  await lab.until(`"${words}"`, async () => (await notebook.text(i)).includes(words));
}

// moveTo clicks into a slider at a part of its length. The slider may have been pushed away by
// what a cell above has printed between the look and the click: then it is clicked again.
export async function moveTo(slider, part) {
  const before = await slider.inputValue();
  for (let tries = 0; tries < 5 && (await slider.inputValue()) === before; tries++) {
    const box = await slider.boundingBox();
    await slider.click({ position: { x: part * box.width, y: box.height / 2 } });
  }
}
