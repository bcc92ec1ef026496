import { expect } from "chai";
import { UnusableSegment } from "#core/domain/segments/members.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { userCollection } from "#core/storage/people/users.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import { segmentCollection } from "#core/storage/segments/segments.ts";
import { exportLines } from "../../../../dispatcher/exports/all.ts";
import { storedFacts } from "../../../support/filters/facts.ts";
import { aSubscription, aUser, seed } from "../../../support/rows/fixtures.ts";
import { aSegment } from "../../../support/rows/segments.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { rowsOf } from "../../../support/system/exports.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };

describe("an export of the users of a segment", () => {
  const db = testDatabase("segment_export", [
    messageCollection,
    segmentCollection,
    subscriptionCollection,
    userCollection,
  ]);

  const exported = async (segmentId: string): Promise<(string | undefined)[]> => {
    const pages: Buffer[] = [];
    const lines = exportLines.users(
      db(),
      { tenantId: of.tenant_id, appId: of.app_id },
      { segment_id: segmentId },
      storedFacts(db()),
    );
    for await (const { bytes } of lines) pages.push(bytes);
    return (await rowsOf(Buffer.concat(pages).toString())).map((row) => row["id"]);
  };

  it("has who is in it, also by a subscription of theirs", async () => {
    const [gold, plain, mailed] = [aUser({ ...of, tags: { plan: "gold" } }), aUser(of), aUser(of)];
    const mail = aSubscription({ ...of, user_id: mailed._id, channel: "email", token: "ada@example.com" });
    const phones = [gold, plain].map(({ _id }) => aSubscription({ ...of, user_id: _id }));
    await seed(db(), { users: [gold, plain, mailed], subscriptions: [mail, ...phones] });
    const conditions = [
      { field: "tags.plan", op: "eq", value: "gold" },
      { field: "channel", op: "eq", value: "email" },
    ];
    const segment = aSegment({ ...of, kind: "filter", filter: { any: conditions } });
    await db().collection<SegmentRow>(segmentCollection.name).insertOne(segment);
    expect(await exported(segment._id)).to.deep.equal([gold._id, mailed._id].toSorted());
  });

  it("fails when the segment is gone", async () => {
    const error: unknown = await exported("seg_gone").catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(UnusableSegment);
  });
});
