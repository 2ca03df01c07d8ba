// A view is one page of the lab. Its state lives in the URL: #/<name>?<params>.

export interface View {
  /** The path in the hash, for example "play", "step" or "explain/losses". */
  name: string;
  /** The name in the navigation and in the title of the window. */
  title: string;
  /**
   * Draw the view into an empty element. `params` is the state that the URL asks for; the view
   * calls `update` with its state whenever that changes. Returns a function that ends the view: it stops
   * timers, workers and listeners outside `root`.
   */
  mount(
    root: HTMLElement,
    params: URLSearchParams,
    update: (params: URLSearchParams) => void,
  ): () => void;
}
