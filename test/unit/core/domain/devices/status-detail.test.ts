import { expect } from "chai";
import { enabledOf, saidOf } from "#core/domain/devices/status-detail.ts";

describe("what a device says of its permission", () => {
  const [before, now] = [new Date("2026-01-01T00:00:00Z"), new Date("2026-01-02T00:00:00Z")];
  const subscribed = { status: "subscribed", status_reason: null, unsubscribed_at: null } as const;
  const without = (status_reason: string | null) =>
    ({ status: "unsubscribed", status_reason, unsubscribed_at: before }) as const;

  for (const [detail, reason] of [
    [0, "no_permission"],
    [-2, "opt_out"],
    [-3, "device_error"],
    [-7, "device_error"],
    [-10, "uninstalled"],
    [-20, "device_error"],
    [-26, "device_error"],
    [-30, "disabled"],
  ] as const)
    it(`ends a subscription by ${detail}: ${reason}`, () =>
      expect(saidOf(detail, subscribed, now)).to.deep.equal({
        status: "unsubscribed",
        status_reason: reason,
        unsubscribed_at: now,
      }));

  for (const detail of [-8, -9, -11, -12, -25, -27, -29, 1, 2])
    it(`changes nothing of one by ${detail}`, () => expect(saidOf(detail, subscribed, now)).to.deep.equal({}));

  for (const reason of ["no_permission", "uninstalled", "disabled", "device_error"])
    it(`takes back ${reason}, which it has said itself`, () =>
      expect(saidOf(1, without(reason), now)).to.deep.equal({ ...subscribed, resubscribed_at: now }));

  for (const reason of ["opt_out", "api", null])
    it(`takes back nothing that was chosen, nor puts anything in its place: ${reason}`, () => {
      for (const detail of [1, 0, -10]) expect(saidOf(detail, without(reason), now)).to.deep.equal({});
    });

  it("says since when there is none as long as there is none", () =>
    expect(saidOf(-10, without("no_permission"), now)).to.deep.equal(without("uninstalled")));

  it("is overridden by the person's switch, which waits for a token", () => {
    const of = { hasToken: true, now };
    expect(enabledOf(false, subscribed, of)).to.deep.equal({ ...without("opt_out"), unsubscribed_at: now });
    expect(enabledOf(true, without("opt_out"), of)).to.deep.equal({ ...subscribed, resubscribed_at: now });
    expect(enabledOf(true, without("opt_out"), { ...of, hasToken: false })).to.deep.equal(without("no_permission"));
  });
});
