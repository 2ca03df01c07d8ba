// The player: back, forward, play, to the start and the end, a slider, and the keyboard.

import { button } from "../ui/controls";
import { h, newId, s } from "../ui/dom";

/** Milliseconds of a whole trace; a step lasts between the two bounds. */
const WHOLE = 15_000;
const SHORTEST = 40;
const LONGEST = 700;

const ICONS = {
  start: "M5,4V16M16,4L8,10L16,16Z",
  back: "M14,4L6,10L14,16Z",
  play: "M5,3L17,10L5,17Z",
  pause: "M6,4V16M14,4V16",
  forward: "M6,4L14,10L6,16Z",
  end: "M15,4V16M4,4L12,10L4,16Z",
} as const;

export class Player {
  readonly element: HTMLElement;
  private position = 0;
  private length = 0;
  private timer = 0;
  private readonly slider: HTMLInputElement;
  private readonly count = h("output", { class: "step-count" });
  private readonly buttons: Record<
    "start" | "back" | "play" | "forward" | "end",
    HTMLButtonElement
  >;

  /** `change` is called with each new position; `unit` names what is counted. */
  constructor(
    private readonly change: (position: number) => void,
    private readonly unit: (position: number, length: number) => string,
  ) {
    const id = newId("step");
    this.slider = h("input", { type: "range", min: 0, step: 1, id, "aria-label": "Step" });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.count.setAttribute("for", id);
    const make = (icon: keyof typeof ICONS, label: string, key: string, click: () => void) =>
      button(label, click, { content: picture(icon), title: `${label} (${key})` });
    this.buttons = {
      start: make("start", "To the start", "Home", () => this.go(0)),
      back: make("back", "Back", "←", () => this.go(this.position - 1)),
      play: make("play", "Play", "space", () => this.toggle()),
      forward: make("forward", "Forward", "→", () => this.go(this.position + 1)),
      end: make("end", "To the end", "End", () => this.go(this.length)),
    };
    this.buttons.forward.classList.add("primary");
    const bar = h("div", { class: "buttons" }, ...Object.values(this.buttons));
    this.element = h(
      "div",
      { class: "step-player", role: "group", "aria-label": "Player" },
      bar,
      this.slider,
      this.count,
    );
    document.addEventListener("keydown", this.key);
  }

  get playing(): boolean {
    return this.timer !== 0;
  }

  /** Another trace: positions 0, ..., length. */
  load(length: number, position: number): void {
    this.stop();
    this.length = length;
    this.slider.max = String(length);
    this.show(Math.min(position, length));
  }

  /** Stop playing and go to a position. */
  go(position: number): void {
    this.stop();
    this.move(position);
  }

  close(): void {
    this.stop();
    document.removeEventListener("keydown", this.key);
  }

  private move(position: number): void {
    this.show(Math.min(Math.max(position, 0), this.length));
    this.change(this.position);
  }

  private show(position: number): void {
    this.position = position;
    const text = this.unit(position, this.length);
    this.slider.value = String(position);
    this.slider.setAttribute("aria-valuetext", text);
    this.count.textContent = text;
    this.buttons.start.disabled = this.buttons.back.disabled = position === 0;
    this.buttons.forward.disabled = this.buttons.end.disabled = position === this.length;
  }

  private toggle(): void {
    if (this.playing) return this.go(this.position);
    if (this.position === this.length) this.move(0);
    const pause = Math.min(Math.max(WHOLE / Math.max(this.length, 1), SHORTEST), LONGEST);
    this.timer = window.setInterval(() => this.tick(), pause);
    this.showPlaying(true);
  }

  private tick(): void {
    if (this.position + 1 >= this.length) this.stop();
    this.move(this.position + 1);
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = 0;
    this.showPlaying(false);
  }

  private showPlaying(playing: boolean): void {
    const { play } = this.buttons;
    const label = playing ? "Pause" : "Play";
    play.replaceChildren(picture(playing ? "pause" : "play"));
    play.setAttribute("aria-label", label);
    play.title = `${label} (space)`;
  }

  /** Arrows, Home, End and space, unless a field or a button wants them. */
  private readonly key = (event: KeyboardEvent) => {
    const target = event.target as Element;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("input, select, textarea, dialog")) return;
    if (event.key === " " && target.closest("button, a, summary")) return;
    const action = {
      ArrowLeft: () => this.go(this.position - 1),
      ArrowRight: () => this.go(this.position + 1),
      Home: () => this.go(0),
      End: () => this.go(this.length),
      " ": () => this.toggle(),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
}

function picture(icon: keyof typeof ICONS): SVGSVGElement {
  const size = { viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" };
  return s("svg", { ...size, class: "step-icon" }, s("path", { d: ICONS[icon] }));
}
