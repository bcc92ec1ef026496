import { button, icon, make } from "../view/dom.ts";
import { said, type Words } from "./words.ts";

const bell = "M6 16v-5a6 6 0 0 1 12 0v5l2 2H4zM10 21h4";

/** The parts of the element, with nothing in them yet. */
export const panelOf = (words: Words, isInline: boolean) => {
  const badge = make("span", { part: "badge", "aria-hidden": "true", hidden: "" });
  const opener = make("button", { type: "button", part: "button", popovertarget: "panel" }, icon(bell), badge);
  const all = button("all", { part: "all" }, words.readAll);
  const list = make("ul", { part: "list", role: "list" });
  const none = make("p", { part: "none", hidden: "" }, words.none);
  const more = button("more", { part: "more", hidden: "" }, words.more);
  const again = button("again", { part: "action" }, words.again);
  const problem = make("p", { part: "problem", role: "alert", hidden: "" }, `${words.problem} `, again);
  const status = make("p", { role: "status" });
  const panel = make(
    "section",
    { id: "panel", part: "panel", "aria-label": words.inbox, tabindex: "-1", ...(!isInline && { popover: "" }) },
    make("div", { part: "head" }, make("h2", {}, words.inbox), all),
    problem,
    list,
    none,
    more,
  );
  return {
    nodes: isInline ? [panel, status] : [opener, panel, status],
    opener,
    panel,
    list,

    /** Puts an open panel below its button, inside of the window. */
    place: (): void => {
      const { bottom, right } = opener.getBoundingClientRect();
      const width = Math.min(400, innerWidth - 16);
      const left = Math.max(8, Math.min(right - width, innerWidth - width - 8));
      const height = Math.min(600, innerHeight - 16);
      panel.style.left = `${left}px`;
      panel.style.top = `${Math.max(8, Math.min(bottom + 8, innerHeight - height - 8))}px`;
    },

    count: (unread: number, isMore: boolean): void => {
      const text = said(words.unread, unread);
      badge.hidden = unread === 0;
      badge.textContent = unread > 99 ? "99+" : `${unread}`;
      opener.setAttribute("aria-label", unread === 0 ? words.inbox : `${words.inbox}, ${text}`);
      all.hidden = unread === 0;
      if (isMore) status.textContent = text;
    },

    show: (items: readonly HTMLElement[], hasMore: boolean): void => {
      put(list, items);
      none.hidden = items.length > 0;
      more.hidden = !hasMore;
      problem.hidden = true;
    },

    fail: (): void => void (problem.hidden = false),
  };
};

/** Leaves what is in its place alone, so that nobody clicks at what is just taken away. */
const put = (list: HTMLElement, items: readonly HTMLElement[]): void => {
  const wanted = new Set<Element>(items);
  for (const one of Array.from(list.children)) if (!wanted.has(one)) one.remove();
  for (const [i, one] of items.entries())
    if (list.children[i] !== one) list.insertBefore(one, list.children[i] ?? null);
};

type Focusable = { root: ShadowRoot; list: HTMLElement; panel: HTMLElement };

/** Leaves the focus at the same button of the same item; where that is gone, at what is in its place. */
export const keepingFocus = ({ root, list, panel }: Focusable, change: () => void): void => {
  const focused = root.activeElement as HTMLElement | null; // sound: there is only HTML that takes the focus
  const item = focused?.closest<HTMLElement>("[data-id]");
  const place = item == null ? -1 : Array.from(list.children).indexOf(item);
  change();
  if (item == null || focused === null) return;
  const same = list.querySelector(`[data-id="${item.dataset["id"]}"]`);
  const now = same ?? list.children[place] ?? list.lastElementChild;
  const act = same === null ? "open" : focused.dataset["act"];
  const buttons = Array.from(now?.querySelectorAll<HTMLElement>("[data-act]") ?? []);
  (buttons.find((one) => one.dataset["act"] === act) ?? buttons[0] ?? panel).focus();
};
