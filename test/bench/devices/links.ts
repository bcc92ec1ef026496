import { linkAddress, linksPurpose } from "#core/channels/email/links.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { seedMails } from "../../support/callbacks/deliveries.ts";
import { testKeyRing } from "../../support/rows/fixtures.ts";
import { until } from "../../support/until.ts";
import { atLeast, atMost } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import { runLoad } from "../messages/load.ts";
import { costsOf } from "./costs.ts";

const whole = { links: 15_000, warmUp: 6_000, perSecond: 3_000, evenly: 60_000 };
const short: typeof whole = { links: 40, warmUp: 10, perSecond: 100, evenly: 40 };
const connections = 64;
const enough = 256; // connections, so that none is waited for at that rate
const kinds = [
  ["o", "opens", "opened_at", 200],
  ["c", "clicks", "clicked_at", 302],
] as const;

/**
 * Each link is of another mail. How many a second is measured with connections that each ask again at once: as many requests wait
 * there as there are connections, so that the time of one is their number divided by the rate, however quick the service is. How
 * long one takes is measured at the rate that is to be reached, offered evenly whatever becomes of others, as people do, and for 20 s:
 * in 5 s one pause of the machine of 50 ms decides the slowest hundredth.
 */
export const measureLinks: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores, startOwn }) => {
    const { links, warmUp, perSecond: offered, evenly: offeredLinks } = isShort ? short : whole;
    const [apiserver, dispatcher] = [await startOwn("apiserver"), await startOwn("dispatcher")];
    const withCosts = costsOf(stores, { apiserver: [apiserver], dispatcher: [dispatcher] });
    const signer = keyRing(testKeyRing).signer(linksPurpose);
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const deliveries = system.db.collection<DeliveryRow>("deliveries");
    for (const [kind, name, member, status] of kinds) {
      const { mails } = await seedMails(system.db, of, warmUp + links + offeredLinks);
      const to = kind === "c" ? "https://shop.example/orders/1" : "";
      const urls = mails.map(({ delivery }) =>
        linkAddress(apiserver.url, signer, kind, { appId: system.app._id, deliveryId: delivery._id, to }),
      );
      const ask = async (from: number, requests: number, how: { connections: number; perSecond?: number }) => {
        const headers = { "user-agent": reader };
        const load = await runLoad({ url: (n) => urls[from + n] ?? "", requests, status, headers, ...how });
        if (Object.keys(load.failures).length > 0) throw new Error(`refused: ${JSON.stringify(load.failures)}`);
        return load;
      };
      await ask(0, warmUp, { connections });
      const last = mails
        .slice(warmUp, warmUp + links)
        .slice(-connections)
        .map(({ delivery }) => delivery._id);
      const isStored = { _id: { $in: last }, [member]: { $exists: true } };
      const { result, costs } = await withCosts(links, async () => {
        const load = await ask(warmUp, links, { connections });
        const endedMs = performance.now();
        await until(async () => (await deliveries.countDocuments(isStored)) === last.length, 120_000, 100);
        return { ...load, storedMs: performance.now() - endedMs };
      });
      const { perSecond, storedMs } = result;
      const { result: even, costs: evenCosts } = await withCosts(offeredLinks, () =>
        ask(warmUp + links, offeredLinks, { connections: enough, perSecond: offered }),
      );
      const times = (of: { p50Ms: number; p99Ms: number }) =>
        `p50 ${of.p50Ms.toFixed(1)} ms, p99 ${of.p99Ms.toFixed(1)} ms`;
      const how = `${links} of as many mails, ${connections} connections that ask again at once: ${times(result)}; ${costs}`;
      const evenly = `${offeredLinks} of as many mails, each from when it was due; ${times(even)}; they took ${even.perSecond.toFixed(0)} a second; ${evenCosts}`;
      tell(
        { name: `${name} by links`, reach: atLeast(3_000), value: perSecond, unit: "/s", how },
        {
          name: `${name} by links, p99 at ${offered}/s`,
          reach: atMost(30),
          value: even.p99Ms,
          unit: "ms",
          how: evenly,
        },
        {
          name: `${name} by links, until stored`,
          reach: atMost(1_000),
          value: storedMs,
          unit: "ms",
          how: `the last ${connections} of them, by one dispatcher, after the last reply`,
        },
      );
    }
    await apiserver.kill();
    await dispatcher.kill();
  }, asInstalled);

/** As in an installation: PostgreSQL takes its time to clean up behind thousands of changes a second. */
const asInstalled = { durable: true };

const reader = "Mozilla/5.0 (iPhone; CPU iPhone OS 20_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
