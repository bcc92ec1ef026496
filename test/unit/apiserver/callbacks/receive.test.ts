import { expect } from "chai";
import { callbacksOf } from "#core/channels/callbacks.ts";
import {
  accepted,
  type Callback,
  type CallbackDefinition,
  type CallbackRequest,
  refused,
  unknown,
} from "#core/channels/kit/callbacks.ts";
import { AppError, Unavailable } from "#core/errors.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { CallbackToken } from "#core/storage/service/callback-tokens.ts";
import { fetchedCertificates } from "#core/storage/service/provider-certificates.ts";
import { floodLimits } from "../../../../apiserver/callbacks/flood-limits.ts";
import { type ReceiveDeps, receive } from "../../../../apiserver/callbacks/receive.ts";
import type { OutsideRequest } from "../../../../apiserver/http/outside.ts";
import { allAccounts, anApp, testKeyRing } from "../../../support/rows/fixtures.ts";
import { handClock } from "../../../support/rows/work.ts";

const clock = handClock();
const bare = anApp({ tenant_id: "ten_1" });
const app = { ...bare, channels: allAccounts(bare._id) };
const empty = anApp({ tenant_id: "ten_1" });

/** A provider that signs with the header `signature: yes`. */
const provider: CallbackDefinition<{ host: string }> = {
  verify: ({ part, header }, { account }) => {
    if (part === "handshake") return { kind: "answered", reply: { contentType: "text/plain", text: account.host } };
    if (part !== "") return unknown;
    return header("signature") === "yes" ? accepted : refused;
  },
  read: () => ({ receipts: [], inbound: [] }),
};

const own = "https://sns.example/own.pem";
/** One whose body has to be the certificate from its own address. */
const certifiedProvider: CallbackDefinition<{ host: string }> = {
  ...provider,
  certified: {
    addressOf: (body) => (body.length === 0 ? null : own),
    problemOf: (body, { pem }) => (body.toString() === pem ? null : { of: "signature", reason: "another signed it" }),
  },
};

const asked = (target: string, over: Partial<OutsideRequest> = {}): OutsideRequest => ({
  method: "POST",
  parts: target.replace(/\?.*/, "").split("/"),
  target: `/ingress/${target}`,
  header: (name) => (name === "signature" ? "yes" : name === "content-type" ? "Application/JSON; charset=utf-8" : null),
  ip: "192.0.2.1",
  body: async () => Buffer.from("{}"),
  signal: new AbortController().signal,
  ...over,
});
const unsigned = { header: () => null };

const given = (over: Partial<ReceiveDeps> = {}) => {
  const kept: [of: object, callback: Callback][] = [];
  const called: CallbackRequest[] = [];
  const watched = {
    ...provider,
    verify: (...[request, given]: Parameters<typeof provider.verify>) => {
      called.push(request);
      return provider.verify(request, given);
    },
  };
  const answer = receive({
    callbacks: { post: callbacksOf("email", watched), certified: callbacksOf("email", certifiedProvider) },
    app: async (id) => [app, empty].find(({ _id }) => _id === id) ?? null,
    unseal: keyRing(testKeyRing).open,
    certificate: async () => null,
    trusted: () => new Map(),
    isFirst: async () => true,
    limits: floodLimits(clock),
    keep: async (of, callback) => void kept.push([of, callback]),
    publicUrl: "https://herald.example/",
    count: () => undefined,
    log: createLog({ program: "test", level: "fatal" }),
    clock,
    ...over,
  });
  const codeOf = (request: OutsideRequest): Promise<string> =>
    answer(request).then(
      ({ status }) => String(status),
      (error: unknown) => (error instanceof AppError ? error.code : "another error"),
    );
  return { answer, codeOf, kept, called };
};

