import { type InApp, inApp, type WithParts } from "../in-app/in-app.ts";
import type { Showing } from "../in-app/line.ts";
import { button, icon, make, sheet } from "../view/dom.ts";
import { imageOf, linkOf } from "../view/links.ts";
import { inkOn } from "./ink.ts";
import { style } from "./style.ts";

export { type InApp, inApp } from "../in-app/in-app.ts";
export type { Show, Showing } from "../in-app/line.ts";
export type { InAppMessage } from "../in-app/messages.ts";

export type ShowOptions = {
  /** What the button says that closes a message: "Close" when left out. */
  close?: string;
  /** What a message without a text is called: "Message" when left out. */
  untitled?: string;
};

/** What showing them needs of `herald`. */
export type Showable = WithParts & { askForPush: () => Promise<boolean> };

/**
 * Shows in-app messages in the page, until `stop` is called.
 * @example const { page } = await HeraldInApp.showInApp(app);
 */
export const showInApp = (app: Showable, { close = "Close", untitled = "Message" }: ShowOptions = {}): Promise<InApp> =>
  inApp(app, (showing) => render(showing, { app, words: { close, untitled } }));

type Rendering = { app: Showable; words: Required<ShowOptions> };

/** Puts one message into the page. What keeps the page from being used is a dialog of the browser's. */
export const render = (showing: Showing, { app, words }: Rendering): void => {
  const { layout, background } = showing.message.content;
  const host = make("div", { "data-herald": showing.message.id });
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet(style)];
  const box = layout === "banner" ? bannerOf(showing, words) : dialogOf(showing, words);
  if (background !== null) {
    box.style.background = background;
    box.style.color = inkOn(background);
  }
  root.append(box);
  document.body.append(host);

  const over = (): void => {
    if (box instanceof HTMLDialogElement) box.close(); // gives the focus back
    host.remove();
  };
  const dismiss = (): void => {
    over();
    void showing.dismissed();
  };
  box.addEventListener("close", dismiss); // Escape, in a dialog
  box.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && layout === "banner") dismiss();
  });
  box.addEventListener("click", (event) => {
    const act = (event.target as Element).closest<HTMLElement>("[data-act]")?.dataset["act"]; // sound: elements are clicked
    if (act === undefined) return;
    event.preventDefault();
    if (act === "") return dismiss();
    over();
    void follow(showing, act, app);
  });
  if (box instanceof HTMLDialogElement) box.showModal();
};

/** Asks at once, as a gesture does not outlive other waits, and leaves the page when the click is kept. */
const follow = async ({ message, clicked }: Showing, id: string, { askForPush }: Showable): Promise<void> => {
  const { action, url } = message.content.buttons.find((one) => one.id === id) ?? {};
  if (action === "ask_permission") askForPush().catch((error: unknown) => console.warn("herald:", error));
  await clicked(id);
  const address = action === "open" ? linkOf(url ?? null) : null;
  if (address !== null) location.assign(address);
};

const bannerOf = (showing: Showing, words: Required<ShowOptions>): HTMLElement =>
  make("section", { part: "box banner", "aria-labelledby": "head" }, ...partsOf(showing, words));

const dialogOf = (showing: Showing, words: Required<ShowOptions>): HTMLDialogElement => {
  const { title, body } = showing.message.content;
  const described = title !== null && body !== null ? "body" : null;
  return make(
    "dialog",
    { part: `box ${showing.message.content.layout}`, "aria-labelledby": "head", "aria-describedby": described },
    ...partsOf(showing, words),
  );
};

const cross = "M6 6l12 12M18 6L6 18";

const partsOf = ({ message }: Showing, { close, untitled }: Required<ShowOptions>): HTMLElement[] => {
  const { title, body, image_url, buttons } = message.content;
  const image = imageOf(image_url);
  const head = title ?? body;
  return [
    button("", { part: "close", "aria-label": close }, icon(cross)),
    ...(image === null ? [] : [make("img", { part: "image", src: image, alt: "", referrerpolicy: "no-referrer" })]),
    ...(head === null ? [make("h2", { id: "head", part: "unsaid" }, untitled)] : []),
    ...(title === null ? [] : [make("h2", { id: "head", part: "title" }, title)]),
    ...(body === null ? [] : [make("p", { id: title === null ? "head" : "body", part: "body" }, body)]),
    ...(buttons.length === 0
      ? []
      : [make("div", { part: "buttons" }, ...buttons.map(({ id, text }) => button(id, { part: "button" }, text)))]),
  ];
};
