import { expect } from "chai";
import { NotBegun, type Outcome, type Provider } from "#core/domain/messages/outcome.ts";
import { type AttachingDeps, attaching, mostFileBytes } from "../../../../../dispatcher/channels/email/attached.ts";
import { type EncodedMail, encodedMail } from "../../../../../dispatcher/channels/email/mime-body.ts";

const now = new Date();
const to = { deliveryId: "dlv_1", subscriptionId: "sub_1", address: "a@b.test" };
const text = { pieces: ["x"], trackers: [] };
const mail = encodedMail({
  subject: "s",
  html: text,
  text,
  fromName: null,
  fromAddress: null,
  replyTo: null,
  isTransactional: true,
});
type Fetch = AttachingDeps["fetchMedia"];
const file = (size: number): Awaited<ReturnType<Fetch>> => ({
  kind: "fetched",
  body: Buffer.alloc(size),
  mimeType: "image/png",
  sha256: "",
});

describe("files of a mail", () => {
  /** A provider with them, and the mails that were handed over. */
  const aProvider = (fetchMedia: Fetch) => {
    const sent: EncodedMail[] = [];
    const provider: Provider<EncodedMail> = {
      name: "smtp",
      send: async (one): Promise<Outcome> => (sent.push(one), { kind: "sent", providerId: null }),
      check: async () => ({ kind: "sent", providerId: null }),
      close: async () => undefined,
    };
    const attached = attaching()(provider, { fetchMedia, clock: { now: () => now }, appId: "app_1" });
    const send = (urls: string[], { signal } = new AbortController()) =>
      attached.send({ ...mail, files: urls.map((url) => ({ url })) }, to, signal);
    return { sent, send };
  };

  it("are attached under the ends of their addresses, and none are asked for of a mail without", async () => {
    const asked: unknown[] = [];
    const { sent, send } = aProvider(async ({ url }) => (asked.push(url), file(3)));
    const urls = ["https://x.test/a/red.png?b=1", "https://x.test/"];
    await send([]);
    await send(urls);
    expect(asked).to.deep.equal(urls);
    expect(sent.map(({ attached }) => attached?.map((one) => one.filename))).to.deep.equal([
      undefined,
      ["red.png", "file.png"],
    ]);
  });

  const outcomes: [string, Fetch, object][] = [
    [
      "is tried again that cannot be had for now",
      async () => ({ kind: "later", problem: "unavailable" }),
      { kind: "retry_at", code: "MEDIA_UNAVAILABLE" },
    ],
    [
      "fails whose file is at a private address",
      async () => ({ kind: "failed", problem: "address_refused" }),
      { kind: "payload_error", code: "MEDIA_UNAVAILABLE" },
    ],
    [
      "fails with more than all files may have",
      async () => file(mostFileBytes / 2 + 1),
      { kind: "payload_error", code: "PAYLOAD_TOO_LARGE" },
    ],
  ];
  for (const [what, fetchMedia, outcome] of outcomes)
    it(`have their mail, which ${what}, not handed over`, async () => {
      const { sent, send } = aProvider(fetchMedia);
      expect(await send(["https://x.test/a", "https://x.test/b"])).to.include(outcome);
      expect(sent).to.deep.equal([]);
    });

  it("are fetched for one mail of an app at a time, and for none that waits when the program ends", async () => {
    const held = Promise.withResolvers<void>();
    let asked = 0;
    const { sent, send } = aProvider(async () => (asked++, await held.promise, file(1)));
    const ending = new AbortController();
    const [first, second] = [send(["https://x.test/a"]), send(["https://x.test/b"], ending)];
    const isBegun = second.catch((error: unknown) => error);
    ending.abort();
    expect(await isBegun).to.be.instanceOf(NotBegun);
    held.resolve();
    await first;
    expect([asked, sent.length]).to.deep.equal([1, 1]);
  });
});
