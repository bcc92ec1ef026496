import type { InboxCounters } from "./follow.ts";
import type { Inbox, InboxItem } from "./inbox.ts";
import { itemView } from "./item-view.ts";
import { listed } from "./listed.ts";
import { keepingFocus, panelOf } from "./panel.ts";
import { untilDone } from "./until-done.ts";
import type { Words } from "./words.ts";

type Place = { host: HTMLElement; root: ShadowRoot; inbox: Inbox; words: Words };

/** Shows an inbox in the element, and follows it, until the function that it gives is called. */
export const mount = ({ host, root, inbox, words }: Place): (() => void) => {
  const isInline = host.hasAttribute("inline");
  const panel = panelOf(words, isInline);
  const { list: itemList, panel: box } = panel;
  root.replaceChildren(...panel.nodes);
  let made = new Map<string, HTMLElement>();
  const list = listed(inbox, (items, hasMore) => {
    made = new Map(items.map((one) => viewOf(one, made, words)));
    const views = [...made.values()];
    keepingFocus({ root, list: itemList, panel: box }, () => panel.show(views, hasMore));
  });
  const isUnfolded = (): boolean => box.matches(":popover-open");
  const isOpen = (): boolean => isInline || isUnfolded();
  let unread = 0;

  const attempt = (work: Promise<unknown>): void => void work.catch(panel.fail);
  const refresh = async (): Promise<void> => {
    if (!isOpen()) return;
    const { unseen_count: unseen } = await list.reload();
    if (unseen > 0 && !document.hidden) await inbox.change({ ids: "all", state: "seen" });
  };

  const place = (): void => void (isUnfolded() && panel.place());

  const mounted = new AbortController();
  const { signal } = mounted;
  const refreshNow = untilDone(refresh, { failed: panel.fail, signal });

  box.addEventListener("toggle", () => {
    place();
    refreshNow();
  });
  box.addEventListener("click", (event) => {
    const from = (event.target as Element).closest<HTMLElement>("[data-act]"); // sound: elements are clicked
    if (from === null) return;
    const item = list.find(from.closest<HTMLElement>("[data-id]")?.dataset["id"]);
    const chosen = actsOf({ host, inbox, refresh, more: list.more }, item, { from, event })[from.dataset["act"] ?? ""];
    if (chosen !== undefined) attempt(chosen());
  });

  addEventListener("online", refreshNow, { signal }); // what could not be read may be by now
  addEventListener("resize", place, { signal });
  addEventListener("scroll", place, { signal, capture: true, passive: true }); // of whatever has the button in it
  panel.count(0, false);
  const unwatch = inbox.watch(({ unread_count: now }: InboxCounters): void => {
    panel.count(now, now > unread);
    unread = now;
    refreshNow();
  });
  return () => {
    mounted.abort();
    unwatch();
  };
};

/** What is shown of an item stays as long as that says the same. */
const viewOf = (
  item: InboxItem,
  made: ReadonlyMap<string, HTMLElement>,
  words: Words,
): readonly [string, HTMLElement] => {
  const text = JSON.stringify({ ...item, seen_at: null }); // which is not shown
  return [text, made.get(text) ?? itemView(item, words)];
};

type Acting = { host: HTMLElement; inbox: Inbox; refresh: () => Promise<void>; more: () => Promise<void> };

type Clicked = { from: HTMLElement; event: MouseEvent };

/** What buttons and links do, by their `data-act`. */
const actsOf = (
  { host, inbox, refresh, more }: Acting,
  item: InboxItem | undefined,
  clicked: Clicked,
): Record<string, () => Promise<unknown>> => {
  const become = (state: "read" | "unread" | "archived") => () => inbox.change({ ids: item ? [item.id] : [], state });
  return {
    all: () => inbox.change({ ids: "all", state: "read" }),
    more,
    again: refresh,
    ...(item && {
      open: () => open({ host, inbox, item }, clicked),
      read: become("read"),
      unread: become("unread"),
      archived: become("archived"),
    }),
  };
};

const longestWaitMs = 1_000;

/** Marks what is opened as read, and goes where its link leads when that is done, or takes too long. */
const open = async (
  { host, inbox, item }: Pick<Acting, "host" | "inbox"> & { item: InboxItem },
  { from, event }: Clicked,
): Promise<void> => {
  const detail = { item, action: from.dataset["action"] ?? null };
  const told = new CustomEvent("herald-open", { detail, bubbles: true, composed: true, cancelable: true });
  const isPrevented = !host.dispatchEvent(told);
  const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey; // in another tab or window: the browser's own way
  if (isPrevented || !isElsewhere) event.preventDefault();
  const read = item.read_at === null ? inbox.change({ ids: [item.id], state: "read" }) : Promise.resolve();
  if (isPrevented || isElsewhere || !(from instanceof HTMLAnchorElement)) return void (await read);
  const passed = new Promise((resolve) => setTimeout(resolve, longestWaitMs));
  await Promise.race([read, passed]).catch(() => undefined); // the link leads there all the same
  location.assign(from.href);
};
