import { expect } from "chai";
import type { ActivityRecipientRow } from "#core/storage/live-activities/recipient-row.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageActivity, MessageRow } from "#core/storage/messages/message-row.ts";
import { activityRecipientsOf, afterActivity } from "../../../../dispatcher/live-activities/recipients.ts";
import type { ActivityDeliverDeps } from "../../../../dispatcher/live-activities/sorting.ts";
import type { Delivered, Work } from "../../../../dispatcher/messages/delivery/work.ts";
import { deliverByStrategy, usualStrategy } from "../../../../dispatcher/messages/strategy.ts";
import { aChunk, aLease, aMessage, anApp, aSubscription, handClock, noon } from "../../../support/rows/work.ts";

const live: MessageActivity = {
  event: "start",
  activity: "act_1",
  activity_id: "order",
  type_id: "lat_1",
  type_name: "Order",
  content_state: { step: 0 },
  priority: 10,
};
const newer = (event: "update" | "end"): MessageRow =>
  aMessage({ _id: "msg_2", live_activity: { ...live, event, content_state: { step: 2 } } });

const aDevice = (change: Partial<ActivityRecipientRow>): ActivityRecipientRow => ({
  _id: "lar_1",
  tenant_id: "ten_1",
  app_id: "app_1",
  subscription_id: "sub_1",
  activity: "act_1",
  state: "starting",
  token: null,
  start_message_id: "msg_0",
  hold_until: new Date(noon.getTime() + 600_000),
  held_message_id: null,
  created_at: noon,
  updated_at: noon,
  ...change,
});

type Given = {
  channel?: "android_push";
  /** The device's address is gone. */
  isGone?: boolean;
  message?: Partial<MessageActivity>;
  begun?: MessageRow;
  /** Whom the start is to start. */
  ours?: string[];
  fits?: boolean;
  device?: ActivityRecipientRow;
  /** What becomes of the device while it is being held for. */
  meanwhile?: Partial<ActivityRecipientRow>;
};

/** Delivers to one device; what was sent to whom, what was stored beside it, and what was done. */
const run = async (given: Given) => {
  const { message = {}, begun, ours = ["sub_1"], fits = true, device, meanwhile, channel = "ios_push" } = given;
  const log: string[] = [];
  const sent: { token: string; state: unknown }[] = [];
  const sentAs: MessageRow[] = [];
  let current = device;
  const deps: ActivityDeliverDeps = {
    recipients: { load: async () => [aSubscription()] },
    startTokens: { of: async () => new Map([["sub_1", "start"]]), removeLost: async () => undefined },
    activityRecipients: {
      claim: async () => {
        log.push("claimed");
        return new Set(ours);
      },
      fail: async (_activity, _message, ids) => void (ids.length > 0 && log.push(`failed ${ids.join()}`)),
      of: async () => new Map(current === undefined ? [] : [["sub_1", current]]),
      hold: async (_ids, id) => {
        log.push(`held ${id}`);
        if (current !== undefined) current = { ...current, held_message_id: id, ...meanwhile };
      },
      lose: async () => undefined,
      loseAddresses: async (_activity, ids) => void (ids.length > 0 && log.push(`lost ${ids.join()}`)),
      finish: async (_activity, ids) => void log.push(`ended ${ids.join()}`),
    },
    activities: { dueBy: async (_id, at) => void log.push(`due in ${(at.getTime() - noon.getTime()) / 1000} s`) },
    sent: {
      newerBegun: async () => {
        log.push("looked for newer");
        return begun ?? null;
      },
    },
    waiting: { end: async (ids, as) => void log.push(`${ids.length} ${as}`) },
    recount: async (ids) => void log.push(`recounted ${ids.join()}`),
    fits: () => fits,
    clock: handClock(),
  };
  const deliver = async ({ message: of, rows = [] }: Work): Promise<Delivered> => {
    sentAs.push(of);
    for (const { token } of rows) sent.push({ token, state: of.live_activity?.content_state["step"] });
    const stored = rows.map((row) => ({ subscription_id: row._id, sent_at: noon }) as DeliveryRow); // what is looked at
    return { stored, fresh: stored, again: [], invalid, doubted: 0, halted: false };
  };
  const invalid = given.isGone === true ? [{ _id: "sub_1", token: "token", since: noon }] : [];
  const work = {
    chunk: aChunk({ channel }),
    message: aMessage({ live_activity: { ...live, ...message } }),
    app: anApp(),
  };
  const strategy = {
    ...usualStrategy(async () => [], {
      recipientsOf: async (all) => ({ work: all, others: [] }),
      insteadOf: async () => [],
    }),
    recipientsOf: activityRecipientsOf(deps),
    after: afterActivity(deps),
  };
  const run = deliverByStrategy({ strategyOf: () => strategy, deliver, record: async () => new Set() });
  const { fresh, invalid: gone } = await run(work, aLease());
  const others = fresh.flatMap(({ status, suppression_reason: reason }) =>
    status === undefined ? [] : [reason ?? status],
  );
  return { sent, others, log, sentAs, gone: gone.map(({ _id }) => _id) };
};

