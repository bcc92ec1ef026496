import { expect } from "chai";
import { AppError } from "#core/errors.ts";
import type { AuditFact } from "#core/queue/audit.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { AppSettings, SettingRow } from "#core/storage/settings/app-settings.ts";
import { newSetting, settings } from "../../../../apiserver/settings/settings.ts";
import { anApiKey, anApp, aPlan, aTenant } from "../../../support/rows/fixtures.ts";
import { handClock } from "../../../support/rows/work.ts";

type Row = SettingRow & { color: string };

/** Rows in memory, for one app. */
const inMemory = (rows: Map<string, Row>): AppSettings<Row> => {
  const isAsRead = ({ _id, updated_at }: Row): boolean => rows.get(_id)?.updated_at.getTime() === updated_at.getTime();
  return {
    name: "paints",
    ofApp: async () => [...rows.values()],
    count: async () => rows.size,
    find: async (_of, id) => rows.get(id) ?? null,
    reread: async ({ _id }) => rows.get(_id) ?? null,
    insert: async (row) => !rows.has(row._id) && rows.set(row._id, row).size > 0,
    change: async (read, { set }) => {
      if (!isAsRead(read)) return null;
      const after = { ...read, ...set };
      rows.set(read._id, after);
      return after;
    },
    remove: async (read) => isAsRead(read) && rows.delete(read._id),
    takeBack: async ({ _id }) => void rows.delete(_id),
  };
};

const managed = {
  kind: "Paint",
  namespace: "shop",
  name: "red",
  uid: "u-1",
  policy: "Enforce",
  deletion: "Delete",
} as const;

describe("the settings of an app", () => {
  const clock = handClock();
  const tenant = aTenant();
  const app = anApp({ tenant_id: tenant._id });
  const key = anApiKey({ tenant_id: tenant._id }).row;

  /** A kind of settings of which plans allow some; `steps` is what happens, in order. */
  const aKind = ({ plans = [] as PlanRow[], before = async (): Promise<void> => {} } = {}) => {
    const rows = new Map<string, Row>();
    const steps: string[] = [];
    const facts: AuditFact[] = [];
    const kind = settings(
      {
        nats: { changed: (...[collection, id]) => void steps.push(`announced ${collection} ${id}`) },
        audit: async ({ fact }, make) => {
          await before();
          const made = await make("evb_1");
          steps.push(made === null ? "withdrawn" : `published ${fact.action}`);
          if (made !== null) facts.push(fact);
          return made;
        },
        plans: async () => plans,
        clock,
      },
      {
        what: "wall paint",
        store: inMemory(rows),
        view: ({ _id: id, color }) => ({ id, color }),
        plan: { feature: "webhooks", metric: "webhook_endpoints", most: 3, ofPlan: (plan) => plan.webhook_endpoints },
        taken: async () => new AppError("HS_ALREADY_EXISTS", "there is one"),
      },
    );
    const by = {
      caller: { tenant, key, plan: aPlan({ _id: "team", webhook_endpoints: 2 }) },
      ip: "::1",
      requestId: "r-1",
    };
    const aRow = (id: string): Row => ({ ...newSetting(app, id, clock.now()), color: "red" });
    const codeOf = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => null,
        (error: AppError) => error.code,
      );
    return { rows, steps, facts, kind, by, aRow, codeOf };
  };

  it("are announced before the event of their creation is published", async () => {
    const { kind, by, aRow, steps, facts } = aKind();
    await kind.create(by, aRow("p_1"));
    expect(steps).to.deep.equal(["announced paints p_1", "published wall_paint.created"]);
    expect(facts[0]?.changes).to.deep.equal({ color: { before: null, after: "red" } });
  });

  it("are taken back when there are too many by then", async () => {
    const { kind, by, aRow, rows, codeOf } = aKind();
    for (const id of ["p_1", "p_2"]) await kind.create(by, aRow(id));
    expect(await codeOf(kind.create(by, aRow("p_3")))).to.equal("HS_QUOTA_EXCEEDED");
    expect([...rows.keys()]).to.deep.equal(["p_1", "p_2"]);
  });

  it("need a higher plan when one has room for more", async () => {
    const { kind, by, aRow, rows, codeOf } = aKind({ plans: [aPlan({ webhook_endpoints: 3 })] });
    for (const id of ["p_1", "p_2"]) await kind.create(by, aRow(id));
    const refused = "HS_PLAN_FEATURE_REQUIRED";
    expect(await codeOf(kind.requireRoom(by.caller, app))).to.equal(refused);
    expect(await codeOf(kind.create(by, aRow("p_3")))).to.equal(refused);
    expect(rows.size).to.equal(2);
  });

  it("are refused when another has what is unique", async () => {
    const { kind, by, aRow, codeOf, steps } = aKind();
    await kind.create(by, aRow("p_1"));
    expect(await codeOf(kind.create(by, aRow("p_1")))).to.equal("HS_ALREADY_EXISTS");
    expect(steps).to.have.length(2);
  });

  it("are changed as they are by now when another was quicker", async () => {
    let isFirst = true;
    const another = async (): Promise<void> => {
      const row = rows.get("p_1");
      if (row !== undefined && isFirst) rows.set("p_1", { ...row, color: "blue", updated_at: new Date() });
      isFirst = row === undefined;
    };
    const { rows, kind, by, aRow, steps, facts } = aKind({ before: another });
    const found = await kind.create(by, aRow("p_1"));
    const seen: string[] = [];
    const changed = await kind.change(by, "repainted", found, ({ color }) => {
      seen.push(color);
      return { set: { color: "green" } };
    });
    expect([seen, changed.color]).to.deep.equal([["red", "blue"], "green"]);
    expect(steps.slice(2)).to.deep.equal(["withdrawn", "announced paints p_1", "published wall_paint.repainted"]);
    expect(facts.at(-1)?.changes).to.deep.equal({ color: { before: "blue", after: "green" } });
  });

  it("get a later instant with each change", async () => {
    const { kind, by, aRow } = aKind();
    const found = await kind.create(by, aRow("p_1"));
    const changed = await kind.change(by, "updated", found, () => ({ set: {} }));
    expect(changed.updated_at.getTime()).to.equal(found.updated_at.getTime() + 1);
  });

  it("are neither changed nor removed when a resource enforces them; what is asked for is judged first", async () => {
    const { kind, by, aRow, rows, codeOf } = aKind();
    const found = { ...aRow("p_1"), managed: { ...managed, epoch: 1 } };
    rows.set("p_1", found);
    expect(await codeOf(kind.remove(by, found))).to.equal("HS_MANAGED");
    expect(await codeOf(kind.change(by, "updated", found, () => ({ set: {} })))).to.equal("HS_MANAGED");
    const wrong = () => {
      throw new AppError("HS_VALIDATION_ERROR", "no such color");
    };
    expect(await codeOf(kind.change(by, "updated", found, wrong))).to.equal("HS_VALIDATION_ERROR");
    expect(rows.get("p_1")).to.equal(found);
  });

  it("are announced once they are removed, and not found when they are gone", async () => {
    const { kind, by, aRow, steps, codeOf } = aKind();
    const found = await kind.create(by, aRow("p_1"));
    await kind.remove(by, found);
    expect(steps.slice(2)).to.deep.equal(["published wall_paint.deleted", "announced paints p_1"]);
    expect(await codeOf(kind.remove(by, found))).to.equal("HS_NOT_FOUND");
  });
});
