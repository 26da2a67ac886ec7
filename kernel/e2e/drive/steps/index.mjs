// The steps, in their order. Each has a name, a title, a limit in seconds, and
// run(lab), which returns in words what it found, or throws.
import { closeTab } from "./close_tab.mjs";
import { completeName } from "./complete_name.mjs";
import { interactiveFigure } from "./interactive_figure.mjs";
import { interruptAndResume } from "./interrupt_and_resume.mjs";
import { reopenUntrusted } from "./reopen_untrusted.mjs";
import { runAll } from "./run_all.mjs";
import { sliders } from "./sliders.mjs";
import { slidersRuler } from "./sliders_ruler.mjs";
import { stopAtError } from "./stop_at_error.mjs";

export const steps = [runAll, reopenUntrusted, sliders, interruptAndResume, closeTab, stopAtError, interactiveFigure, completeName, slidersRuler];