describe("a request to /ingress", () => {
  it("waits in the queue before it is answered", async () => {
    const { answer, kept } = given();
    const reply = await answer(asked(`post/${app._id}?a=1`));
    expect(reply).to.deep.equal({ status: 200, headers: { "Content-Type": "text/plain" }, body: "" });
    expect(kept).to.deep.equal([
      [
        { tenantId: "ten_1", appId: app._id, provider: "post" },
        {
          part: "",
          url: `https://herald.example/ingress/post/${app._id}?a=1`,
          contentType: "application/json",
          body: Buffer.from("{}"),
          receivedAt: clock.now(),
        },
      ],
    ]);
  });

  it("is verified by the address that the provider called", async () => {
    const { answer, called } = given();
    await answer(asked(`post/${app._id}?b=%41&a=1`));
    expect(called[0]?.url).to.equal(`https://herald.example/ingress/post/${app._id}?b=%41&a=1`);
  });

  it("is answered without the queue when there is nothing to read in it", async () => {
    const { answer, kept } = given();
    expect(await answer(asked(`post/${app._id}/handshake`))).to.include({ body: "127.0.0.1" });
    expect(kept).to.deep.equal([]);
  });

  it("is not answered as long as it is not stored", async () => {
    const { codeOf } = given({
      keep: async () => {
        throw new Unavailable("the queue of callbacks");
      },
    });
    expect(await codeOf(asked(`post/${app._id}`))).to.equal("HS_UNAVAILABLE");
  });

  const refusals: { it: string; request: OutsideRequest; code: string }[] = [
    { it: "of a provider that there is not", request: asked(`none/${app._id}`), code: "HS_NOT_FOUND" },
    { it: "of what every object has", request: asked(`constructor/${app._id}`), code: "HS_NOT_FOUND" },
    { it: "of an app that there is not", request: asked("post/app_none"), code: "HS_NOT_FOUND" },
    { it: "of an app without an account", request: asked(`post/${empty._id}`), code: "HS_NOT_FOUND" },
    { it: "of a part that there is not", request: asked(`post/${app._id}/x`), code: "HS_NOT_FOUND" },
    { it: "by another method", request: asked(`post/${app._id}`, { method: "PUT" }), code: "HS_NOT_FOUND" },
    { it: "without an app", request: asked("post"), code: "HS_NOT_FOUND" },
    { it: "that is not signed", request: asked(`post/${app._id}`, unsigned), code: "HS_FORBIDDEN" },
  ];
  for (const { it: name, request, code } of refusals) {
    it(`is refused, and not kept: ${name}`, async () => {
      const { codeOf, kept } = given();
      expect(await codeOf(request)).to.equal(code);
      expect(kept).to.deep.equal([]);
    });
  }

  it("reads no body for whoever does not exist", async () => {
    let reads = 0;
    const body = async () => Buffer.alloc(++reads);
    await given().codeOf(asked("post/app_none", { body }));
    expect(reads).to.equal(0);
  });
});

describe("what is signed with a certificate", () => {
  const path = `certified/${app._id}`;
  const body = async () => Buffer.from("PEM");
  const has = (pem: string | null) => ({ certificate: async (url: string) => (url === own ? pem : null) });

  it("is taken when it is signed with the provider's own", async () => {
    const { codeOf, kept } = given(has("PEM"));
    expect(await codeOf(asked(path, { body }))).to.equal("200");
    expect(kept[0]?.[1]).to.not.have.property("isUnchecked");
  });

  it("is refused when another signed it, or without a certificate", async () => {
    const { codeOf, kept } = given(has("PEM"));
    expect(await codeOf(asked(path))).to.equal("HS_FORBIDDEN");
    expect(await codeOf(asked(path, { body: async () => Buffer.alloc(0) }))).to.equal("HS_FORBIDDEN");
    expect(kept).to.deep.equal([]);
  });

  it("waits unchecked as long as nobody has the certificate", async () => {
    const { codeOf, kept } = given(has(null));
    expect(await codeOf(asked(path, { body }))).to.equal("200");
    expect(kept[0]?.[1]).to.include({ isUnchecked: true });
  });

  it("asks for no certificate before all else was judged", async () => {
    let asks = 0;
    const { codeOf } = given({ certificate: async () => (asks++, null) });
    await codeOf(asked(path, { ...unsigned, body }));
    await codeOf(asked(`certified/${empty._id}`, { body }));
    await codeOf(asked("certified/app_none", { body }));
    expect(asks).to.equal(0);
  });

  it("waits unchecked in small numbers, of one source and of all", async () => {
    const { codeOf, kept } = given(has(null));
    for (let n = 0; n < 200; n++) await codeOf(asked(path, { body }));
    expect(kept).to.have.length(100);
    expect(await codeOf(asked(path, { body }))).to.equal("HS_RATE_LIMITED");
    for (let n = 0; n < 2_000; n++) await codeOf(asked(path, { body, ip: `198.51.${n >> 8}.${n & 255}` }));
    expect(kept).to.have.length(500);
  });
});

describe("what is signed with a certificate that nobody here vouches for", () => {
  it("is answered so that the provider comes again, and is bounded as what cannot be checked", async () => {
    const problem = { of: "certificate", reason: "no authority vouches for its issuer" } as const;
    const certified = { addressOf: () => own, problemOf: () => problem };
    const callbacks = { certified: callbacksOf("email", { ...provider, certified }) };
    const { codeOf, kept } = given({ callbacks, certificate: async () => "PEM" });
    const codes: string[] = [];
    for (let n = 0; n < 101; n++) codes.push(await codeOf(asked(`certified/${app._id}`)));
    expect([codes[0], codes.at(-1)]).to.deep.equal(["HS_UNAVAILABLE", "HS_RATE_LIMITED"]);
    expect(kept).to.deep.equal([]);
  });
});

