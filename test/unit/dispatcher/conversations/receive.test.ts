import { expect } from "chai";
import { inboundMessage, said } from "#core/channels/kit/inbound.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import { toldAgain } from "../../../../dispatcher/conversations/open.ts";
import { receiveMessages } from "../../../../dispatcher/conversations/receive.ts";
import { aSubscription } from "../../../support/rows/fixtures.ts";

describe("messages of people who are told of", () => {
  it("have begun a session by then: whoever hears of one may answer it at once", async () => {
    const done: string[] = [];
    const person = aSubscription({ tenant_id: "ten_1", app_id: "app_1", channel: "whatsapp", token: "+491511" });
    const receive = receiveMessages({
      contactsOf: async () => new Map([["whatsapp +491511", person]]),
      beginSessions: async () => void done.push("session"),
      answeredBy: async () => new Map(),
      arrivals: {
        at: async () => [],
        stored: async () => [],
        open: async () => new Set(),
        change: async () => true,
        leave: async () => undefined,
        keep: async (rows) => void done.push(...rows.map(() => "kept")),
      },
      publish: async (_, events) => {
        done.push(...events.map(({ data }) => String(data["name"])));
        return true;
      },
      clock: { now: () => new Date() },
    });
    const of = { tenantId: "ten_1", appId: "app_1" };
    const content = said("text", "Hello");
    const message = inboundMessage({ providerId: "p-1", address: "+491511", at: new Date(), content });
    const rules = settingsOf({}).conversations;
    await receive(of, [{ of, provider: "whatsapp", channel: "whatsapp", message }], { isRepeated: false, rules });
    expect(done).to.deep.equal(["session", "kept", "hs.conversation.opened", "hs.conversation.message_received"]);
  });

  it("are told again when they are tried apart, as some may be stored and not told", async () => {
    const received = { of: { tenantId: "ten_1", appId: "app_1" }, arrivals: [], isRepeated: false };
    const failing = toldAgain(async () => Promise.reject(new Error("one of them cannot be stored")));
    await failing([received]).catch(() => undefined);
    expect(await toldAgain(async ([one]) => one?.isRepeated)([received])).to.equal(true);
  });
});
