/** A page of the lab. Its state lives in the hash of the address: #/name?params. */
export interface View {
  readonly name: string;
  readonly title: string;
  /** Draws into root; `update` writes the state to the address. Returns what undoes it all. */
  mount(
    root: HTMLElement,
    params: URLSearchParams,
    update: (params: URLSearchParams) => void,
  ): () => void;
}
