// The page: registers the views and routes the hash of the address to them.

import * as svm from "./svm/fit";
import { Client } from "./svm/client";
import "./ui/style.css";

/** For the browser's console, and for tests: the solver without the views. */
Object.assign(window, { lab: { ...svm, Client } });

const root = document.getElementById("lab")!;
root.textContent = "maxmargin lab";
