import { expect } from "chai";
import { noUsage } from "#core/domain/usage/figures.ts";
import { conversationCounts } from "#core/storage/conversations/counts.ts";
import { periodsAt, tenantUsage } from "#core/storage/usage/tenant-usage.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";
import type { Planted } from "./planted.ts";
import { removeEndpoints } from "./webhooks.ts";

/** Alerts that compare with former minutes: `begin` plants what they are about, and `end` awaits them. */
export const laterCases = (at: () => Planted): { begin: () => void; end: () => void } => {
  let waiting = "";
  return {
    begin: () => {
      it("people write, one of them is answered, and one tenant makes most of the traffic", async () => {
        const { sending, programs, finds } = at();
        const { db, tenantId } = sending.system;
        const [now = null] = periodsAt(new Date());
        if (now !== null)
          await tenantUsage(db).add([{ tenantId, period: now, counts: { ...noUsage(), events: 50_000 } }]);
        await sending.texts();
        const ids = await Promise.all(Array.from({ length: 25 }, () => conversationIn(at())));
        waiting = ids.pop() ?? "";
        await countAnew(at());
        await finds('herald_conversation_replies_total{channel="sms"} == 0', async () => undefined);
        const status = await reply(at(), programs.apiserver, ids.pop() ?? "", sending.system.token);
        expect(status).to.equal(202);
      });
    },
    end: () => {
      it("nobody has been answered since, as the key is gone", async () => {
        const { programs, fired, finds, shows } = at();
        await using planted = new AsyncDisposableStack();
        planted.defer(() => removeConversations(at()));
        await finds('increase(herald_http_requests_total{status="401"}[1h]) > 0', async () => {
          expect(await reply(at(), programs.apiserver, waiting, "a key that was removed")).to.equal(401);
        });
        await fired(["HeraldConversationsUnanswered"]);
        await shows("HeraldConversationsUnanswered", '"status":"401"');
      });

      it("endpoints that could not be reached are failing, and much waits for those that hang", async () => {
        const { sending, fired, shows } = at();
        await using planted = new AsyncDisposableStack();
        planted.defer(() => removeEndpoints(at()));
        await fired(["HeraldWebhookEndpointsFailing", "HeraldTenantLoud"]);
        await shows("HeraldWebhookEndpointsFailing", '"error_class":"connect"');
        await shows("HeraldTenantLoud", sending.system.tenantId, '"figure":"events"');
      });
    },
  };
};

/** Stores somebody who has written by SMS; the id of their conversation. */
const conversationIn = async ({ sending: { system } }: Planted): Promise<string> => {
  const of = { tenant_id: system.tenantId, app_id: system.app._id };
  const conversation = { channel: "sms", sender_address: "", uncounted_at: new Date() } as const;
  return (await seedConversation(system.db, of, { conversation })).row._id;
};

const countAnew = ({ sending: { system } }: Planted): Promise<void> =>
  conversationCounts(system.db).touch({ tenantId: system.tenantId, appId: system.app._id }, new Date());

/** The status that a reply is answered with. */
const reply = async (
  { sending: { system } }: Planted,
  { url }: { url: string },
  conversation: string,
  token: string,
): Promise<number> => {
  const answer = await fetch(`${url}/v1/apps/${system.app._id}/conversations/${conversation}/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ text: "Hello!" }),
  });
  await answer.arrayBuffer();
  return answer.status;
};

const removeConversations = async (planted: Planted): Promise<void> => {
  const { db, app } = planted.sending.system;
  const change = { $set: { gone: true, uncounted_at: new Date() }, $inc: { seq: 1 } };
  await db.collection("conversations").updateMany({ app_id: app._id }, change);
  await countAnew(planted);
};
