import { cellWith } from "../content.mjs";
import { slide } from "../slide.mjs";

// The sliders of another notebook, whose cell needs those before it.
export const slidersRuler = {
  name: "sliders-ruler",
  title: "move a slider of ruler/01",
  seconds: 150,
  async run(lab) {
    const notebook = await lab.openEmpty(lab.beside("ruler/01-metrics.ipynb"));
    const knobs = cellWith(await lab.read(notebook.name), "nb.Turn(");
    return slide(lab, notebook, [...Array(knobs).keys()], "9");
  },
};
