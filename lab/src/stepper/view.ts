// The stepper: an algorithm of the lectures, or a race of two, forward and back.

import { button, segments } from "../ui/controls";
import { offer } from "../ui/dialog";
import { eachFrame, h } from "../ui/dom";
import { LabError } from "../svm/types";
import { ready } from "../svm/fit";
import type { View } from "../ui/view";
import { panel } from "./panel";
import { Player } from "./player";
import { pythonOf } from "./python";
import { raceLength, raceStage, verdict } from "./race";
import { singleStage, type Stage } from "./single";
import { readState, runOf, writeState, type Clock, type Run, type State } from "./state";
import { words } from "./words";
import "./stepper.css";

export const stepper: View = {
  name: "step",
  title: "Stepper",
  mount(root, params, update) {
    const page = new Page(root, readState(params), update);
    void ready().then(() => page.run());
    return () => page.close();
  },
};

class Page {
  private runs: Run[] = [];
  private stage: Stage | null = null;
  private closed = false;
  private readonly player: Player;
  private readonly controls;
  private readonly clock;
  private readonly sentence = h("div", { "aria-live": "polite" });
  private readonly below = h("div", {});
  private readonly refresh = eachFrame(() => this.draw());

  constructor(
    root: HTMLElement,
    private state: State,
    private readonly update: (params: URLSearchParams) => void,
  ) {
    this.controls = panel(state, (part) => this.change(part));
    this.player = new Player(
      (step) => this.seek(step),
      (at, of) =>
        `${this.state.clock === "steps" || !this.state.rival ? "Step" : "Kernel value"} ${at} of ${of}`,
    );
    this.clock = segments<Clock>({
      ...{ label: "The clock counts", value: state.clock },
      choices: [
        { value: "steps", label: "Steps" },
        { value: "evaluations", label: "Kernel values" },
      ],
      change: (clock) => this.change({ clock, step: 0 }),
    });
    const said = h("p", { class: "step-about", role: "status" });
    const say = (text: string) => (said.textContent = text);
    const share = h(
      "div",
      { class: "buttons step-share" },
      button("Copy as Python", () => void offer(this.python(), "Python", say)),
      button("Copy link", () => void offer(location.href, "Link", say)),
    );
    root.append(
      h("h1", { class: "visually-hidden" }, "Stepper"),
      h(
        "details",
        { class: "step-settings", open: innerWidth > 900 },
        h("summary", {}, "Algorithm, data, kernel"),
        this.controls.element,
        share,
        said,
      ),
      h(
        "div",
        { class: "step-main" },
        h("div", { class: "panel step-top" }, this.player.element, this.clock.element),
        h("section", { class: "panel step-words", "aria-label": "What happened" }, this.sentence),
        this.below,
      ),
    );
  }

  close(): void {
    this.closed = true;
    this.player.close();
    this.stage?.close();
  }

  /** Run the algorithms of the state and show the step that it asks for. */
  run(): void {
    if (this.closed) return;
    const { algorithm, rival, clock } = this.state;
    this.stage?.close();
    this.stage = null;
    try {
      this.runs = [algorithm, ...(rival ? [rival] : [])].map((key) => runOf(this.state, key));
    } catch (error) {
      if (!(error instanceof LabError)) throw error;
      this.runs = [];
      this.sentence.replaceChildren(h("p", { class: "note wrong" }, error.message));
      this.below.replaceChildren();
      return this.player.load(0, 0);
    }
    const seek = (step: number) => this.player.go(step);
    this.stage = rival ? raceStage(this.runs, clock, seek) : singleStage(this.runs[0], seek);
    this.below.replaceChildren(this.stage.element);
    this.clock.show(rival !== null);
    this.player.load(this.length(), this.state.step);
    this.seek(Math.min(this.state.step, this.length()));
  }

  private length(): number {
    if (this.state.rival) return raceLength(this.runs, this.state.clock);
    return this.runs[0].trace.steps.length - 1;
  }

  /** Another problem: from its start. */
  private change(part: Partial<State>): void {
    this.state = { ...this.state, step: 0, ...part };
    this.controls.set(this.state);
    this.clock.set(this.state.clock);
    this.run();
  }

  private seek(step: number): void {
    this.state = { ...this.state, step };
    this.refresh();
  }

  private draw(): void {
    if (this.closed || !this.stage) return;
    const { step, rival, clock, algorithm } = this.state;
    this.stage.draw(step);
    const [run] = this.runs;
    const sentences = rival
      ? [verdict(this.runs, step, clock)]
      : words(algorithm, run.trace, step, run.problem);
    this.sentence.setAttribute("aria-live", this.player.playing ? "off" : "polite");
    this.sentence.replaceChildren(...sentences.map((text) => h("p", {}, text)));
    if (!this.player.playing) this.update(writeState(this.state));
  }

  private python(): string {
    return this.runs.map((run) => pythonOf(run, this.state)).join("\n");
  }
}
