import type { Why, WhyRecipient, WhySummary } from "#core/schema/why/why.ts";
import { text } from "../kit/arguments.ts";
import type { Given, Run, Terminal } from "../kit/command.ts";
import { UsageError } from "../kit/errors.ts";
import { printed } from "../kit/output.ts";
import { table } from "../kit/table.ts";
import { openRest } from "../rest/rest.ts";

/** Prints what decided whether a notification reached somebody, or about all of its recipients. */
export const runWhy: Run = async (given, tools) => {
  const [message] = given.operands;
  if (message === undefined) throw new UsageError("name a notification by its id");
  const query = queryOf(given);
  const rest = await openRest(given, tools, "analytics:read");
  const path = `${rest.ofApp}/notifications/${encodeURIComponent(message)}/why`;
  const format = text(given, "output");
  const show = <T>(found: T, told: (found: T, terminal: Terminal) => string): void =>
    tools.out(format === "json" || format === "yaml" ? printed(found, format) : told(found, tools.terminal));
  if (query === null) {
    show(await rest.get<WhySummary>(`${path}/summary`), summary);
    return 0;
  }
  const found = await rest.get<Why>(`${path}?${query}`);
  show(found, explanation);
  return found.recipients.some(({ decided_by }) => decided_by === null) ? 0 : 1;
};

/** Null without anybody. @throws UsageError for more than one way to name somebody */
const queryOf = (given: Given): string | null => {
  const named = {
    external_id: given.operands[1],
    subscription_id: text(given, "subscription"),
    address: text(given, "address"),
  };
  const all = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  if (all.length > 1) throw new UsageError("name a person, --subscription or --address: one of them");
  return all.length === 0 ? null : new URLSearchParams(Object.fromEntries(all)).toString();
};

const explanation = ({ sentence, recipients }: Why, terminal: Terminal): string =>
  [`${sentence}\n`, ...recipients.map((one) => ofRecipient(one, recipients.length > 1, terminal))].join("\n");

const colours = { pass: "green", stop: "red", wait: "yellow", unknown: "yellow" } as const;

const ofRecipient = (
  { subscription_id: id, channel, address_masked: address, sentence, gates }: WhyRecipient,
  isOneOfSeveral: boolean,
  terminal: Terminal,
): string => {
  const rows = gates.map(({ gate, verdict, at, evidence, facts }) => [
    gate,
    { text: verdict, colour: colours[verdict] },
    at ?? "",
    evidence,
    JSON.stringify(facts),
  ]);
  const head =
    id === null ? "" : `${[id, channel, address].filter(Boolean).join(" ")}${isOneOfSeveral ? `: ${sentence}` : ""}\n`;
  return head + table(["GATE", "VERDICT", "AT", "EVIDENCE", "FACTS"], rows, terminal);
};

const summary = ({ recipients, excluded, gates, is_planned: isPlanned }: WhySummary, terminal: Terminal): string => {
  const rows = gates.map(({ gate, verdict, reason, count }) => [
    gate,
    { text: verdict, colour: colours[verdict] },
    String(count),
    reason ?? "",
  ]);
  const more = isPlanned ? "" : ", and its audience is still being read";
  const left = excluded === null ? " Whom its excluded segments kept out are too many to count." : "";
  return `${recipients} recipients${more}.${left}\n\n${table(["GATE", "VERDICT", "COUNT", "REASON"], rows, terminal)}`;
};
