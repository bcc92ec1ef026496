import { styleText } from "node:util";
import type { Evidence } from "./send.ts";

const headings = ["Channel", "Recipient", "The provider received", "Delivery", "Webhook event", "Signature"];

/** The demo's result, a line a channel, in aligned columns. */
export const table = (rows: readonly Evidence[]): string => {
  const lines = rows.map(cells);
  const widths = headings.map((heading, i) =>
    Math.max(...[heading, ...lines.map((line) => line[i]?.text ?? "")].map(({ length }) => length)),
  );
  const titles = headings.map((heading, i) => styleText("bold", heading.padEnd(widths[i] ?? 0)));
  const rule = widths.map((columns) => "─".repeat(columns)).join("──");
  const body = lines.map((line) => line.map((cell, i) => colour(cell, cell.text.padEnd(widths[i] ?? 0))).join("  "));
  return [titles.join("  "), rule, ...body, rule].join("\n");
};

/** What is missing, a line for each cell; empty when the demo has succeeded. */
export const missing = (rows: readonly Evidence[]): string[] =>
  rows.flatMap(({ channel, ...row }) => [
    ...(row.received === null ? [`${channel}: the provider received nothing`] : []),
    ...(isReached(row.delivery) ? [] : [`${channel}: the delivery is ${row.delivery ?? "missing"}`]),
    ...(row.event === "delivery.sent" ? [] : [`${channel}: the webhook event is ${row.event ?? "missing"}`]),
    ...(row.isVerified ? [] : [`${channel}: no verified signature`]),
  ]);

/** Providers that report what became of a message may have done so already. */
const isReached = (delivery: string | null): boolean =>
  delivery !== null && ["sent", "delivered", "opened"].includes(delivery);

type Cell = { text: string; isGood: boolean | null };

const cells = ({ channel, recipient, received, delivery, event, isVerified }: Evidence): Cell[] => [
  { text: channel, isGood: null },
  { text: recipient, isGood: null },
  checked(received && `“${received}”`, received !== null),
  checked(delivery, isReached(delivery)),
  checked(event, event === "delivery.sent"),
  checked(isVerified ? "verified" : null, isVerified),
];

const checked = (text: string | null, isGood: boolean): Cell => ({
  text: `${isGood ? "✓" : "✗"} ${text ?? "missing"}`,
  isGood,
});

const colour = ({ isGood }: Cell, text: string): string =>
  isGood === null ? text : text.replace(/^\S/, (mark) => styleText(isGood ? "green" : "red", mark));
