// The page: registers the views and routes the hash of the address to them.

import "katex/dist/katex.css";
import { Client } from "./svm/client";
import * as svm from "./svm/fit";
import { start } from "./ui/shell";
import "./ui/style.css";
import { explainerViews } from "./explainers/index";
import { playground } from "./playground/view";
import * as step from "./stepper/state";
import { stepper } from "./stepper/view";

/** For the browser's console, and for tests: the solver and the stepper's runs without the views. */
Object.assign(window, { lab: { ...svm, Client, step } });

start(document.getElementById("lab")!, [playground, stepper, ...explainerViews]);
