import { expect } from "chai";
import type { FunnelStep } from "#core/domain/analytics/funnel.ts";
import type { Cohort } from "#core/domain/analytics/retention.ts";
import { dayMs, hourMs, quarterMs } from "#core/domain/durations.ts";
import { newId } from "#core/domain/ids.ts";
import { cohortUnits, periodModes, type Retention } from "#core/schema/analytics/retention.ts";
import {
  type PeopleQuestion,
  type PeopleReportRow,
  peopleReportCollection,
  peopleReports,
} from "#core/storage/analytics/people-reports.ts";
import { eventDefinitions } from "#core/storage/events/definitions.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { type SessionMonthRow, sessionMonthCollection, sessionMonths } from "#core/storage/people/session-months.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { type Did, plainFunnel, plainRetention, zones } from "../../../support/analytics/people.ts";
import { countReports } from "../../../support/analytics/people-reports.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seeded } from "../../../support/filters/random.ts";
import { aUser, seedTenant } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";

type Own = Awaited<ReturnType<typeof seedTenant>>;
type Answered = { asOf: Date; steps?: FunnelStep[]; cohorts?: Cohort[] };
type Reply = Retention & { error?: { code: string; details: Record<string, unknown> } };

describe("analytics of people", () => {
  const { site, tenant } = useSharedSite();
  const plan = { _id: "analytics_people", retention_days: 730, api_rps: 1_000 };
  const own = (): Promise<Own> => seedTenant(site.db, { plan });
  const now = Math.floor(Date.now() / quarterMs) * quarterMs;
  const [from, to] = [now - 380 * dayMs, now]; // over both changes of clocks
  const wholeRange = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;

  const call = async (query: string, { app, token }: Pick<Own, "app" | "token">) => {
    const path = `/v1/apps/${app._id}/analytics/retention?${query}`;
    const { status, body } = await site.api.call("GET", path, { token });
    return { status, body: body as unknown as Reply };
  };

  const reports = () => site.db.collection<PeopleReportRow>(peopleReportCollection.name);
  const count = ({ app }: Own): Promise<void> => countReports(site.db, app._id);

  /** Has questions counted that nobody has asked; what each came to. */
  const answersOf = async (of: Own, questions: readonly PeopleQuestion[]): Promise<Answered[]> => {
    for (const question of questions) await peopleReports(site.db).ask(ofApp(of.app), question, new Date());
    await count(of);
    const rows = await Promise.all(questions.map((one) => peopleReports(site.db).find(ofApp(of.app), one)));
    return rows.map((row) => ({ asOf: row?.as_of ?? new Date(0), ...row?.result }));
  };

  const seedEvents = async ({ app }: Own, histories: readonly { person: string; did: readonly Did[] }[]) => {
    const at = new Date();
    const rows = histories.flatMap(({ person, did }) =>
      did.map(
        ({ name, atMs }): EventRow => ({
          _id: newId("event", at),
          tenant_id: app.tenant_id,
          app_id: app._id,
          name,
          occurred_at: new Date(atMs),
          received_at: at,
          person,
          source: "api",
          batch: "b",
        }),
      ),
    );
    await eventDefinitions(site.db).define(ofApp(app), [...new Set(rows.map(({ name }) => name))], at);
    await site.db.collection<EventRow>(eventCollection.name).insertMany(rows);
  };

  describe("of random histories of 1,000 people", () => {
    const random = seeded(37);
    const anyInt = (below: number): number => Math.floor(random() * below);
    const anyInstant = (): number => from - 5 * dayMs + anyInt((to - from + 5 * dayMs) / 60_000) * 60_000;
    const names = ["looked", "chose", "bought"];
    const range = { from: new Date(from), to: new Date(to) };
    const histories = Array.from({ length: 1_000 }, (_, n) => {
      const begun = anyInstant();
      const did = Array.from({ length: 1 + anyInt(6) }, (): Did => {
        const atMs = Math.min(begun + anyInt(30 * 24 * 60) * 60_000, to + hourMs);
        return { name: names[anyInt(names.length)] ?? "", atMs };
      });
      return { person: n % 2 === 0 ? `external_id:p\u{1f600}${n}` : `usr_${n}`, did };
    });
    let of: Own;

    before(async () => {
      of = await own();
      await seedEvents(of, histories);
    });

    it("are what a plain program counts in funnels", async () => {
      const asked = [names, ["looked", "looked", "bought"]];
      const questions = asked.map((steps) => ({ kind: "funnel" as const, range, steps, windowHours: 200 }));
      const answers = await answersOf(of, questions);
      for (const [n, steps] of asked.entries()) {
        const { steps: counted = [], asOf = range.to } = answers[n] ?? {};
        const plain = plainFunnel(
          histories.map(({ did }) => did),
          { steps, windowMs: 200 * hourMs, range },
          asOf,
        );
        expect(counted.map(({ reached, lost, pending }) => ({ reached, lost, pending }))).to.deep.equal(plain);
        expect(plain.at(-1)?.reached).to.be.above(0);
      }
    });

    it("are what a plain program counts of cohorts, by the clocks of twelve zones", async () => {
      const specs = zones.map((zone, n) => {
        const [unit, mode] = [cohortUnits[n % 3] ?? "day", periodModes[n % 2] ?? "calendar"];
        return { range, zone, unit, periods: 12, mode };
      });
      const cohort = { kind: "retention" as const, cohort: "looked", back: "bought" };
      const answers = await answersOf(
        of,
        specs.map((spec) => ({ ...cohort, ...spec })),
      );
      const came = histories.flatMap(({ did }) => {
        const looked = did.filter((one) => one.name === "looked" && one.atMs >= from && one.atMs < to);
        const backMs = did.flatMap(({ name, atMs }) => (name === "bought" ? [atMs] : []));
        return looked.length === 0 ? [] : [{ firstMs: Math.min(...looked.map(({ atMs }) => atMs)), backMs }];
      });
      for (const [n, spec] of specs.entries()) {
        const { cohorts = [], asOf = range.to } = answers[n] ?? {};
        const counted = cohorts.map(({ size, retained }) => ({ size, retained }));
        expect(counted, spec.zone).to.deep.equal(plainRetention(came, spec, asOf));
      }
    });
  });

  it("are counted by a job once somebody asks, which shows how far it is, and not again soon", async () => {
    const of = await own();
    const did = (name: string, daysAgo: number): Did => ({ name, atMs: now - daysAgo * dayMs });
    await seedEvents(of, [
      { person: "usr_a", did: [did("looked", 20), did("bought", 19)] },
      { person: "usr_b", did: [did("looked", 10)] },
      { person: "usr_c", did: [did("looked", 1)] },
    ]);
    const query = `${wholeRange}&steps=looked,bought&window_hours=48`;
    const first = await call(query, of);
    expect(first.body).to.deep.include({ as_of: null, funnel: null, cohorts: null, progress: { people: 0 } });
    await count(of);
    const second = await call(query, of);
    expect(second.body.progress).to.equal(null);
    expect(second.body.funnel?.window_hours).to.equal(48);
    const [looked, bought] = second.body.funnel?.steps ?? [];
    expect(looked).to.deep.include({ name: "looked", reached: 3, lost: 0, pending: 0, rate: 1, median_ms: null });
    expect(bought).to.deep.include({ name: "bought", reached: 1, lost: 1, pending: 1, rate: 1 / 3 });
    expect(bought?.median_ms).to.be.within(0.97 * dayMs, 1.03 * dayMs);
    expect(await reports().countDocuments({ app_id: of.app._id, due_at: null })).to.equal(1);
  });

  it("are counted again when somebody asks after a while, as events come late", async () => {
    const of = await own();
    await seedEvents(of, [{ person: "usr_a", did: [{ name: "looked", atMs: now - dayMs }] }]);
    const query = `${wholeRange}&steps=looked,looked`;
    await call(query, of);
    await count(of);
    const long = new Date(Date.now() - hourMs);
    await reports().updateOne({ app_id: of.app._id }, { $set: { rests_until: long } });
    const again = await call(query, of);
    expect(again.body.funnel?.steps[0]?.reached, "what is known is shown meanwhile").to.equal(1);
    expect(again.body.progress).to.deep.equal({ people: 0 });
    await seedEvents(of, [{ person: "usr_b", did: [{ name: "looked", atMs: now - 2 * dayMs }] }]);
    await count(of);
    expect((await call(query, of)).body.funnel?.steps[0]?.reached).to.equal(2);
  });

  it("come back by the sessions of their devices, also of users who were merged into them", async () => {
    const of = await own();
    const app = { tenant_id: of.app.tenant_id, app_id: of.app._id };
    const first_seen_at = new Date(now - 40 * dayMs);
    const [stays, leaves] = [
      aUser({ ...app, first_seen_at, merged_keys: ["user_id:usr_former"] }),
      aUser({ ...app, first_seen_at }),
    ];
    await site.db.collection<UserRow>(userCollection.name).insertMany([stays, leaves]);
    const months = sessionMonths(site.db);
    const former = { ...app, _id: "usr_former" };
    for (const days of [40, 39, 38])
      await months.add(days === 38 ? former : { ...app, _id: stays._id }, new Date(now - days * dayMs), new Date());
    await months.add({ ...app, _id: stays._id }, new Date(now - 39 * dayMs), new Date());
    const query = `${wholeRange}&mode=rolling&periods=3`;
    await call(query, of);
    await count(of);
    const { body } = await call(query, of);
    const cohort = body.cohorts?.find(({ size }) => size > 0);
    expect(cohort).to.deep.include({ size: 2, retained: [1, 1, 1, 0], rates: [0.5, 0.5, 0.5, 0] });
    expect(body.cohorts?.reduce((sum, { size }) => sum + size, 0)).to.equal(2);
    expect(Date.parse(body.complete_from), "sessions are kept since then").to.be.at.least(now);
    const kept = await site.db
      .collection<SessionMonthRow>(sessionMonthCollection.name)
      .find({ user_id: stays._id })
      .toArray();
    expect(kept.flatMap(({ quarters }) => quarters)).to.have.length(2);
  });

  it("are those of the app alone, and what cannot be asked is refused by its member", async () => {
    const one = await own();
    await seedEvents(one, [{ person: "usr_a", did: [{ name: "looked", atMs: now - dayMs }] }]);
    const other = await own();
    await seedEvents(other, [{ person: "usr_b", did: [{ name: "chose", atMs: now - dayMs }] }]);
    expect((await call(wholeRange, { app: one.app, token: tenant.token })).status).to.equal(404);
    const name = (n: number) => Array.from({ length: n }, () => "looked").join(",");
    const range = (first: number, last: number) =>
      `from=${new Date(now - first * dayMs).toISOString()}&to=${new Date(now - last * dayMs).toISOString()}`;
    const faults = [
      [`steps=${name(1)}`, "steps"],
      [`steps=${name(9)}`, "steps"],
      ["steps=looked,chose", "steps[1]"],
      ["steps=looked,looked&window_hours=0", "window_hours"],
      ["steps=looked,looked&periods=3", "periods"],
      ["window_hours=3", "window_hours"],
      ["cohort=looked", "return"],
      ["cohort=chose&return=looked", "cohort"],
      ["return=chose", "return"],
      ["periods=0", "periods"],
      ["periods=13", "periods"],
      ["interval=hour", "interval"],
      ["mode=sliding", "mode"],
      ["compare=previous_year", "compare"],
      ["timezone=Mars/Olympus", "timezone"],
      [range(1, 2), "to"],
      [range(401, 0), "from"],
      ["from=2026-01-01T00:07:00Z", "from"],
    ] as const;
    for (let n = 0; n < faults.length; n += 4) {
      const asking = n === 0 ? one : await own(); // each app may ask five times a second
      if (n > 0) await seedEvents(asking, [{ person: "usr_a", did: [{ name: "looked", atMs: now - dayMs }] }]);
      for (const [query, field] of faults.slice(n, n + 4)) {
        const { status, body } = await call(query, asking);
        expect([status, body.error?.details["field"]], query).to.deep.equal([400, field]);
      }
    }
    expect(await reports().countDocuments({ app_id: one.app._id })).to.equal(0);
  });

  it("are shown at once to who names no range, as they were counted last", async () => {
    const of = await own();
    await call("periods=1", of);
    await count(of);
    const counted = (await call("periods=1", of)).body;
    expect(counted.cohorts).to.have.length.within(30, 32);
    const former = { from: new Date(now - 90 * dayMs), to: new Date(now - 60 * dayMs) };
    const earlier = { "counted.range": former, rests_until: new Date(0) };
    await reports().updateOne({ app_id: of.app._id }, { $set: earlier }); // as if that was asked two months ago
    const { from: shownFrom, to: shownTo, cohorts, progress } = (await call("periods=1", of)).body;
    expect([shownFrom, shownTo]).to.deep.equal([former.from.toISOString(), former.to.toISOString()]);
    expect([cohorts, progress]).to.deep.equal([counted.cohorts, { people: 0 }]);
    await count(of);
    expect(Date.parse((await call("periods=1", of)).body.to)).to.be.at.least(now);
    expect(await reports().countDocuments({ app_id: of.app._id })).to.equal(1);
  });

  it("are refused once an app has had as many counted as it may", async () => {
    const of = await own();
    let days = 0;
    const isRefused = async (): Promise<boolean> => {
      const range = `from=${new Date(now - (2 + days) * dayMs).toISOString()}&to=${new Date(now).toISOString()}`;
      const { status, body } = await call(range, of);
      if (status === 200) days += 1;
      return status === 429 && body.error?.details["limit"] === 60; // an app may ask five times a second, too
    };
    await until(isRefused, 100_000);
    expect(days).to.be.at.least(20);
    expect(await reports().countDocuments({ app_id: of.app._id })).to.equal(days);
  });

  it("begin where what the plan keeps begins", async () => {
    const short = await seedTenant(site.db, { plan: { _id: "analytics_short", retention_days: 10, api_rps: 1_000 } });
    const { body } = await call(wholeRange, short);
    expect(body.clamped).to.equal(true);
    expect(Date.parse(body.from)).to.be.within(Date.now() - 10 * dayMs - 60_000, Date.now() - 10 * dayMs + hourMs);
    await count(short);
    const gone = `from=${new Date(now - 50 * dayMs).toISOString()}&to=${new Date(now - 40 * dayMs).toISOString()}`;
    await call(gone, short);
    await count(short);
    expect((await call(gone, short)).body.cohorts).to.deep.equal([]);
  });
});
