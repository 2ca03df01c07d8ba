// The page: registers the views and routes the hash of the address to them.

import "katex/dist/katex.css";
import { Client } from "./svm/client";
import * as svm from "./svm/fit";
import { start } from "./ui/shell";
import "./ui/style.css";
import { explainerViews } from "./explainers/index";
import { playground } from "./playground/view";
import { stepper } from "./stepper/view";

/** For the browser's console, and for tests: the solver without the views. */
Object.assign(window, { lab: { ...svm, Client } });

start(document.getElementById("lab")!, [playground, stepper, ...explainerViews]);
