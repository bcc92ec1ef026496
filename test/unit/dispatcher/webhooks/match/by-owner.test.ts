import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Wanted } from "../../../../../dispatcher/webhooks/accept/accept.ts";
import { deliverByOwner } from "../../../../../dispatcher/webhooks/match/by-owner.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";

const event = makeEvent({
  kind: "delivery.sent",
  appId: "app_1",
  subjectId: null,
  data: {},
  at: new Date("2026-11-21T12:00:00Z"),
  from: ["a"],
});
const wanted = (id: string, over: Partial<WebhookRow> = {}): Wanted => ({
  endpoint: aWebhook({ _id: id, ...over }),
  events: [event],
});

type Given = {
  /** Owners by endpoint, when they are asked for the first time and after the table was read again. */
  owners: Record<string, string | null>;
  later?: Record<string, string | null>;
  /** What owners take. */
  takes?: (owner: string, id: string) => boolean;
};

/** What becomes of an event that some endpoints want, in the process `me`. */
const run = async (all: Wanted[], { owners, later = owners, takes = () => true }: Given) => {
  const seen = { accepted: [] as string[], handed: [] as string[], looks: 0, fallbacks: 0 };
  const deliver = deliverByOwner({
    holder: "me",
    shares: {
      ownerOf: (id) => (seen.looks === 0 ? owners : later)[id] ?? null,
      look: async () => void seen.looks++,
    },
    accept: async (some) => void seen.accepted.push(...some.map(({ endpoint }) => endpoint._id)),
    handOver: async (owner, batch) => {
      const ids = batch.wanted.map(({ endpoint }) => endpoint._id);
      seen.handed.push(`${owner}: ${ids.join(" ")}`);
      return batch.wanted.filter(({ endpoint }) => !takes(owner, endpoint._id));
    },
    fallBack: (count) => void (seen.fallbacks += count),
  });
  await deliver({ appId: "app_1", wanted: all, isRepeated: false });
  return seen;
};

describe("an event is given", () => {
  it("to this process and to others, each once for all of its endpoints", async () => {
    const owners = { whk_1: "me", whk_2: "b", whk_3: "b", whk_4: "c" };
    expect(
      await run(
        Object.keys(owners).map((id) => wanted(id)),
        { owners },
      ),
    ).to.deep.equal({
      accepted: ["whk_1"],
      handed: ["b: whk_2 whk_3", "c: whk_4"],
      looks: 0,
      fallbacks: 0,
    });
  });

  it("once more when its owner has changed meanwhile", async () => {
    const given = {
      owners: { whk_1: "b", whk_2: "b" },
      later: { whk_1: "c", whk_2: "me" },
      takes: (owner: string) => owner !== "b",
    };
    expect(await run([wanted("whk_1"), wanted("whk_2")], given)).to.deep.equal({
      accepted: ["whk_2"],
      handed: ["b: whk_1 whk_2", "c: whk_1"],
      looks: 1,
      fallbacks: 0,
    });
  });

  it("to the store when nobody takes it", async () => {
    const refusing = await run([wanted("whk_1")], { owners: { whk_1: "b" }, takes: () => false });
    expect(refusing).to.deep.equal({ accepted: ["whk_1"], handed: ["b: whk_1", "b: whk_1"], looks: 1, fallbacks: 1 });
    const nobody = await run([wanted("whk_1")], { owners: { whk_1: null } });
    expect(nobody).to.deep.equal({ accepted: ["whk_1"], handed: [], looks: 1, fallbacks: 1 });
  });

  it("to nobody else for a disabled endpoint, which misses it", async () => {
    const { accepted, handed } = await run([wanted("whk_1", { status: "disabled" })], { owners: { whk_1: "b" } });
    expect([accepted, handed]).to.deep.equal([["whk_1"], []]);
  });
});
