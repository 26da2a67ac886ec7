// Figures on the page: pictures, and those that Vega-Lite draws.

// visibleFigures counts the outputs that show a picture that has been loaded, or
// a drawing of Vega-Lite with something in it.
export async function visibleFigures(page) {
  return page.evaluate(() => {
    const loaded = (img) => img.complete && img.naturalWidth > 50;
    const drawn = (view) => view.querySelector("canvas, svg")?.getBoundingClientRect().width > 50;
    const outputs = Array.from(document.querySelectorAll(".jp-Notebook .jp-OutputArea-output"));
    return outputs.filter((o) => {
      const image = o.querySelector("img");
      const view = o.querySelector(".vega-embed");
      return view ? drawn(view) : image && loaded(image);
    }).length;
  });
}

// picture is the address of the picture below a cell: its bytes, for a figure.
export async function picture(notebook, i) {
  const images = notebook.cell(i).locator(".jp-OutputArea-output img");
  return (await images.count()) ? images.last().getAttribute("src") : null;
}
