import type { Inbox } from "./inbox.ts";
import { mount } from "./mount.ts";
import { style } from "./style.ts";
import { type Words, words } from "./words.ts";

export type { Words } from "./words.ts";

/**
 * `<herald-inbox>`: a button with the number of unread items, which opens the inbox; with the attribute `inline` the inbox alone. It
 * sends `herald-open` with the item before it is opened, and what is prevented then does not leave the page.
 * @example document.querySelector("herald-inbox").app = app;
 */
export class HeraldInbox extends HTMLElement {
  #app: { inbox: Inbox } | null = null;
  #words = words;
  #stop = (): void => undefined;
  readonly #root: ShadowRoot;

  constructor() {
    super();
    this.#root = this.attachShadow({ mode: "open" });
    this.#root.adoptedStyleSheets = [style()];
  }

  /** Whose inbox it is: what `herald` gives. */
  set app(app: { inbox: Inbox } | null) {
    this.#app = app;
    this.#restart();
  }
  get app(): { inbox: Inbox } | null {
    return this.#app;
  }

  /** Other words than the English ones; those that are left out stay. */
  set words(some: Partial<Words>) {
    this.#words = { ...words, ...some };
    this.#restart();
  }
  get words(): Words {
    return this.#words;
  }

  connectedCallback(): void {
    this.#restart();
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  #restart(): void {
    this.#stop();
    this.#stop = (): void => undefined;
    if (!this.isConnected || this.#app === null) return;
    this.#stop = mount({ host: this, root: this.#root, inbox: this.#app.inbox, words: this.#words });
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "herald-inbox": HeraldInbox;
  }
}

if (customElements.get("herald-inbox") === undefined) customElements.define("herald-inbox", HeraldInbox);
