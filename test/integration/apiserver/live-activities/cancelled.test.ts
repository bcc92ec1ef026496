import { expect } from "chai";
import { useSite } from "../../../support/api/site.ts";

describe("a live activity that nobody has begun to send", () => {
  const { site, tenant } = useSite();

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, path.startsWith("/v1") ? path : `/v1/apps/${tenant.app._id}/live-activities${path}`, {
      token: tenant.token,
      ...(body !== undefined && { body }),
    });
  const properties = { step: { type: "integer" } };

  it("goes on when its end is cancelled", async () => {
    await call("POST", "/types", { name: "Order", content_state_schema: { type: "object", properties } });
    const activity = { activity_id: "o-1", content_state: { step: 1 } };
    expect((await call("POST", "/Order/start", { ...activity, target: { all: true } })).status).to.equal(202);
    const end = await call("POST", "/Order/end", { activity_id: "o-1" });
    const refused = await call("POST", "/Order/update", activity);
    expect([refused.status, refused.body.error.details]).to.deep.equal([409, { status: "ended" }]);
    expect((await call("DELETE", `/v1/notifications/${String(end.body["message_id"])}`)).body.status).to.equal(
      "cancelled",
    );
    expect((await call("POST", "/Order/update", activity)).status).to.equal(202);
    const shown = await call("GET", "/Order/activities/o-1");
    expect(shown.body).to.deep.include({ status: "running", content_state: { step: 1 } });
  });

  it("is another's when its type is another", async () => {
    await call("POST", "/types", { name: "Ride", content_state_schema: { type: "object", properties } });
    const { status, body } = await call("POST", "/Ride/update", { activity_id: "o-1", content_state: { step: 1 } });
    expect([status, body.error.code]).to.deep.equal([409, "HS_CONFLICT"]);
    expect((await call("GET", "/Ride/activities/o-1")).status).to.equal(404);
  });
});