describe("what is signed without its body", () => {
  it("is refused when its signature came with another, and counts as forged", async () => {
    const once = { signature: "token", until: clock.now() };
    const verify = () => ({ ...accepted, once });
    const asks: CallbackToken[] = [];
    const isFirst = async (token: CallbackToken) => asks.push(token) === 1;
    const { codeOf, kept } = given({ callbacks: { post: callbacksOf("email", { ...provider, verify }) }, isFirst });
    expect(await codeOf(asked(`post/${app._id}`))).to.equal("200");
    const of = { tenantId: "ten_1", appId: app._id };
    expect(asks).to.deep.equal([{ of, provider: "post", body: Buffer.from("{}"), ...once }]);
    const codes: string[] = [];
    for (let n = 0; n < 101; n++) codes.push(await codeOf(asked(`post/${app._id}`)));
    expect([codes[0], codes.at(-1)]).to.deep.equal(["HS_FORBIDDEN", "HS_RATE_LIMITED"]);
    expect(kept).to.have.length(1);
  });
});

describe("certificates that were fetched", () => {
  it("are read once a second, however many are asked for that nobody has", async () => {
    const [time, rows] = [handClock(), new Map([[own, "PEM"]])];
    let reads = 0;
    const find = fetchedCertificates({ all: async () => (reads++, new Map(rows)), clock: time });
    for (let n = 0; n < 3_000; n++) expect(await find(`https://sns.example/${n}.pem`)).to.equal(null);
    expect(await find(own)).to.equal("PEM");
    expect(reads).to.equal(1);
    rows.set("https://sns.example/new.pem", "NEW");
    time.tick(1_000);
    expect(await find("https://sns.example/new.pem")).to.equal("NEW");
  });
});

describe("a flood", () => {
  it("of forged requests ends for its source, and for nobody else", async () => {
    const { codeOf } = given();
    const forged = asked(`post/${app._id}`, unsigned);
    const codes: string[] = [];
    for (let n = 0; n < 150; n++) codes.push(await codeOf(forged));
    expect(codes.filter((code) => code === "HS_FORBIDDEN")).to.have.length(100);
    expect(codes.at(-1)).to.equal("HS_RATE_LIMITED");
    expect(await codeOf({ ...forged, ip: "192.0.2.2" })).to.equal("HS_FORBIDDEN");
  });

  it("of forged requests from an address that it shares with a provider does not silence the provider", async () => {
    const { codeOf, kept } = given();
    for (let n = 0; n < 5_000; n++) await codeOf(asked(`post/${app._id}`, unsigned));
    for (let n = 0; n < 12; n++) expect(await codeOf(asked(`post/${app._id}`))).to.equal("200");
    expect(kept).to.have.length(12);
  });

  it("of forged requests for one app leaves those for others alone, also behind one proxy", async () => {
    const other = { ...app, _id: "app_other" };
    const { codeOf } = given({ app: async (id) => (id === other._id ? { ...app, _id: app._id } : app) });
    for (let n = 0; n < 150; n++) await codeOf(asked(`post/${app._id}`, unsigned));
    expect(await codeOf(asked(`post/${other._id}`, unsigned))).to.equal("HS_FORBIDDEN");
  });

  it("of requests whose body cannot be read counts as one of forged ones", async () => {
    const { codeOf } = given();
    const body = () => Promise.reject(new AppError("HS_PAYLOAD_TOO_LARGE", "too large"));
    for (let n = 0; n < 100; n++) await codeOf(asked(`post/${app._id}`, { body }));
    expect(await codeOf(asked(`post/${app._id}`, unsigned))).to.equal("HS_RATE_LIMITED");
  });

  it("of requests to nobody ends for its source, and does not silence a provider that shares its address", async () => {
    let reads = 0;
    const found = async (id: string) => (++reads, id === app._id ? app : null);
    const { codeOf } = given({ app: found });
    expect(await codeOf(asked(`post/${app._id}`))).to.equal("200");
    for (let n = 0; n < 1_000; n++) await codeOf(asked(`post/app_${n}`));
    expect(reads).to.equal(201);
    expect(await codeOf(asked("post/app_x"))).to.equal("HS_RATE_LIMITED");
    expect(await codeOf(asked(`post/${app._id}`))).to.equal("200");
    clock.tick(100);
    expect(await codeOf(asked("post/app_x"))).to.equal("HS_NOT_FOUND");
  });

  it("of a sender ends for that sender, and for nobody else", async () => {
    const other = { ...app, _id: "app_other" };
    const { codeOf } = given({ app: async (id) => (id === other._id ? { ...app, _id: app._id } : app) });
    let taken = 0;
    while (taken < 5_000 && (await codeOf(asked(`post/${app._id}`))) === "200") taken++;
    expect(taken).to.equal(4_000);
    expect(await codeOf(asked(`post/${other._id}`))).to.equal("200");
    clock.tick(1_000);
    expect(await codeOf(asked(`post/${app._id}`))).to.equal("200");
  });
});
