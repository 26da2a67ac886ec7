import { slide } from "../slide.mjs";

export const sliders = {
  name: "sliders",
  title: "move a slider",
  seconds: 90,
  run: async (lab) => slide(lab, await lab.openFirst(), [0], "3"),
};
