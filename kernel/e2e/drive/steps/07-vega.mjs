import { expect, note, test } from "../step.mjs";

const code = `import (
	"github.com/lethe-ml/lethe/lib/nb"
	"github.com/lethe-ml/lethe/lib/plot"
)

%%
nb.Figure(plot.Strips{
	Meta: plot.Meta{Title: "Values over seeds"},
	Y:    plot.Axis{Label: "value"},
	Groups: []string{"before", "after"},
	Series: []plot.StripSeries{{Name: "AUC", Values: [][]float64{{0.61, 0.62, 0.64, 0.60}, {0.49, 0.51, 0.50, 0.53}}}},
})`;

test("an interactive figure", async ({ lab }) => {
  test.setTimeout(60_000);
  const notebook = await lab.open(await lab.write("interactive.ipynb", code));
  await notebook.run(0);
  const view = notebook.cell(0).locator(".vega-embed");
  await lab.until("drawing by Vega-Lite", async () => await view.locator("canvas").count());
  expect(!/error/i.test(await notebook.text(0)), `the drawing shows an error: ${await notebook.text(0)}`).toBeTruthy();
  const words = await tooltip(lab, notebook.page, view);
  await notebook.shoot("7-tooltip");
  note(`Vega-Lite draws it; pointing at a mark shows "${words}"`);
});

// tooltip points at coloured spots of the drawing until words appear.
async function tooltip(lab, page, view) {
  const words = page.locator("#vg-tooltip-element.visible");
  const box = await view.locator("canvas").boundingBox();
  for (const spot of await view.locator("canvas").evaluate(colouredSpots)) {
    await page.mouse.move(box.x + spot.x * box.width, box.y + spot.y * box.height, { steps: 3 });
    const appeared = await words.waitFor({ timeout: 300 }).then(() => true, () => false);
    if (appeared) {
      return (await words.innerText()).replace(/\s+/g, " ").trim();
    }
  }
  throw new Error("pointing at the figure shows nothing");
}

// colouredSpots are up to fifty places of a drawing that are not grey, as parts
// of its width and height.
function colouredSpots(canvas) {
  const { width, height } = canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const spots = [];
  for (let i = 0; i < width * height; i++) {
    const [red, green, blue] = pixels.subarray(4 * i, 4 * i + 3);
    if (Math.max(red, green, blue) - Math.min(red, green, blue) > 100) {
      spots.push({ x: ((i % width) + 0.5) / width, y: (Math.floor(i / width) + 0.5) / height });
    }
  }
  const every = Math.ceil(spots.length / 50);
  return spots.filter((_, i) => i % every === 0);
}
