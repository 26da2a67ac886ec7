import { moveTo } from "../slide.mjs";
import { epochsDone, training } from "../training.mjs";
import { expect, note, test } from "../step.mjs";

const sliders = `import "context"

%%
x := 1
nb.Interact(func(_ context.Context, live *nb.Live) error {
	live.Markdown(fmt.Sprintf("the square of %d is %d", x, x*x))
	return nil
}, nb.NewSlider("x", &x, 1, 10).Step(1))`;

test("sliders answer while another cell trains", async ({ lab }) => {
  test.setTimeout(120_000);
  const [definitions, train] = training(104, 40_000); // below the sliders: its output pushes what follows down
  const notebook = await lab.open(await lab.write("meanwhile.ipynb", definitions, sliders, train));
  await notebook.run(0);
  await notebook.start(1);
  await lab.until("first drawing", async () => (await notebook.text(1)).includes("the square of 1 is 1"));
  await notebook.end(1, 10); // the cell is over, its sliders are not
  await notebook.start(2);
  await lab.until("progress", async () => epochsDone(await notebook.text(2)) > 0);
  const slider = notebook.cell(1).locator("input[type=range]");
  const took = [];
  for (const x of [4, 7, 2]) {
    const began = Date.now();
    await moveTo(slider, place(x));
    await lab.until(`square of ${x}`, async () => (await notebook.text(1)).includes(`the square of ${x} is ${x * x}`), 10);
    took.push((Date.now() - began) / 1000);
  }
  const before = epochsDone(await notebook.text(2));
  expect(/\*/.test(await notebook.prompt(2)), "the training has ended before the slider moved").toBeTruthy();
  await notebook.shoot("12-meanwhile");
  await lab.until("more epochs", async () => epochsDone(await notebook.text(2)) > before);
  await notebook.interrupt();
  await notebook.end(2, 15);
  await moveTo(slider, place(5));
  await lab.until("square of 5", async () => (await notebook.text(1)).includes("the square of 5 is 25"), 10);
  await notebook.cell(1).getByRole("button", { name: "done" }).click();
  await lab.until("end of the sliders", async () => (await notebook.text(1)).includes("are closed"));
  expect((await notebook.cell(1).getByRole("button", { name: "done" }).count()) === 0, "the button is still there after done").toBeTruthy();
  note(`a slider answers after ${took.join(", ")} s while another cell trains; an interrupt stops the training only`);
});

// place is where a value stands on a slider from 1 to 10, with room for its knob at both ends.
function place(x) {
  return 0.04 + (0.92 * (x - 1)) / 9;
}
