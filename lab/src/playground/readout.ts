// One line about the point under the pointer, or the selected one.

import { shortNumber } from "../ui/controls";
import { rowOf, valueName } from "./kkt";
import { shownParts } from "./scene";
import { isRegression } from "./state";
import type { Store } from "./store";

/** The line; empty where no point is meant, or where it belongs to several problems. */
export function describe(store: Store): string {
  const { editing, solved } = store;
  const index = editing.hovered >= 0 ? editing.hovered : editing.selected;
  if (!solved || index < 0 || index >= solved.state.points.length) return "";
  const { machine } = solved.fit.spec;
  const own = shownParts(solved).filter((part) => part.rows.includes(index));
  if (own.length !== 1) return "";
  const [part] = own;
  const row = rowOf(machine, part, solved.fit.data.y, part.rows.indexOf(index));
  const dual = isRegression(machine) ? "|b|" : "a";
  const kind = { none: "", free: ", free", bound: ", at the bound" }[row.kind];
  return (
    `point ${index + 1}: ${dual} = ${shortNumber(row.a)}${kind}, ` +
    `${valueName(machine)} = ${shortNumber(row.value)}, ξ = ${shortNumber(row.slack)}`
  );
}
