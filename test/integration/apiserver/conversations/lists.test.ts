import { expect } from "chai";
import { searchKeys } from "#core/domain/conversations/words.ts";
import { dayMs } from "#core/domain/durations.ts";
import { newId, ulid } from "#core/domain/ids.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { conversationList, positionIn } from "#core/storage/conversations/list.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import type { SortPosition } from "#core/storage/mongo/page-range.ts";
import { aliasKey, type UserRow } from "#core/storage/people/users.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";

describe("lists of conversations", () => {
  const { site, tenant } = useSharedSite({ plan: { _id: "conversation-lists", api_rps: 1_000 } });
  const begin = Date.now() - 3_600_000;
  const seeded: ConversationRow[] = [];
  const of = () => ({ tenant_id: tenant.tenant._id, app_id: tenant.app._id });
  const call = async (query: string) =>
    site.api.call("GET", `/v1/apps/${tenant.app._id}/conversations${query}`, { token: tenant.token });
  const messageRows = () => site.db.collection<ConversationMessageRow>("conversation_messages");

  /** The places of seeded conversations that a list has, in its order. */
  const listed = async (query: string): Promise<number[]> => {
    const { status, body } = await call(query);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.data.map(({ id }: { id: string }) => seeded.findIndex(({ _id }) => _id === id));
  };

  const shapes: Partial<ConversationRow>[] = [
    { status: "open", assignee_id: "ada", tags: ["red"], tag_keys: ["red"], priority: "high" },
    { status: "pending", assignee_id: "ada", unread_count: 0, waiting_since: null },
    { status: "snoozed", channel: "sms", handled_by: "bot" },
    { status: "closed", tags: ["red", "blue"], tag_keys: ["red", "blue"], waiting_since: null },
    { status: "open", assignee_id: "grace", unread_count: 0 },
  ];

  before(async () => {
    for (const [n, shape] of shapes.entries()) {
      const at = new Date(begin + n * 1_000);
      const created_at = new Date(begin - n * 1_000);
      const waiting_since = new Date(begin - ((n * 7) % 5) * 1_000);
      const conversation = { created_at, updated_at: at, waiting_since, ...shape };
      seeded.push((await seedConversation(site.db, of(), { conversation })).row);
    }
  });

  const narrowed: [string, number[]][] = [
    ["", [4, 3, 2, 1, 0]],
    ["?sort=updated_at", [0, 1, 2, 3, 4]],
    ["?sort=-created_at", [0, 1, 2, 3, 4]],
    ["?sort=waiting_since", [2, 4, 0]],
    ["?sort=waiting_since&status=open", [4, 0]],
    ["?status=open", [4, 0]],
    ["?status=open&status=closed", [4, 3, 0]],
    ["?status=unresolved", [4, 2, 1, 0]],
    ["?assignee_id=ada", [1, 0]],
    ["?assignee_id=none&status=unresolved", [2]],
    ["?channel=sms", [2]],
    ["?tag=red", [3, 0]],
    ["?tag=red&status=open", [0]],
    ["?tag=red&sort=-created_at", [0, 3]],
    ["?tag=red&sort=waiting_since", [0]],
    ["?priority=high", [0]],
    ["?handled_by=bot", [2]],
    ["?unread=false", [4, 1]],
    ["?unread=true&status=closed", [3]],
  ];
  for (const [query, places] of narrowed)
    it(`give with ${query || "nothing"} what fits, in its order`, async () => {
      expect(await listed(query)).to.deep.equal(places);
    });

  it("go on page by page in every order", async () => {
    for (const sort of ["-updated_at", "updated_at", "-created_at", "waiting_since"]) {
      const whole = await listed(`?sort=${sort}`);
      const pages: number[] = [];
      let cursor: string | null = null;
      do {
        const { body } = await call(`?sort=${sort}&limit=2${cursor === null ? "" : `&cursor=${cursor}`}`);
        pages.push(...body.data.map(({ id }: { id: string }) => seeded.findIndex(({ _id }) => _id === id)));
        cursor = body.next_cursor;
      } while (cursor !== null);
      expect(pages, sort).to.deep.equal(whole);
    }
  });

  it("look at so much at a time, and say how far they have looked", async () => {
    const list = conversationList(site.db, { size: 1, most: 2, ofOne: 1_000 });
    const wanted = { priority: "high" } as const;
    const place = { sort: "updated_at", isDescending: true, limit: 10 } as const;
    const app = { tenantId: of().tenant_id, appId: of().app_id };
    let after: SortPosition | null = null;
    const found: string[] = [];
    for (let n = 0; n < 10; n++) {
      const page: Awaited<ReturnType<typeof list>> = await list(app, wanted, { ...place, after });
      found.push(...page.rows.map(({ _id }) => _id));
      if (page.isWhole) break;
      after = page.readTo ?? expect.fail("it has not said where it goes on");
    }
    expect(found).to.deep.equal([seeded[0]?._id]);
  });

  it("find people by their own id", async () => {
    const user = { _id: seeded[0]?.user_id ?? "", alias_keys: [aliasKey("external_id", "own-1")] };
    await site.db.collection<UserRow>("users").insertOne({ ...of(), ...user } as UserRow); // as far as it is looked for
    expect(await listed("?external_id=own-1")).to.deep.equal([0]);
    expect(await listed("?external_id=nobody")).to.deep.equal([]);
    expect(await listed(`?external_id=own-1&user_id=${seeded[1]?.user_id}`)).to.deep.equal([]);
  });

  it("are those of one person or address, in every order, page by page", async () => {
    const at = (n: number) => new Date(begin + n * 1_000);
    const { row: first, person } = await seedConversation(site.db, of(), {
      conversation: { created_at: at(2), updated_at: at(10), waiting_since: at(9) },
    });
    const { contact_address, user_id } = first;
    const theirs = { contact_address, user_id, subscription_id: person._id };
    const rest = [
      { created_at: at(3), updated_at: at(11), waiting_since: null },
      { created_at: at(1), updated_at: at(12), waiting_since: at(8) },
    ];
    const ids = [first._id];
    for (const [n, conversation] of rest.entries()) {
      const over = { ...theirs, ...conversation, place: `${first._id} ${n}` };
      ids.push((await seedConversation(site.db, of(), { conversation: over })).row._id);
    }
    const orders: [string, number[]][] = [
      ["updated_at", [0, 1, 2]],
      ["-created_at", [1, 0, 2]],
      ["waiting_since", [2, 0]],
    ];
    for (const one of [`user_id=${user_id}`, `contact_address=${encodeURIComponent(contact_address)}`])
      for (const [sort, places] of orders) {
        const found: string[] = [];
        let cursor: string | null = null;
        do {
          const { body } = await call(`?${one}&sort=${sort}&limit=1${cursor === null ? "" : `&cursor=${cursor}`}`);
          found.push(...body.data.map(({ id }: { id: string }) => id));
          cursor = body.next_cursor;
        } while (cursor !== null);
        expect(found, `${one} ${sort}`).to.deep.equal(places.map((n) => ids[n]));
      }
    const many = conversationList(site.db, { size: 2, most: 2, ofOne: 2 }); // they are more than are read at once
    const app = { tenantId: of().tenant_id, appId: of().app_id };
    for (const filter of [{ userId: user_id }, { contactAddress: contact_address }])
      for (const [sort, isDescending, places] of [
        ["created_at", true, [1, 0, 2]],
        ["waiting_since", false, [2, 0]],
      ] as const) {
        const found: string[] = [];
        let after: SortPosition | null = null;
        let isWhole = false;
        while (!isWhole) {
          const page: Awaited<ReturnType<typeof many>> = await many(app, filter, {
            sort,
            isDescending,
            after,
            limit: 1,
          });
          found.push(...page.rows.map(({ _id }) => _id));
          const last = page.rows.at(-1);
          isWhole = page.isWhole && page.rows.length === 0;
          after = page.readTo ?? (last === undefined ? after : positionIn(sort)(last));
        }
        expect(found, `${JSON.stringify(filter)} ${sort}`).to.deep.equal(places.map((n) => ids[n]));
      }
  });

  it("find words of the last 90 days, however they are written", async () => {
    const say = (n: number, text: string, at: Date): ConversationMessageRow => ({
      ...of(),
      _id: newId("conversationMessage", at),
      position: ulid(at),
      conversation_id: seeded[n]?._id ?? "",
      subscription_id: "sub_words",
      user_id: "usr_words",
      direction: "inbound",
      type: "text",
      text,
      words: searchKeys(text, at),
      author: { type: "contact", id: null },
      seq: 1,
      created_at: at,
    });
    const now = new Date();
    await messageRows().insertMany([
      say(0, "Is the Café open on Sunday?", now),
      say(2, "The cafe was closed", new Date(now.getTime() - 60 * dayMs)),
      say(3, "An old cafe", new Date(now.getTime() - 120 * dayMs)),
    ]);
    expect(await listed("?q=cafe")).to.deep.equal([2, 0]);
    expect(await listed("?q=CAF%C3%89%20sunday")).to.deep.equal([0]);
    expect(await listed("?q=cafe&status=snoozed&sort=-created_at")).to.deep.equal([2]);
    expect(await listed("?q=tea")).to.deep.equal([]);
    const { status, body } = await call("?q=%3F%3F");
    expect([status, body.error.details.field]).to.deep.equal([400, "q"]);
  });

  it("have messages of a direction or type, and notes among them", async () => {
    const { row, message } = await seedConversation(site.db, of());
    const path = `/v1/apps/${tenant.app._id}/conversations/${row._id}`;
    const ask = (method: string, rest: string, body?: object) =>
      site.api.call(method, `${path}${rest}`, { token: tenant.token, ...(body && { body }) });
    const made = await ask("POST", "/notes", { text: "Call her back", mentions: ["grace"] });
    expect([made.status, made.body.text, made.body.mentions]).to.deep.equal([201, "Call her back", ["grace"]]);
    await messageRows().insertOne({
      ...message,
      _id: newId("conversationMessage", new Date()),
      position: ulid(new Date()),
      type: "location",
      location: { latitude: 1, longitude: 2, name: null, address: null },
    });
    const types = async (query: string) => (await ask("GET", `/messages${query}`)).body.data.map((one) => one["type"]);
    expect(await types("")).to.deep.equal(["location", "text"]);
    expect(await types("?include_notes=true")).to.deep.equal(["location", "note", "text"]);
    expect(await types("?include_notes=true&sort=created_at")).to.deep.equal(["text", "note", "location"]);
    expect(await types("?type=location")).to.deep.equal(["location"]);
    expect(await types("?direction=outbound")).to.deep.equal([]);
    expect((await ask("GET", "/messages?include_notes=true&type=text")).status).to.equal(400);
    expect((await ask("GET", "/notes")).body.data.map(({ id }: { id: string }) => id)).to.deep.equal([made.body.id]);
    expect((await ask("POST", "/notes", { text: "x".repeat(10_001) })).status).to.equal(400);
    expect((await ask("GET", "")).body).to.include({ message_count: 1, seq: 1 });
  });

  it("leave unread what came behind the last message that was read", async () => {
    const { row, message } = await seedConversation(site.db, of(), {
      conversation: { unread_count: 3, message_count: 3 },
    });
    const later = [1, 2].map(() => ({
      ...message,
      _id: newId("conversationMessage", new Date()),
      position: ulid(new Date()),
      provider_message_id: ulid(new Date()),
    }));
    await messageRows().insertMany(later);
    const read = (body: object) =>
      site.api.call("POST", `/v1/apps/${tenant.app._id}/conversations/${row._id}/read`, { token: tenant.token, body });
    expect((await read({ up_to_message_id: message._id })).body).to.include({ unread_count: 2 });
    expect((await read({ up_to_message_id: later[1]?._id })).body).to.include({ unread_count: 0 });
    await site.db
      .collection<ConversationRow>("conversations")
      .updateOne({ _id: row._id }, { $set: { unread_count: 1 } });
    for (const bad of [{ up_to_message_id: "cmg_other" }, { up_to_message_id: message._id, read: false }])
      expect((await read(bad)).body.error.details.field).to.equal("up_to_message_id");
  });
});
