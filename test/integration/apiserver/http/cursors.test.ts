import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Api } from "../../../support/api/api.ts";
import { useSite } from "../../../support/api/site.ts";
import { anApp, seed, testKeyRing } from "../../../support/rows/fixtures.ts";
import { aMessage } from "../../../support/rows/work.ts";

describe("cursors", () => {
  const { site, tenant } = useSite();
  const sent: string[] = [];

  before(async () => {
    for (let n = 0; n < 7; n++) sent.push(await send());
  });

  const send = async () => {
    const body = { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" }, labels: ["a"] };
    return (await site.api.call("POST", "/v1/notifications", { token: tenant.token, body })).body.id;
  };
  const list = (query: string, app = tenant.app._id) =>
    site.api.call("GET", `/v1/notifications?app_id=${app}&${query}`, { token: tenant.token });
  const cursorOf = async (query: string) => encodeURIComponent((await list(query)).body.next_cursor ?? "");

  for (const sort of ["-created_at", "created_at"]) {
    it(`visits everything once by ${sort}, also while more is added`, async () => {
      const seen: string[] = [];
      let query = `limit=3&sort=${sort}`;
      for (let page = 0; page < 10; page++) {
        const { body } = await list(query);
        seen.push(...body.data.map(({ id }) => id));
        expect(body.has_more).to.equal(body.next_cursor !== null);
        if (body.next_cursor === null) break;
        if (page === 0) sent.push(await send());
        query = `limit=3&sort=${sort}&cursor=${encodeURIComponent(body.next_cursor)}`;
      }
      expect(new Set(seen).size).to.equal(seen.length);
      const missed = sent.filter((id) => !seen.includes(id));
      expect(missed).to.deep.equal(sort === "-created_at" ? [sent.at(-1)] : []);
    });
  }

  it("visits large messages once each, in pages of fewer than were asked for", async () => {
    const app = anApp({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apps: [app] });
    const large = { contents: { en: "x".repeat(1_000_000) } };
    const of = { tenant_id: tenant.tenant._id, app_id: app._id, content: large };
    const rows = Array.from({ length: 12 }, () => aMessage({ ...of, _id: newId("message", new Date()), due_at: null }));
    await site.db.collection<MessageRow>("messages").insertMany(rows);
    const pages: string[][] = [];
    for (let cursor: string | null = ""; cursor !== null && pages.length < 5; ) {
      const { body } = await list(`limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, app._id);
      pages.push(body.data.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    expect(pages.map(({ length }) => length)).to.deep.equal([7, 5]);
    expect(pages.flat()).to.deep.equal(rows.map(({ _id }) => _id).reverse());
  });

  it("ends a list that fits its pages exactly without another page", async () => {
    const { body } = await list(`limit=${sent.length}`);
    expect([body.has_more, body.next_cursor]).to.deep.equal([false, null]);
  });

  it("may change the limit from page to page", async () => {
    const cursor = await cursorOf("limit=2");
    expect((await list(`limit=200&cursor=${cursor}`)).body.data).to.have.length(sent.length - 2);
  });

  const cases: { it: string; query: (cursor: string) => Promise<string> | string; app?: () => Promise<string> }[] = [
    { it: "another order", query: (cursor) => `sort=created_at&cursor=${cursor}` },
    { it: "another filter", query: (cursor) => `label=a&cursor=${cursor}` },
    { it: "the page's own text, altered", query: (cursor) => `cursor=A${cursor.slice(1)}` },
    { it: "another signature", query: (cursor) => `cursor=${cursor.slice(0, -4)}AAAA` },
    { it: "no signature", query: (cursor) => `cursor=${cursor.split(".")[0]}` },
    { it: "any text", query: () => "cursor=abc" },
    { it: "nothing", query: () => "cursor=" },
    {
      it: "the deliveries of a message",
      query: async () => {
        const id = sent[0] ?? "";
        const rows = ["1", "2"].map((n) => ({
          _id: `dlv_${n}`,
          message_id: id,
          tenant_id: tenant.tenant._id,
          app_id: tenant.app._id,
          subscription_id: `s${n}`,
          user_id: "u",
          channel: "email",
          address_masked: "•••",
          status: "sent",
          position: n,
          attempts: 1,
          created_at: new Date(),
          updated_at: new Date(),
        }));
        await site.db.collection<{ _id: string }>("deliveries").insertMany(rows);
        const page = await site.api.call("GET", `/v1/notifications/${id}/deliveries?limit=1&sort=-created_at`, {
          token: tenant.token,
        });
        return `cursor=${encodeURIComponent(page.body.next_cursor ?? "")}`;
      },
    },
    {
      it: "another app",
      query: (cursor) => `cursor=${cursor}`,
      app: async () => {
        const other = anApp({ tenant_id: tenant.tenant._id });
        await seed(site.db, { apps: [other] });
        return other._id;
      },
    },
  ];
  for (const { it: name, query, app } of cases) {
    it(`refuses a cursor of ${name}`, async () => {
      const cursor = await cursorOf("limit=1");
      expect(cursor).to.not.equal("");
      const reply = await list(await query(cursor), await app?.());
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, "cursor"]);
    });
  }

  it("is good for every replica, also while the key ring is rotated and after", async () => {
    const renewed = `new:${Buffer.alloc(32, 8).toString("base64")}`;
    const rotating = await site.start({ HERALD_KEY_RING: `${renewed},${testKeyRing}` });
    const rotated = await site.start({ HERALD_KEY_RING: renewed, HERALD_LOST_KEYS: keyRing(testKeyRing).kids.join() });
    const read = (api: Api, query: string) =>
      api.call("GET", `/v1/notifications?app_id=${tenant.app._id}&limit=2${query}`, { token: tenant.token });
    for (const writer of [site.api, rotating, rotated]) {
      const { body } = await read(writer, "");
      const next = `&cursor=${encodeURIComponent(body.next_cursor ?? "")}`;
      const replies = await Promise.all([site.api, rotating, rotated].map((reader) => read(reader, next)));
      expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    }
  }).timeout(120_000);
});
