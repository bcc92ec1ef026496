import type { Receipt } from "./receipts.ts";

/**
 * An open or a click of a delivery. `machine`: by a program, which says so itself (`agent`) or goes through the links of a
 * mail faster than a person (`pace`). Of `agent` the first is kept, without its address.
 */
export type Touch = { at: Date; url?: string; button_id?: string; machine?: "agent" | "pace" };

/** What of a delivery says when it arrived, and what was opened and clicked of it. */
export type Touched = {
  sent_at?: Date;
  delivered_at?: Date;
  opened_at?: Date;
  clicked_at?: Date;
  /** Of the first by a program, such as a mail scanner, which counts as nothing. */
  machine_opened_at?: Date;
  machine_clicked_at?: Date;
  /** Of the first click. */
  clicked_url?: string;
  clicked_button_id?: string;
  /** All opens, and all clicks, of one that has several but for those of programs that say so; in the order of time. */
  opens?: readonly Touch[];
  clicks?: readonly Touch[];
  /** How many of these are by people. */
  open_count?: number;
  click_count?: number;
};

/** Of a delivery the earliest of a kind are kept; an address may have 2,000 bytes. */
export const mostTouches = 20;

/**
 * Clicks on different links that come so close to each other are by a program, when the mail has arrived a moment ago:
 * scanners of mail follow every link before they hand it over. Source: docs/reference/email.md#opens, which names where
 * the three seconds come from.
 */
const pace = { betweenMs: 3_000, afterArrivalMs: 60_000 };

type TouchReceipt = Extract<Receipt, { kind: "opened" | "clicked" }>;
type Kind = TouchReceipt["kind"];
const kinds = ["opened", "clicked"] as const satisfies readonly Kind[];

/** Adds an open or a click, in place: those of a kind are the same in whichever order they come, and however often. */
export const addTouch = (next: Touched, receipt: TouchReceipt): void => {
  const [known, one] = [touchesOf(next, receipt.kind), touchOf(receipt)];
  const isToldAgain = receipt.said !== undefined && known.some(({ at }) => at <= one.at); // at another instant of ours
  if (isToldAgain || known.some((other) => isSame(one, other))) return;
  const all = [...known, one].sort(inOrder).filter(isKept).slice(0, mostTouches);
  if (all.includes(one)) keep(next, receipt.kind, all);
};

/** Tells clicks by their pace apart, in place: when the mail has arrived may be known later than they are. */
export const judgePace = (next: Touched): void => {
  const { clicks } = next;
  if (clicks === undefined) return;
  const judged = clicks.map((one) => withPace(one, isPaced(one, clicks, next.delivered_at ?? next.sent_at)));
  if (judged.some((one, n) => one !== clicks[n])) keep(next, "clicked", judged);
};

/** Whether a click that the delivery has is by a program, as its pace shows. */
export const isPacedClick = ({ clicks = [] }: Touched, receipt: Receipt): boolean => {
  if (receipt.kind !== "clicked" || receipt.machine) return false;
  const one = touchOf(receipt);
  return clicks.some((other) => other.machine === "pace" && isSame(one, other));
};

const lists = { opened: "opens", clicked: "clicks" } as const;
const counters = { opened: "open_count", clicked: "click_count" } as const;
const firsts = { opened: "opened_at", clicked: "clicked_at" } as const;
const ofMachines = { opened: "machine_opened_at", clicked: "machine_clicked_at" } as const;

/** A delivery with one of a kind has no list of them. */
const touchesOf = (delivery: Touched, kind: Kind): readonly Touch[] => {
  const [first, ofMachine] = [delivery[firsts[kind]], delivery[ofMachines[kind]]];
  const { clicked_url: url, clicked_button_id: button_id } = delivery;
  const place =
    kind === "opened" ? {} : { ...(url !== undefined && { url }), ...(button_id !== undefined && { button_id }) };
  return (
    delivery[lists[kind]] ?? [
      ...(first === undefined ? [] : [{ at: first, ...place }]),
      ...(ofMachine === undefined ? [] : [{ at: ofMachine, machine: "agent" as const }]),
    ]
  );
};

/** When people opened a delivery or clicked in it, as far as that is kept. */
export const touchesByPeople = (delivery: Touched): Date[] =>
  kinds
    .flatMap((kind) => touchesOf(delivery, kind))
    .filter(({ machine }) => machine === undefined)
    .map(({ at }) => at);

const touchOf = (receipt: TouchReceipt): Touch => {
  const { at, machine } = receipt;
  if (machine) return { at, machine: "agent" };
  if (receipt.kind === "opened") return { at };
  const { url, buttonId } = receipt;
  return { at, ...(url !== null && { url }), ...(buttonId !== null && { button_id: buttonId }) };
};

/** Programs that say so fetch the same picture again and again. */
const isKept = ({ machine }: Touch, n: number, all: readonly Touch[]): boolean =>
  machine !== "agent" || n === all.findIndex((one) => one.machine === "agent");

const isSame = (one: Touch, other: Touch): boolean => inOrder(one, other) === 0;

const inOrder = (one: Touch, other: Touch): number =>
  one.at.getTime() - other.at.getTime() || compare(keyOf(one), keyOf(other));

/** What tells touches of one instant apart; pace is found out later. */
const keyOf = ({ url, button_id, machine }: Touch): string => JSON.stringify([machine === "agent", url, button_id]);

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

const isPaced = (one: Touch, all: readonly Touch[], arrivedAt: Date | undefined): boolean =>
  arrivedAt !== undefined &&
  isOnLink(one) &&
  one.at.getTime() - arrivedAt.getTime() <= pace.afterArrivalMs &&
  all.some(
    (other) =>
      isOnLink(other) && other.url !== one.url && Math.abs(other.at.getTime() - one.at.getTime()) <= pace.betweenMs,
  );

const isOnLink = ({ url, button_id, machine }: Touch): boolean =>
  url !== undefined && button_id === undefined && machine !== "agent";

const withPace = (one: Touch, isByProgram: boolean): Touch => {
  if (isByProgram === (one.machine === "pace") || one.machine === "agent") return one;
  const { machine: _machine, ...plain } = one;
  return isByProgram ? { ...plain, machine: "pace" } : plain;
};

/** Keeps all of a kind, and the members that follow from them. */
const keep = (next: Touched, kind: Kind, all: readonly Touch[]): void => {
  const ofPeople = all.filter(({ machine }) => machine === undefined);
  const [first, ofMachine] = [ofPeople[0], all.find(({ machine }) => machine !== undefined)];
  if (all.filter(({ machine }) => machine !== "agent").length > 1)
    Object.assign(next, { [lists[kind]]: all, [counters[kind]]: ofPeople.length });
  set(next, firsts[kind], first?.at);
  set(next, ofMachines[kind], ofMachine?.at);
  if (kind === "opened") return;
  set(next, "clicked_url", first?.url);
  set(next, "clicked_button_id", first?.button_id);
};

/** What stays as it was stays the same object, so that nothing is written. */
const set = <Name extends keyof Touched>(next: Touched, name: Name, value: Touched[Name] | undefined): void => {
  if (value === undefined) delete next[name];
  else if (Number(next[name]) !== Number(value) || typeof value === "string") next[name] = value;
};
