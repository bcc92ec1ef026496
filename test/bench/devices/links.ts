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

const whole = { links: 15_000, warmUp: 6_000 };
const short: typeof whole = { links: 40, warmUp: 10 };
const connections = 64;
const kinds = [
  ["o", "opens", "opened_at", 200],
  ["c", "clicks", "clicked_at", 302],
] as const;

/** Each link is of another mail. After the load one more is asked for, whose time until it is stored is taken. */
export const measureLinks: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores, startOwn }) => {
    const { links, warmUp } = isShort ? short : whole;
    const [apiserver, dispatcher] = [await startOwn("apiserver"), await startOwn("dispatcher")];
    const withCosts = costsOf(stores, { apiserver: [apiserver], dispatcher: [dispatcher] });
    const signer = keyRing(testKeyRing).signer(linksPurpose);
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const deliveries = system.db.collection<DeliveryRow>("deliveries");
    for (const [kind, name, member, status] of kinds) {
      const { mails } = await seedMails(system.db, of, warmUp + links);
      const to = kind === "c" ? "https://shop.example/orders/1" : "";
      const urls = mails.map(({ delivery }) =>
        linkAddress(apiserver.url, signer, kind, { appId: system.app._id, deliveryId: delivery._id, to }),
      );
      const ask = (from: number, requests: number) =>
        runLoad({ url: (n) => urls[from + n] ?? "", connections, requests, status, headers: { "user-agent": reader } });
      await ask(0, warmUp);
      const last = mails.slice(-connections).map(({ delivery }) => delivery._id);
      const isStored = { _id: { $in: last }, [member]: { $exists: true } };
      const { result, costs } = await withCosts(links, async () => {
        const load = await ask(warmUp, links);
        const endedMs = performance.now();
        await until(async () => (await deliveries.countDocuments(isStored)) === last.length, 120_000, 100);
        return { ...load, storedMs: performance.now() - endedMs };
      });
      const { perSecond, p50Ms, p99Ms, failures, storedMs } = result;
      if (Object.keys(failures).length > 0) throw new Error(`refused: ${JSON.stringify(failures)}`);
      const how = `${links} of as many mails, ${connections} connections; p50 ${p50Ms.toFixed(1)} ms; ${costs}`;
      tell(
        { name: `${name} by links`, reach: atLeast(3_000), value: perSecond, unit: "/s", how },
        { name: `${name} by links, p99`, reach: atMost(30), value: p99Ms, unit: "ms", how },
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
  });

const reader = "Mozilla/5.0 (iPhone; CPU iPhone OS 20_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