describe("delivering a start of a live activity", () => {
  it("goes to the token for starts, once that was written down and no newer state was found", async () => {
    expect(await run({})).to.deep.include({
      sent: [{ token: "start", state: 0 }],
      others: [],
      log: ["claimed", "looked for newer"],
    });
  });

  it("has the state of an update that began meanwhile", async () => {
    expect((await run({ begun: newer("update") })).sent).to.deep.equal([{ token: "start", state: 2 }]);
  });

  it("has its own state where the newer one does not fit, which waits for the token", async () => {
    const { sent, log } = await run({ begun: newer("update"), fits: false, device: aDevice({}) });
    expect(sent).to.deep.equal([{ token: "start", state: 0 }]);
    expect(log).to.include.members(["held msg_2", "due in 600 s"]);
  });

  it("goes to nobody once the end has begun", async () => {
    const { sent, others, log } = await run({ begun: newer("end") });
    expect([sent, others]).to.deep.equal([[], ["superseded"]]);
    expect(log.at(-1)).to.equal("failed sub_1");
  });

  it("leaves out where the activity runs already", async () => {
    expect(await run({ ours: [] })).to.deep.include({ sent: [], others: ["already_started"] });
  });
});

describe("delivering an update of a live activity", () => {
  const message = { event: "update" as const, content_state: { step: 1 } };

  it("goes to the device's token for it", async () => {
    const device = aDevice({ state: "active", token: "own" });
    expect((await run({ message, device })).sent).to.deep.equal([{ token: "own", state: 1 }]);
  });

  it("waits for the token of a device that was just started, until its ten minutes are over", async () => {
    expect(await run({ message, device: aDevice({}) })).to.deep.include({
      sent: [],
      others: ["scheduled"],
      log: ["held msg_1", "due in 600 s"],
    });
  });

  it("ends the update that waited there before, and only then takes its place", async () => {
    const { log } = await run({ message, device: aDevice({ held_message_id: "msg_0" }) });
    expect(log).to.deep.equal(["1 superseded", "recounted msg_0", "held msg_1", "due in 600 s"]);
  });

  it("is sent when the token comes while it is about to wait", async () => {
    const meanwhile = { token: "own", state: "active" as const, held_message_id: null };
    expect(await run({ message, device: aDevice({}), meanwhile })).to.deep.include({
      sent: [{ token: "own", state: 1 }],
      others: [],
    });
  });

  it("gives way to a newer one that waits", async () => {
    const { sent, others } = await run({ message, device: aDevice({}), meanwhile: { held_message_id: "msg_2" } });
    expect([sent, others]).to.deep.equal([[], ["superseded"]]);
  });

  it("waits no longer than ten minutes after the start", async () => {
    const { others, log } = await run({ message, device: aDevice({ hold_until: noon }) });
    expect([others, log]).to.deep.equal([["no_update_token"], []]);
  });

  it("is one request to a channel", async () => {
    const channel = { id: "lac_1", apns_channel_id: "apple", stores_latest: true };
    expect((await run({ message: { ...message, channel } })).sent).to.deep.equal([{ token: "apple", state: 1 }]);
  });

  it("goes to nobody when a newer one has begun", async () => {
    expect(await run({ message: { ...message, is_superseded: true } })).to.deep.include({
      sent: [],
      others: ["superseded"],
    });
  });

  it("notes where the end was sent", async () => {
    const device = aDevice({ state: "active", token: "own" });
    expect((await run({ message: { event: "end" }, device })).log).to.deep.equal(["ended sub_1"]);
  });
});

describe("delivering a live activity to Android", () => {
  const channel = "android_push" as const;
  const ownAddress = aSubscription().token;
  const device = aDevice({ channel, state: "active" });
  const update = { event: "update" as const, content_state: { step: 1 } };

  it("goes to the subscription's own address, without waiting for a token", async () => {
    const { sent, log } = await run({ channel });
    expect([sent, log]).to.deep.equal([[{ token: ownAddress, state: 0 }], ["claimed", "looked for newer"]]);
    expect((await run({ channel, message: update, device })).sent).to.deep.equal([{ token: ownAddress, state: 1 }]);
  });

  it("goes to nobody where the activity is over", async () => {
    const ended = aDevice({ channel, state: "ended" });
    expect(await run({ channel, message: update, device: ended })).to.deep.include({ sent: [], others: [] });
  });

  it("starts with the newer push as it is where its state does not fit into the start", async () => {
    const begun = { ...newer("update"), content: { headings: { en: "newer" } } };
    const { sent, log, sentAs } = await run({ channel, begun, fits: false, device });
    expect(sent).to.deep.equal([{ token: ownAddress, state: 2 }]);
    expect(sentAs[0]).to.deep.include({ content: begun.content });
    expect(sentAs[0]?.live_activity).to.include({ event: "start" });
    expect(log).to.not.include("held msg_2");
  });

  it("says that the subscription's address is gone, and the activity with it", async () => {
    const { gone, log } = await run({ channel, message: update, device, isGone: true });
    expect([gone, log]).to.deep.equal([["sub_1"], ["lost sub_1"]]);
  });

  it("goes to each device beside the broadcast channel of iOS", async () => {
    const apple = { id: "lac_1", apns_channel_id: "apple", stores_latest: true };
    const { sent } = await run({ channel, message: { ...update, channel: apple }, device });
    expect(sent).to.deep.equal([{ token: ownAddress, state: 1 }]);
  });
});
