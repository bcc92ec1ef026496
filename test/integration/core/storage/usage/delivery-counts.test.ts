import { expect } from "chai";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { deliveryCounts } from "#core/storage/usage/delivery-counts.ts";
import { type TenantUsageRow, tenantUsageCollection } from "#core/storage/usage/tenant-usage.ts";
import { expire } from "../../../../../dispatcher/messages/delivery/delivery-row.ts";
import { anAttempt, noon } from "../../../../support/rows/work.ts";
import { testDatabase } from "../../../../support/servers/database.ts";
import { until } from "../../../../support/until.ts";

const later = new Date(noon.getTime() + 300_000);
const stored = (count: number, change: Partial<DeliveryRow> = {}): DeliveryRow[] =>
  Array.from({ length: count }, (_, n) => ({
    ...expire(anAttempt({ deliveryId: `dlv_${n}` })),
    created_at: noon,
    ...change,
  }));

describe("usage of deliveries", () => {
  const db = testDatabase("delivery_counts", []);
  let tenants = 0;

  /** A tenant, and dispatchers that count for it: each is one whose memory nobody else has. */
  const aTenant = () => {
    const tenantId = `ten_${++tenants}`;
    const rows = () =>
      db().collection<TenantUsageRow>(tenantUsageCollection.name).find({ tenant_id: tenantId }).toArray();
    const aDispatcher = () => {
      const { count, forget } = deliveryCounts(db());
      return {
        count: (id: string, all: readonly DeliveryRow[]) => count({ id, tenantId, holder: id }, all),
        forget,
      };
    };
    const counted = async () =>
      Object.fromEntries((await rows()).map((row) => [row._id.split("/")[1], row.deliveries]));
    return { rows, aDispatcher, counted };
  };

  it("is counted once, however often a run is repeated by whom", async () => {
    const { aDispatcher, counted } = aTenant();
    const [killed, other] = [aDispatcher(), aDispatcher()];
    await killed.count("chunk", stored(3));
    await other.count("chunk", stored(3));
    await killed.count("chunk", stored(2)); // a run that knows less
    expect(await counted()).to.deep.equal({ [step(noon)]: 3, [month]: 3 });
  });

  it("has what a later run adds, in the periods in which it was stored", async () => {
    const { aDispatcher, counted } = aTenant();
    await aDispatcher().count("chunk", stored(3));
    await aDispatcher().count("chunk", [...stored(4), ...stored(2, { created_at: later })]);
    expect(await counted()).to.deep.equal({ [step(noon)]: 4, [step(later)]: 2, [month]: 6 });
  });

  it("leaves out who was suppressed, and who is waited for", async () => {
    const { aDispatcher, counted } = aTenant();
    const others = [...stored(1, { status: "suppressed" }), ...stored(1, { status: "scheduled" })];
    await aDispatcher().count("chunk", others);
    await aDispatcher().count("chunk", [...others, ...stored(1)]);
    expect(await counted()).to.deep.equal({ [step(noon)]: 1, [month]: 1 });
  });

  it("counts what was sent and waits to be sent again, once", async () => {
    const { aDispatcher, counted } = aTenant();
    const again = stored(1, { status: "scheduled", sent_at: noon });
    await aDispatcher().count("chunk", again);
    await aDispatcher().count("chunk", stored(1));
    expect(await counted()).to.deep.equal({ [step(noon)]: 1, [month]: 1 });
  });

  it("is right when dispatchers count many pieces at once, some of them twice", async () => {
    const { aDispatcher, counted } = aTenant();
    const dispatchers = [aDispatcher(), aDispatcher(), aDispatcher()];
    await Promise.all(
      Array.from({ length: 90 }, async (_, n) => dispatchers[n % 3]?.count(`chunk_${n % 60}`, stored(n < 60 ? 1 : 2))),
    );
    expect(await counted()).to.deep.equal({ [step(noon)]: 90, [month]: 90 });
  });

  it("notes nothing of work that has ended", async () => {
    const { aDispatcher, rows } = aTenant();
    const { count, forget } = aDispatcher();
    await Promise.all([count("ended", stored(1)), count("under way", stored(1))]);
    await forget("ended");
    await until(async () => (await rows()).every(({ counting }) => counting?.length === 1));
    expect((await rows()).flatMap(({ counting = [] }) => counting.map(({ id }) => id))).to.deep.equal(
      Array(2).fill("under way"),
    );
  });
});

const step = (at: Date): string => at.toISOString().slice(0, 16);
const month = noon.toISOString().slice(0, 7);
