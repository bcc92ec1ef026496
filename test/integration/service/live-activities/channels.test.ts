import { expect } from "chai";
import { type Answer, type LiveSystem, startLiveActivities } from "../../../support/live-activities/activities.ts";
import { seedDevices } from "../../../support/system/sending.ts";
import { until } from "../../../support/until.ts";

const channels = "/live-activities/types/Match/channels";

describe("broadcast channels of live activities", () => {
  let sending: LiveSystem["sending"];
  let live: LiveSystem["live"];

  before(async () => {
    ({ sending, live } = await startLiveActivities({ type: "Match" }));
  });
  after(() => sending?.close());
  afterEach(() => sending.apns.script({}));

  type Channel = { id: string; status: string; apns_channel_id: string; activity_id: string | null };

  const list = async (): Promise<Channel[]> => (await live.ask("GET", channels)).body["data"] as Channel[];
  const aChannel = async (body: object = {}): Promise<Channel> => {
    const { status, body: made } = await live.ask("POST", channels, body);
    expect([status, made["status"]]).to.deep.equal([201, "creating"]);
    const find = async () => (await list()).find(({ id, status: now }) => id === made["id"] && now === "ready");
    await until(async () => (await find()) !== undefined);
    return (await find()) as Channel; // just seen
  };
  const start = (body: object): Promise<Answer> =>
    live.ask("POST", "/live-activities/Match/start", { content_state: { step: 0 }, target: { all: true }, ...body });
  const broadcasts = (channel: Channel) =>
    sending.apns.log.page().filter(({ address, accepted }) => accepted && address === channel.apns_channel_id);

  it("are refused to a start while none is ready", async () => {
    const { status, body } = await start({ channel: true });
    expect([status, body["error"]]).to.deep.include(409);
    expect(body["error"]).to.deep.include({ details: { status: "no_channel" } });
  });

  it("take each update and the end as one request, for any number of devices", async () => {
    const channel = await aChannel();
    const devices = await seedDevices(sending.system, 3);
    const tokens: string[] = [];
    for (const device of devices) tokens.push(await live.canStart(device, "Match"));
    const { status, body } = await start({ activity_id: "final", channel: true });
    expect(status).to.equal(202);
    expect((await live.ended(String(body["message_id"]))).counts).to.include({ sent: 3 });
    for (const token of tokens)
      expect(live.pushes(token)[0]?.aps).to.include({ "input-push-channel": channel.apns_channel_id });
    const update = await live.ended(
      await live.send("update", { activity_id: "final", content_state: { step: 1 } }, "Match"),
    );
    expect(update.counts).to.include({ targeted: 1, sent: 1 });
    await live.ended(await live.send("end", { activity_id: "final" }, "Match"));
    expect(broadcasts(channel).map(({ body: sent }) => (JSON.parse(sent) as { aps: object }).aps)).to.deep.equal([
      { ...aps(broadcasts(channel)[0]?.body), event: "update", "content-state": { step: 1 } },
      { ...aps(broadcasts(channel)[1]?.body), event: "end", "content-state": { step: 1 } },
    ]);
    expect((await list()).find(({ id }) => id === channel.id)).to.include({ status: "used", activity_id: "final" });
    expect((await start({ activity_id: "another", channel: true })).status).to.equal(409);
  });

  const aps = (body = ""): object => (JSON.parse(body) as { aps: object }).aps;

  it("that keep nothing take updates that expire at once", async () => {
    const channel = await aChannel({ stores_latest: false });
    await start({ activity_id: "short", channel: true });
    await live.ended(await live.send("update", { activity_id: "short", content_state: { step: 1 } }, "Match"));
    expect(broadcasts(channel)[0]?.headers).to.include({ "apns-expiration": "0", "apns-push-type": "liveactivity" });
  });

  it("are deleted at Apple", async () => {
    const channel = await aChannel();
    expect((await live.ask("DELETE", `${channels}/${channel.id}`)).status).to.equal(200);
    await until(async () => (await list()).every(({ id }) => id !== channel.id));
    const other = await start({ activity_id: "gone", channel: true });
    expect(other.status).to.equal(409);
  });

  it("say why Apple makes none", async () => {
    const { db, app } = sending.system;
    const apps = db.collection<{ _id: string }>("apps");
    await apps.updateOne({ _id: app._id }, { $set: { "channels.ios_push.key_id": "UNKNOWN123" } });
    await live.ask("POST", channels, {});
    await until(async () => (await list()).some(({ status }) => status === "failed"));
  });
});
