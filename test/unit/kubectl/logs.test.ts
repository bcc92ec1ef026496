import { expect } from "chai";
import { asJson, isWanted, lineOf, shown } from "../../../kubectl/logs/line.ts";
import { merge } from "../../../kubectl/logs/merge.ts";

const written = (time: string, members: object = {}): string =>
  JSON.stringify({ level: "info", time, program: "dispatcher", pid: 1, event: "message.ended", ...members });
const line = (time: string, members: object = {}, pod = "d-1") => lineOf(pod, written(time, members), 0);

describe("a line of kubectl herald logs", () => {
  it("has its time, level, pod and event first, and the rest as name=value", () => {
    const one = line("2026-01-01T00:00:00.000Z", { message: "msg_1", reason: "no one left", counts: { sent: 2 } });
    expect(shown(one, false)).to.equal(
      '2026-01-01T00:00:00.000Z info  d-1 message.ended message=msg_1 reason="no one left" counts={"sent":2}',
    );
    expect(JSON.parse(asJson(one))).to.include({ pod: "d-1", event: "message.ended", message: "msg_1" });
  });

  it("is an error when it is none of Herald's, and stays beside the line before it", () => {
    expect(lineOf("d-1", "FATAL ERROR: out of memory", 42)).to.include({ level: "error", atMs: 42 });
    expect(shown(lineOf("d-1", "[1, 2]", 0), false)).to.equal(" error d-1 [1, 2]");
  });

  it("is wanted by its level, and by an id that it names anywhere", () => {
    const one = line("2026-01-01T00:00:00.000Z", { level: "warn", refs: ["msg_1"] });
    expect(isWanted(one, { id: "msg_1", level: "warn" })).to.equal(true);
    expect(isWanted(one, { id: "msg_2", level: null })).to.equal(false);
    expect(isWanted(one, { id: null, level: "error" })).to.equal(false);
  });

  it("waits a moment for those of other pods that were written before it", () => {
    const lines = merge();
    lines.add(line("2026-01-01T00:00:03.000Z", {}, "a"));
    lines.add(line("2026-01-01T00:00:01.000Z", {}, "b"));
    lines.add(line("2026-01-01T00:00:02.000Z", {}, "c"));
    const due = (text: string) => lines.until(Date.parse(text)).map(({ pod }) => pod);
    expect(due("2026-01-01T00:00:02.000Z")).to.deep.equal(["b", "c"]);
    expect(due("2026-01-01T00:00:02.000Z")).to.deep.equal([]);
    expect(due("2026-01-01T00:00:09.000Z")).to.deep.equal(["a"]);
  });
});
