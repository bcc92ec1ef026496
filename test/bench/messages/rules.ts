import { randomBytes } from "node:crypto";
import { capTakes } from "#core/storage/messages/cap-takes.ts";
import { treeCpuUs } from "../../../dev/processes/usage.ts";
import { aSubscription, aUser, seed } from "../../support/rows/fixtures.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { cpuOfEach, splitOf } from "../cpu.ts";
import { atLeast, atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { startPrograms } from "../programs.ts";
import type { Installation } from "../servers.ts";
import { plainRendersBeside } from "../templates/templates.ts";
import { send } from "./blast.ts";

const whole = { recipients: 100_000, warmUp: 2_000, rounds: 2 };
const short: typeof whole = { recipients: 500, warmUp: 50, rounds: 1 };

/** What a message costs beyond a bare one: both to as many people, in turns, each from an app of its own. */
const measureRules: Measurement = (round, tell) =>
  round.withInstallation(async (made) => {
    const size = round.isShort ? short : whole;
    const { apiserver, cpuUs } = await startPrograms(made, 1);
    const bare = { system: made.system, body: {}, us: 0 };
    const ruled = { ...(await withRules(made, apiserver)), us: 0 };
    for (const { system } of [bare, ruled]) await seedPeople(system, size.recipients);
    await blast(bare, apiserver, size.warmUp);
    const rendersPerSecond = await plainRendersBeside(blast(ruled, apiserver, size.warmUp));
    const splits: string[] = [];
    for (let turn = 0; turn < size.rounds; turn++)
      for (const one of turn % 2 === 0 ? [bare, ruled] : [ruled, bare]) {
        const before = cpuUs();
        await blast(one, apiserver);
        const each = cpuOfEach(before, cpuUs(), size.recipients);
        one.us += each.all / size.rounds;
        if (turn === 0) splits.push(splitOf(each));
      }
    const how = `${size.rounds} of each to ${size.recipients}, in turns; bare ${bare.us.toFixed(0)} µs a recipient (${splits[0]}), with them ${ruled.us.toFixed(0)} µs (${splits[1]})`;
    tell(
      {
        name: "template, quiet hours, a cap, two variants, CPU beside a bare message",
        reach: atMost(130),
        value: (100 * ruled.us) / bare.us,
        unit: "%",
        how,
      },
      {
        name: "renders of plain outputs beside sending",
        reach: atLeast(10_000),
        value: rendersPerSecond,
        unit: "/s",
        how: `on one thread, from the accept of such a message to ${size.warmUp} until it has ended`,
      },
    );
  });

/** What is sent, and the organisation that sends it. */
export type Sent = { system: System; body: object };

const blast = async ({ system, body }: Sent, apiserver: SystemProgram, limit?: number): Promise<void> => {
  const rows = system.db.collection<{ _id: string; app_id: string }>("subscriptions");
  const some =
    limit === undefined ? [] : await rows.find({ app_id: system.app._id }).limit(Math.min(limit, 2_000)).toArray();
  const target = limit === undefined ? { all: true } : { include_subscription_ids: some.map(({ _id }) => _id) };
  const { id } = await send(system, apiserver, { ...body, target });
  const { counts } = await system.ended(id, 300_000);
  if (counts.sent !== counts.targeted) throw new Error(`not all were sent to: ${JSON.stringify(counts)}`);
};

/** An app with quiet hours that are not now, and a cap that nobody fills, and a message with a template and two variants. */
export const withRules = async ({ system: first }: Installation, apiserver: SystemProgram): Promise<Sent> => {
  const system = { ...first, ...(await first.another()) };
  const call = async (method: string, path: string, body: object = {}): Promise<{ id: string }> => {
    const reply = await fetch(`${apiserver.url}/v1/apps/${system.app._id}/${path}`, {
      method,
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
    return (await reply.json()) as { id: string }; // a template, or settings, of which no id is read
  };
  const hourAt = (hours: number): string =>
    `${new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 13)}:00`;
  await call("PATCH", "settings", {
    quiet_hours: { enabled: true, start: hourAt(10), end: hourAt(12) },
    frequency_caps: [{ name: "daily", max: 20, per: "day" }],
  });
  const { id } = await call("POST", "templates", {
    name: "news",
    content: {
      contents: { en: 'Hello {{ user.tags.name | default: "there" }}, order {{ custom_data.order }} is on its way.' },
    },
  });
  await call("POST", `templates/${id}/publish`);
  const variants = ["News", "Order"].map((en) => ({ name: en, weight_percent: 50, headings: { en } }));
  return {
    system,
    body: { template_id: id, contents: undefined, headings: undefined, custom_data: { order: "4711" }, variants },
  };
};

const seededAtOnce = 20_000;

/** People with a device each, whose tag `plan` is `gold`. */
export const seedPeople = async ({ tenantId, app, db }: System, count: number): Promise<void> => {
  const of = { tenant_id: tenantId, app_id: app._id };
  for (let from = 0; from < count; from += seededAtOnce) {
    const users = Array.from({ length: Math.min(seededAtOnce, count - from) }, (_, n) =>
      aUser({ ...of, tags: { name: `Ann ${from + n}`, plan: "gold" }, time_zone: "Europe/Berlin" }),
    );
    const subscriptions = users.map(({ _id }) =>
      aSubscription({ ...of, user_id: _id, token: randomBytes(32).toString("hex") }),
    );
    await seed(db, { users, subscriptions });
  }
};

/** The race for the places of a cap, of which there is one for each person: by what two dispatchers would ask at once. */
const measureRace: Measurement = (round, tell) =>
  round.withInstallation(async ({ system, stores }) => {
    const people = Array.from({ length: round.isShort ? 1_000 : 100_000 }, (_, n) => `usr_${n}`);
    const takes = capTakes(system.db);
    const of = { tenantId: system.tenantId, appId: system.app._id };
    const caps = [
      { name: "daily", max: 1, per: "day", window: "rolling", scope: "user", channels: null, categories: null },
    ] as const;
    const dayMs = 86_400_000;
    const taken = new Map<string, number>();
    const run = async (message: string): Promise<void> => {
      for (let from = 0; from < people.length; from += 500) {
        const now = new Date();
        const some = people.slice(from, from + 500).map((id) => ({ id, since: [new Date(now.getTime() - dayMs)] }));
        const asked = { id: message, channel: "ios_push", category: null } as const;
        const full = await takes.take({
          of,
          message: asked,
          caps: [...caps],
          people: some,
          mode: "take",
          now,
          longestMs: dayMs,
        });
        for (const { id } of some) if (!full.has(id)) taken.set(id, (taken.get(id) ?? 0) + 1);
      }
    };
    const stored = (): number => stores.mongodb.pids().reduce((sum, pid) => sum + treeCpuUs(pid), 0);
    const [before, own] = [stored(), process.cpuUsage()];
    await Promise.all(["msg_1", "msg_2"].map(run));
    const { user, system: kernel } = process.cpuUsage(own);
    if (taken.size !== people.length || [...taken.values()].some((count) => count !== 1))
      throw new Error("somebody got both messages, or none");
    const ofStore = stored() - before;
    const asks = 2 * people.length;
    const how = `${people.length} people asked about by two messages at once, 500 at a time, each got exactly one; the store ${(ofStore / asks).toFixed(1)} µs, the asker ${((user + kernel) / asks).toFixed(1)} µs`;
    tell({
      name: "race for a frequency cap, CPU a recipient",
      reach: atMost(30),
      value: (ofStore + user + kernel) / asks,
      unit: "µs",
      how,
    });
  });

/** What rules about time, number and form cost. */
export const rules: Measurements = { rules: measureRules, "cap-race": measureRace };
