import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { json, text } from "node:stream/consumers";
import { expect } from "chai";
import { devices } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, seed } from "../../../support/rows/fixtures.ts";
import { inSuite } from "../../../support/suite/soak.ts";

const path = "/sdk/v1/subscriptions";
const [crowded, others] = ["127.0.33.1", ["127.0.33.2", "127.0.33.3", "127.0.33.4"]] as const;
const [sockets, ofEach] = [10, inSuite(200, { soak: 1_000 })] as const;

describe("many devices at the same moment", () => {
  const { site, tenant } = useSharedSite();
  const aBody = () =>
    JSON.stringify({
      install_id: randomUUID(),
      channel: "ios_push",
      token: randomUUID().replaceAll("-", "").repeat(2),
    });
  const headersOf = (body: string) => ({
    "X-HS-App-Id": tenant.app._id,
    "Content-Type": "application/json",
    "Content-Length": body.length,
  });

  /** Sends requests one right after the other, without waiting for replies; gives the status of each. */
  const crowd = async (count: number): Promise<string[]> => {
    const { hostname: host, port } = new URL(site.api.url);
    const one = (n: number): string => {
      const body = aBody();
      const headers = { Host: host, ...(n === count - 1 && { Connection: "close" }), ...headersOf(body) };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      return [`POST ${path} HTTP/1.1`, ...lines, "", body].join("\r\n");
    };
    const socket = connect({ host, port: Number(port), localAddress: crowded });
    socket.write(Array.from({ length: count }, (_, n) => one(n)).join(""));
    return [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = ""]) => status);
  };
  const rows = () => site.db.collection<SubscriptionRow>("subscriptions");

  const register = async (localAddress: string): Promise<number> => {
    const body = aBody();
    const sent = request(`${site.api.url}${path}`, { method: "POST", localAddress, headers: headersOf(body) });
    sent.end(body);
    const [reply] = (await once(sent, "response")) as [IncomingMessage]; // sound: as node:http says
    await json(reply);
    return reply.statusCode ?? 0;
  };

  it("are refused beyond the rate of their one address, and disturb nobody else", async () => {
    const crowds = Promise.all(Array.from({ length: sockets }, () => crowd(ofEach)));
    const meanwhile = await Promise.all(others.map(register));
    const statuses = (await crowds).flat();
    expect(meanwhile, "from elsewhere").to.deep.equal(others.map(() => 201));
    const [made, refused] = [countOf(statuses, "201"), countOf(statuses, "429")];
    expect(made + refused, "no other answer").to.equal(sockets * ofEach);
    expect(made).to.be.at.least(1);
    expect(refused).to.be.at.least(1);
    expect(
      await rows().countDocuments({ app_id: tenant.app._id, install: { $exists: true } }),
      "what was refused left nothing",
    ).to.equal(made + others.length);
  });

  it("change by one command, of which one that is another by then is left as it is", async () => {
    const of = { tenant_id: tenant.app.tenant_id, app_id: tenant.app._id };
    const reads = ["subscribed", "subscribed", "unsubscribed", "subscribed"].map((status) =>
      aSubscription({ ...of, status: status as SubscriptionRow["status"] }),
    );
    const [one, two, stale, four] = reads as [SubscriptionRow, SubscriptionRow, SubscriptionRow, SubscriptionRow];
    await seed(site.db, { subscriptions: [...reads].reverse() });
    const { change } = devices(site.db);
    const to = (read: SubscriptionRow, language: string) => change({ read, change: { language } });
    const both = await Promise.all([to(two, "de"), to(one, "fr"), to(two, "it")]);
    expect(both.map((row) => row?.language)).to.deep.equal(["de", "fr", "it"]);
    const asBefore = { ...stale, status: "subscribed" as const };
    const all = await Promise.all([to(four, "sv"), to(asBefore, "da"), to(one, "nl")]);
    expect(all.map((row) => row?.language ?? null)).to.deep.equal(["sv", null, "nl"]);
    const stored = await Promise.all(reads.map(({ _id }) => rows().findOne({ _id })));
    expect(stored.map((row) => row?.language)).to.deep.equal(["nl", "it", stale.language, "sv"]);
  });
});

const countOf = (statuses: readonly string[], status: string): number =>
  statuses.filter((one) => one === status).length;
