import { expect } from "chai";
import { dayMs } from "#core/domain/durations.ts";
import { isInHoldout, variantOf } from "#core/domain/experiments/assignment.ts";
import type { Message } from "#core/schema/messages/message.ts";
import type { Why } from "#core/schema/why/why.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { aUser, seed } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { call, changeSettings, to } from "../../support/system/calling.ts";
import { deliveriesOf, post, type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const withinMs = 60_000 + testTiming.leaseMs;

describe("variants", () => {
  let sending: Sending;
  let api: SystemProgram;

  before(async () => {
    sending = await startSending(await testServers());
    const programs = ["apiserver", "dispatcher", "dispatcher"] as const;
    [api] = (await Promise.all(programs.map((program) => sending.system.start(program)))) as [SystemProgram];
  });
  after(() => sending?.close());

  const another = async (): Promise<System> => ({ ...sending.system, ...(await sending.system.another()) });
  const three = [
    { name: "plain", weight_percent: 45 },
    { name: "loud", weight_percent: 45, contents: { en: "Hello!" } },
    { name: "silence", weight_percent: 10, is_control: true },
  ];
  const textsOf = (): Map<string, string> =>
    new Map(
      sending.apns.log
        .page()
        .map(({ address, body }) => [address, JSON.stringify(body).includes("Hello!") ? "b" : "a"]),
    );

  it("give each person their form, whichever device it is, and the control nothing", async () => {
    const system = await another();
    const phones = await seedDevices(system, 60);
    const tablets = (
      await Promise.all(phones.slice(0, 5).map(({ user_id }) => seedDevices(system, 1, { user_id })))
    ).flat();
    const devices = [...phones, ...tablets];
    sending.apns.log.clear();
    const { _id: id, counts } = await system.ended(
      await send(system, api, { ...to(devices), variants: three }),
      withinMs,
    );
    const texts = textsOf();
    const rows = await deliveriesOf(system, id);
    const shares = three.map(({ weight_percent }, i) => ({ id: "abc"[i], weight_percent }));
    for (const device of devices) {
      const variant = variantOf(id, shares, device.user_id)?.id;
      const row = rows.find(({ subscription_id: of }) => of === device._id);
      expect(row?.variant_id).to.equal(variant);
      expect(texts.get(device.token)).to.equal(variant === "c" ? undefined : variant);
      if (variant === "c")
        expect(row).to.include({ status: "suppressed", suppression_reason: "control_group", attempts: 0 });
    }
    const held = rows.filter(({ variant_id: of }) => of === "c").length;
    expect(counts).to.include({ targeted: 65, suppressed: held, sent: 65 - held });

    const { variants } = (await call(api)(system, "GET", `/v1/notifications/${id}`)).body as Message;
    expect(variants?.map(({ name, is_control }) => [name, is_control])).to.deep.equal([
      ["plain", false],
      ["loud", false],
      ["silence", true],
    ]);
    expect(variants?.[2]?.counts).to.include({ targeted: held, suppressed: held, sent: 0 });
    expect((variants?.[0]?.counts.sent ?? 0) + (variants?.[1]?.counts.sent ?? 0)).to.equal(65 - held);
    const listed = await call(api)(system, "GET", `/v1/notifications/${id}/deliveries?variant_id=b&limit=200`);
    const { data } = listed.body as { data: { variant_id: string }[] };
    expect(data.length).to.equal(rows.filter(({ variant_id: of }) => of === "b").length);
    expect(new Set(data.map(({ variant_id: of }) => of))).to.deep.equal(new Set(["b"]));
  });

  it("have the control wait for their throttle slot and use no place under a cap", async () => {
    const system = await another();
    await changeSettings(api)(system, { frequency_caps: [{ name: "daily", max: 1, per: "day" }] });
    const devices = await seedDevices(system, 20);
    const control = [
      { name: "words", weight_percent: 0 },
      { name: "silence", weight_percent: 100, is_control: true },
    ];
    const startedMs = Date.now();
    const first = await send(system, api, { ...to(devices), variants: control, throttle_rate_per_minute: 600 });
    const ended = await system.ended(first, withinMs);
    expect(ended.counts).to.include({ targeted: 20, suppressed: 20 });
    const written = (await deliveriesOf(system, first)).map(({ created_at: at }) => at.getTime() - startedMs);
    expect(Math.max(...written) - Math.min(...written)).to.be.at.least(1_700); // 19 intervals of 100 ms
    const second = await system.ended(await send(system, api, to(devices)), withinMs);
    expect(second.counts).to.include({ sent: 20 });
    const third = await send(system, api, { ...to(devices), variants: control });
    await system.ended(third, withinMs);
    const reasons = (await deliveriesOf(system, third)).map(({ suppression_reason: reason }) => reason);
    expect(new Set(reasons)).to.deep.equal(new Set(["frequency_cap"]));
  });

  it("say of somebody who got nothing that it was to measure the effect", async () => {
    const system = await another();
    const devices = await seedDevices(system, 1);
    const variants = [
      { name: "words", weight_percent: 0 },
      { name: "silence", weight_percent: 100, is_control: true },
    ];
    const { _id: id } = await system.ended(await send(system, api, { ...to(devices), variants }), withinMs);
    const path = `/v1/apps/${system.app._id}/notifications/${id}/why?subscription_id=${devices[0]?._id}`;
    const [found] = ((await call(api)(system, "GET", path)).body as Why).recipients;
    expect(found?.decided_by).to.equal("variant");
    expect(found?.gates.at(-1)).to.deep.include({ verdict: "stop", evidence: "exact" });
    expect(found?.gates.at(-1)?.facts).to.include({ variant_id: "b", reason: "control_group" });
  });

  it("are left out by the app's holdout: the same people of every message, but for exempt categories", async () => {
    const system = await another();
    const holdout = {
      percent: 10,
      salt: "spring",
      starts_at: new Date(Date.now() - dayMs).toISOString(),
      ends_at: new Date(Date.now() + dayMs).toISOString(),
      exempt_categories: ["codes"],
    };
    expect((await changeSettings(api)(system, { holdout })).status).to.equal(200);
    const devices = await seedDevices(system, 200);
    const out = devices.filter(({ user_id: id }) => isInHoldout(holdout, { appId: system.app._id }, id));
    expect(out).not.to.have.length(0); // by chance once in a milliard
    for (const variants of [undefined, three.slice(0, 2).map((one) => ({ ...one, weight_percent: 50 }))]) {
      const body = { ...to(devices), ...(variants && { variants }) };
      const { _id: id } = await system.ended(await send(system, api, body), withinMs);
      const held = (await deliveriesOf(system, id)).filter(
        ({ suppression_reason: reason }) => reason === "control_group",
      );
      expect(new Set(held.map(({ user_id: of }) => of))).to.deep.equal(new Set(out.map(({ user_id: of }) => of)));
      expect(held[0]?.error_message).to.equal("the app's holdout");
    }
    const code = await system.ended(await send(system, api, { ...to(devices), category: "codes" }), withinMs);
    expect(code.counts).to.include({ sent: 200 });
    for (const [wrong, field] of [
      [{ ...holdout, percent: 11 }, "holdout.percent"],
      [{ ...holdout, ends_at: null }, "holdout.ends_at"],
      [{ ...holdout, starts_at: "soon" }, "holdout.starts_at"],
      [{ ...holdout, ends_at: new Date(Date.now() + 181 * dayMs).toISOString() }, "holdout.ends_at"],
      [{ ...holdout, ends_at: holdout.starts_at }, "holdout.ends_at"],
    ] as const)
      expect((await changeSettings(api)(system, { holdout: wrong })).body.error?.details.field).to.equal(field);
  });

  it("are compared with who got nothing, the control and the holdout, by what people do afterwards", async () => {
    const system = await another();
    const [ago, ahead] = [-1, 1].map((days) => new Date(Date.now() + days * dayMs).toISOString());
    const holdout = { percent: 10, salt: "effect", starts_at: ago, ends_at: ahead };
    expect((await changeSettings(api)(system, { holdout })).status).to.equal(200);
    const devices = await seedDevices(system, 200);
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    await seed(system.db, {
      users: devices.map(({ user_id: _id }) => aUser({ ...of, _id, external_id: `ext-${_id}` })),
    });
    const events = `/v1/apps/${system.app._id}/events`;
    const does = async (name: string, ...people: string[]): Promise<void> => {
      const list = people.map((person) => ({ name, external_id: `ext-${person}` }));
      expect((await call(api)(system, "POST", events, { events: list })).status).to.equal(202);
    };
    await does("bought", devices[0]?.user_id ?? "");
    const flag = { is_conversion: true, outcome_unattributed: false };
    await until(
      async () => (await call(api)(system, "PATCH", `${events}/definitions/bought`, flag)).status === 200,
      withinMs,
    );
    const { _id: id } = await system.ended(await send(system, api, { ...to(devices), variants: three }), withinMs);
    const rows = await deliveriesOf(system, id);
    const sent = rows.filter(({ status }) => status === "sent");
    const heldBy = (said: string) => rows.filter(({ error_message: message }) => message === said);
    const [out, control] = [heldBy("the app's holdout"), heldBy("the control of the message")];
    const [buyer, other] = sent;
    const bought = [buyer, out[0], control[0]].map((row) => row?.user_id ?? "");
    await does("bought", ...bought, bought[0] ?? "");
    await does("looked", other?.user_id ?? "");
    const shown = async () => ((await call(api)(system, "GET", `/v1/notifications/${id}`)).body as Message).effect;
    await until(async () => {
      const now = { due_at: new Date(), counted_at: new Date(0), updated_at: new Date(0) }; // not a minute later
      await system.db.collection<MessageRow>("messages").updateOne({ _id: id, recount: true }, { $set: now });
      const found = await shown();
      return [found?.control?.held, found?.holdout?.held, found?.control?.sent].every((one) => one?.converted === 1);
    }, withinMs);
    const found = await shown();
    expect(found?.holdout?.held).to.include({ people: out.length, converted: 1 });
    expect(found?.control?.held).to.include({ people: control.length, converted: 1 });
    expect(found?.control?.sent).to.include({ people: sent.length, converted: 1 });
    expect(found?.control?.variants.find(({ id: of }) => of === buyer?.variant_id)).to.include({ converted: 1 });
    expect(found?.control?.verdict).to.equal("too_few");
  });

  const asked = { metric: "open_rate", after_minutes: 15, test_percent: 50, min_per_variant: 10 };
  const parts = [
    { name: "plain", weight_percent: 40 },
    { name: "loud", weight_percent: 40, contents: { en: "Hello!" } },
    { name: "silence", weight_percent: 20, is_control: true },
  ];
  it("are refused a winner that there cannot be, each by name", async () => {
    const two = parts.slice(0, 2).map((one) => ({ ...one, weight_percent: 50 }));
    const alone = [{ ...two[0], weight_percent: 80 }, parts[2]];
    for (const [body, field] of [
      [{ winner: asked }, "winner"],
      [{ variants: alone, winner: asked }, "winner"],
      [
        {
          variants: [
            { ...two[0], weight_percent: 100 },
            { ...two[1], weight_percent: 0 },
          ],
          winner: asked,
        },
        "variants[1].weight_percent",
      ],
      [{ variants: two, winner: { ...asked, if_undecided: "control" } }, "winner.if_undecided"],
      [{ variants: two, winner: { ...asked, after_minutes: 14 } }, "winner.after_minutes"],
      [{ variants: two, winner: { ...asked, test_percent: 91 } }, "winner.test_percent"],
      [{ variants: two, winner: { ...asked, rule: "best" } }, "winner.rule"],
      [{ variants: two, winner: { ...asked, rule: "bandit", if_undecided: "first" } }, "winner.if_undecided"],
    ] as const) {
      const { status, body: answer } = await post(sending.system, api, { target: { all: true }, ...body });
      const { error } = answer as { error?: { details: { field: string } } };
      expect([status, error?.details.field], JSON.stringify(body)).to.deep.equal([400, field]);
    }
  });

  const half = { name: "one", weight_percent: 50 };
  const wrong: { it: string; variants: object[]; field: string }[] = [
    { it: "one alone", variants: [{ ...half, weight_percent: 100 }], field: "variants" },
    { it: "weights that make 99.9", variants: [half, { name: "two", weight_percent: 49.9 }], field: "variants" },
    {
      it: "two controls",
      variants: [
        half,
        { name: "x", weight_percent: 25, is_control: true },
        { name: "y", weight_percent: 25, is_control: true },
      ],
      field: "variants[2].is_control",
    },
    { it: "two of one name", variants: [half, half], field: "variants[1].name" },
    {
      it: "a control that says something",
      variants: [half, { ...half, name: "two", is_control: true, contents: { en: "Hello" } }],
      field: "variants[1].contents",
    },
    {
      it: "one that goes over another channel",
      variants: [half, { ...half, name: "two", email_subject: "Hello", email_body: "Hello" }],
      field: "variants[1]",
    },
    {
      it: "one that is too large",
      variants: [half, { ...half, name: "two", contents: { en: "a".repeat(5_000) } }],
      field: "variants[1].contents",
    },
    { it: "one without a weight", variants: [half, { name: "two" }], field: "variants[1].weight_percent" },
    { it: "eleven", variants: Array.from({ length: 11 }, (_, i) => ({ ...half, name: `${i}` })), field: "variants" },
  ];
  it("are refused that make no sense, each by name", async () => {
    const system = sending.system;
    for (const { it: what, variants, field } of wrong) {
      const { status, body } = await post(system, api, { target: { all: true }, variants });
      const { error } = body as { error?: { details: { field: string } } };
      expect([status, error?.details.field], what).to.deep.equal([400, field]);
    }
  });
});
