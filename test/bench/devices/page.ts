import { newId } from "#core/domain/ids.ts";
import type { InboxRow } from "#core/storage/inbox/inboxes.ts";
import { fillInbox } from "../../support/api/inbox-items.ts";
import type { System } from "../../support/system/system.ts";
import { settled } from "../cpu.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import { keptConnection } from "../messages/kept-connection.ts";
import { quantiles } from "../messages/load.ts";
import { costsOf } from "./costs.ts";
import { seedDevices } from "./people.ts";

const whole = { people: 1_000_000, items: 1_000, readers: 200, pages: 1_000 };
const short: typeof whole = { people: 1_000, items: 50, readers: 4, pages: 8 };
const stored = 10_000; // inboxes at once
const restMs = 20; // between two requests of a page that is alone

/**
 * Pages of some people with many items each, among people with one: one right after another, and with rests between, in which both
 * cores fall asleep and every step of a page has to wake one.
 */
export const measurePage: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores, startOwn }) => {
    const { people, items, readers, pages } = isShort ? short : whole;
    const apiserver = await startOwn("apiserver");
    await seedInboxes(system, people);
    const devices = await seedDevices(system, readers);
    for (const device of devices) await fillInbox(system, device, items);
    if (!isShort) await settled(stores);
    const url = new URL(`${apiserver.url}/sdk/v1/inbox`);
    for (const { headers } of devices) {
      const { unread_count: unread } = (await (await fetch(url, { headers })).json()) as { unread_count?: number };
      if (unread !== items) throw new Error(`not the inbox: ${unread} unread`);
    }
    const { ask, close } = keptConnection();
    const read = async (from: number, count: number, rests: number): Promise<number[]> => {
      const tookMs: number[] = [];
      for (let n = from; n < from + count; n++) {
        const { headers = {} } = devices[n % devices.length] ?? {};
        const beganMs = performance.now();
        const status = await ask({ url, headers, body: undefined });
        tookMs.push(performance.now() - beganMs);
        if (status !== 200) throw new Error(`no page: ${status}`);
        if (rests > 0) await new Promise((resolve) => setTimeout(resolve, rests));
      }
      return tookMs;
    };
    await read(0, pages, 0); // until the code of a program that has run for a while is compiled
    const withCosts = costsOf(stores, { apiserver: [apiserver] });
    const { result: tookMs, costs } = await withCosts(pages, () => read(pages, pages, 0));
    const rested = quantiles(await read(2 * pages, pages, restMs));
    close();
    await apiserver.kill();
    const { p50Ms, p99Ms } = quantiles(tookMs);
    const whose = `of ${readers} people with ${items} items each, among ${people}, once the stores had settled`;
    const how = `${pages} pages of 20, one right after another, ${whose}; p50 ${p50Ms.toFixed(1)} ms; ${costs}`;
    const slow = `as many, ${restMs} ms between two; p50 ${rested.p50Ms.toFixed(1)} ms`;
    tell(
      { name: "a page of an inbox, p99", reach: atMost(10), value: p99Ms, unit: "ms", how },
      { name: "a page of an inbox after a rest, p99", reach: atMost(10), value: rested.p99Ms, unit: "ms", how: slow },
    );
  });

const inboxOf = (of: Pick<InboxRow, "tenant_id" | "app_id">, _id: string, entries: InboxRow["entries"]): InboxRow => ({
  ...of,
  _id,
  revision: entries.length,
  entries,
  unread: entries.length,
  unseen: entries.length,
  next_expiry: entries[0]?.expires_at ?? new Date(),
  updated_at: new Date(),
});

/** The inboxes of people with one item of the same message; what it says is not read. */
const seedInboxes = async (system: System, count: number): Promise<void> => {
  const now = new Date();
  const of = { tenant_id: system.tenantId, app_id: system.app._id };
  const entry = { message_id: newId("message", now), at: now, expires_at: new Date(now.getTime() + 86_400_000) };
  for (let from = 0; from < count; from += stored) {
    const some = Array.from({ length: Math.min(stored, count - from) }, () => inboxOf(of, newId("user", now), [entry]));
    await system.db.collection<InboxRow>("inboxes").insertMany(some, { ordered: false });
  }
};
